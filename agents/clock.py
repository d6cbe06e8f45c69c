"""The clock: the only file of this folder that reads time or waits for it.

All times are monotonic; a step of the computer's wall clock changes nothing.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

Timer = Callable[[], float]
"""Answers the milliseconds since some fixed moment; never runs backwards."""


def now_ms() -> float:
    """Milliseconds on the monotonic clock."""
    return time.monotonic() * 1000.0


def wait(event: threading.Event, ms: float) -> bool:
    """Wait until `event` is set, at most `ms` milliseconds; tell whether it is."""
    return event.wait(max(0.0, ms) / 1000.0)


@dataclass(frozen=True)
class Clock:
    """What `choose(state, clock)` is told about time.

    `move_ms` is the limit for this move, `bank_ms` what is left in the bank for all moves, `increment_ms`
    what is added to it after each. The clock runs from the moment it is made.
    """

    move_ms: int
    bank_ms: int = 0
    increment_ms: int = 0
    timer: Timer = field(default=now_ms, repr=False, compare=False)
    started_ms: float = field(default=-1.0, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.started_ms < 0:
            object.__setattr__(self, "started_ms", self.timer())

    def elapsed_ms(self) -> float:
        """Milliseconds used for this move so far."""
        return self.timer() - self.started_ms

    def left_ms(self) -> float:
        """Milliseconds left for this move, at least 0."""
        return max(0.0, self.move_ms - self.elapsed_ms())


def search_ms(clock: Clock, reserve_ms: float, time_ms: float | None = None) -> float:
    """Return how long a search may take from the start of the clock, at most `time_ms` if it is given.

    `reserve_ms` is kept for the answer, on a short clock half of the limit.
    """
    limit = clock.move_ms - min(reserve_ms, clock.move_ms / 2)
    return limit if time_ms is None else min(limit, time_ms)
