"""Crowds, drips and bombs: others play on as if nobody else were there."""

import base64
import contextlib
import json
import os
import resource
import socket as sockets
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import psutil
import pytest
from harness import QUIET, Server, SteadyAgent, wait_for

from server.db import agents
from server.db.engine import Database

MakeServer = Callable[..., Server]

KEY = base64.b64encode(os.urandom(16)).decode()
SPARE_FILES = 300
CROWD = 1_000

TIMES_SLOWER = 5.0
"""What the neighbours may cost on two cores that run tests beside; without protection it is hundreds."""


def handshake(path: str, token: str = "", extra: str = "") -> bytes:
    bearer = f"Authorization: Bearer {token}\r\n" if token else ""
    return (
        f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n{bearer}{extra}\r\n"
    ).encode()


def frame(payload: bytes, first: int = 0x81) -> bytes:
    """A client's frame; its mask is zero."""
    size = len(payload)
    head = bytes((first, 0x80 | size)) if size < 126 else bytes((first, 0xFE)) + size.to_bytes(2)
    return head + bytes(4) + payload


def read_some(line: sockets.socket) -> bytes:
    """Read what comes; nothing at the end of a connection, however it ended."""
    try:
        return line.recv(65_536)
    except ConnectionError:
        return b""


def open_socket(server: Server, path: str, token: str = "", extra: str = "") -> tuple[sockets.socket, str]:
    """Open a raw connection; returns it and the head of the answer."""
    line = sockets.create_connection(("127.0.0.1", server.port), timeout=30)
    line.sendall(handshake(path, token, extra))
    head = b""
    while b"\r\n\r\n" not in head:
        more = read_some(line)
        if not more:
            break
        head += more
    return line, head.decode(errors="replace")


def closing_code(line: sockets.socket) -> int:
    """Read to the end; the code of the closing frame, 0 if there was none."""
    data = b""
    while more := read_some(line):
        data += more
    at, code = 0, 0
    while at + 2 <= len(data):
        size, start = data[at + 1], at + 2
        if size == 126:
            size, start = int.from_bytes(data[at + 2 : at + 4]), at + 4
        if data[at] == 0x88:
            code = int.from_bytes(data[start : start + 2])
        at = start + size
    return code


@pytest.fixture
def many_files() -> Iterator[None]:
    """This process holds the clients' ends of all connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, CROWD + SPARE_FILES), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture
def crowd() -> Iterator[contextlib.ExitStack]:
    """Whatever a test opens is closed at its end."""
    with contextlib.ExitStack() as stack:
        yield stack


class Play:
    """Two honest agents that play each other all the time."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.pair = [SteadyAgent(server, name, ("tic_tac_toe",), concurrency=2) for name in ("ada", "bob")]

    def stop(self) -> None:
        for agent in self.pair:
            agent.stop()

    def matches_a_second(self, least: int = 30) -> float:
        """Wait for so many matches to end; how many ended a second."""
        before, start = self.pair[0].finished, time.monotonic()
        wait_for(lambda: self.pair[0].finished >= before + least, "honest matches to end")
        return (self.pair[0].finished - before) / (time.monotonic() - start)

    def assert_unaffected(self, alone: float) -> None:
        """Every match still ends by its rules, and about as many of them as without the neighbours."""
        best = max(self.matches_a_second() for _ in range(3))  # a stall of the machine is not theirs
        assert best > alone / TIMES_SLOWER
        ended = self.server.items("matches?ladder=tic_tac_toe&state=finished")
        causes = {player["cause"] for match in ended for player in match["players"]}
        assert causes == {"normal"}, "an honest agent lost by more than its moves"


def registered(server: Server, count: int) -> list[str]:
    """Register agents before the server starts; return their tokens."""
    server.data_dir.mkdir(parents=True)
    with contextlib.closing(Database.open(f"sqlite:///{server.data_dir}/plyground.db")) as db:
        db.migrate()
        return db.write_now(
            lambda conn: [
                agents.register(conn, f"mute-{n}", owner=None, house=False, now=datetime.now(UTC)).token
                for n in range(count)
            ]
        )


@pytest.fixture
def play(make_server: MakeServer) -> Iterator[Play]:
    server = make_server(**QUIET, PLYGROUND_HELLO_S="2").start()
    playing = Play(server)
    yield playing
    playing.stop()


@pytest.mark.deep
def test_a_thousand_agents_that_only_say_hello(
    make_server: MakeServer, crowd: contextlib.ExitStack, many_files: None
) -> None:
    """They are paired with each other, never say `ready`, and stay."""
    server = make_server(**QUIET, PLYGROUND_READY_MS="1000")
    tokens = registered(server, CROWD)
    play = Play(server.start())
    alone = play.matches_a_second()
    for number, token in enumerate(tokens):
        line, head = open_socket(server, "/ws/agent", token)
        crowd.callback(line.close)
        assert " 101 " in head
        hello = {"type": "hello", "protocol": 1, "agent": f"mute-{number}", "ladders": ["connect_four"]}
        line.sendall(frame(json.dumps(hello).encode()))
    play.assert_unaffected(alone)
    assert server.is_well()
    play.stop()


