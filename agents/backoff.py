"""How long to wait before the next try: longer each time, and at random, so that not all come at once."""

import math
import random
import re

MOST_DOUBLINGS = 16
_SECONDS = re.compile(r"\b(?:possible|again) in (\d{1,6}) s\b")


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
        """Return the pause before the next try: up to `most_ms` more than the server asked for."""
        grown_ms = self._first_ms * 2.0 ** min(self._failures, MOST_DOUBLINGS)
        most_ms = min(self._longest_ms, grown_ms, most_ms)
        self._failures += 1
        return asked_ms + self._rng.uniform(0.0, most_ms)


def asked_ms(text: str) -> float:
    """Return what a refusal asks to wait: `... is possible in 12 s`, or the seconds alone; 0 if nothing."""
    if text.strip().isdecimal():
        return int(text) * 1000.0
    found = _SECONDS.search(text)
    return int(found[1]) * 1000.0 if found else 0.0
