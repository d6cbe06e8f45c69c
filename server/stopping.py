"""Whether the server is about to stop: it begins nothing new, and what runs may end."""

import asyncio
import math
import os
import signal
import threading
from collections.abc import Callable

from games.errors import InputError

STOP_S = 4.5
"""How long a stop in good order may take, beside the time that running matches are given."""


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
            )


class StopSignals:
    """Waits for a signal: SIGTERM lets matches go on for a while, SIGINT (Ctrl-C) does not."""

    def __init__(self, drain_s: float) -> None:
        self._asked = asyncio.Event()
        self._drain_s = {signal.SIGINT: 0.0, signal.SIGTERM: drain_s}
        self.drain_s = 0.0
        for number in self._drain_s:
            asyncio.get_running_loop().add_signal_handler(number, self._ask, number)

    def _ask(self, number: signal.Signals) -> None:
        """Stop in good order; at once if asked a second time, or if good order takes too long."""
        if self._asked.is_set():
            os._exit(1)
        self.drain_s = self._drain_s[number]
        self._asked.set()
        impatience = threading.Timer(self.drain_s + STOP_S, os._exit, (1,))
        impatience.daemon = True
        impatience.start()

    async def wait(self) -> None:
        """Return when asked to stop."""
        await self._asked.wait()
