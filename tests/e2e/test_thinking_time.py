"""Agents are charged for their own time alone: not for a busy machine, nor for what the server does first."""

import contextlib
import json
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from duel import await_end
from harness import QUIET, RawAgent, Server
from websockets.exceptions import ConnectionClosed

MakeServer = Callable[..., Server]
MOVE_MS = 3_000
MARGIN_MS = 200
"""The default."""

THOUGHT_MS = MOVE_MS * 6 // 10
PLIES = 20
MATCHES = 4
SPINNERS = 2


@contextlib.contextmanager
def busy_processor() -> Iterator[None]:
    """Keep the processor busy with as many processes as it has spinners."""
    spinner = [sys.executable, "-c", "while True: pass"]
    spinners = [subprocess.Popen(spinner) for _ in range(SPINNERS)]
    yield
    for process in spinners:
        process.kill()
        process.wait()


class Thinker(threading.Thread):
    """Sleeps for its share of the limit at every ply up to `PLIES`, then plays the rest at once."""

    def __init__(self, server: Server, name: str) -> None:
        super().__init__(daemon=True)
        self.agent = RawAgent(server, name, ladders=("othello",))
        self.ended: set[int] = set()
        self.start()

    def run(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            while not self.ended:
                message = json.loads(self.agent.socket.recv())
                match message["type"]:
                    case "match_start":
                        self.agent.send({"type": "ready", "match": message["match"]})
                    case "your_move":
                        if message["ply"] < PLIES:
                            time.sleep(THOUGHT_MS / 1000)
                        self.agent.move(message)
                    case "match_end":
                        self.ended.add(message["match"])


@pytest.mark.deep
def test_PB01_honest_agents_on_a_busy_machine_lose_nothing_on_time(make_server: MakeServer) -> None:
    server = make_server(**QUIET)
    server.open_ladders({"othello": "othello"}, MOVE_MS)
    server.start()
    with busy_processor():
        thinkers = [Thinker(server, f"thinker{number}") for number in range(2 * MATCHES)]
        for thinker in thinkers:
            thinker.join(MOVE_MS / 1000 * PLIES * 3)
            assert thinker.ended, "its match does not end"
    played = set().union(*(thinker.ended for thinker in thinkers))
    assert len(played) >= MATCHES
    for number in played:
        match = await_end(server, number)
        assert {player["cause"] for player in match["players"]} <= {"normal", "rule_draw"}
        thought = match["clock"][:PLIES]
        assert len(thought) == PLIES
        for entry in thought:
            assert entry["elapsed_ms"] >= THOUGHT_MS
            assert entry["charged_ms"] <= entry["limit_ms"] == MOVE_MS


def test_PB01_what_the_server_does_before_the_request_is_handed_over_is_not_charged(
    make_server: MakeServer,
) -> None:
    server = make_server(**QUIET)
    server.open_ladders({"tic_tac_toe": "tic_tac_toe"}, MOVE_MS)
    server.start()
    agents = [RawAgent(server, name, ladders=("tic_tac_toe",)) for name in ("ada", "bob")]
    starts = [agent.await_message("match_start") for agent in agents]
    first, second = sorted(agents, key=lambda agent: starts[agents.index(agent)]["seat"])
    number = starts[0]["match"]
    for agent in agents:
        agent.send({"type": "ready", "match": number})
    request = first.await_message("your_move")
    with the_database_busy(server):
        first.move(request)
        time.sleep(THOUGHT_MS / 1000)
    request = second.await_message("your_move")
    time.sleep(THOUGHT_MS / 1000)  # with the wait before it, this would be more than the limit
    second.move(request)
    assert second.await_message("ack")["ply"] == 1
    entry = server.match(number)["clock"][1]
    assert entry["waited_ms"] >= THOUGHT_MS / 2
    assert THOUGHT_MS <= entry["elapsed_ms"] <= MOVE_MS + MARGIN_MS
    assert entry["charged_ms"] <= entry["elapsed_ms"]


@contextlib.contextmanager
def the_database_busy(server: Server) -> Iterator[None]:
    """Hold the lock that the server needs to write anything down."""
    database = sqlite3.connect(server.data_dir / "plyground.db", isolation_level=None)
    with contextlib.closing(database):
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("ROLLBACK")
