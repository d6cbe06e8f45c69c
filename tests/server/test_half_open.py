"""Connections without a request are cut off in time, and no others."""

import asyncio

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.half_open import HEADERS_S, HalfOpen

PATIENCE_S = 30


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
async def place(clock):
    """A server, and what looks after its connections."""
    half_open, end = HalfOpen(clock), asyncio.Event()

    async def hello(_request):
        return web.Response(text="hello")

    async def long_poll(_request):
        await end.wait()
        return web.Response(text="at last")

    app = web.Application(middlewares=[half_open.middleware()])
    app.add_routes([web.get("/", hello), web.get("/long", long_poll)])
    server = TestServer(app)
    await server.start_server()
    yield server, half_open, end
    end.set()
    await server.close()


async def connect(server, sent):
    before = len(server.handler.connections)
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(sent)
    async with asyncio.timeout(PATIENCE_S):
        while len(server.handler.connections) == before:
            await asyncio.sleep(0.01)
    return reader, writer


async def is_cut(reader):
    """Whether the connection ends now; what was answered before is passed over."""
    try:
        async with asyncio.timeout(0.2):
            return await reader.read() == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"POST / HTTP/1.1\r\n"]
)
async def test_who_sends_no_whole_request_is_cut_off_in_time(place, clock, sent):
    server, half_open, _ = place
    reader, writer = await connect(server, sent)
    half_open.cut(server.handler)
    clock.now += HEADERS_S - 0.1
    half_open.cut(server.handler)
    assert not await is_cut(reader)
    writer.write(b"x")  # another drop is no request either
    clock.now += 0.1
    half_open.cut(server.handler)
    assert await is_cut(reader)
    writer.close()


async def test_who_has_asked_is_left_alone(place, clock):
    server, half_open, end = place
    reader, writer = await connect(server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    waiting, other = await connect(server, b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"200" in await reader.readline()
    await asyncio.sleep(0.05)
    for _ in range(3):
        clock.now += HEADERS_S
        half_open.cut(server.handler)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    async with asyncio.timeout(PATIENCE_S):
        await reader.readuntil(b"hello")
        await reader.readuntil(b"hello")
        end.set()
        await waiting.readuntil(b"at last")
    for each in (writer, other):
        each.close()


async def test_connections_that_are_gone_are_forgotten(place, clock):
    server, half_open, _ = place
    _, silent = await connect(server, b"")
    _, asking = await connect(server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await asyncio.sleep(0.05)
    half_open.cut(server.handler)
    assert (len(half_open._since), len(half_open._asked)) == (1, 1)
    silent.close()
    asking.close()
    async with asyncio.timeout(PATIENCE_S):
        while server.handler.connections:
            await asyncio.sleep(0.01)
    half_open.cut(server.handler)
    assert (half_open._since, half_open._asked) == ({}, set())
