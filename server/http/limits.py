"""How often one address, or one agent, may do something: a token bucket for each, in bounded memory."""

import math
from datetime import datetime

from server.http.errors import LimitReachedError

MAX_KEYS = 10_000
"""Keys remembered at once; the one that was quiet longest is forgotten first."""


class RateLimit:
    """`count` events for each key at once, refilled evenly over `period_s` seconds."""

    def __init__(self, name: str, *, count: int, period_s: float) -> None:
        self.name = name
        self.count = count
        self.period_s = period_s
        self._left: dict[str, tuple[float, datetime]] = {}

    def spend(self, key: str, now: datetime) -> None:
        """Count one event. Raises LimitReachedError, with the seconds to wait, when none is left."""
        left, seen = self._left.pop(key, (float(self.count), now))
        passed_s = max(0.0, (now - seen).total_seconds())
        left = min(self.count, left + passed_s * self.count / self.period_s)
        allowed = left >= 1
        self._left[key] = (left - 1 if allowed else left, now)
        if len(self._left) > MAX_KEYS:
            self._left.pop(next(iter(self._left)))
        if not allowed:
            wait_s = math.ceil((1 - left) * self.period_s / self.count)
            raise LimitReachedError(self.name, f"{self.count} in {self.period_s:g} s", max(1, wait_s))
