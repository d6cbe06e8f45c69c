"""Whether the server is about to stop: it begins nothing new, and what runs may end."""

import math
from collections.abc import Callable

from games.errors import InputError


class Stopping:
    """Says whether the server is stopping, and how long it goes on. Times in seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._until: float | None = None

    def begin(self, drain_s: float) -> None:
        """Stop in `drain_s` at the latest."""
        self._until = self._monotonic() + drain_s

    def left_s(self) -> float | None:
        """Return how long the server goes on; None if it is not about to stop."""
        return None if self._until is None else max(0.0, self._until - self._monotonic())

    def check(self) -> None:
        """Raise InputError (`server_stopping`) if it is too late to come in."""
        left_s = self.left_s()
        if left_s is not None:
            raise InputError(
                "server_stopping",
                expected="a server that goes on",
                got=f"one that stops within {math.ceil(left_s)} s; come again after its next start",
                where="hello",
            )
