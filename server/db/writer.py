"""The one thread that writes.

Jobs are carried out in the order they were submitted, many to a commit. One that fails is undone alone.
Nobody hears of a job before its batch is committed.

A kind of job that comes often is a function of many items: `many(conn, items)` answers each, or raises and
the database is as before. Neighbours of one kind are done by one call; only if that fails is each tried by
itself, to find the one to blame. Statements of many rows are what makes a move cheap.
"""

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import groupby
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, NamedTuple, TypeAlias, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from server.db.absence import Absence, is_away

T = TypeVar("T")
Item = TypeVar("Item")
Many: TypeAlias = Callable[[Connection, Sequence[Item]], Sequence[T]]

BATCH = 100
"""Jobs in one commit, at most. An idle writer commits a single job at once."""


class _Job(NamedTuple):
    """An item of `many`, and who waits for its answer: a thread, or a task of an event loop."""

    many: Many[Any, Any]
    item: Any
    durable: bool
    future: "Future[Any] | asyncio.Future[Any]"
    loop: asyncio.AbstractEventLoop | None


class _Answer(NamedTuple):
    job: _Job
    value: Any = None
    error: BaseException | None = None


class Writer:
    """Carries out jobs on a thread of its own until it is closed.

    A job must not commit or roll back, and must not keep its connection or a cursor. `durable` jobs survive
    power loss once their future resolves, the others a killed process (SQLite; PostgreSQL's commits always
    survive both). `engine` sees the option `durable` on the connection when a transaction begins.

    `absence` knows since when nothing can be written.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.absence = Absence(time.monotonic)
        self._queue: SimpleQueue[Sequence[_Job] | None] = SimpleQueue()
        self._turns: dict[asyncio.AbstractEventLoop, list[_Job]] = {}
        self._submitting = Lock()
        self._closed = False
        self._thread = Thread(target=self._run, name="plyground-writer", daemon=True)
        self._thread.start()

    def submit(self, many: Many[Item, T], item: Item, *, durable: bool = False) -> Future[T]:
        """Queue a job; its future resolves after the commit. It can no longer be cancelled.

        Raises RuntimeError when the writer is closed.
        """
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        with self._submitting:
            self._check_open()
            self._queue.put([_Job(many, item, durable, future, None)])
        return future

    def submit_soon(self, many: Many[Item, T], item: Item, *, durable: bool = False) -> "asyncio.Future[T]":
        """Do `submit` for the running event loop: jobs of one of its turns come to the writer together."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._submitting:
            self._check_open()
            turn = self._turns.get(loop)
            if turn is None:
                turn = self._turns[loop] = []
                loop.call_soon(self._end_turn, loop)
            turn.append(_Job(many, item, durable, future, loop))
        return future

    def close(self) -> None:
        """Carry out all jobs submitted so far and end the thread."""
        with self._submitting:
            if not self._closed:
                self._closed = True
                for turn in self._turns.values():
                    self._queue.put(turn)
                self._turns.clear()
                self._queue.put(None)
        self._thread.join()

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("the database is closed")

    def _end_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._submitting:
            turn = self._turns.pop(loop, None)
            if turn is not None:
                self._queue.put(turn)

    def _run(self) -> None:
        waiting: deque[_Job] = deque()
        closing = False
        while waiting or not closing:
            closing = self._receive(waiting) or closing
            batch = [waiting.popleft() for _ in range(min(BATCH, len(waiting)))]
            if batch:
                self.absence.begin()
                answers = self._commit(batch)
                self.absence.end(next((a.error for a in answers if is_away(a.error)), None))
                _tell(answers)

    def _receive(self, waiting: deque[_Job]) -> bool:
        """Add what is queued, up to a batch; wait if there is nothing to do. Whether nothing will follow."""
        while len(waiting) < BATCH:
            try:
                jobs = self._queue.get(block=not waiting)
            except Empty:
                return False
            if jobs is None:
                return True
            waiting.extend(jobs)
        return False

    def _commit(self, batch: list[_Job]) -> list[_Answer]:
        """Carry out a batch. Whatever goes wrong reaches the callers."""
        durable = any(job.durable for job in batch)
        try:
            with self._engine.connect() as conn, conn.execution_options(durable=durable).begin():
                return [
                    answer
                    for _, jobs in groupby(batch, key=lambda job: job.many)
                    for answer in _carry_out(conn, list(jobs))
                ]
        except BaseException as error:  # noqa: BLE001 - the thread must live, and every caller must hear
            return [_Answer(job, error=error) for job in batch]


def _carry_out(conn: Connection, jobs: list[_Job]) -> list[_Answer]:
    """Do jobs of one kind in a savepoint. Raises only if the whole transaction is lost."""
    conn.exec_driver_sql("SAVEPOINT jobs")
    try:
        values = jobs[0].many(conn, [job.item for job in jobs])
        answers = [_Answer(job, value) for job, value in zip(jobs, values, strict=True)]
    except BaseException as error:
        if conn.invalidated:
            raise  # with the connection everybody's work is lost
        _undo(conn, error)
        if len(jobs) == 1:
            if isinstance(error, StopIteration):  # no future takes one
                error = RuntimeError(f"the job raised {error!r}")
            return [_Answer(jobs[0], error=error)]
        return [answer for job in jobs for answer in _carry_out(conn, [job])]
    conn.exec_driver_sql("RELEASE SAVEPOINT jobs")
    return answers


def _undo(conn: Connection, error: BaseException) -> None:
    """Take back what was done since the savepoint. Raises `error` if that is gone with everybody's work.

    SQLite rolls the whole transaction back by itself where the disk fails.
    """
    try:
        conn.exec_driver_sql("ROLLBACK TO SAVEPOINT jobs")
        conn.exec_driver_sql("RELEASE SAVEPOINT jobs")
    except DBAPIError:
        raise error from None


def _tell(answers: Sequence[_Answer]) -> None:
    """Give the answers to those who wait: each event loop hears of all of its own at once."""
    by_loop: dict[asyncio.AbstractEventLoop | None, list[_Answer]] = defaultdict(list)
    for answer in answers:
        by_loop[answer.job.loop].append(answer)
    for loop, told in by_loop.items():
        if loop is None:
            _settle(told)
        else:
            with suppress(RuntimeError):  # it is closed: nobody waits there any more
                loop.call_soon_threadsafe(_settle, told)


def _settle(answers: Sequence[_Answer]) -> None:
    for job, value, error in answers:
        if job.future.done():
            continue  # cancelled: nobody waits for it
        if error is None:
            job.future.set_result(value)
        else:
            job.future.set_exception(error)
