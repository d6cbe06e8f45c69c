"""How fast one address is served: whoever asks faster waits for its turn, and is refused nothing.

It bounds what requests cost that no other limit counts: pages, files, what does not exist, and the refusals
themselves. The server's health has a pace of its own: no page asked for from an address keeps it waiting.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from aiohttp import web

from server.http.errors import Handler
from server.http.security import address_of

REQUESTS_A_SECOND = 500
"""More than a lecture hall needs, and far less than a core can answer."""

BURST_S = 6.0
"""Seconds' worth of requests that are served at once."""

LONGEST_S = 2.0
"""Nobody waits longer, however many ask from the same address."""

MAX_KEYS = 10_000
HEALTH = "/healthz"


class Pace:
    """When each address may be served next, or whatever else is counted by itself."""

    def __init__(self, requests_a_second: float, monotonic: Callable[[], float]) -> None:
        self._step_s = 1 / requests_a_second
        self._monotonic = monotonic
        self._due: dict[str, float] = {}

    def delay_s(self, key: str) -> float:
        """Count a request of an address; return how long it has to wait."""
        now = self._monotonic()
        due = max(self._due.pop(key, 0.0), now - BURST_S) + self._step_s
        self._due[key] = min(due, now + LONGEST_S)
        if len(self._due) > MAX_KEYS:
            self._due.pop(next(iter(self._due)))
        return max(0.0, self._due[key] - now)

    def middleware(self) -> Any:
        """Return the middleware that keeps the pace; it stands where the client's address is known."""

        @web.middleware
        async def keep_pace(request: web.Request, handler: Handler) -> web.StreamResponse:
            address = address_of(request)
            delay_s = self.delay_s(f"{address} {HEALTH}" if request.path == HEALTH else address)
            if delay_s > 0:
                await asyncio.sleep(delay_s)
            return await handler(request)

        return keep_pace
