"""Connections that never ask for anything: whoever sends no whole request in time is cut off.

aiohttp waits for the first request for ever, so many silent or drop-by-drop connections would cost the server
all its file descriptors. Once a connection has asked, its handler or the keep-alive time limits it.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import structlog
from aiohttp import web

from server.http.errors import Handler

HEADERS_S = 15.0
"""Time for the first request line and its headers."""

LOOK_S = 2.0
KEEPALIVE_S = 75.0
"""How long a connection may be kept for its next request, headers included."""

log = structlog.get_logger()


class HalfOpen:
    """Knows since when each connection is open, and which of them have asked for something."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._since: dict[Any, float] = {}
        self._asked: set[Any] = set()

    def middleware(self) -> Any:
        """Return the middleware that notes who has asked; it stands before all others."""

        @web.middleware
        async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
            self._asked.add(request.protocol)
            return await handler(request)

        return note

    async def run(self, server: web.Server) -> None:
        """Look after the connections of a server until cancelled."""
        while True:
            await asyncio.sleep(LOOK_S)
            self.cut(server)

    def cut(self, server: web.Server) -> None:
        """Cut off those that have had their time, and forget those that are gone."""
        now, open_now = self._monotonic(), server.connections
        self._asked.intersection_update(open_now)
        silent = [connection for connection in open_now if connection not in self._asked]
        self._since = {connection: self._since.get(connection, now) for connection in silent}
        late = [connection for connection, since in self._since.items() if now - since >= HEADERS_S]
        for connection in late:
            connection.force_close()
        if late:
            log.info("connections.silent", cut=len(late))
