"""What a running match writes down, and the wait until it is committed.

While the database is away the match waits, and no clock runs: a change is tried until it is done or refused.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar, TypeVarTuple

import structlog
from msgspec import to_builtins
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from games.protocol import CHANCE
from server.core import match as core
from server.db import matches
from server.db.absence import Absence, in_words, is_away
from server.db.writer import Item, Many

RETRY_S = 1.0

AWAY_S = core.HAND_OVER_S
"""A match that has waited longer than this for the database does not go on: it is void, and played again."""

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

    absence: Absence

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

    def __init__(self, db: Store, wall: Callable[[float], datetime], match_id: int, attempt: int) -> None:
        """Let `wall` tell the time of day of an instant of the monotonic clock."""
        self._db = db
        self._wall = wall
        self._id = match_id
        self._attempt = attempt
        self._commit: Commit | None = None
        self._began = 0.0
        self._why = "the database was away"

    def write(self, after: core.Match, effects: Sequence[core.Effect], then: Then) -> bool:
        """Write down the effects that make the match `after`, all of them or none; then call `then`.

        Returns False, and does nothing, if there is nothing to write.
        """
        change = self._change(after, effects)
        if change is not None:
            self._began = asyncio.get_running_loop().time()
            self._submit(change(), after, change, then)
        return change is not None

    def overdue(self) -> str | None:
        """Say what kept the database, if the last change has waited too long for the match to go on."""
        waited_s = asyncio.get_running_loop().time() - self._began
        return f"{self._why} for {waited_s:.0f} s; counts for nobody" if waited_s > AWAY_S else None

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
        if isinstance(error, DBAPIError) and is_away(error):
            again = asyncio.ensure_future(self._insist(after, change, error))
            self._submit(again, after, change, then)
        elif error is None or isinstance(error, Exception):
            then(error)
        else:
            raise error

    async def _insist(self, after: core.Match, change: Change, error: DBAPIError) -> None:
        """Try until the database is back.

        A connection that was lost in a commit leaves open whether that was done: another try is then refused.
        """
        while True:
            self._why = in_words(error)
            log.warning("match.database_away", address="database", match=self._id, error=str(error.orig))
            await asyncio.sleep(RETRY_S)
            try:
                await self._try_again(after, change)
            except DBAPIError as again:
                if not is_away(again):
                    raise
                error = again
            else:
                return

    async def _try_again(self, after: core.Match, change: Change) -> None:
        try:
            await change()
        except matches.Stale:
            where = self._id, self._attempt, after.phase.value, after.ply
            if not await self._db.write(matches.stands, *where):
                raise

    def _change(self, after: core.Match, effects: Sequence[core.Effect]) -> Change | None:
        db, rows = self._db, []
        for effect in effects:
            match effect:
                case core.Accept():
                    rows.append(self._row(effect))
                case core.Record(ply, outcome, at):
                    rows.append(matches.MoveRow(ply, CHANCE, outcome, 0, 0, None, self._wall(at)))
                case core.Begin(at):
                    return partial(db.write, matches.set_running, self._id, self._attempt, self._wall(at))
                case core.Finish():
                    return self._end(after, effect, rows)
        if not rows:
            return None
        played = matches.Played(self._id, self._attempt, rows)
        return partial(db.write_together, matches.record_moves, played)

    def _row(self, move: core.Accept) -> matches.MoveRow:
        timing = move.timing
        return matches.MoveRow(
            ply=move.ply,
            seat=move.seat,
            action=move.action,
            elapsed_ms=timing.elapsed_ms,
            charged_ms=timing.charged_ms,
            info=move.info,
            received_at=self._wall(move.at),
            waited_ms=timing.waited_ms,
            round_trip_ms=timing.round_trip_ms,
            lag_ms=timing.lag_ms,
            away_ms=timing.away_ms,
            limit_ms=timing.limit_ms,
            timed_out=timing.timed_out,
        )

    def _end(self, after: core.Match, end: core.Finish, last: list[matches.MoveRow]) -> Change:
        db, result, now = self._db, end.result, self._wall(end.at)
        detail, request = result.detail or None, _request(end, now)
        if not result.void:
            utilities = result.utilities or (None,) * len(result.outcomes)
            by_seat = zip(result.outcomes, result.causes, result.scores, utilities, strict=True)
            seats = [
                matches.SeatResult(outcome, cause, score, utility)
                for outcome, cause, score, utility in by_seat
                if score is not None
            ]
            ended = matches.Ended(self._id, self._attempt, seats, detail, now, last, request)
            return partial(db.write_together, matches.finish_all, ended, durable=True)
        # An agent that did not show up is paired again by the ladder; a fault of ours is made good.
        replay = after.resumed or after.ply > 0 or all(after.ready)
        job = partial(matches.void, request=request, replay=replay)
        return partial(db.write, job, self._id, self._attempt, result.causes, detail, now, durable=True)


def _request(end: core.Finish, now: datetime) -> dict[str, Any] | None:
    """Return the request that was open at the end, as it is kept."""
    if end.request is None:
        return None
    request: dict[str, Any] = to_builtins(end.request)
    timing = request.pop("timing")
    return {"at": now.isoformat(), **request, **timing}
