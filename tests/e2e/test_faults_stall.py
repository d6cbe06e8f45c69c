"""A server that stands still for a while (SIGSTOP): whose answer waited in a socket loses nothing by it."""

import signal
import time
from collections.abc import Callable
from typing import Any

import pytest
from harness import QUIET, RawAgent, Server, wait_for
from witness import assert_replayed

MakeServer = Callable[..., Server]
Connect = Callable[..., RawAgent]
MOVE_MS = 3_000
"""Time for a busy machine; a stall is longer."""

ANSWERS = ["4", "0", "3", "1", "5"]
"""Seat 0 wins."""


def asked(server: Server, connect: Connect) -> tuple[tuple[RawAgent, RawAgent], dict[str, Any]]:
    """Two agents in a match, and the request that the first of them has."""
    server.open_ladders({"tic_tac_toe": "tic_tac_toe"}, MOVE_MS)
    server.start()
    both = [connect(server, name, ladders=("tic_tac_toe",)) for name in ("ada", "bob")]
    seats = {agent.await_message("match_start")["seat"]: agent for agent in both}
    for agent in seats.values():
        agent.send({"type": "ready", "match": 1})
    return (seats[0], seats[1]), seats[0].await_message("your_move")


def stand_still(server: Server, seconds: float, meanwhile: Callable[[], None]) -> None:
    server.signal(signal.SIGSTOP)
    try:
        meanwhile()
        time.sleep(seconds)
    finally:
        server.signal(signal.SIGCONT)


def test_an_answer_that_waited_for_a_server_that_stood_still_is_in_time(
    make_server: MakeServer, raw_agent: Connect
) -> None:
    server = make_server(**QUIET)
    agents, request = asked(server, raw_agent)
    stand_still(server, 5, lambda: agents[0].move(request, action=ANSWERS[0]))
    assert agents[0].await_message("ack")["ply"] == 0
    for ply, action in enumerate(ANSWERS[1:], 1):
        request = agents[ply % 2].await_message("your_move")
        agents[ply % 2].move(request, action=action)
    match = wait_for(lambda: (m := server.match(1))["state"] == "finished" and m, "the end of the match")
    assert [player["cause"] for player in match["players"]] == ["normal", "normal"]
    first = server.api("matches/1/record")["actions"][0]
    assert first["charged_ms"] <= MOVE_MS, "the server's own pause is charged to nobody"
    server.stop()
    server.doctor()


@pytest.mark.deep
def test_a_server_that_stood_still_for_too_long_measures_nobody(
    make_server: MakeServer, raw_agent: Connect
) -> None:
    server = make_server(**QUIET)
    agents, request = asked(server, raw_agent)
    before = server.standings("tic_tac_toe")
    stand_still(server, 12, lambda: agents[0].move(request, action=ANSWERS[0]))
    ends = [agent.await_message("match_end") for agent in agents]
    assert [end["outcome"] for end in ends] == [["void"] * 2] * 2
    assert all(end["detail"].startswith("overload: the server was ") for end in ends)
    assert {player["cause"] for player in assert_replayed(server, 1)["players"]} == {"infrastructure"}
    assert server.standings("tic_tac_toe") == before
    server.stop()
    server.doctor()
