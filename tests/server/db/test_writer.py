"""The writer: batches, savepoints, nothing told before its commit, and a thread that outlives everything."""

import asyncio
import sqlite3
from threading import Event, Thread

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError

from server.db.engine import Database
from server.db.writer import BATCH

INSERT = text("INSERT INTO ladders (id, name, title, game, time_control) VALUES (:id, :name, 'T', 'go', '')")


def add(number: int, name: str | None = None):
    def job(conn):
        conn.execute(INSERT, {"id": number, "name": name or f"ladder-{number}"})
        return number

    return job


def submit(db, job, *, durable=False):
    """A job without neighbours, as `Database.write_now` does it but for the waiting."""
    return db._writer.submit(lambda conn, items: [job(conn) for _ in items], None, durable=durable)


def stored(db) -> list[int]:
    return db.read_now(lambda conn: list(conn.execute(text("SELECT id FROM ladders ORDER BY id")).scalars()))


class Held:
    """The writer, kept busy by a job of its own until it is let go."""

    def __init__(self, db, job=lambda _conn: None) -> None:
        self.began, self.let_go = Event(), Event()
        self.commits: list[int] = []
        event.listen(db._writing, "commit", lambda _conn: self.commits.append(len(self.commits)))

        def hold(conn):
            job(conn)
            self.began.set()
            assert self.let_go.wait(60)

        self.future = submit(db, hold)
        assert self.began.wait(60)


def test_jobs_that_wait_share_commits_in_their_order(db):
    held = Held(db)
    order: list[int] = []

    def job(conn, number):
        order.append(number)
        return add(number)(conn)

    futures = [
        submit(db, lambda conn, number=number: job(conn, number)) for number in range(1, 2 * BATCH + 51)
    ]
    held.let_go.set()
    assert [future.result(60) for future in futures] == list(range(1, 2 * BATCH + 51))
    assert order == sorted(order)
    assert len(held.commits) == 1 + 3
    assert stored(db) == order


def test_nothing_is_told_before_the_commit(db):
    held = Held(db)
    told_early: list[int] = []
    futures = [submit(db, add(number)) for number in range(1, 21)]

    def about_to_commit(_conn):
        told_early.extend(number for number, future in enumerate(futures) if future.done())

    event.listen(db._writing, "commit", about_to_commit)
    seen_by_others: list[list[int]] = []
    futures[0].add_done_callback(lambda _future: seen_by_others.append(stored(db)))
    held.let_go.set()
    for future in futures:
        future.result(60)
    assert told_early == []
    assert seen_by_others == [list(range(1, 21))]


def test_a_failing_job_is_undone_alone(db):
    held = Held(db)

    def half_done(conn):
        add(7)(conn)
        add(8)(conn)
        raise LookupError("half way")

    before, failing, clashing, after = (
        submit(db, job) for job in (add(1), half_done, add(2, "ladder-1"), add(3))
    )
    held.let_go.set()
    assert before.result(60) == 1
    assert after.result(60) == 3
    with pytest.raises(LookupError, match="half way"):
        failing.result(60)
    with pytest.raises(IntegrityError):
        clashing.result(60)
    assert stored(db) == [1, 3]
    assert len(held.commits) == 2


def add_many(conn, numbers):
    """A kind of job for many numbers: one that is there already is an error of all, 13 of itself."""
    calls.append(list(numbers))
    for number in numbers:
        add(number)(conn)
    if 13 in numbers:
        raise LookupError("thirteen")
    return [f"added {number}" for number in numbers]


calls: list[list[int]] = []


def submit_many(db, *numbers):
    return [db._writer.submit(add_many, number) for number in numbers]


def test_neighbours_of_one_kind_are_done_by_one_call_in_their_order(db):
    held = Held(db)
    calls.clear()
    first, plain, second = submit_many(db, 1, 2, 3), submit(db, add(4)), submit_many(db, 5, 6)
    held.let_go.set()
    assert [future.result(60) for future in first] == ["added 1", "added 2", "added 3"]
    assert plain.result(60) == 4
    assert [future.result(60) for future in second] == ["added 5", "added 6"]
    assert calls == [[1, 2, 3], [5, 6]]
    assert len(held.commits) == 2
    assert stored(db) == [1, 2, 3, 4, 5, 6]


