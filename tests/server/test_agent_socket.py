"""A frame is heard while it is read; what came before anybody listened comes first."""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st

from server import inbox
from server.agent_socket import AgentSocket, Masks
from server.app import loop_factory
from server.inbox import Flood, Inbox


class Ear:
    """A server whose handler lets what comes first wait for `begin`, and then listens."""

    def __init__(self, burst: float = 100) -> None:
        self.burst = burst
        self.sockets: list[AgentSocket] = []
        self.heard: list[bytes | None] = []
        self.begin = asyncio.Event()
        self.ended = asyncio.Event()
        self.error: Exception | None = None
        self.hear: Callable[[bytes | None], None] = self.heard.append

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        socket = AgentSocket(timeout=0.2, max_msg_size=1_000)
        await socket.prepare(request)
        self.sockets.append(socket)
        box = self.inbox = Inbox(socket, request, 1, self.burst, time.monotonic)
        await self.begin.wait()
        try:
            await box.listen(socket, lambda text: self.hear(text))  # noqa: PLW0108 - it changes
        except Exception as error:
            self.error = error
        finally:
            self.ended.set()
        return socket

    def server(self) -> TestServer:
        app = web.Application()
        app.router.add_get("/", self.handle)
        return TestServer(app)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.005)


async def test_what_came_before_anybody_listened_is_heard_first():
    ear = Ear()
    async with ear.server() as server, ClientSession() as session:
        socket = await session.ws_connect(server.make_url("/"))
        for text in ("one", "two"):
            await socket.send_str(text)
        await asyncio.sleep(0.05)
        ear.begin.set()
        await socket.send_str("three")
        await until(lambda: len(ear.heard) == 3)
        await socket.send_bytes(b"four")
        await socket.close()
        await ear.ended.wait()
    assert ear.heard == [b"one", b"two", b"three", None]
    assert ear.error is None


async def test_a_frame_is_heard_while_it_is_read_and_by_no_task():
    """The hook into aiohttp: if its parser or queue change, this is no longer so."""
    ear = Ear()
    ear.begin.set()
    tasks: list[object] = []
    async with ear.server() as server, ClientSession() as session:
        socket = await session.ws_connect(server.make_url("/"))
        ear.hear = lambda _text: tasks.append(asyncio.current_task())
        await asyncio.sleep(0.05)
        await socket.send_str("one")
        await until(lambda: tasks)
        await socket.close()
        await ear.ended.wait()
    assert tasks == [None]


@pytest.mark.parametrize("fault", [LookupError("a bug"), Flood(1, 1, 1)], ids=["a bug", "a flood"])
async def test_what_the_listener_raises_ends_the_listening_and_nothing_more_is_heard(fault: Exception):
    ear = Ear()
    ear.begin.set()
    heard = []

    def hear(text: bytes | None) -> None:
        heard.append(text)
        raise fault

    ear.hear = hear
    async with ear.server() as server, ClientSession() as session:
        socket = await session.ws_connect(server.make_url("/"))
        await asyncio.sleep(0.05)
        for _ in range(3):
            await socket.send_str("one")
        await until(ear.ended.is_set)
        await socket.close()
    assert ear.error is fault
    assert heard == [b"one"]


async def test_too_many_frames_are_a_flood_and_pings_are_answered_before_that():
    ear = Ear(burst=5)
    ear.begin.set()
    async with ear.server() as server, ClientSession() as session:
        socket = await session.ws_connect(server.make_url("/"), autoping=False)
        await socket.ping(b"here?")
        assert (await socket.receive()).data == b"here?"
        for _ in range(20):
            await socket.send_str("one")
        await until(ear.ended.is_set)
        await socket.close()
    assert isinstance(ear.error, Flood)
    assert len(ear.heard) <= 5


async def test_a_close_by_another_task_ends_the_listening():
    """As when the agent's next connection takes its place."""
    ear = Ear()
    ear.begin.set()
    async with ear.server() as server, ClientSession() as session:
        socket = await session.ws_connect(server.make_url("/"))
        await asyncio.sleep(0.05)
        await ear.sockets[0].close(code=1008, message=b"replaced")
        await until(ear.ended.is_set)
        assert (await socket.receive()).data == 1008
    assert ear.error is None


KEY = b"\x01\x02\x03\x04"


