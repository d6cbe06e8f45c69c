"""Whether a forfeit is the agent's own fault, by the numbers that the server itself has written down."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from agents.protocol import TimeControl
from games.protocol import CHANCE
from server.core import clock, fault
from server.core.match import Timing

ROUNDING_MS = 2
"""Refunds are whole milliseconds, each part rounded by itself."""

BY_TIME = frozenset({"timeout", "disconnect"})
FORFEITS = frozenset({"timeout", "disconnect", "illegal_action", "crash"})


@dataclass(frozen=True)
class Request:
    """A request that was answered too late, by an illegal action, or not at all."""

    seat: int
    ply: int
    received: bool
    at: float
    timing: Timing

    @property
    def handed_over_at(self) -> float:
        """Wall clock seconds."""
        return self.at - self.timing.elapsed_ms / 1000


@dataclass(frozen=True)
class Played:
    """A match as the database has it, its moves in their order."""

    row: Any
    seats: list[Any]
    moves: list[Any]

    @property
    def control(self) -> TimeControl:
        return msgspec.json.decode(self.row.time_control, type=TimeControl)

    @property
    def last_request(self) -> Request | None:
        """The request that was open at the end."""
        if self.row.last_request is None:
            return None
        said = json.loads(self.row.last_request)
        at = datetime.fromisoformat(said["at"]).timestamp()
        return Request(said["seat"], said["ply"], said["received"], at, _timing(said))

    def timed_out(self) -> Iterator[Request]:
        """The requests that lots were drawn for in the agent's place."""
        for move in self.moves:
            if move.timed_out:
                at = move.received_at.timestamp()
                yield Request(move.seat, move.ply, False, at, timing_of(move))


def timing_of(move: Any) -> Timing:
    """Return how a recorded move was timed."""
    return _timing({**move._mapping, "refunded_ms": move.elapsed_ms - move.charged_ms})


def _timing(values: dict[str, Any]) -> Timing:
    return msgspec.convert({name: values[name] for name in Timing.__struct_fields__}, Timing)


def wrong_in_forfeit(match: Played, seat: int, cause: str) -> Iterator[str]:
    """Say what speaks against a forfeit: each is a sentence that follows `seat N lost by CAUSE, yet`."""
    request = match.last_request
    if request is None:
        # A crash may come at any time, also while the opponent thinks.
        if cause != "crash":
            yield "the clock trace has no request that was open then"
        return
    if (request.seat, request.ply) != (seat, len(match.moves)):
        asked = f"the open request was for seat {request.seat}, ply {request.ply}"
        yield f"{asked}, after {len(match.moves)} moves"
        return
    yield from _wrong_numbers(match, request)
    if cause in BY_TIME:
        yield from _not_over(match, request)
        strikes = sum(move.timed_out for move in match.moves if move.seat == seat)
        if strikes != match.control.strikes:
            yield f"{strikes} of its {match.control.strikes} strikes were used"
    elif not request.received:
        yield "no answer was received"


def wrong_in_strike(match: Played, request: Request) -> Iterator[str]:
    """Say what speaks against a time-out that a random action was played for."""
    yield from _wrong_numbers(match, request)
    yield from _not_over(match, request)
    if match.control.strikes == 0:
        yield "the time control has no strikes"


def _wrong_numbers(match: Played, request: Request) -> Iterator[str]:
    """Hold the numbers of a request against the clock that the moves before it leave."""
    timing, control = request.timing, match.control
    seat_clock = _clock_before(match, request)
    limit_ms = clock.limit_ms(control, seat_clock)
    if timing.limit_ms != limit_ms:
        yield f"its limit was {timing.limit_ms} ms, and its moves leave it {limit_ms} ms"
    if timing.charged_ms != timing.elapsed_ms - timing.refunded_ms:
        yield f"{timing.elapsed_ms} - {timing.refunded_ms} ms is not the {timing.charged_ms} ms charged"
    if not 0 <= timing.lag_ms + timing.away_ms <= timing.refunded_ms <= timing.elapsed_ms:
        yield f"{timing.refunded_ms} ms were refunded of {timing.elapsed_ms} ms"
    trip_ms = 0 if timing.round_trip_ms is None else round(timing.round_trip_ms)
    due_ms = min(timing.elapsed_ms, timing.lag_ms + timing.away_ms + min(trip_ms, seat_clock.lag_ms))
    if abs(timing.refunded_ms - due_ms) > ROUNDING_MS:
        yield f"{timing.refunded_ms} ms were refunded, and {due_ms} ms were due"


def _clock_before(match: Played, request: Request) -> clock.Clock:
    moves = [(move.seat, timing_of(move)) for move in match.moves[: request.ply] if move.seat != CHANCE]
    return clock.replay(match.control, len(match.seats), moves)[request.seat]


def _not_over(match: Played, request: Request) -> Iterator[str]:
    """Say so if the agent's own time was not over."""
    timing, control = request.timing, match.control
    had = _clock_before(match, request)
    if not fault.overran(control, timing) and not fault.stayed_away(control, had, timing):
        over_ms = timing.limit_ms + control.margin_ms
        yield f"only {timing.charged_ms} ms of {over_ms} ms were charged, {timing.away_ms} ms away"
