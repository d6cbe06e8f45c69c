"""A connection sends no more than it may, whatever its frames are made of."""

import asyncio
import time
from collections.abc import Callable

import pytest
from aiohttp import ClientSession, WSMsgType, web
from aiohttp.test_utils import TestServer

from server import inbox
from server.app import loop_factory
from server.inbox import BadFrameError, Bucket, Flood, Inbox


def test_a_bucket_lends_and_says_when_the_debt_is_paid():
    bucket = Bucket(rate=10, burst=20, now=0.0)
    assert bucket.take(20, 0.0) == 0
    assert bucket.take(5, 0.0) == 0.5
    assert bucket.take(0, 0.5) == 0
    bucket.give_back(100)
    assert bucket.take(20, 0.5) == 0
    assert bucket.take(1, 0.5) > 0


class Room:
    """A server whose handler reads one inbox and notes what came."""

    def __init__(self, rate: float = 5, burst: float = 10) -> None:
        self.rate, self.burst = rate, burst
        self.heard: list[str] = []
        self.ended = asyncio.Event()

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(timeout=0.2, autoping=False, compress=False, decode_text=False)
        await socket.prepare(request)
        box = Inbox(socket, request, self.rate, self.burst, time.monotonic)
        try:
            while True:
                try:
                    text = await box.text()
                except BadFrameError:
                    text = b"(binary)"
                if text is None:
                    break
                self.heard.append(text.decode())
        except Flood:
            self.heard.append("(flood)")
        self.ended.set()
        return socket

    def server(self) -> TestServer:
        app = web.Application()
        app.router.add_get("/", self.handle)
        return TestServer(app)


async def test_text_binary_and_pings_are_told_apart():
    room = Room()
    async with room.server() as server, ClientSession() as session:
        socket = await session.ws_connect(server.make_url("/"), autoping=False)
        await socket.send_str("one")
        await socket.send_bytes(b"two")
        await socket.ping(b"three")
        assert (await socket.receive()).type is WSMsgType.PONG
        await socket.close()
        await room.ended.wait()
    assert room.heard == ["one", "(binary)"]


@pytest.mark.parametrize("kind", ["text", "ping", "pong"])
async def test_every_kind_of_frame_counts_as_a_message(kind: str):
    room = Room()
    async with room.server() as server, ClientSession() as session:
        socket = await session.ws_connect(server.make_url("/"), autoping=False)
        send = {"text": lambda: socket.send_str("x"), "ping": socket.ping, "pong": socket.pong}[kind]
        for _ in range(30):
            await send()
        async with asyncio.timeout(10):
            await room.ended.wait()
        await socket.close()
    assert room.heard[-1] == "(flood)"
    assert len(room.heard) <= 12


@pytest.mark.parametrize("loop", [None, loop_factory()], ids=["asyncio", "the server's"])
def test_frames_that_make_no_message_are_read_no_faster_than_allowed(
    monkeypatch: pytest.MonkeyPatch, loop: Callable[[], asyncio.AbstractEventLoop] | None
):
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(send_empty_fragments(monkeypatch))


async def send_empty_fragments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "BYTES_A_SECOND", 100_000)
    monkeypatch.setattr(inbox, "BURST_BYTES", 100_000)
    taken: list[float] = []
    take = Bucket.take

    def noted(self: Bucket, amount: float, now: float) -> float:
        taken.append(amount)
        return take(self, amount, now)

    monkeypatch.setattr(Bucket, "take", noted)
    room = Room()
    async with room.server() as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(
            b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        await reader.readuntil(b"\r\n\r\n")
        empty_fragment = b"\x01\x80\x00\x00\x00\x00"
        more = b"\x00\x80\x00\x00\x00\x00" * 200_000
        writer.write(empty_fragment + more)
        await asyncio.sleep(0.5)
        assert 100_000 <= sum(taken) < 400_000  # of 1.2 MB: the burst, and what the time allows
        writer.transport.abort()
