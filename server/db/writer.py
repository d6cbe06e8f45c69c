"""The one thread that writes.

Jobs are carried out in the order they were submitted, many to a commit. Each has a savepoint of its own, so
one that fails is undone alone. Nobody hears of a job before its batch is committed.
"""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

T = TypeVar("T")

BATCH = 100
"""Jobs in one commit, at most. An idle writer commits a single job at once."""


@dataclass(frozen=True)
class _Job:
    work: Callable[[Connection], Any]
    durable: bool
    future: Future[Any] = field(default_factory=Future)


class Writer:
    """Carries out jobs `work(conn)` on a thread of its own until it is closed.

    A job must not commit or roll back, and must not keep its connection or a cursor. `durable` jobs survive
    power loss once their future resolves, the others a killed process (SQLite; PostgreSQL's commits always
    survive both). `engine` sees the option `durable` on the connection when a transaction begins.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._submitting = Lock()
        self._closed = False
        self._thread = Thread(target=self._run, name="plyground-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Number of jobs not yet begun."""
        return self._queue.qsize()

    def submit(self, work: Callable[[Connection], T], *, durable: bool = False) -> Future[T]:
        """Queue a job; its future resolves after the commit. It can no longer be cancelled.

        Raises RuntimeError when the writer is closed.
        """
        job = _Job(work, durable)
        job.future.set_running_or_notify_cancel()
        with self._submitting:
            if self._closed:
                raise RuntimeError("the database is closed")
            self._queue.put(job)
        return job.future

    def close(self) -> None:
        """Carry out all jobs submitted so far and end the thread."""
        with self._submitting:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        closing = False
        while not closing:
            batch, closing = self._next_batch()
            if batch:
                self._commit(batch)

    def _next_batch(self) -> tuple[list[_Job], bool]:
        """Wait for a job and take what else is there; the flag says that nothing comes after it."""
        batch: list[_Job] = []
        job = self._queue.get()
        while job is not None:
            batch.append(job)
            if len(batch) == BATCH:
                return batch, False
            try:
                job = self._queue.get_nowait()
            except Empty:
                return batch, False
        return batch, True

    def _commit(self, batch: list[_Job]) -> None:
        """Carry out a batch and settle its futures. Whatever goes wrong reaches the callers."""
        answers: list[Callable[[], None]] = []
        durable = any(job.durable for job in batch)
        try:
            with self._engine.connect() as conn, conn.execution_options(durable=durable).begin():
                answers.extend(_carry_out(conn, job) for job in batch)
        except BaseException as error:  # noqa: BLE001 - the thread must live, and every caller must hear
            answers = [_answer(job.future.set_exception, error) for job in batch]
        for answer in answers:
            answer()


def _carry_out(conn: Connection, job: _Job) -> Callable[[], None]:
    """Do one job in its savepoint. Raises only if the whole transaction is lost."""
    savepoint = conn.begin_nested()
    try:
        value = job.work(conn)
    except BaseException as error:
        if conn.invalidated:
            raise  # with the connection everybody's work is lost
        savepoint.rollback()
        return _answer(job.future.set_exception, error)
    savepoint.commit()
    return _answer(job.future.set_result, value)


def _answer(settle: Callable[[Any], None], value: Any) -> Callable[[], None]:
    return lambda: settle(value)
