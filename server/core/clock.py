"""The clocks of a match as values: what each seat has left, what a move may take, what it is charged.

Times are whole milliseconds. Three kinds of time are never charged, each measured by the server alone: its
own doing (a late loop, a database that let no agent come back), a short time without a connection (out of
the seat's `grace_ms`, which is filled once), and the way to the agent and back (out of its lag bank). So
`charged = elapsed - refunded`, with

    refunded = min(elapsed, lag + min(away, grace) + min(round trip, lag bank))
    lag bank = min(full, lag bank - what it gave + full / LAG_REGAIN)
    full     = min(lag_ms, time for a move)

whatever the agent says or does: nothing here depends on what it claims. The round trip is the one known
before the request went out, so nothing done meanwhile changes what this move is given.
"""

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from server.core.match_events import Timing

UNTIMED_MS = 60_000
"""The limit of a move where no clock runs: every match ends."""

MOVES_IN_A_BANK = 40
"""A bank is thought to last so many moves."""

LAG_REGAIN = 4
"""The lag bank is filled again by this part of it with every move."""


class Control(Protocol):
    """The time control of a match; see agents.protocol.TimeControl."""

    @property
    def move_ms(self) -> int:
        """Most that one move may take; 0 for no limit of its own."""

    @property
    def bank_ms(self) -> int:
        """Time for all moves together; 0 for none."""

    @property
    def increment_ms(self) -> int:
        """Added to the bank after each move."""

    @property
    def byoyomi_ms(self) -> int:
        """Time of a period for a move when the bank is empty."""

    @property
    def periods(self) -> int:
        """Periods at the start."""

    @property
    def strikes(self) -> int:
        """Time-outs that cost no game."""

    @property
    def lag_ms(self) -> int:
        """A full lag bank."""

    @property
    def grace_ms(self) -> int:
        """Time away that is forgiven."""


class Clock(Struct, frozen=True):
    """What a seat has left."""

    bank_ms: int
    periods: int
    strikes: int
    lag_ms: int
    grace_ms: int


def full(control: Control) -> Clock:
    """Return a seat's clock at the start."""
    return Clock(control.bank_ms, control.periods, control.strikes, _full_lag_ms(control), control.grace_ms)


def timed(control: Control) -> bool:
    """Whether a clock runs at all."""
    return control.move_ms > 0 or control.bank_ms > 0 or control.byoyomi_ms > 0


def limit_ms(control: Control, clock: Clock) -> int:
    """Return what the next move may take."""
    if not timed(control):
        return UNTIMED_MS
    if control.bank_ms == 0 and control.byoyomi_ms == 0:
        return control.move_ms
    left = clock.bank_ms + clock.periods * control.byoyomi_ms
    return min(left, control.move_ms) if control.move_ms > 0 else left


def allowance_ms(clock: Clock, round_trip_ms: float | None) -> int:
    """Return what the lag bank gives for a move over a line with this round trip."""
    return 0 if round_trip_ms is None else min(round(round_trip_ms), clock.lag_ms)


def after(control: Control, clock: Clock, timing: Timing) -> Clock:
    """Return the clock after a move that was timed so."""
    most = _full_lag_ms(control)
    clock = replace(
        clock,
        # Old records have refunds that no lag bank gave.
        lag_ms=max(0, min(most, clock.lag_ms - timing.trip_ms + most // LAG_REGAIN)),
        grace_ms=max(0, clock.grace_ms - timing.away_ms),
        strikes=clock.strikes - timing.timed_out,
    )
    if control.bank_ms == 0 and control.byoyomi_ms == 0:
        return clock
    over = timing.charged_ms - clock.bank_ms
    lost = max(0, -(-over // control.byoyomi_ms) - 1) if over > 0 and control.byoyomi_ms else 0
    # A margin that was used, or a strike, may go beyond the last period: it stays, as the least there is.
    periods = max(min(1, clock.periods), clock.periods - lost)
    return replace(clock, bank_ms=max(0, -over) + control.increment_ms, periods=periods)


def replay(control: Control, seats: int, moves: Iterable[tuple[int, Timing]]) -> tuple[Clock, ...]:
    """Return the clocks of all seats after these moves, each a seat and how its move was timed."""
    clocks = [full(control)] * seats
    for seat, timing in moves:
        clocks[seat] = after(control, clocks[seat], timing)
    return tuple(clocks)


def _full_lag_ms(control: Control) -> int:
    """Return a full lag bank: no more than a move's own time, so that no short limit is doubled for long."""
    if control.move_ms > 0:
        move_ms = control.move_ms
    elif control.bank_ms > 0:
        move_ms = control.bank_ms // MOVES_IN_A_BANK + control.increment_ms + control.byoyomi_ms
    else:
        move_ms = control.byoyomi_ms or UNTIMED_MS
    return min(control.lag_ms, move_ms)
