"""A frame is heard while it is read; what came before anybody listened comes first."""

import asyncio
import time
from collections.abc import Callable

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from server.agent_socket import AgentSocket
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
        box = Inbox(socket, request, 1, self.burst, time.monotonic)
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


@pytest.mark.parametrize("fault", [LookupError("a bug"), Flood()], ids=["a bug", "a flood"])
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
