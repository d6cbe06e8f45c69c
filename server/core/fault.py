"""Whose fault it was that a reply was late or never came: one rule, for all who look at recorded times.

The referee ends a match by its deadline; `plyground doctor`, the verdict and the tests hold what was written
down then against this.
"""

from typing import Protocol

from server.core import clock
from server.core.clock import Clock
from server.core.match_clock import ABSENT_S
from server.core.match_events import Timing

ROUNDING_MS = 1
"""Recorded times are whole milliseconds of instants that were compared to the microsecond."""


class Control(clock.Control, Protocol):
    """The time control of a match, with what a reply may be late; see agents.protocol.TimeControl."""

    @property
    def margin_ms(self) -> int:
        """A reply so much after its limit still counts."""


def overran(control: Control, timing: Timing) -> bool:
    """Whether an agent used up its limit and the margin, not counting what was refunded."""
    return timing.charged_ms + ROUNDING_MS >= timing.limit_ms + control.margin_ms


def stayed_away(control: Control, had: Clock, timing: Timing) -> bool:
    """Whether an agent without a connection was waited for as long as it must be.

    `had` is what its seat had left before the request: all of its grace must be used up, and then its limit
    or the time for the absent. Where no clock runs, the grace is all there is.
    """
    if timing.away_ms + ROUNDING_MS < had.grace_ms:
        return False
    waited_ms = timing.charged_ms + timing.trip_ms + ROUNDING_MS
    return overran(control, timing) or not clock.timed(control) or waited_ms >= ABSENT_S * 1000
