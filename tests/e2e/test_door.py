"""A crowd at the door of a real server: those who come to ask or to play still get in."""

import json
import resource
import socket as sockets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from harness import PATIENCE_S, QUIET, Server, SteadyAgent, wait_for

MakeServer = Callable[..., Server]

FEW_FILES = 256
"""What a server may hold in tests with few clients; this machine's own limit is of no matter then."""


class Health(threading.Thread):
    """Asks for the server's health again and again, each time over a new connection."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.server = server
        self.answers: list[object] = []
        self.took_s: list[float] = []
        self.over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.over.wait(0.05):
            start = time.monotonic()
            try:
                self.answers.append(self.server.get("/healthz")[0])
            except OSError as error:
                self.answers.append(error)
            self.took_s.append(time.monotonic() - start)

    def assert_well(self, least: int = 20) -> None:
        """Wait for so many answers: each was 200, and came in time."""
        wait_for(lambda: len(self.answers) >= least, "answers about the server's health", 2 * PATIENCE_S)
        self.over.set()
        self.join(PATIENCE_S)
        assert set(self.answers) == {200}
        assert max(self.took_s) < PATIENCE_S


class Attack:
    """Hostile clients in processes of their own."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[bytes]] = []

    def begin(self, server: Server, kind: str, connections: int, processes: int = 1) -> None:
        """Start them and wait until each connection was open once; they go on until the end."""
        script = Path(__file__).with_name("attackers.py")
        command = [sys.executable, str(script), kind, str(server.port), str(connections)]
        here = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(processes)]
        self.started += here
        for process in here:
            assert process.stdout is not None
            assert process.stdout.readline() == b"all open\n"

    def end(self) -> None:
        for process in self.started:
            process.kill()
            process.wait(10)
            assert process.stdout is not None
            process.stdout.close()
        self.started.clear()


@pytest.fixture
def attack() -> Iterator[Attack]:
    made = Attack()
    yield made
    made.end()


@pytest.fixture
def playing(make_server: MakeServer) -> Iterator[tuple[Server, list[SteadyAgent]]]:
    """A server with two honest agents that play each other all the time."""
    server = make_server(**QUIET).start()
    pair = [SteadyAgent(server, name, ("tic_tac_toe",), concurrency=2) for name in ("ada", "bob")]
    yield server, pair
    for agent in pair:
        agent.stop()


def limit_files(server: Server, number: int) -> None:
    assert server.process is not None
    _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (number, hard))


def assert_matches_go_on(pair: list[SteadyAgent], least: int = 5) -> None:
    """More matches end."""
    before = pair[0].finished
    wait_for(lambda: pair[0].finished >= before + least, "honest matches to end", 2 * PATIENCE_S)


def assert_all_by_the_rules(server: Server) -> None:
    """Every match ended by its rules; to be asked when the attack is over."""
    ended = server.items("matches?ladder=tic_tac_toe&state=finished")
    causes = {player["cause"] for match in ended for player in match["players"]}
    assert causes == {"normal"}, "an honest agent lost by more than its moves"


def cut(server: Server, reason: str) -> float:
    """How many connections `/metrics` says were cut for a reason."""
    told = server.get("/metrics")[1].decode()
    wanted = f'plyground_connections_cut_total{{reason="{reason}"}} '
    return float(next(line for line in told.splitlines() if line.startswith(wanted)).split()[1])


def test_half_open_connections_beyond_what_the_server_may_hold_keep_nobody_out(
    playing: tuple[Server, list[SteadyAgent]], attack: Attack
) -> None:
    server, pair = playing
    limit_files(server, FEW_FILES)
    health = Health(server)
    attack.begin(server, "half_open", 2 * FEW_FILES)
    health.assert_well(least=8)
    assert_matches_go_on(pair)
    attack.end()
    assert_all_by_the_rules(server)
    assert cut(server, "silent_address") >= FEW_FILES
    assert server.process is not None
    assert psutil.Process(server.process.pid).num_fds() < FEW_FILES


