"""A client that does not read holds up nobody, and no clock."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from agents import protocol
from server import presence
from server.presence import Connection, Presence


def a_connection(socket: web.WebSocketResponse, transport: Any = None) -> Connection:
    return Connection(socket, transport, 1, "ada", 11, 1, False, ("tic_tac_toe",), 2, time.monotonic())


class Room:
    """One client that stops reading, and the connection to it."""

    def __init__(self) -> None:
        self.opened: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
        self.ended = asyncio.Event()

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(timeout=0.2, compress=False)
        await socket.prepare(request)
        self.opened.set_result(a_connection(socket, request.transport))
        try:
            async for _ in socket:
                pass
        finally:
            self.ended.set()
        return socket


@contextlib.asynccontextmanager
async def a_client_that_stopped_reading(room: Room) -> AsyncIterator[Connection]:
    app = web.Application()
    app.router.add_get("/", room.handle)
    async with (
        TestServer(app) as server,
        ClientSession() as session,
        session.ws_connect(server.make_url("/"), max_msg_size=0) as client,
    ):
        connection = await room.opened
        transport = client._response.connection.transport
        transport.pause_reading()
        yield connection
        transport.abort()


async def test_of_a_client_that_does_not_read_no_more_than_a_fixed_amount_is_kept():
    room = Room()
    async with a_client_that_stopped_reading(room) as connection:
        most = 0
        for _ in range(400):
            connection.post(protocol.Error("filler", "x" * 100_000))
            most = max(most, connection.transport.get_write_buffer_size())
        assert most < 2 * presence.MAX_UNREAD_BYTES
        async with asyncio.timeout(20):
            await room.ended.wait()
        connection.post(protocol.Ack(1, 0))  # to nobody, and nobody is hurt


async def test_a_client_that_reads_nothing_for_long_is_cut_off(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(presence, "STALLED_S", 0.3)
    monkeypatch.setattr(presence, "MAX_UNREAD_BYTES", 10**9)
    room = Room()
    async with a_client_that_stopped_reading(room) as connection:
        for _ in range(200):
            connection.post(protocol.Error("filler", "x" * 100_000))
        assert not room.ended.is_set()
        async with asyncio.timeout(20):
            await room.ended.wait()


async def test_a_client_that_reads_again_in_time_stays(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(presence, "STALLED_S", 0.3)
    room = Room()
    app = web.Application()
    app.router.add_get("/", room.handle)
    async with (
        TestServer(app) as server,
        ClientSession() as session,
        session.ws_connect(server.make_url("/"), max_msg_size=0) as client,
    ):
        connection = await room.opened
        connection.post(protocol.Error("filler", "x" * 500_000))
        assert (await client.receive_json())["code"] == "filler"
        await asyncio.sleep(0.6)
        connection.post(protocol.Ack(1, 0))
        assert (await client.receive_json())["type"] == "ack"


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


def test_a_ladder_has_those_that_ask_for_it_now():
    old, new = a_connection(object()), a_connection(object())  # type: ignore[arg-type]
    old.ladders, new.ladders = ("chess", "go", "go"), ("go", "hex")
    here = Presence()
    assert here.on_ladder("go") == []
    here.enter(old)
    assert here.on_ladder("go") == here.on_ladder("chess") == [old]
    here.enter(new)
    assert [here.on_ladder(name) for name in ("chess", "go", "hex")] == [[], [new], [new]]
    assert not here.leave(old)
    assert here.leave(new)
    assert [here.on_ladder(name) for name in ("chess", "go", "hex")] == [[], [], []]


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