def test_the_one_to_blame_among_neighbours_fails_alone(db):
    held = Held(db)
    futures = submit_many(db, 1, 13, 2, 1, 3)
    held.let_go.set()
    assert [futures[n].result(60) for n in (0, 2, 4)] == ["added 1", "added 2", "added 3"]
    with pytest.raises(LookupError, match="thirteen"):
        futures[1].result(60)
    with pytest.raises(IntegrityError):
        futures[3].result(60)
    assert stored(db) == [1, 2, 3]


def test_a_kind_that_does_not_answer_each_changes_nothing(db):
    def too_few(conn, numbers):
        add_many(conn, numbers)
        return []

    with pytest.raises(ValueError, match="zip"):
        db._writer.submit(too_few, 1).result(60)
    assert stored(db) == []


async def test_what_one_turn_of_the_loop_writes_is_one_commit(db):
    commits = []
    event.listen(db._writing, "commit", lambda _conn: commits.append(1))
    calls.clear()
    answers = await asyncio.gather(*(db.write_together(add_many, number) for number in range(20, 70)))
    assert answers == [f"added {number}" for number in range(20, 70)]
    assert calls == [list(range(20, 70))]
    assert len(commits) == 1


async def test_a_job_that_stops_an_iteration_is_an_error_like_any_other(db):
    with pytest.raises(RuntimeError, match="StopIteration"):
        await db.write(lambda _conn: next(iter(())))
    assert await db.write(add(1)) == 1


async def test_closing_carries_out_what_this_turn_of_the_loop_wrote(db, url):
    writes = [db.write(add(number)) for number in (1, 2)]
    db.close()
    assert await asyncio.gather(*writes) == [1, 2]
    with pytest.raises(RuntimeError, match="the database is closed"):
        db.write(add(3))
    again = Database.open(url)
    assert stored(again) == [1, 2]
    again.close()


def test_a_failing_commit_reaches_every_caller_and_the_thread_lives(db):
    """A reference that is checked at the commit only fails it."""
    later = "CREATE TABLE later (ladder_id integer REFERENCES ladders (id) DEFERRABLE INITIALLY DEFERRED)"
    db.write_now(lambda conn: conn.execute(text(later)))
    held = Held(db)
    batch = [
        submit(db, job)
        for job in (add(1), lambda conn: conn.execute(text("INSERT INTO later VALUES (99)")).rowcount, add(2))
    ]
    held.let_go.set()
    for future in batch:
        with pytest.raises(IntegrityError):
            future.result(60)
    assert stored(db) == []
    assert db.write_now(add(5)) == 5
    assert stored(db) == [5]


@pytest.mark.parametrize("fault", [SystemExit(3), KeyboardInterrupt(), MemoryError(), GeneratorExit()])
def test_no_job_ends_the_thread(db, fault):

    def job(_conn):
        raise fault

    with pytest.raises(type(fault)):
        db.write_now(job)
    assert db.write_now(add(1)) == 1


def test_a_job_that_ends_the_transaction_itself_fails_its_batch_only(db):
    held = Held(db)
    futures = [submit(db, job) for job in (add(1), lambda conn: conn.rollback(), add(2))]
    held.let_go.set()
    for future in futures:
        with pytest.raises(Exception, match="transaction"):
            future.result(60)
    assert db.write_now(add(4)) == 4
    assert stored(db) == [4]


def test_closing_carries_out_what_was_submitted_and_refuses_the_rest(db):
    held = Held(db)
    futures = [submit(db, add(number)) for number in range(1, 251)]
    closing = Thread(target=db._writer.close)
    closing.start()
    held.let_go.set()
    closing.join(60)
    assert not closing.is_alive()
    assert all(future.done() for future in futures)
    assert stored(db) == list(range(1, 251))
    with pytest.raises(RuntimeError, match="the database is closed"):
        db.write_now(add(999))


