"""Answers in their turn: so few are in work at once that agents are heard between any two of them.

Rendering holds the event loop for some milliseconds. A hundred pages in one turn of the loop would make the
server late for everybody, and whoever asks for them would be refunded that lateness as a player.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web

from server.db.readers import BusyError
from server.http.endpoint import API
from server.http.errors import Handler
from server.http.security import address_of

AT_ONCE = 2
"""Two, so that one slow read of the database does not stop all others."""

LONGEST_S = 10.0
"""Whoever has waited so long for its turn is told to come again."""

BEGIN_AT_ONCE = 16
"""What takes no turn begins so many at a time: 2 or 3 ms of work, such as connections are accepted in."""

SOCKETS = frozenset({"/ws/agent", "/ws/watch"})
NO_TURN = frozenset({"/healthz", f"{API}/matches/{{id}}/events"})
"""Routes that take no turn, beside sockets: the server's health, and what goes on for long."""


class Turns:
    """Gives turns first come, first served, and one address after the other where several wait."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._free = at_once
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @contextlib.asynccontextmanager
    async def turn(self, address: str) -> AsyncIterator[None]:
        """Wait for a turn, and have it. Raises BusyError if none came within `LONGEST_S`."""
        await self._await_turn(address)
        try:
            await asyncio.sleep(0)  # others are heard before this one is rendered
            yield
        finally:
            self._pass_on()

    async def _await_turn(self, address: str) -> None:
        if self._free > 0:
            self._free -= 1
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(address, deque()).append(mine)
        try:
            done, _ = await asyncio.wait({mine}, timeout=LONGEST_S)
        except asyncio.CancelledError:
            if mine.done():  # the turn had just come
                self._pass_on()
            mine.cancel()
            raise
        if not done:
            mine.cancel()
            raise BusyError("answers_at_once", f"a turn within {LONGEST_S:g} s")

    def _pass_on(self) -> None:
        while self._waiting:
            address, queue = next(iter(self._waiting.items()))
            del self._waiting[address]
            following = queue.popleft()
            if queue:
                self._waiting[address] = queue  # behind the other addresses
            if not following.done():
                following.set_result(None)
                return
        self._free += 1

    def middleware(self) -> Any:
        """Return the middleware that gives each request its turn; it stands around the one of errors."""
        beginnings = Turns(BEGIN_AT_ONCE)

        @web.middleware
        async def take_turn(request: web.Request, handler: Handler) -> web.StreamResponse:
            if not needs_turn(request):
                async with beginnings.turn(address_of(request)):
                    pass  # others are heard meanwhile
                return await handler(request)
            async with self.turn(address_of(request)):
                return await handler(request)

        return take_turn


def needs_turn(request: web.Request) -> bool:
    """Whether a request waits for its turn. Not what has a body: it may be long in coming."""
    if request.method not in {"GET", "HEAD"} and request.path.startswith(f"{API}/"):
        return False
    resource = request.match_info.route.resource
    path = None if resource is None else resource.canonical
    if path in SOCKETS:
        return "Upgrade" not in request.headers  # it will be refused, and over
    return path not in NO_TURN
