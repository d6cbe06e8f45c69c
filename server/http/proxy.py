"""Clients behind a proxy: their own address in place of the proxy's."""

from typing import Any

from aiohttp import web

from server.http.errors import Handler

HEADER = "X-Forwarded-For"


def proxy_middleware(hops: int) -> Any:
    """Return the middleware that takes a client's address from X-Forwarded-For, `hops` entries from its end.

    Each trusted proxy adds the address that it saw at the end; whatever stands before may be invented. With 0
    hops the header is not believed, and a request with fewer entries keeps the address of its connection.
    """

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        seen = [entry.strip() for line in request.headers.getall(HEADER, []) for entry in line.split(",")]
        if 0 < hops <= len(seen):
            request = request.clone(remote=seen[-hops])
        return await handler(request)

    return middleware