def test_sockets_that_never_say_what_they_want_keep_no_player_out(
    playing: tuple[Server, list[SteadyAgent]], attack: Attack
) -> None:
    server, pair = playing
    limit_files(server, FEW_FILES)
    attack.begin(server, "mute_socket", 2 * FEW_FILES)
    late = SteadyAgent(server, "late", ("tic_tac_toe",))
    wait_for(lambda: late.finished >= 1, "a newcomer to play")
    assert_matches_go_on(pair)
    attack.end()
    assert_all_by_the_rules(server)
    late.stop()


def test_without_a_single_free_file_the_server_neither_spins_nor_stops_listening(
    playing: tuple[Server, list[SteadyAgent]],
) -> None:
    server, pair = playing
    assert server.process is not None
    process = psutil.Process(server.process.pid)
    newest = sockets.create_connection(("127.0.0.1", server.port))
    wait_for(server.is_well, "the server to have accepted it")
    hold = process.num_fds()
    newest.close()
    wait_for(lambda: process.num_fds() < hold, "the file to be free")
    for agent in pair:
        agent.stop()
    settled = process.num_fds()
    limit_files(server, settled - 2)
    waiting = [sockets.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
    wait_for(lambda: "connections.no_files" in server.log(), "the server to be out of files")
    before, start = process.cpu_times(), time.monotonic()
    time.sleep(2)  # a span to measure over
    used = sum(process.cpu_times()[:2]) - sum(before[:2])
    assert used < 0.5 * (time.monotonic() - start), "the event loop spins"
    assert server.log().count("connections.no_files") <= 10
    limit_files(server, 1_000)
    wait_for(server.is_well, "the server to listen again")
    for line in waiting:
        line.close()


def test_what_is_no_request_leaves_no_error_in_the_log(make_server: MakeServer) -> None:
    server = make_server(**QUIET).start()
    for nonsense in (b"\x16\x03\x01 hello", b"GET / HTTP/1.1\r\nX: " + b"y" * 50_000, b"\0" * 100):
        with sockets.create_connection(("127.0.0.1", server.port), timeout=30) as line:
            line.sendall(nonsense)
            told = b""
            try:
                while more := line.recv(65_536):
                    told += more
            except ConnectionError:
                pass  # it went on sending when the answer had been given
            head, _, body = told.partition(b"\r\n\r\n")
            if head:
                assert head.split()[1] in (b"400", b"431")
                assert json.loads(body)["code"] in {"malformed_request", "headers_too_large"}
    assert cut(server, "malformed") + cut(server, "headers") == 3
    assert "level=error" not in server.log()
    assert "level=warning" not in server.log()


ATTACKS = {
    "10,000 half-open connections": ("half_open", 5_000, 2),
    "500 that send a byte of a header a second": ("slowloris", 500, 1),
    "headers without end, as fast as they can": ("header_flood", 200, 1),
    "300 that send a byte of a body a second": ("body_drip", 300, 1),
    "requests without end, and no answer read": ("pipeline", 50, 1),
    "1,000 sockets that say nothing": ("mute_socket", 1_000, 1),
}


def within_reach(connections: int) -> int:
    """No more connections than one process may have here."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return connections if hard == resource.RLIM_INFINITY else min(connections, hard - 200)


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "connections", "processes"), ATTACKS.values(), ids=ATTACKS)
def test_under_attack_the_server_is_well_and_matches_end_by_their_rules(
    playing: tuple[Server, list[SteadyAgent]],
    attack: Attack,
    kind: str,
    connections: int,
    processes: int,
) -> None:
    server, pair = playing
    crowd = within_reach(connections)
    if crowd < connections:
        limit_files(server, crowd)  # they are more than the server may hold all the same
    assert_matches_go_on(pair)
    health = Health(server)
    attack.begin(server, kind, crowd, processes)
    assert_matches_go_on(pair, least=20)
    health.assert_well(least=60)
    attack.end()
    assert_all_by_the_rules(server)
    assert "level=error" not in server.log()