def test_a_hello_that_comes_drop_by_drop(play: Play, crowd: contextlib.ExitStack) -> None:
    """Each drop would restart a clock that only waits for the next one: ours runs from the start."""
    alone = play.matches_a_second()
    lines = [open_socket(play.server, "/ws/agent")[0] for _ in range(20)]
    for line in lines:
        crowd.callback(line.close)
    drip = frame(b'{"type":"hello","protocol":1,"agent":"slow","ladders":["tic_tac_toe"]}')
    start = time.monotonic()
    open_lines = set(lines)
    for drop in drip:
        for line in list(open_lines):
            try:
                line.send(bytes((drop,)))
            except ConnectionError:
                open_lines.discard(line)
        time.sleep(0.1)
        if not open_lines or time.monotonic() - start > 5:
            break
    assert {closing_code(line) for line in lines} <= {1008, 0}
    play.assert_unaffected(alone)


def test_a_bomb_of_compressed_zeros_is_refused_unopened(play: Play, crowd: contextlib.ExitStack) -> None:
    """We agree to no compression, so a compressed frame is a broken one: nothing is ever inflated."""
    alone = play.matches_a_second()
    assert play.server.process is not None
    process = psutil.Process(play.server.process.pid)
    before = process.memory_info().rss
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = packer.compress(bytes(50_000_000)) + packer.flush(zlib.Z_SYNC_FLUSH)
    assert len(bomb) < 65_536
    for _ in range(20):
        line, head = open_socket(
            play.server, "/ws/agent", extra="Sec-WebSocket-Extensions: permessage-deflate\r\n"
        )
        crowd.callback(line.close)
        assert " 101 " in head
        assert "permessage-deflate" not in head
        line.sendall(frame(bomb, 0xC1))
        assert closing_code(line) in {1002, 0}
    assert process.memory_info().rss - before < 40_000_000
    play.assert_unaffected(alone)


@pytest.mark.parametrize("path", ["/ws/agent", "/ws/watch"])
def test_an_oversize_frame_closes_its_connection_alone(
    play: Play, crowd: contextlib.ExitStack, path: str
) -> None:
    alone = play.matches_a_second()
    for size in (70_000, 2**31, 2**62):
        line, _ = open_socket(play.server, path)
        crowd.callback(line.close)
        line.sendall(bytes((0x81, 0xFF)) + size.to_bytes(8) + bytes(4) + b"x" * 1000)
        with contextlib.suppress(ConnectionError):
            line.sendall(b"x" * 70_000)
        assert closing_code(line) in {1009, 0}
    play.assert_unaffected(alone)


def test_a_server_without_free_files_refuses_newcomers_and_plays_on(
    play: Play, crowd: contextlib.ExitStack
) -> None:
    alone = play.matches_a_second()
    assert play.server.process is not None
    resource.prlimit(play.server.process.pid, resource.RLIMIT_NOFILE, (160, 160))
    heads = []
    for _ in range(120):
        line, head = open_socket(play.server, "/ws/watch")
        crowd.callback(line.close)
        heads.append(head)
        if " 101 " in head:
            line.sendall(frame(b'{"type":"watch","front":true}'))
            assert read_some(line), "this one stays now"
    assert " 101 " in heads[0]
    assert " 503 " in heads[-1]
    assert "Retry-After: " in heads[-1]
    play.assert_unaffected(alone)
    crowd.close()
    wait_for(lambda: may_watch(play.server), "room again")
    assert play.server.is_well()


def may_watch(server: Server) -> bool:
    line, head = open_socket(server, "/ws/watch")
    line.close()
    return " 101 " in head


def test_the_limit_on_open_files_is_raised_at_the_start(make_server: MakeServer) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        server = make_server(**QUIET).start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert server.process is not None
    limit, _ = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    assert limit == min(hard, 65_536)


def watch_front(server: Server, *, small: bool = False) -> sockets.socket:
    line = sockets.socket()
    if small:  # a window that is full at once
        line.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4_096)
    line.settimeout(30)
    line.connect(("127.0.0.1", server.port))
    line.sendall(handshake("/ws/watch") + frame(b'{"type":"watch","front":true}'))
    return line


def test_PB10_a_spectator_that_stops_reading_costs_a_fixed_amount(
    play: Play, crowd: contextlib.ExitStack
) -> None:
    """One is frozen, twenty read, and 5,000 events go by."""
    assert play.server.process is not None
    alone = play.matches_a_second(100)
    readers = [Reader(watch_front(play.server)) for _ in range(20)]
    for reader in readers:
        crowd.callback(reader.stop)
    frozen = watch_front(play.server, small=True)
    crowd.callback(frozen.close)
    wait_for(lambda: readers[0].events > 500, "the first events")
    process = psutil.Process(play.server.process.pid)
    before = process.memory_info().rss
    wait_for(lambda: min(reader.events for reader in readers) > 5_500, "5,000 events for all who read", 120)
    assert process.memory_info().rss - before < 10_000_000
    play.assert_unaffected(alone)


class Reader(threading.Thread):
    """A spectator that reads, and counts the events."""

    def __init__(self, line: sockets.socket) -> None:
        super().__init__(daemon=True)
        self.line = line
        self.events = 0
        self.start()

    def run(self) -> None:
        with contextlib.suppress(OSError):
            while data := self.line.recv(1_000_000):
                self.events += data.count(b'{"type":"event"')

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self.line.shutdown(sockets.SHUT_RDWR)
        self.join(10)
        self.line.close()
