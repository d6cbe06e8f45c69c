"""The axis of a standings table: where a rating stands between the lowest and the highest."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Tick:
    """A rating on the axis: its label and its place in percent of the width."""

    label: str
    x: float


@dataclass(frozen=True)
class Scale:
    """Ratings from `low` to `high`, in Elo, with a tick every `step`."""

    low: float
    high: float
    step: int

    def x(self, rating: float) -> float:
        """Return the place of a rating, in percent of the width."""
        return round(100 * (rating - self.low) / (self.high - self.low), 2)

    @property
    def ticks(self) -> list[Tick]:
        """Round ratings inside the scale."""
        first = math.ceil(self.low / self.step) * self.step
        return [Tick(str(value), self.x(value)) for value in range(first, int(self.high) + 1, self.step)]


def scale_for(ratings: Iterable[float]) -> Scale:
    """Return a scale that holds all ratings, with room at both ends and three to five ticks."""
    known = list(ratings) or [1500.0]
    low, high = min(known), max(known)
    step = next(step for step in (50, 100, 200, 500, 1000, 100_000) if (high - low) / step <= 3)
    return Scale(low - step / 2, high + step / 2, step)
