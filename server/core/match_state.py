"""A match at an instant, as an immutable value; server.core.match says how it changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from games.position import Position
from games.protocol import CHANCE
from server.core import clock
from server.core.clock import Clock
from server.core.match_events import Announce, Effect, SetDeadline, Timing
from server.core.outcome import Result


class Phase(StrEnum):
    """Where a match stands."""

    STARTING = "starting"
    RUNNING = "running"
    FINISHED = "finished"
    VOID = "void"

    __hash__ = str.__hash__  # an enum's own is Python code, and every event looks a phase up


@dataclass(frozen=True)
class Terms:
    """Times of a match in milliseconds.

    The time control as in agents.protocol.TimeControl, then the pause between moves, and the time to come
    back after a restart of the server.
    """

    move_ms: int
    margin_ms: int = 200
    ready_ms: int = 10_000
    bank_ms: int = 0
    increment_ms: int = 0
    byoyomi_ms: int = 0
    periods: int = 0
    strikes: int = 0
    nodes: int = 0
    lag_ms: int = 0
    grace_ms: int = 0
    pace_ms: int = 0
    resume_ms: int = 60_000


class Open(Struct, frozen=True):
    """The request that waits for a reply: when it was handed over, with what limit, over what line.

    `lost_at` says since when its seat has been away (None: it is here), `away_ms` how long it was away before
    that, and `kept_ms` how long the server kept it away. `struck` is how it was timed when its time was over:
    lots are drawn for the action then.
    """

    at: float
    limit_ms: int
    waited_ms: int = 0
    round_trip_ms: float | None = None
    lost_at: float | None = None
    away_ms: int = 0
    kept_ms: int = 0
    struck: Timing | None = None

    @property
    def striking(self) -> bool:
        """Whether lots are drawn for the action."""
        return self.struck is not None


class Match(Struct, frozen=True):
    """A match at an instant. Immutable.

    `asked_at` says since when an action is wanted; `open` is the request for it from its hand-over on.
    `movers` are the seats that made the actions so far, CHANCE for an outcome; `substituted` are the plies of
    those that lots were drawn for; `clocks` and `last` are each seat's clock and previous timing. `resumed`
    says that an earlier server began the match.
    """

    position: Position
    terms: Terms
    phase: Phase
    ready: tuple[bool, ...]
    connected: tuple[bool, ...]
    deadline: float
    clocks: tuple[Clock, ...]
    asked_at: float = 0.0
    open: Open | None = None
    movers: tuple[int, ...] = ()
    substituted: tuple[int, ...] = ()
    last: tuple[Timing | None, ...] = ()
    resumed: bool = False
    result: Result | None = None

    @property
    def ply(self) -> int:
        """Ply of the next action; the first is 0."""
        return self.position.ply

    @property
    def to_move(self) -> int | None:
        """Seat to move while the match runs; None where chance moves."""
        if self.phase is not Phase.RUNNING:
            return None
        mover = self.position.to_move()
        return None if mover == CHANCE else mover

    @property
    def over(self) -> bool:
        """Whether the match is finished or void."""
        return self.result is not None

    @property
    def absent_awaited(self) -> tuple[int, ...]:
        """The seats without a connection that what comes next waits for."""
        mover = self.to_move
        awaited = range(len(self.connected)) if self.phase is Phase.STARTING else [mover]
        return tuple(seat for seat in awaited if seat is not None and not self.connected[seat])

    @property
    def waiting_since(self) -> float | None:
        """Since when somebody has had time for what comes next; None while nobody is asked."""
        if self.open is not None:
            return self.open.at
        if self.phase is not Phase.STARTING:
            return None
        allowed_ms = self.terms.resume_ms if self.resumed else self.terms.ready_ms
        return self.deadline - allowed_ms / 1000

    def clock_ms(self, now: float) -> int | None:
        """Milliseconds the seat to move has left; None if no clock runs."""
        request = self.open
        if self.phase is not Phase.RUNNING or request is None:
            return None
        away_ms = request.away_ms
        if request.lost_at is not None:
            away_ms += max(0, int((now - request.lost_at) * 1000))
        forgiven_ms = min(away_ms, self.clocks[self.position.to_move()].grace_ms) + request.kept_ms
        return min(request.limit_ms, max(0, request.limit_ms + forgiven_ms - int((now - request.at) * 1000)))

    def still_ms(self, now: float) -> int:
        """Milliseconds for which the clock of the seat to move stands still, if nothing happens meanwhile."""
        mover, request = self.to_move, self.open
        if mover is None:
            return 0
        grace_ms = 0 if self.connected[mover] else self.clocks[mover].grace_ms
        if request is None:  # it is asked after the pause, and its time away counts from then
            return max(0, round((self.asked_at - now) * 1000)) + grace_ms
        if request.lost_at is None:
            return 0
        return max(0, grace_ms - request.away_ms - int((now - request.lost_at) * 1000))

    def limit_ms(self, seat: int) -> int:
        """Milliseconds the next move of a seat may take."""
        return clock.limit_ms(self.terms, self.clocks[seat])


Step: TypeAlias = tuple[Match, tuple[Effect, ...]]


def start(position: Position, terms: Terms, at: float) -> Step:
    """Open a match: every seat is told and has `ready_ms` to get ready."""
    match = _opened(position, terms, at + terms.ready_ms / 1000)
    return match, (*(Announce(seat) for seat in range(position.game.players)), SetDeadline(match.deadline))


def resume(position: Position, played: Sequence[tuple[int, Timing]], terms: Terms, at: float) -> Step:
    """Open a match again that an earlier server left in play, at the position its record leads to.

    `played` has the seat and the timing of every action. Nobody is connected, and all have `resume_ms` to
    come back. No clock runs until everybody is ready; then the pending action is asked for with its full
    limit, so the outage is charged to nobody.
    """
    seats = position.game.players
    timings = [(seat, timing) for seat, timing in played if seat != CHANCE]
    last = dict(timings)
    match = replace(
        _opened(position, terms, at + terms.resume_ms / 1000),
        connected=(False,) * seats,
        clocks=clock.replay(terms, seats, timings),
        movers=tuple(seat for seat, _ in played),
        substituted=tuple(ply for ply, (_, timing) in enumerate(played) if timing.timed_out),
        last=tuple(last.get(seat) for seat in range(seats)),
        resumed=True,
    )
    return match, (SetDeadline(match.deadline),)


def _opened(position: Position, terms: Terms, deadline: float) -> Match:
    seats = position.game.players
    return Match(
        position,
        terms,
        Phase.STARTING,
        ready=(False,) * seats,
        connected=(True,) * seats,
        deadline=deadline,
        clocks=(clock.full(terms),) * seats,
        last=(None,) * seats,
    )
