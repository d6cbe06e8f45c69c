"""The time of day, for records. Limits are measured by the monotonic clock alone."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class WallClock:
    """UTC that never goes back, so that records made one after the other have times in that order.

    `wall` gives seconds since the epoch, `monotonic` seconds that no one can set. Where the wall clock is
    set forward this one follows; where it is set back this one goes on from where it was.
    """

    def __init__(self, wall: Callable[[], float], monotonic: Callable[[], float]) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._time_s, self._at_s = wall(), monotonic()

    def now(self) -> datetime:
        """Return the time, with zone."""
        at_s = self._monotonic()
        self._time_s = max(self._wall(), self._time_s + at_s - self._at_s)
        self._at_s = at_s
        return datetime.fromtimestamp(self._time_s, UTC)

    def at(self, monotonic_s: float) -> datetime:
        """Return the time at an instant of the monotonic clock, by the clock as it is now."""
        now = self.now()
        return now - timedelta(seconds=self._at_s - monotonic_s)
