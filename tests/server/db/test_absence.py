"""A database that takes nothing: who notices, since when, and in which words."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError

from agents.protocol import TimeControl
from server.db import engine, matches, readers
from server.db.absence import SLOW_S, Absence, in_words, is_away, touch
from server.db.engine import Database
from server.db.readers import BusyError


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def failure(words: str = "it is gone") -> OperationalError:
    return OperationalError("COMMIT", {}, Exception(words))


def test_a_failed_commit_tells_since_when_nothing_is_written_and_one_that_is_done_ends_it():
    clock = Clock()
    absence = Absence(clock)
    assert absence.since() is None
    for began, ended in ((100.0, 110.0), (111.0, 121.0)):
        clock.now = began
        absence.begin()
        clock.now = ended
        absence.end(failure())
    assert absence.since() == 100.0
    assert absence.failed
    absence.begin()
    clock.now = 122.0
    absence.end(None)
    assert absence.since() is None
    assert absence.after(121.9)
    assert not absence.after(122.0)


def test_a_commit_that_does_not_come_back_is_none():
    clock = Clock()
    absence = Absence(clock)
    absence.begin()
    clock.now += SLOW_S
    assert absence.since() is None
    clock.now += 0.1
    assert absence.since() == 100.0
    assert not absence.failed, "whether it was done is not known yet"
    absence.end(None)
    assert absence.since() is None
    assert absence.after(clock.now - 0.1)


def test_a_quick_commit_leaves_no_trace():
    clock = Clock()
    absence = Absence(clock)
    absence.begin()
    absence.end(None)
    assert not absence.after(0.0)


def test_a_database_that_cannot_be_read_is_away_until_something_is_written():
    clock = Clock()
    absence = Absence(clock)
    absence.unread(failure())
    clock.now += 1
    assert absence.since() == 100.0
    absence.begin()
    absence.end(None)
    assert absence.since() is None
    assert absence.after(100.5)


def test_while_nothing_can_be_written_nobody_waits_for_it():
    absence = Absence(Clock())
    absence.check()
    absence.begin()
    absence.end(failure())
    with pytest.raises(OperationalError):
        absence.check()


@pytest.mark.parametrize(
    ("error", "away"),
    [
        (failure(), True),
        (InterfaceError("SELECT", {}, Exception("closed")), True),
        (IntegrityError("INSERT", {}, Exception("twice")), False),
        (IntegrityError("INSERT", {}, Exception("twice"), connection_invalidated=True), True),
        (ValueError("a bug"), False),
        (None, False),
    ],
)
def test_the_database_is_away_or_it_was_asked_for_nonsense(error: Exception | None, away: bool):
    assert is_away(error) is away


class CodedError(Exception):
    def __init__(self, **codes: str) -> None:
        super().__init__("words for nobody: 10.0.0.5")
        self.__dict__.update(codes)


@pytest.mark.parametrize(
    ("codes", "words"),
    [
        ({"sqlite_errorname": "SQLITE_FULL"}, "disk full"),
        ({"sqlstate": "53100"}, "disk full"),
        ({"sqlite_errorname": "SQLITE_IOERR_WRITE"}, "the disk could not be written"),
        ({"sqlite_errorname": "SQLITE_BUSY"}, "the database was locked"),
        ({"sqlstate": "57P01"}, "the database was away"),
        ({}, "the database was away"),
    ],
)
def test_the_cause_is_said_without_the_drivers_words(codes: dict[str, str], words: str):
    assert in_words(OperationalError("COMMIT", {}, CodedError(**codes))) == words


@pytest.fixture
def sqlite(sqlite_url: str) -> Iterator[Database]:
    """SQLite alone: it can be told how large its file may be."""
    database = Database.open(sqlite_url)
    yield database
    database.close()


def no_page_more(conn) -> None:
    pages = conn.execute(text("PRAGMA page_count")).scalar()
    conn.execute(text(f"PRAGMA max_page_count = {pages}"))


def room_again(conn) -> None:
    conn.execute(text("PRAGMA max_page_count = 1000000"))


def large(conn) -> None:
    conn.execute(text("UPDATE ladders SET title = :title"), {"title": "x" * 100_000})


def test_a_full_disk_is_told_as_such_and_the_writer_goes_on_when_there_is_room(sqlite):
    insert = "INSERT INTO ladders (id, name, title, game, time_control) VALUES (1, 'a', 'A', 'go', '{}')"
    sqlite.write_now(lambda conn: conn.execute(text(insert)) and None)
    sqlite.write_now(no_page_more)
    with pytest.raises(OperationalError) as told:
        sqlite.write_now(large)
    assert in_words(told.value) == "disk full"
    assert isinstance(told.value.orig, sqlite3.OperationalError)
    assert sqlite.absence.failed
    sqlite.write_now(room_again)
    sqlite.write_now(large)
    assert not sqlite.absence.failed
    assert (
        len(sqlite.read_now(lambda conn: conn.execute(text("SELECT title FROM ladders")).scalar())) == 100_000
    )


def test_a_transaction_that_sqlite_rolled_back_by_itself_fails_with_the_first_fault(sqlite):
    def rolled_back(conn):
        conn.exec_driver_sql("ROLLBACK")
        raise failure("disk I/O error")

    with pytest.raises(OperationalError, match="disk I/O error"):
        sqlite.write_now(rolled_back)
    assert sqlite.absence.failed
    sqlite.write_now(touch)
    assert not sqlite.absence.failed


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


def one(conn: Connection) -> int:
    return int(conn.execute(text("SELECT 1")).scalar_one())


async def test_a_reader_without_an_answer_makes_the_writer_look_whether_the_database_is_away(db, monkeypatch):
    monkeypatch.setattr(readers, "READ_S", 0.05)
    answer, tries = threading.Event(), []
    monkeypatch.setattr(engine, "touch", lambda conn: tries.append(touch(conn)))
    with pytest.raises(OperationalError, match="no answer"):
        await db.read(lambda _conn: answer.wait(60))
    await until(lambda: tries)
    assert db.absence.since() is None, "what is slow is not away: it can be written"
    answer.set()
    monkeypatch.setattr(readers, "READ_S", 60.0)
    assert await db.read(one) == 1


async def test_a_reader_that_finds_no_database_tells_of_it_at_once(db):
    def broken(_conn: Connection) -> None:
        raise failure("server closed the connection")

    with pytest.raises(OperationalError):
        await db.read(broken)
    assert db.absence.failed


async def test_onlookers_wait_in_a_queue_with_an_end_and_keep_nobody_from_a_game(db):
    go_on, most = threading.Event(), engine.READS_AT_ONCE
    crowd = [asyncio.ensure_future(db.read(lambda _conn: go_on.wait(60))) for _ in range(most)]
    await asyncio.sleep(0)
    with pytest.raises(BusyError) as told:
        await db.read(one)
    assert (told.value.code, told.value.limit, told.value.where) == ("busy", "reads_at_once", "reads_at_once")
    assert told.value.retry_after_s >= 1
    assert await db.read_for_play(one) == 1, "an agent does not wait behind them"
    await asyncio.gather(*(db.probe() for _ in range(20)))
    assert db.absence.since() is None
    go_on.set()
    assert await asyncio.gather(*crowd) == [True] * len(crowd)
    assert await db.read(one) == 1


async def test_whoever_waits_too_long_for_a_reader_comes_again_and_nothing_is_away(db, monkeypatch):
    monkeypatch.setattr(readers, "QUEUED_S", 0.05)
    go_on = threading.Event()
    ahead = [asyncio.ensure_future(db.read(lambda _conn: go_on.wait(60))) for _ in range(engine.READERS)]
    await asyncio.sleep(0)
    with pytest.raises(BusyError):
        await db.read(one)
    assert db.absence.since() is None
    go_on.set()
    await asyncio.gather(*ahead)


async def test_all_who_probe_at_once_cost_one_read(db, monkeypatch):
    asked = []
    monkeypatch.setattr(engine, "_ask", asked.append)
    await asyncio.gather(*(db.probe() for _ in range(50)))
    assert len(asked) == 1
    await db.probe()
    assert len(asked) == 2


def test_who_does_not_know_whether_a_match_was_begun_begins_it_once(league):
    match, other = league.queue(league.agent("ada"), league.agent("bob"))
    first = league.do(matches.begin_again, match, "server-1", league.now())
    assert first == (1, TimeControl(5000), None)
    assert league.do(matches.begin_again, match, "server-1", league.now()) == first, "it was done before"
    with pytest.raises(matches.Stale):
        league.do(matches.begin_again, match, "server-2", league.now())
    assert league.begin(other) == 1
    assert league.do(matches.begin_again, other, "server-1", league.now()) == first


async def test_a_probe_finds_a_locked_database_also_where_nobody_writes(sqlite_url, monkeypatch):
    """It can still be read."""
    monkeypatch.setattr(engine, "BUSY_S", 0.05)
    database = Database.open(sqlite_url)
    other = sqlite3.connect(str(database.url.database), isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        assert await database.read(one) == 1
        await database.probe()
        await until(lambda: database.absence.failed)
        assert database.absence.why == "the database was locked"
        other.execute("ROLLBACK")
        await database.probe()
        await until(lambda: not database.absence.failed)
    finally:
        other.close()
        database.close()


async def test_a_probe_writes_only_where_nothing_was_written_lately(db, monkeypatch):
    tries = []
    monkeypatch.setattr(engine, "touch", lambda conn: tries.append(touch(conn)))
    monkeypatch.setattr(engine, "IDLE_S", 3600.0)
    await db.probe()
    await until(lambda: db.absence.idle_s() < 3600)
    assert len(tries) == 1, "nothing was written before"
    await db.probe()
    await db.write(lambda _conn: None)
    assert len(tries) == 1
    monkeypatch.setattr(engine, "IDLE_S", -1.0)
    await db.probe()
    await db.write(lambda _conn: None)
    assert len(tries) == 2
