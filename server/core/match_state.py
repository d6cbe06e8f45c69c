"""A match at an instant, as an immutable value; server.core.match says how it changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from games.position import Position
from games.protocol import CHANCE
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

    Limit for a move, margin, start-up allowance, pause between moves, and the time to come back after a
    restart of the server.
    """

    move_ms: int
    margin_ms: int = 200
    ready_ms: int = 10_000
    pace_ms: int = 0
    resume_ms: int = 60_000


class Match(Struct, frozen=True):
    """A match at an instant. Immutable.

    `asked` is the hand-over time of the request that waits for a reply; None while there is none.
    `movers` are the seats that made the actions so far, CHANCE for an outcome; `last` is each seat's
    previous timing. `resumed` says that an earlier server began the match.
    """

    position: Position
    terms: Terms
    phase: Phase
    ready: tuple[bool, ...]
    connected: tuple[bool, ...]
    deadline: float
    asked: float | None = None
    movers: tuple[int, ...] = ()
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

    def clock_ms(self, now: float) -> int | None:
        """Milliseconds the seat to move has left; None if no clock runs."""
        if self.phase is not Phase.RUNNING or self.asked is None:
            return None
        return max(0, self.terms.move_ms - int((now - self.asked) * 1000))


Step: TypeAlias = tuple[Match, tuple[Effect, ...]]


def start(position: Position, terms: Terms, at: float) -> Step:
    """Open a match: every seat is told and has `ready_ms` to get ready."""
    match = _opened(position, terms, at + terms.ready_ms / 1000)
    return match, (*(Announce(seat) for seat in range(position.game.players)), SetDeadline(match.deadline))


def resume(
    position: Position,
    movers: Sequence[int],
    last: Sequence[Timing | None],
    terms: Terms,
    at: float,
) -> Step:
    """Open a match again that an earlier server left in play, at the position its record leads to.

    Nobody is connected, and all have `resume_ms` to come back. No clock runs until everybody is ready; then
    the pending action is asked for with its full limit, so the outage is charged to nobody.
    """
    match = replace(
        _opened(position, terms, at + terms.resume_ms / 1000),
        connected=(False,) * position.game.players,
        movers=tuple(movers),
        last=tuple(last),
        resumed=True,
    )
    return match, (SetDeadline(match.deadline),)


def _opened(position: Position, terms: Terms, deadline: float) -> Match:
    seats = position.game.players
    nobody, everybody = (False,) * seats, (True,) * seats
    return Match(
        position, terms, Phase.STARTING, nobody, connected=everybody, deadline=deadline, last=(None,) * seats
    )
