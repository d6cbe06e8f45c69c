"""What a running match writes down, and the wait until it is committed.

While the database is away the match waits, and no clock runs: a change is tried until it is done or refused.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar, TypeVarTuple

import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from games.protocol import CHANCE
from server.core import match as core
from server.core.outcome import Result
from server.db import matches
from server.db.writer import Item, Many

RETRY_S = 1.0

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

Commit: TypeAlias = "asyncio.Future[Any]"

Change: TypeAlias = Callable[[], Commit]
"""Submits a change to the database's writer; what it returns resolves when that is committed."""

Then: TypeAlias = Callable[[Exception | None], None]
"""Hears that a change is committed, or why it never will be."""

log = structlog.get_logger()


class Store(Protocol):
    """The writer of a database; see server.db.engine."""

    def write(
        self, job: Callable[[Connection, *Ts], T], *args: *Ts, durable: bool = False
    ) -> "asyncio.Future[T]":
        """Do `job(conn, *args)`."""

    def write_together(
        self, many: Many[Item, T], item: Item, *, durable: bool = False
    ) -> "asyncio.Future[T]":
        """Do `many(conn, items)` with this item among others."""


class MatchRecord:
    """The record of one attempt at a match."""

    def __init__(self, db: Store, now: Callable[[], datetime], match_id: int, attempt: int) -> None:
        self._db = db
        self._now = now
        self._id = match_id
        self._attempt = attempt
        self._commit: Commit | None = None

    def write(self, after: core.Match, effects: Sequence[core.Effect], then: Then) -> bool:
        """Write down the effects that make the match `after`, all of them or none; then call `then`.

        Returns False, and does nothing, if there is nothing to write.
        """
        change = self._change(after, effects)
        if change is not None:
            self._submit(change(), after, change, then)
        return change is not None

    def abandon(self) -> None:
        """Wait for the database no more."""
        if self._commit is not None:
            self._commit.cancel()

    def _submit(self, commit: Commit, after: core.Match, change: Change, then: Then) -> None:
        self._commit = commit  # a loop keeps no task that nobody else keeps
        commit.add_done_callback(partial(self._settle, after, change, then))

    def _settle(self, after: core.Match, change: Change, then: Then, commit: Commit) -> None:
        if commit.cancelled():
            return  # the server stops
        error = commit.exception()
        if isinstance(error, OperationalError):
            again = asyncio.ensure_future(self._insist(after, change, error))
            self._submit(again, after, change, then)
        elif error is None or isinstance(error, Exception):
            then(error)
        else:
            raise error

    async def _insist(self, after: core.Match, change: Change, error: OperationalError) -> None:
        """Try until the database is back.

        A connection that was lost in a commit leaves open whether that was done: another try is then refused.
        """
        while True:
            log.warning("match.database_away", address="database", match=self._id, error=str(error.orig))
            await asyncio.sleep(RETRY_S)
            try:
                await change()
            except OperationalError as again:
                error = again
            except matches.Stale:
                where = self._id, self._attempt, after.phase.value, after.ply
                if not await self._db.write(matches.stands, *where):
                    raise
                return
            else:
                return

    def _change(self, after: core.Match, effects: Sequence[core.Effect]) -> Change | None:
        db, rows = self._db, []
        for effect in effects:
            match effect:
                case core.Accept(seat, ply, action, timing, info):
                    times = timing.elapsed_ms, timing.charged_ms
                    rows.append(matches.MoveRow(ply, seat, action, *times, info, self._now()))
                case core.Record(ply, outcome):
                    rows.append(matches.MoveRow(ply, CHANCE, outcome, 0, 0, None, self._now()))
                case core.Begin():
                    return partial(db.write, matches.set_running, self._id, self._attempt, self._now())
                case core.Finish(result):
                    return self._end(after, result, rows)
        if not rows:
            return None
        played = matches.Played(self._id, self._attempt, rows)
        return partial(db.write_together, matches.record_moves, played)

    def _end(self, after: core.Match, result: Result, last: list[matches.MoveRow]) -> Change:
        db, now, detail = self._db, self._now(), result.detail or None
        if not result.void:
            seats = [
                matches.SeatResult(outcome, cause, score)
                for outcome, cause, score in zip(result.outcomes, result.causes, result.scores, strict=True)
                if score is not None
            ]
            ended = matches.Ended(self._id, self._attempt, seats, detail, now, last)
            return partial(db.write_together, matches.finish_all, ended, durable=True)
        # An agent that did not show up is paired again by the ladder; a fault of ours is made good.
        replay = after.resumed or after.ply > 0 or all(after.ready)
        job = partial(matches.void, replay=replay)
        return partial(db.write, job, self._id, self._attempt, result.causes, detail, now, durable=True)
