"""Connections as a real server has them: what each does, the door knows, and bad requests are answered."""

import asyncio
import contextlib
import json
from collections import Counter
from types import SimpleNamespace

import pytest
import structlog
from aiohttp import web

from server import app as composition
from server.door import HEADERS_S, STALLED_S, Door, Rules
from server.entrance import Entrance
from server.http import middlewares
from server.visitor import MAX_HEAD_BYTES, Visitor, door_middleware

PATIENCE_S = 30
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Clock:
    now = 0.0

    def __call__(self):
        return self.now

    async def tick(self):
        while True:
            self.now += 0.01
            await asyncio.sleep(0.001)


class Place:
    """A server behind a door."""

    def __init__(self):
        self.clock, self.cut = Clock(), Counter()
        self.files = 100_000
        self.end = asyncio.Event()
        self.door = Door(Rules(0), lambda: self.files, self.clock, lambda reason: self.cut.update([reason]))
        app = web.Application(middlewares=[door_middleware(self.door), *middlewares()])
        app.add_routes(
            [
                web.get("/", self.hello),
                web.get("/long", self.long),
                web.get("/big", self.big),
                web.post("/read", self.read),
            ]
        )
        self.runner = web.AppRunner(app, shutdown_timeout=0.1)

    async def hello(self, _request):
        return web.Response(text="hello")

    async def long(self, _request):
        await self.end.wait()
        return web.Response(text="at last")

    async def big(self, _request):
        return web.Response(body=bytes(20_000_000))

    async def read(self, request):
        return web.Response(text=str(len(await request.read())))

    async def __aenter__(self):
        self.listener = composition.listen(SimpleNamespace(host="127.0.0.1", port=0))
        await self.runner.setup()
        hosts = self.runner.server
        self.entrance = Entrance(self.listener, self.door, lambda peer: Visitor(hosts, self.door, peer))
        self.entrance.open()
        return self

    async def __aexit__(self, *_exc):
        self.end.set()
        self.entrance.close()
        await self.runner.cleanup()
        self.listener.close()

    @property
    def port(self):
        return self.listener.getsockname()[1]

    async def connect(self, sent=b""):
        """Open a connection, and wait until it is inside."""
        before = len(self.runner.server.connections)
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(sent)
        await until(lambda: len(self.runner.server.connections) > before)
        return reader, writer


async def until(what):
    async with asyncio.timeout(PATIENCE_S):
        while not what():
            await asyncio.sleep(0.01)


@pytest.fixture
async def place():
    async with Place() as made:
        yield made


async def await_cut(reader):
    """Wait for the connection's end; what was answered before is passed over."""
    async with asyncio.timeout(PATIENCE_S):
        with contextlib.suppress(ConnectionError):
            await reader.read()


async def assert_stays(reader):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await reader.read()


async def answer(reader):
    """The head of an answer in text, and its body."""
    async with asyncio.timeout(PATIENCE_S):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        size = next(line for line in head.lower().splitlines() if line.startswith("content-length:"))
        return head, await reader.readexactly(int(size.partition(":")[2]))


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"POST / HTTP/1.1\r\n"]
)
async def test_who_sends_no_whole_request_is_cut_off_in_time(place, sent):
    reader, writer = await place.connect(sent)
    place.clock.now += HEADERS_S - 0.1
    place.door.sweep()
    await assert_stays(reader)
    writer.write(b"x")  # another drop is no request either
    place.clock.now += 0.1
    place.door.sweep()
    await await_cut(reader)
    assert place.cut == {"no_request": 1}
    writer.close()


