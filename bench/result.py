"""One row of bench/RESULTS.md."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """What was measured, once for each run; the runs of both sides of a ratio are interleaved.

    `unit` is `x` for a ratio. The median of `figures` must reach `goal`, or stay under it where `at_most`
    says so; without a goal it is only shown. `missing` names a tool that is not here, and so nothing was
    measured.
    """

    name: str
    figures: tuple[float, ...] = ()
    unit: str = "x"
    goal: float | None = None
    at_most: bool = False
    detail: str = ""
    missing: str = ""

    def __post_init__(self) -> None:
        if bool(self.figures) == bool(self.missing):
            raise ValueError(f"{self.name}: expected figures or the name of a missing tool, and not both")

    @property
    def median(self) -> float:
        """The middle figure."""
        return statistics.median(self.figures)

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None if there is none or nothing could be measured."""
        if self.goal is None or self.missing:
            return None
        return self.median <= self.goal if self.at_most else self.median >= self.goal


def rate(figures: Sequence[float]) -> str:
    """Write the middle one of some figures a second, for a row's detail: `3.76 M`, `188.6 k`."""
    middle = statistics.median(figures)
    return f"{middle / 1e6:.2f} M" if middle >= 1e6 else f"{middle / 1e3:.1f} k"
