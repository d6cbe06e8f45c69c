"""Files of lateness: one process writes a line for each deadline, another reads those of a stretch of time.

A line has two numbers in seconds: the instant on the system's monotonic clock, which all processes share, and
how late that was.
"""

import math
import os
from collections.abc import Sequence
from pathlib import Path


class Trace:
    """Writes a file of lateness, each line at once, as long as the process lives."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)

    def note(self, at: float, late_s: float) -> None:
        """Write a line."""
        os.write(self._file, f"{at:.6f} {late_s:.6f}\n".encode())


def read_ms(path: Path, since: float, until: float) -> list[float]:
    """Return in milliseconds, sorted, how late the deadlines of a stretch of time were."""
    lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
    pairs = (line.split() for line in lines if line.count(" ") == 1)
    return sorted(float(late_s) * 1000 for at, late_s in pairs if since <= float(at) < until)


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Return the smallest figure that so many per cent do not exceed."""
    if not ordered:
        raise ValueError("expected figures, got none")
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def in_words(ordered: Sequence[float]) -> str:
    """Say p50, p99 and p99.9 of figures in milliseconds."""
    return "/".join(f"{percentile(ordered, percent):.2f}" for percent in (50, 99, 99.9)) + " ms"
