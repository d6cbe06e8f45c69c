"""One match being played: carries out what the state machine in server.core.match decides.

Events queue up and are taken one at a time. What an event changes is committed first; only then is
anybody told, so that nothing a client has seen can be undone by a crash.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

import structlog
from sqlalchemy import Connection as DbConnection
from sqlalchemy.exc import OperationalError

from agents import protocol
from server import wire
from server.core import match as core
from server.core.outcome import Result
from server.db import matches
from server.db.ladders import Ladder
from server.lines import Lines
from server.presence import Presence

DRAIN_STEPS = 4
"""Steps of the event loop between a deadline's timer and its effect: frames already in go first."""

RETRY_S = 1.0

MAX_LATE_S = 1.0
"""The most that is refunded for lateness of the server's own loop."""

FAULT = "a fault of the server; counts for nobody"

log = structlog.get_logger()


@dataclass(frozen=True)
class Seated:
    """Who plays a seat, with the rating and the number of rated games it came with."""

    agent_id: int
    version_id: int
    name: str
    version: int
    house: bool
    elo: float
    games: int


Write: TypeAlias = Callable[..., Awaitable[Any]]
"""`write(job, durable=False)` runs `job(conn)` in the database's writer and resolves when it is committed."""


@dataclass(frozen=True)
class Shell:
    """What a match needs of the server around it. `monotonic` in seconds, `now` with time zone."""

    write: Write
    presence: Presence
    show: Callable[["RunningMatch"], None]
    count_move: Callable[[], None]
    ended: Callable[["RunningMatch"], None]
    monotonic: Callable[[], float]
    now: Callable[[], datetime]


