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
    that. `striking` says that the time is over and lots are drawn for the action.
    """

    at: float
    limit_ms: int
    waited_ms: int = 0
    round_trip_ms: float | None = None
    lost_at: float | None = None
    away_ms: int = 0
    striking: bool = False


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
    def waits_for_absent(self) -> bool:
        """Whether what has to come next is for somebody without a connection."""
        if self.phase is Phase.STARTING:
            return not all(self.connected)
        return self.to_move is not None and not self.connected[self.to_move]

    def clock_ms(self, now: float) -> int | None:
        """Milliseconds the seat to move has left; None if no clock runs."""
        if self.phase is not Phase.RUNNING or self.open is None:
            return None
        return max(0, self.open.limit_ms - int((now - self.open.at) * 1000))

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