async def test_who_has_asked_is_left_alone(place):
    reader, writer = await place.connect(GET)
    waiting, other = await place.connect(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"hello" in (await answer(reader))[1]
    await until(lambda: not place.door._mute)
    place.clock.now += 3 * HEADERS_S
    place.door.sweep()
    writer.write(GET)
    assert b"hello" in (await answer(reader))[1]
    place.end.set()
    assert b"at last" in (await answer(waiting))[1]
    for each in (writer, other):
        each.close()


async def test_when_room_is_short_the_one_being_served_stays_and_the_silent_go(place):
    place.files = 160  # 64 silent ones at most, 32 an address
    waiting, other = await place.connect(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
    await until(lambda: not place.door._silent)
    ticking = asyncio.create_task(place.clock.tick())
    crowd = [await asyncio.open_connection("127.0.0.1", place.port) for _ in range(200)]
    reader, writer = await asyncio.open_connection("127.0.0.1", place.port)
    writer.write(GET)
    assert b"hello" in (await answer(reader))[1]
    place.end.set()
    assert b"at last" in (await answer(waiting))[1]
    assert place.cut["silent_address"] >= 100
    ticking.cancel()
    for each in (writer, other, *(line for _, line in crowd)):
        each.transport.abort()


async def test_a_body_drop_by_drop_is_silent_until_it_is_whole(place):
    reader, writer = await place.connect(
        b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na",
    )
    visitor = place.runner.server.connections[0]
    await until(lambda: visitor not in place.door._mute)
    assert visitor in place.door._silent
    writer.write(b"bc")
    assert (await answer(reader))[1] == b"3"
    writer.close()


async def test_who_does_not_read_its_answer_is_cut_in_time(place):
    reader, writer = await place.connect(b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n")
    await until(lambda: place.door._stalled)
    place.clock.now += STALLED_S
    place.door.sweep()
    assert place.cut == {"does_not_read": 1}
    received = b""
    async with asyncio.timeout(PATIENCE_S):
        with contextlib.suppress(ConnectionError):
            received = await reader.read()
    assert len(received) < 20_000_000
    writer.close()


async def test_connections_that_are_gone_are_forgotten(place):
    _, silent = await place.connect()
    reader, asking = await place.connect(GET)
    await answer(reader)
    silent.close()
    asking.close()
    await until(lambda: not place.runner.server.connections)
    door = place.door
    assert [door._inside, door._silent, door._silent_at, door._mute] == [set(), {}, {}, {}]


MALFORMED = {
    "no HTTP": (b"hello\r\n\r\n", 400, "malformed_request"),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, "malformed_request"),
    "a broken header": (b"GET / HTTP/1.1\r\nHost x\r\n\r\n", 400, "malformed_request"),
    "two lengths": (
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        400,
        "malformed_request",
    ),
    "a long header": (b"GET / HTTP/1.1\r\nX: " + b"y" * 9_000, 431, "headers_too_large"),
    "a long line": (b"GET /" + b"y" * 9_000, 431, "headers_too_large"),
    "many headers": (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200, 431, "headers_too_large"),
    "large headers": (
        b"GET / HTTP/1.1\r\n" + (b"X: " + b"y" * 8_000 + b"\r\n") * 5,
        431,
        "headers_too_large",
    ),
}


@pytest.mark.parametrize(("sent", "status", "code"), MALFORMED.values(), ids=MALFORMED)
async def test_what_is_no_request_is_answered_as_a_problem_and_logged_as_no_fault(
    place, sent, status, code, caplog
):
    with structlog.testing.capture_logs() as logs:
        reader, writer = await place.connect(sent)
        head, body = await answer(reader)
        assert f" {status} " in head.splitlines()[0]
        assert "application/problem+json" in head
        assert "nosniff" in head
        problem = json.loads(body)
        assert (problem["status"], problem["code"]) == (status, code)
        await await_cut(reader)
    assert {entry["log_level"] for entry in logs} <= {"info", "debug"}
    assert not caplog.records
    assert place.cut.total() == 1
    writer.close()


async def test_headers_below_the_limit_are_read(place):
    lines = (b"X: " + b"y" * 4_000 + b"\r\n") * (MAX_HEAD_BYTES // 4_100 - 1)
    reader, writer = await place.connect(b"GET / HTTP/1.1\r\nHost: x\r\n")
    for at in range(0, len(lines), 1_000):
        writer.write(lines[at : at + 1_000])
    writer.write(b"\r\n")
    assert b"hello" in (await answer(reader))[1]
    writer.close()


async def test_a_large_body_is_no_header(place):
    reader, writer = await place.connect(b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n")
    for _ in range(20):
        writer.write(bytes(10_000))
        await asyncio.sleep(0.001)
    assert (await answer(reader))[1] == b"200000"
    writer.write(GET)
    assert b"hello" in (await answer(reader))[1]
    writer.close()


@pytest.mark.parametrize("path", [b"/", b"/read"])
async def test_nonsense_for_chunks_is_no_fault_of_ours(place, path, caplog):
    with structlog.testing.capture_logs() as logs:
        method = b"POST" if path == b"/read" else b"GET"
        head = method + b" " + path + b" HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        reader, writer = await place.connect(head)
        writer.write(b"zz\r\nnonsense\r\n")
        async with asyncio.timeout(PATIENCE_S):
            await reader.read()
    assert not [entry for entry in logs if entry["log_level"] == "error"]
    assert not caplog.records
    writer.close()


async def test_requests_one_after_another_are_all_answered(place):
    reader, writer = await place.connect(GET * 200)
    for _ in range(200):
        assert (await answer(reader))[1] == b"hello"
    writer.close()
