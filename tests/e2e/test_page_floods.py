"""Questions asked in a crowd do not make the server late, and win nobody any time."""

import contextlib
import socket as sockets
import time
from collections.abc import Callable, Sequence

import pytest
from harness import PATIENCE_S, QUIET, RawAgent, Server

MakeServer = Callable[..., Server]

SLOW_ANSWERS = """
import time
from aiohttp import web
from server import cli, http
found = http.middlewares

@web.middleware
async def hold_the_loop(request, handler):
    try:
        return await handler(request)
    finally:
        if request.path != "/healthz":
            time.sleep(0.02)

http.middlewares = lambda *a: [*found(*a), hold_the_loop]
raise SystemExit(cli.main())
"""
"""A server that needs 20 ms of its event loop for each answer, whatever this machine does beside."""

CROWD = 150
"""Answers that take 3 s, one after another."""

MOVE_MS = 1_000
MARGIN_MS = 1_000
"""Far more than a few answers take, or a busy machine loses; far less than a crowd's answers in one."""

JUST_BEFORE_S = 0.9
"""Within the limit of a move; the crowd asks then."""

TOO_LONG_S = 3.5
"""Over limit and margin by more than a busy machine loses; the crowd's answers are not all given by then."""


@pytest.fixture
def slow(make_server: MakeServer) -> Server:
    server = make_server(**QUIET, PLYGROUND_MARGIN_MS=str(MARGIN_MS))
    server.program = ("-c", SLOW_ANSWERS)
    server.open_ladders({"tic_tac_toe": "tic_tac_toe"}, MOVE_MS)
    return server.start()


def statuses(lines: Sequence[sockets.socket]) -> set[int]:
    """What each was answered."""
    return {int(line.recv(65_536).split(b" ", 2)[1]) for line in lines}


QUESTIONS = [
    ("/ladders/tic_tac_toe", 200),
    pytest.param("/api/v1/matches", 200, marks=pytest.mark.deep),
    pytest.param("/ws/agent", 400, marks=pytest.mark.deep),
    pytest.param("/ws/watch", 400, marks=pytest.mark.deep),
]


@pytest.mark.parametrize(("path", "told"), QUESTIONS)
def test_who_thinks_too_long_behind_its_own_crowd_of_questions_loses_on_time(
    slow: Server, raw_agent: Callable[..., RawAgent], path: str, told: int
) -> None:
    """Without turns the server is late by the whole crowd, and gives that back to whoever called it."""
    both = [raw_agent(slow, name, ladders=("tic_tac_toe",)) for name in ("ada", "bob")]
    seats = {agent.await_message("match_start")["seat"]: agent for agent in both}
    question = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{slow.port}\r\nAccept: text/html\r\n\r\n".encode()
    with contextlib.ExitStack() as crowd:
        lines = [
            crowd.enter_context(sockets.create_connection(("127.0.0.1", slow.port), timeout=PATIENCE_S))
            for _ in range(CROWD)
        ]
        for agent in both:
            agent.send({"type": "ready", "match": 1})
        request = seats[0].await_message("your_move")
        asked = time.monotonic()
        time.sleep(JUST_BEFORE_S)
        for line in lines:
            line.sendall(question)
        time.sleep(max(0.0, asked + TOO_LONG_S - time.monotonic()))
        seats[0].move(request)
        end = seats[0].await_message("match_end")
        assert statuses(lines) <= {told, 503}
    assert (end["outcome"], end["cause"][0]) == (["loss", "win"], "timeout")