class RunningMatch:
    """A match, its seats and its queue of events."""

    def __init__(
        self,
        shell: Shell,
        match_id: int,
        attempt: int,
        ladder: Ladder,
        seats: Sequence[Seated],
        opened: core.Step,
    ) -> None:
        self.id = match_id
        self.attempt = attempt
        self.ladder = ladder
        self.seats = list(seats)
        self.match, self._first_effects = opened
        self._shell = shell
        self._lines = Lines(shell.presence, [seat.version_id for seat in seats])
        self._events: asyncio.Queue[core.MatchEvent] = asyncio.Queue()
        self._replied: set[tuple[int, int]] = set()
        self._deadline: asyncio.TimerHandle | None = None
        self._asking: asyncio.TimerHandle | None = None

    @property
    def house_only(self) -> bool:
        """Whether only house agents play."""
        return all(seat.house for seat in self.seats)

    def seat_of(self, version_id: int) -> int | None:
        """Return the seat that a version of an agent plays."""
        return next((n for n, seat in enumerate(self.seats) if seat.version_id == version_id), None)

    def expects(self, event: core.MatchEvent) -> bool:
        """Whether the event is the one reply to something asked of its seat; true once for each."""
        match event:
            case core.Ready(seat):
                asked = (seat, -1)
                open_now = self.match.phase is core.Phase.STARTING
            case core.Action(seat, ply):
                asked = (seat, ply)
                open_now = self.match.asked is not None and (self.match.to_move, self.match.ply) == asked
            case _:
                return False
        if not open_now or asked in self._replied:
            return False
        self._replied.add(asked)
        return True

    def deliver(self, event: core.MatchEvent) -> None:
        """Queue an event. A match that is over answers at once."""
        if self.match.over:
            self._carry_out(core.advance(self.match, event)[1])
            return
        if isinstance(event, core.Action) and self.match.asked is not None:
            # Whatever comes in before the deadline took effect was late by the server's loop alone.
            late_s = min(MAX_LATE_S, max(0.0, event.at - self.match.deadline))
            event = replace(event, late_s=late_s)
        self._events.put_nowait(event)

    async def run(self) -> None:
        """Play the match to its end."""
        try:
            await self._play()
        finally:
            self._shell.ended(self)

    async def _play(self) -> None:
        self._carry_out(self._first_effects)
        self._shell.show(self)
        while not self.match.over:
            event = await self._events.get()
            try:
                await self._step(event)
            except matches.Stale:
                log.warning("match.stale", match=self.id, attempt=self.attempt)
                self._stop_timers()
                break
            except Exception:
                log.exception("match.fault", address="match", match=self.id)
                await self._step(core.Abort(self._shell.monotonic(), FAULT))

    async def _step(self, event: core.MatchEvent) -> None:
        match, effects = core.advance(self.match, event)
        jobs = [job for effect in effects if (job := self._job(match, effect)) is not None]
        if jobs:
            await self._commit(lambda conn: [job(conn) for job in jobs], durable=match.over)
        before, self.match = self.match, match
        self._carry_out(effects)
        if before.connected != match.connected:
            self._shell.show(self)

    async def _commit(self, job: Callable[[DbConnection], object], *, durable: bool) -> None:
        """Commit; while the database is away the match waits, and no clock runs."""
        while True:
            try:
                await self._shell.write(job, durable=durable)
            except OperationalError as error:
                log.warning("match.database_away", address="database", match=self.id, error=str(error.orig))
                await asyncio.sleep(RETRY_S)
            else:
                return

    def _job(self, match: core.Match, effect: core.Effect) -> Callable[[DbConnection], Any] | None:
        now = self._shell.now()
        match effect:
            case core.Begin():
                return lambda conn: matches.set_running(conn, self.id, self.attempt, now)
            case core.Accept():
                row = matches.MoveRow(
                    ply=effect.ply,
                    seat=effect.seat,
                    action=effect.action,
                    elapsed_ms=effect.timing.elapsed_ms,
                    charged_ms=effect.timing.charged_ms,
                    info=effect.info,
                    received_at=now,
                )
                return lambda conn: matches.record_move(conn, self.id, self.attempt, row)
            case core.Finish(result):
                return self._finish_job(match, result, now)
        return None

    def _finish_job(
        self, match: core.Match, result: Result, now: datetime
    ) -> Callable[[DbConnection], list[float] | int | None]:
        if not result.void:
            seats = [
                matches.SeatResult(outcome, cause, score)
                for outcome, cause, score in zip(result.outcomes, result.causes, result.scores, strict=True)
                if score is not None
            ]
            return lambda conn: matches.finish(conn, self.id, self.attempt, seats, result.detail or None, now)
        # An agent that did not show up is paired again by the ladder; a fault of ours is made good.
        replay = match.position.ply > 0 or all(match.ready)
        return lambda conn: matches.void(
            conn, self.id, self.attempt, result.causes, result.detail, now, replay=replay
        )

    def _carry_out(self, effects: Sequence[core.Effect]) -> None:
        for effect in effects:
            match effect:
                case core.Announce(seat):
                    players = [protocol.Player(n, s.name, s.version) for n, s in enumerate(self.seats)]
                    start = wire.match_start(self.id, self.ladder, players, seat, self.match)
                    self._lines.announce(seat, start)
                case core.SetDeadline(at):
                    self._set_deadline(at)
                case core.Ask():
                    self._ask(effect)
                case core.Begin():
                    self._shell.show(self)
                case core.Accept(seat, ply):
                    self._shell.count_move()
                    self._lines.say(seat, protocol.Ack(self.id, ply))
                    self._shell.show(self)
                case core.Acknowledge(seat, ply):
                    self._lines.say(seat, protocol.Ack(self.id, ply))
                case core.Reject(seat, ply, code, message):
                    self._lines.say(seat, protocol.Reject(self.id, ply, code, message))
                case core.Finish(result):
                    self._stop_timers()
                    for seat in range(len(self.seats)):
                        self._lines.say(seat, wire.match_end(self.id, result))
                    self._shell.show(self)

    def _ask(self, ask: core.Ask) -> None:
        if ask.again:
            self._lines.say(ask.seat, self._request(ask))
            return
        delay = ask.not_before - self._shell.monotonic()
        if delay <= 0:
            self._hand_over(ask)
        else:
            self._asking = asyncio.get_running_loop().call_later(delay, self._hand_over, ask)

    def _hand_over(self, ask: core.Ask) -> None:
        self._lines.ask(
            ask.seat,
            lambda: self._request(ask),
            lambda: self.deliver(core.HandedOver(ask.ply, self._shell.monotonic())),
        )

    def _request(self, ask: core.Ask) -> protocol.YourMove:
        return wire.your_move(self.id, ask, self.match, self._shell.monotonic())

    def _set_deadline(self, at: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        delay = max(0.0, at - self._shell.monotonic())
        self._deadline = asyncio.get_running_loop().call_later(delay, self._fire, DRAIN_STEPS)

    def _fire(self, steps: int) -> None:
        if steps > 0:
            asyncio.get_running_loop().call_soon(self._fire, steps - 1)
        elif not self.match.over:
            self.deliver(core.DeadlinePassed(self._shell.monotonic()))

    def _stop_timers(self) -> None:
        for timer in (self._deadline, self._asking):
            if timer is not None:
                timer.cancel()
