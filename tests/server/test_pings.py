"""The server measures lines by pings of its own, over real sockets; liveness loses nobody a game."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, web
from aiohttp.test_utils import TestServer

from server import pings
from server.agent_socket import AgentSocket
from server.core import match as core
from server.core.round_trip import CAP_MS
from server.inbox import Flood, Inbox
from server.pings import Pings, is_awaited
from server.presence import Connection

PATIENCE_S = 60.0
DELAY_S = 0.6


class Room:
    """A server with one connection that is pinged. `now_s` is added to its clock."""

    def __init__(self, burst: float = 100) -> None:
        self.burst = burst
        self.busy = False
        self.ahead_s = 0.0
        self.behind_s = 0.0
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.flooded = False

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead_s

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        socket = AgentSocket(timeout=0.2, max_msg_size=1_000)
        await socket.prepare(request)
        assert request.transport is not None
        inbox = Inbox(socket, request, 0.001, self.burst, self.monotonic)
        self.inbox = inbox
        self.connection = Connection(
            socket, request.transport, 1, "ada", 11, 1, False, ("tic_tac_toe",), 2, time.monotonic()
        )
        self.pings = Pings(
            self.connection, inbox, lambda: self.busy, self.monotonic, lambda _at: self.behind_s
        )
        self.pings.start()
        self.begun.set()
        try:
            await inbox.listen(socket, lambda _text: None)
        except Flood:
            self.flooded = True
        finally:
            self.pings.stop()
            self.ended.set()
        return socket

    @property
    def round_trip_ms(self) -> float:
        assert self.connection.round_trip_ms is not None
        return self.connection.round_trip_ms

    async def measured(self, was: float | None = None) -> float:
        """Wait until the estimate is another one, and return it."""
        await until(lambda: self.connection.round_trip_ms != was)
        return self.round_trip_ms

    def ping_again(self) -> None:
        self.ahead_s += pings.APART_S
        self.connection.ping()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.005)


@contextlib.asynccontextmanager
async def joined(room: Room) -> AsyncIterator[ClientWebSocketResponse]:
    """A client that answers pings only where the test does."""
    app = web.Application()
    app.router.add_get("/", room.handle)
    async with (
        TestServer(app) as server,
        ClientSession() as session,
        session.ws_connect(server.make_url("/"), autoping=False) as client,
    ):
        await room.begun.wait()
        yield client
        room.connection.transport.abort()
        await room.ended.wait()


async def next_ping(client: ClientWebSocketResponse) -> bytes:
    async with asyncio.timeout(PATIENCE_S):
        frame = await client.receive()
    assert frame.type is WSMsgType.PING
    return bytes(frame.data)


async def test_a_line_is_measured_from_the_ping_to_the_receipt_of_its_pong():
    room = Room()
    async with joined(room) as client:
        payload = await next_ping(client)
        assert room.connection.round_trip_ms is None, "nothing is known before the first pong"
        await asyncio.sleep(DELAY_S)
        await client.pong(payload)
        assert await room.measured() >= DELAY_S * 1000
        room.ping_again()
        await client.pong(await next_ping(client))
        assert await room.measured(room.round_trip_ms) < DELAY_S * 1000


async def test_one_ping_is_out_at_a_time_and_they_keep_their_distance():
    room = Room()
    async with joined(room) as client:
        first = await next_ping(client)
        for _ in range(5):
            room.ping_again()
        await client.pong(first)
        await room.measured()
        for _ in range(5):
            room.connection.ping()
        second = await next_ping(client)
        assert second != first
        await client.pong(second)
        room.ahead_s += pings.APART_S / 2
        room.connection.ping()
        await client.ping(b"mark")
        assert (await client.receive()).type is WSMsgType.PONG, "no third ping came before"


async def test_no_other_pong_counts():
    room = Room()
    async with joined(room) as client:
        payload = await next_ping(client)
        for guess in (b"", b"x", payload[:-1], payload + b"x", bytes(len(payload))):
            await client.pong(guess)
        await client.ping(b"mark")
        assert (await client.receive()).data == b"mark"
        assert room.connection.round_trip_ms is None
        await client.pong(payload)
        known = await room.measured()
        room.ahead_s += 1.5
        await client.pong(payload)  # the same once more
        await client.ping(b"mark")
        await client.receive()
        assert room.round_trip_ms == known


async def test_a_pong_that_was_asked_for_is_no_message_and_any_other_is():
    room = Room(burst=10)
    async with joined(room) as client:
        for _ in range(30):
            await client.pong(await next_ping(client))
            await until(lambda: room.pings._payload is None)
            room.ping_again()
        assert not room.flooded
        for _ in range(30):
            await client.pong(b"unasked")
        await room.ended.wait()
        assert room.flooded


async def test_lateness_of_the_servers_loop_makes_no_line_long():
    room = Room()
    async with joined(room) as client:
        payload = await next_ping(client)
        room.behind_s = DELAY_S
        await asyncio.sleep(DELAY_S)
        await client.pong(payload)
        before_ms = await room.measured()
        room.behind_s = 0.0
        room.ping_again()
        payload = await next_ping(client)
        await asyncio.sleep(DELAY_S)
        await client.pong(payload)
        assert await room.measured(before_ms) > before_ms


async def test_however_late_a_pong_comes_the_line_is_no_longer_than_the_cap():
    room = Room()
    async with joined(room) as client:
        payload = await next_ping(client)
        room.ahead_s += 3600
        await client.pong(payload)
        assert await room.measured() == CAP_MS


async def test_a_connection_that_is_silent_though_pinged_is_cut(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pings, "LOOK_S", 0.05)
    room = Room()
    async with joined(room):
        async with asyncio.timeout(PATIENCE_S):
            await room.ended.wait()


async def test_an_agent_that_thinks_is_never_cut_and_its_silence_does_not_add_up(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(pings, "LOOK_S", 0.02)
    room = Room()
    room.busy = True
    looks: list[bool] = []
    look = Pings._look
    monkeypatch.setattr(Pings, "_look", lambda self: (looks.append(room.busy), look(self)))
    async with joined(room):
        await until(lambda: len(looks) > 5 * pings.SILENT_LOOKS)
        assert not room.ended.is_set()
        assert room.pings._silent_looks == 0
        room.busy = False
        await room.ended.wait()
        assert looks.count(False) == pings.SILENT_LOOKS


async def test_whoever_answers_or_says_anything_stays(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pings, "LOOK_S", 0.3)
    monkeypatch.setattr(pings, "APART_S", 0.0)
    room = Room()
    async with joined(room) as client:
        for _ in range(2 * pings.SILENT_LOOKS):
            await client.pong(await next_ping(client))
        assert not room.ended.is_set()
    assert room.pings._silent_looks == 0


async def test_a_server_that_stood_still_cuts_nobody_for_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pings, "LOOK_S", 0.2)
    room = Room()
    async with joined(room) as client:
        await client.pong(await next_ping(client))
        time.sleep(pings.LOOK_S * pings.SILENT_LOOKS * 2)
        await until(lambda: room.pings._silent_looks == 1)
        assert not room.ended.is_set()


def test_a_match_awaits_its_mover_and_before_that_those_who_are_not_ready(a_match: core.Match):
    assert is_awaited(a_match, 0)
    assert is_awaited(a_match, 1)
    waiting, _ = core.advance(a_match, core.Ready(0, 1.0))
    assert not is_awaited(waiting, 0)
    assert is_awaited(waiting, 1)
    running, _ = core.advance(waiting, core.Ready(1, 2.0))
    assert is_awaited(running, 0), "asked or about to be"
    assert not is_awaited(running, 1)


@pytest.fixture
def a_match() -> core.Match:
    import games  # noqa: PLC0415
    from games.position import Position  # noqa: PLC0415

    return core.start(Position.start(games.load("tic_tac_toe")), core.Terms(move_ms=1000), 0.0)[0]
