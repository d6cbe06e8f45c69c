"""A client that does not read holds up nobody, and no clock."""

import asyncio
import time

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from agents import protocol
from server import presence
from server.presence import Connection, Presence


def a_connection(socket: web.WebSocketResponse) -> Connection:
    return Connection(socket, 1, "ada", 11, 1, False, ("tic_tac_toe",), 2, time.monotonic())


async def test_a_reader_that_reads_nothing_is_handed_over_to_at_once_and_cut_off(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(presence, "STALLED_S", 0.5)
    opened: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
    cut = asyncio.Event()

    async def handle(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(timeout=0.2, compress=False)
        await socket.prepare(request)
        connection = a_connection(socket)
        opened.set_result(connection)
        await connection.write_out()
        cut.set()
        return socket

    app = web.Application()
    app.router.add_get("/", handle)
    async with (
        TestServer(app) as server,
        ClientSession() as session,
        session.ws_connect(server.make_url("/"), max_msg_size=0) as client,
    ):
        connection = await opened
        transport = client._response.connection.transport
        transport.pause_reading()  # the client reads no more
        written = 0

        def count() -> None:
            nonlocal written
            written += 1

        for _ in range(400):
            connection.post(protocol.Error("filler", "x" * 100_000), count)
        async with asyncio.timeout(20):
            await cut.wait()
        assert written == 400
        connection.post(protocol.Ack(1, 0), count)
        assert written == 401
        transport.abort()


def test_the_newest_connection_is_the_agent():
    socket = object()
    first, second = a_connection(socket), a_connection(socket)  # type: ignore[arg-type]
    here = Presence()
    assert here.enter(first) is None
    assert here.enter(second) is first
    assert not here.leave(first)
    assert here.get(11) is second
    assert here.leave(second)
    assert here.get(11) is None


def test_hands_are_free_until_matches_take_them_or_the_agent_leaves():
    connection = a_connection(object())  # type: ignore[arg-type]
    connection.matches.add(3)
    assert connection.free() == 1
    connection.leaving = True
    assert connection.free() == 0


def test_another_version_takes_the_agents_place_but_not_the_old_ones_matches():
    old, new = a_connection(object()), a_connection(object())  # type: ignore[arg-type]
    new.version_id = 12
    here = Presence()
    here.enter(old)
    assert here.enter(new) is old
    assert here.get(11) is None
    assert here.get(12) is new
    assert list(here) == [new]
