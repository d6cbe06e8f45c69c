"""A time by which something must have happened."""

import asyncio
from collections.abc import Callable

DRAIN_STEPS = 4
"""Steps of the event loop between the timer and its effect: frames already in go first."""


class Deadline:
    """Calls `passed` when the time set last has come.

    A deadline mostly moves on before it comes. So its timer is left alone where it comes early, and set
    again only then: that is once in a while and not with every move.
    """

    def __init__(self, monotonic: Callable[[], float], passed: Callable[[], None]) -> None:
        self._monotonic = monotonic
        self._passed = passed
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0

    def set(self, at: float) -> None:
        """Move the deadline to a time of the monotonic clock."""
        self._due = at
        if self._timer is None or self._timer_at > at:
            self.cancel()
            self._set_timer()

    def cancel(self) -> None:
        """Wait for nothing any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def end(self) -> None:
        """Wait for nothing ever, and hold on to nobody: what would be called mostly holds this."""
        self.cancel()
        self._passed = _nothing

    def _set_timer(self) -> None:
        self._timer_at = self._due
        delay_s = max(0.0, self._due - self._monotonic())
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._wake)

    def _wake(self) -> None:
        if self._due > self._timer_at:
            self._set_timer()
        else:
            self._timer = None
            self._drain(DRAIN_STEPS)

    def _drain(self, steps: int) -> None:
        if steps > 0:
            asyncio.get_running_loop().call_soon(self._drain, steps - 1)
        else:
            self._passed()


def _nothing() -> None:
    """Stand for what was to be called."""
