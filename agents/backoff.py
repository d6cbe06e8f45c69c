"""How long to wait before the next try: longer each time, and at random, so that not all come at once."""

import math
import random
import re

MOST_DOUBLINGS = 16

MOST_ASKED_MS = 86_400_000.0
"""A server that asks to wait longer, or for ever, is asked again after a day all the same."""

_SECONDS = re.compile(r"\b(?:possible|again) in (\d+) s\b")


class Backoff:
    """Exponential back-off with full jitter (Brooker, 2015): any time up to `first_ms` times 2, 4, 8 ...

    No pause is longer than `longest_ms`, unless the server asks for a longer one.
    """

    def __init__(self, first_ms: float, longest_ms: float, rng: random.Random) -> None:
        self._first_ms = first_ms
        self._longest_ms = longest_ms
        self._rng = rng
        self._failures = 0

    def reset(self) -> None:
        """Begin again with short pauses: the last try was a success."""
        self._failures = 0

    def pause_ms(self, asked_ms: float = 0.0, most_ms: float = math.inf) -> float:
        """Return the pause before the next try: up to `most_ms` more than the server asked for.

        What it asked for may be any number, also none at all; it counts from nothing to a day.
        """
        asked_ms = min(max(0.0, asked_ms), MOST_ASKED_MS)  # in this order NaN becomes 0
        grown_ms = self._first_ms * 2.0 ** min(self._failures, MOST_DOUBLINGS)
        most_ms = min(self._longest_ms, grown_ms, most_ms)
        self._failures += 1
        return asked_ms + self._rng.uniform(0.0, most_ms)


def asked_ms(text: str) -> float:
    """Return what a refusal asks to wait: `... is possible in 12 s`, or the seconds alone; 0 if nothing."""
    found = _SECONDS.search(text)
    seconds = text if text.strip().isdecimal() else found[1] if found else "0"
    return float(seconds) * 1000.0  # infinite, not an error, for a number of any length