def client_frame(payload: bytes, *, masked: bool = True) -> bytes:
    """A text frame as a client sends it."""
    size = len(payload)
    length = bytes((size,)) if size < 126 else b"\x7e" + size.to_bytes(2)
    if not masked:
        return b"\x81" + length + payload
    body = bytes(byte ^ KEY[n % 4] for n, byte in enumerate(payload))
    return b"\x81" + bytes((length[0] | 0x80,)) + length[1:] + KEY + body


@contextlib.asynccontextmanager
async def raw_client(ear: Ear) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Bytes to a listening ear, after the handshake."""
    async with ear.server() as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        writer.write(
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        await reader.readuntil(b"\r\n\r\n")
        ear.begin.set()
        try:
            yield reader, writer
        finally:
            writer.transport.abort()
        await until(ear.ended.is_set)


async def stamps(pieces: list[bytes]) -> tuple[list[float], list[float]]:
    """Send pieces, each after the one before has come in; return when each came, and each frame's receipt."""
    ear = Ear()
    came: list[float] = []
    stamped: list[float] = []
    ear.hear = lambda _text: stamped.append(ear.inbox.heard_at)

    class Noted(inbox.Metered):
        def data_received(self, data: bytes) -> None:
            came.append(time.monotonic())
            super().data_received(data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inbox, "Metered", Noted)
        await send(ear, pieces, came)
    return came, stamped


async def send(ear: Ear, pieces: list[bytes], came: list[float]) -> None:
    async with raw_client(ear) as (_, writer):
        await until(lambda: ear.sockets and ear.sockets[0].frames.hear)
        for number, piece in enumerate(pieces, 1):
            writer.write(piece)
            await until(lambda number=number: len(came) >= number)
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("loop", [None, loop_factory()], ids=["asyncio", "the server's"])
def test_two_frames_in_one_segment_have_one_receipt(loop):
    with asyncio.Runner(loop_factory=loop) as runner:
        came, stamped = runner.run(stamps([client_frame(b"one") + client_frame(b"two")]))
    assert len(stamped) == 2
    assert stamped[0] == stamped[1] >= came[0]


@pytest.mark.parametrize("loop", [None, loop_factory()], ids=["asyncio", "the server's"])
def test_a_frame_in_two_segments_is_received_with_its_last_byte(loop):
    frame = client_frame(b"split in two")
    with asyncio.Runner(loop_factory=loop) as runner:
        came, stamped = runner.run(stamps([frame[:7], frame[7:-1], frame[-1:] + frame[:3]]))
    assert len(came) == 3
    [receipt] = stamped
    assert came[1] + 0.015 < came[2] <= receipt


async def test_a_big_frame_is_received_when_it_came_and_not_when_it_is_passed_on(
    monkeypatch: pytest.MonkeyPatch,
):
    """It is passed on in pieces, with turns of the loop for everybody else between them."""
    monkeypatch.setattr(inbox, "PIECE_BYTES", 50)
    passed: list[float] = []
    pass_on = inbox.Metered._pass_on

    def noted(self: inbox.Metered, piece: bytes) -> None:
        passed.append(time.monotonic())
        time.sleep(0.02)
        pass_on(self, piece)

    monkeypatch.setattr(inbox.Metered, "_pass_on", noted)
    _, [receipt] = await stamps([client_frame(b"x" * 300)])
    assert len(passed) == 7
    assert receipt <= passed[0]


@pytest.mark.parametrize("before", [[], [b"one"], [b"x" * 200, b"two"]])
@pytest.mark.parametrize("text", [b"bare", b"b" * 300])
async def test_a_frame_without_a_mask_ends_the_connection(before: list[bytes], text: bytes):
    ear = Ear()
    async with raw_client(ear) as (reader, writer):
        masked = b"".join(client_frame(one) for one in before)
        writer.write(masked + client_frame(text, masked=False))
        async with asyncio.timeout(10):
            answer = await reader.read()
        await ear.ended.wait()
    assert answer[:1] == b"\x88", "a close"
    assert int.from_bytes(answer[2:4]) == 1002
    assert text not in ear.heard


@given(
    st.lists(st.binary(max_size=300), max_size=6),
    st.integers(0, 6),
    st.lists(st.integers(1, 400), max_size=12),
    st.booleans(),
)
def test_wherever_the_segments_end_the_bare_frame_is_found(
    payloads: list[bytes], place: int, sizes: list[int], bare: bool
):
    frames = [client_frame(payload) for payload in payloads]
    if bare:
        frames.insert(place, client_frame(b"bare", masked=False))
    data, masks, held = b"".join(frames), Masks(), True
    for size in [*sizes, len(data)]:
        held = held and masks.hold(data[:size])
        data = data[size:]
    assert held is not bare
