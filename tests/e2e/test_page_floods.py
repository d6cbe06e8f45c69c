"""Pages asked for in crowds make the server late for nobody, and win nobody any time."""

import contextlib
import json
import socket
import threading
import time

from duel import await_end
from harness import QUIET, RawAgent, Server

MOVE_MS = 1000
CROWD = 100
ROUNDS = 10


def ask_for_pages(server):
    """Ask for many pages in the same moment; returns the connections."""
    request = f"GET /ladders/ttt HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n"
    crowd = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(CROWD)]
    for one in crowd:
        one.sendall(request.encode())
    return crowd


def read_all(crowd):
    """Read the status of each, and its page to the end."""
    statuses = []
    for one in crowd:
        one.settimeout(60)
        with one, one.makefile("rb") as answer:
            statuses.append(int(answer.read().split(b" ", 2)[1]))
    return statuses


def ask_again_and_again(server, over):
    """Ask for as many pages as the server gives, until told that it is over."""
    while not over.is_set():
        with contextlib.suppress(OSError, IndexError):  # some are refused, or cut off
            read_all(ask_for_pages(server))


def served(tmp_path):
    server = Server(tmp_path, dict(QUIET))
    server.open_ladders({"ttt": "tic_tac_toe"}, MOVE_MS)
    return server


def test_a_crowd_of_pages_leaves_the_server_on_time(tmp_path):
    server = served(tmp_path).start()
    try:
        late = []
        for _ in range(ROUNDS):
            assert read_all(ask_for_pages(server)) == [200] * CROWD
            late.append(json.loads(server.get("/healthz")[1])["loop_lag_ms"])
            time.sleep(2.1)  # lateness is remembered for two seconds: each round by itself
        assert sorted(late)[ROUNDS // 2] <= 200, late
    finally:
        server.stop()


def test_who_asks_for_pages_while_it_thinks_too_long_loses_on_time(tmp_path):
    server = served(tmp_path).start()
    try:
        agents = [RawAgent(server, name, ladders=("ttt",), concurrency=1) for name in ("ada", "bob")]
        starts = [agent.await_message("match_start") for agent in agents]
        for agent, start in zip(agents, starts, strict=True):
            agent.send({"type": "ready", "match": start["match"]})
        mover = next(a for a, start in zip(agents, starts, strict=True) if start["seat"] == 0)
        mover.await_message("your_move")
        over = threading.Event()
        flood = threading.Thread(target=ask_again_and_again, args=(server, over))
        flood.start()
        end = await_end(server, starts[0]["match"])
        over.set()
        flood.join()
        assert end["players"][0]["cause"] == "timeout", end
    finally:
        server.stop()
