"""The address of a client behind proxies: believed as far as there are trusted ones, and no further."""

from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from server.http.proxy import proxy_middleware


async def seen(request: web.Request) -> web.StreamResponse:
    return web.Response(text=str(request.remote))


async def echo(request: web.Request) -> web.StreamResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    await socket.send_str(str(request.remote))
    await socket.close()
    return socket


@pytest.fixture
async def client() -> AsyncIterator[Callable]:
    """A client of a server behind so many trusted proxies."""
    made = []

    async def make(hops: int) -> TestClient:
        app = web.Application(middlewares=[proxy_middleware(hops)])
        app.add_routes([web.get("/", seen), web.get("/ws", echo)])
        made.append(TestClient(TestServer(app)))
        await made[-1].start_server()
        return made[-1]

    yield make
    for one in made:
        await one.close()


@pytest.mark.parametrize(
    ("hops", "header", "address"),
    [
        (0, None, "127.0.0.1"),
        (0, "203.0.113.7", "127.0.0.1"),
        (1, "203.0.113.7", "203.0.113.7"),
        (1, "10.9.9.9, 203.0.113.7", "203.0.113.7"),
        (2, "10.9.9.9, 203.0.113.7,198.51.100.2", "203.0.113.7"),
        (2, "203.0.113.7", "127.0.0.1"),
        (1, None, "127.0.0.1"),
        (1, "2001:db8::7", "2001:db8::7"),
    ],
)
async def test_the_last_entries_are_the_proxies_own(hops, header, address, client):
    behind = await client(hops)
    headers = {} if header is None else {"X-Forwarded-For": header}
    answer = await behind.get("/", headers=headers)
    assert await answer.text() == address


async def test_several_headers_are_one_list(client):
    behind = await client(1)
    headers = [("X-Forwarded-For", "10.9.9.9"), ("X-Forwarded-For", "203.0.113.7")]
    assert await (await behind.get("/", headers=headers)).text() == "203.0.113.7"


async def test_a_socket_too_has_the_clients_address(client):
    behind = await client(1)
    async with behind.ws_connect("/ws", headers={"X-Forwarded-For": "203.0.113.7"}) as socket:
        assert await socket.receive_str() == "203.0.113.7"