def test_a_locked_database_fails_the_batch_and_the_next_one_works(sqlite_url, tmp_path):
    db = Database.open(sqlite_url)
    db.write_now(lambda conn: conn.exec_driver_sql("PRAGMA busy_timeout = 20").close())
    other = sqlite3.connect(tmp_path / "plyground.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError, match="locked"):
        db.write_now(add(1))
    other.execute("COMMIT")
    other.close()
    assert db.write_now(add(2)) == 2
    assert stored(db) == [2]
    db.close()


def test_a_lost_postgres_connection_fails_its_batch_and_the_next_one_works(postgresql_url):
    db = Database.open(postgresql_url)
    held = Held(db)
    die = text("SELECT pg_terminate_backend(pg_backend_pid())")
    futures = [submit(db, job) for job in (add(1), lambda conn: conn.execute(die), add(2))]
    held.let_go.set()
    for future in futures:
        with pytest.raises(DatabaseError):
            future.result(60)
    assert db.write_now(add(3)) == 3
    db.write_now(
        lambda conn: conn.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        ).all()
    )
    assert stored(db) == [3]  # a reader whose connection died meanwhile gets a new one
    db.close()


def test_durable_jobs_make_their_batch_durable(sqlite_url):
    """SQLite: 1 is NORMAL, 2 is FULL, which waits for the disk at the commit."""
    db = Database.open(sqlite_url)

    def level(conn):
        return conn.exec_driver_sql("PRAGMA synchronous").scalar()

    assert submit(db, level).result(60) == 1
    assert submit(db, level, durable=True).result(60) == 2
    held = Held(db)
    mixed = [submit(db, level, durable=durable) for durable in (False, True, False)]
    held.let_go.set()
    assert [future.result(60) for future in mixed] == [2, 2, 2]
    assert submit(db, level).result(60) == 1
    db.close()


async def test_writes_are_awaited_by_the_event_loop(db):
    def job(conn, number, name):
        return add(number, name)(conn)

    writes = [db.write(job, number, f"n{number}", durable=number % 7 == 0) for number in range(1, 301)]
    assert await asyncio.gather(*writes) == list(range(1, 301))
    assert await db.read(lambda conn: conn.execute(text("SELECT count(*) FROM ladders")).scalar()) == 300
    with pytest.raises(IntegrityError):
        await db.write(add(1))


async def test_a_job_nobody_waits_for_any_more_is_carried_out(db):
    held = Held(db)
    abandoned = db.write(add(1))
    abandoned.cancel()
    held.let_go.set()
    assert await db.write(add(2)) == 2
    assert stored(db) == [1, 2]
    assert abandoned.cancelled()


async def test_a_loop_that_is_gone_does_not_stop_the_writer(db):
    held = Held(db)

    def loop_of_its_own():
        loop = asyncio.new_event_loop()

        async def submit():
            db.write(add(1))

        loop.run_until_complete(submit())
        loop.close()

    thread = Thread(target=loop_of_its_own)
    thread.start()
    thread.join(60)
    held.let_go.set()
    assert await db.write(add(2)) == 2
    assert stored(db) == [1, 2]


async def test_reads_go_on_while_the_writer_is_busy(db):
    await db.write(add(1))
    held = Held(db, add(2))
    assert await db.read(lambda conn: conn.execute(text("SELECT count(*) FROM ladders")).scalar()) == 1
    assert not held.future.done()
    held.let_go.set()
    await asyncio.wrap_future(held.future)
    assert stored(db) == [1, 2]


async def test_a_read_sees_one_snapshot(db):
    began, go_on = Event(), Event()

    def twice(conn):
        first = conn.execute(text("SELECT count(*) FROM ladders")).scalar()
        began.set()
        assert go_on.wait(60)
        return first, conn.execute(text("SELECT count(*) FROM ladders")).scalar()

    reading = asyncio.ensure_future(db.read(twice))
    await asyncio.to_thread(began.wait, 60)
    await db.write(add(1))
    go_on.set()
    assert await reading == (0, 0)
    assert stored(db) == [1]
