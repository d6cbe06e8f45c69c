"""A server that stands still in the middle of matches (SIGSTOP): what agents did meanwhile counts in full."""

import contextlib
import json
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from harness import PATIENCE_S, QUIET, RawAgent, Server, wait_for
from websockets.exceptions import ConnectionClosed
from witness import assert_replayed

MakeServer = Callable[..., Server]
Connect = Callable[..., RawAgent]
LADDER = "tic_tac_toe"
MOVE_MS = 3_000
STALL_S = 5.0
"""Longer than a move may take."""

OVERLOAD_S = 13.0
"""So long a stall that nobody's time can be measured."""

MARGIN_MS = 200
"""What the server lets pass over a limit, as set where nothing else is said."""

WINNING = ["4", "0", "3", "1", "5"]
"""Seat 0 wins."""


def opened(server: Server, **times: int) -> Server:
    """Start with one ladder with such times."""
    config = server.folder / "ladders.toml"
    keys = "".join(f"{key} = {value}\n" for key, value in times.items())
    config.write_text(f'[[ladders]]\nname = "{LADDER}"\ngame = "{LADDER}"\n{keys}', encoding="utf-8")
    server.settings["PLYGROUND_CONFIG"] = str(config)
    return server.start()


def seated(server: Server, connect: Connect) -> list[RawAgent]:
    """Two agents in match 1 by seat, both ready."""
    both = [connect(server, name, ladders=(LADDER,)) for name in ("ada", "bob")]
    seats = {agent.await_message("match_start")["seat"]: agent for agent in both}
    for agent in both:
        agent.send({"type": "ready", "match": 1})
    return [seats[0], seats[1]]


@contextlib.contextmanager
def standing_still(server: Server, seconds: float) -> Iterator[None]:
    """Stop the server for as long; the body is what happens at the beginning of it."""
    server.signal(signal.SIGSTOP)
    begun = time.monotonic()
    try:
        yield
        time.sleep(max(0.0, begun + seconds - time.monotonic()))
    finally:
        server.signal(signal.SIGCONT)


def padded(request: dict[str, Any], spaces: int) -> str:
    """An answer to a request, so many bytes longer than need be."""
    answer = {"type": "move", "match": request["match"], "ply": request["ply"], "action": request["legal"][0]}
    return json.dumps(answer)[:-1] + " " * spaces + "}"


def play_on(agents: list[RawAgent], first_ply: int) -> None:
    """Play the rest of the match in which seat 0 wins."""
    for ply, action in enumerate(WINNING[first_ply:], first_ply):
        agents[ply % 2].move(agents[ply % 2].await_message("your_move"), action=action)


def ended(server: Server) -> Any:
    return wait_for(lambda: (m := server.match(1))["state"] in {"finished", "void"} and m, "match 1 to end")


def assert_played_to_its_end(server: Server) -> Any:
    """Match 1 ended by the rules of the game; return it."""
    match = ended(server)
    assert [player["cause"] for player in match["players"]] == ["normal", "normal"], match["detail"]
    assert [player["outcome"] for player in match["players"]] == ["win", "loss"]
    return match


@pytest.mark.deep
def test_an_agent_that_drops_and_comes_back_into_a_stall_loses_nothing(
    make_server: MakeServer, raw_agent: Connect
) -> None:
    # Limit, margin and grace together are shorter than the stall.
    server = opened(make_server(**QUIET, PLYGROUND_GRACE_MS="1000"), move_ms=MOVE_MS)
    agents = seated(server, raw_agent)
    agents[0].await_message("your_move")
    agents[0].close()
    gone = agents[0]
    with ThreadPoolExecutor() as pool:
        with standing_still(server, STALL_S):
            back = pool.submit(raw_agent, server, gone.name, token=gone.token, ladders=(LADDER,))
        agents[0] = back.result(PATIENCE_S)
    play_on(agents, 0)
    first = assert_played_to_its_end(server)["clock"][0]
    assert first["charged_ms"] <= MOVE_MS
    assert first["lag_ms"] >= STALL_S * 1000 / 2, "the stall is the server's, and no grace goes for it"
    server.stop()
    server.doctor()


class Hands(threading.Thread):
    """An agent that gets ready for all matches and notes what it is asked."""

    def __init__(self, agent: RawAgent) -> None:
        super().__init__(daemon=True)
        self.agent = agent
        self.asked: list[dict[str, Any]] = []
        self.start()

    def run(self) -> None:
        with contextlib.suppress(ConnectionClosed, TimeoutError):
            while True:
                self.asked.append(self.agent.await_message("your_move"))


@pytest.mark.deep
def test_sixty_four_answers_that_waited_for_the_server_all_count(
    make_server: MakeServer, raw_agent: Connect
) -> None:
    server = opened(make_server(**QUIET), move_ms=6_000)
    both = [Hands(raw_agent(server, name, ladders=(LADDER,), concurrency=64)) for name in ("ada", "bob")]
    wait_for(lambda: sum(len(hands.asked) for hands in both) == 64, "all matches to begin")
    with standing_still(server, 8):
        for hands in both:
            for request in hands.asked:
                hands.agent.send(padded(request, 1_500))
    first_plies = [wait_for(partial(answered, server, n), "an answer") for n in range(1, 65)]
    assert [ply["match"] for ply in first_plies if not ply["counted"]] == []
    assert all(ply["charged_ms"] <= 6_000 for ply in first_plies)
    server.stop()
    server.doctor()


def answered(server: Server, number: int) -> dict[str, Any] | None:
    """How the first move of a match was timed, once it was made or the match was lost."""
    match = server.match(number)
    first = next((ply for ply in match["clock"] if ply["ply"] == 0), None)
    return None if first is None else {"match": number, **first}


@pytest.mark.deep
def test_a_long_answer_that_waited_for_the_server_is_in_time(
    make_server: MakeServer, raw_agent: Connect
) -> None:
    server = opened(make_server(**QUIET), move_ms=MOVE_MS)
    agents = seated(server, raw_agent)
    request = {**agents[0].await_message("your_move"), "legal": [WINNING[0]]}
    with standing_still(server, STALL_S):
        agents[0].send(padded(request, 60_000))
    assert agents[0].await_message("ack")["ply"] == 0
    play_on(agents, 1)
    assert_played_to_its_end(server)
    server.stop()
    server.doctor()


@pytest.mark.deep
def test_a_strike_costs_no_more_than_the_limit_and_the_margin(
    make_server: MakeServer, raw_agent: Connect
) -> None:
    server = opened(make_server(**QUIET), move_ms=1_000, bank_ms=20_000, increment_ms=10, strikes=3)
    agents = seated(server, raw_agent)
    agents[0].await_message("your_move")
    with standing_still(server, STALL_S):
        pass
    assert agents[0].await_message("reject")["code"] == "timed_out"
    agents[1].move(agents[1].await_message("your_move"))
    request = agents[0].await_message("your_move")
    assert request["last"]["timed_out"]
    most_ms = 1_000 + MARGIN_MS + 100  # a timer may be a little late
    assert request["last"]["charged_ms"] <= most_ms
    assert request["clock"]["bank_ms"] >= 20_000 - most_ms
    assert request["clock"]["strikes"] == 2
    server.stop()
    server.doctor()


@pytest.mark.deep
def test_nobody_is_told_of_a_strike_that_is_not_on_record(
    make_server: MakeServer, raw_agent: Connect
) -> None:
    server = opened(make_server(**QUIET), move_ms=1_500, strikes=2)
    agents = seated(server, raw_agent)
    agents[0].await_message("your_move")
    lock = sqlite3.connect(server.data_dir / "plyground.db", timeout=30, isolation_level=None)
    with contextlib.closing(lock):
        lock.execute("BEGIN IMMEDIATE")
        with pytest.raises(TimeoutError):
            agents[0].await_message("reject", timeout_s=4)
        kill(server)
        lock.execute("ROLLBACK")
    server.start()
    agents = [again(server, raw_agent, agent) for agent in agents]
    request = agents[0].await_message("your_move")
    assert (request["ply"], request["clock"]["strikes"]) == (0, 2), "as it was told before"
    assert agents[0].await_message("reject")["ply"] == 0
    kill(server)  # right after it was told
    server.start()
    assert [ply["timed_out"] for ply in server.match(1)["clock"]] == [True]
    agents = [again(server, raw_agent, agent) for agent in agents]
    agents[1].move(agents[1].await_message("your_move"))
    request = agents[0].await_message("your_move")
    assert (request["ply"], request["clock"]["strikes"]) == (2, 1), "as it was told before"
    server.stop()
    server.doctor()


def kill(server: Server) -> None:
    server.signal(signal.SIGKILL)
    server.wait()
    server.assert_nothing_is_left()


def again(server: Server, connect: Connect, agent: RawAgent) -> RawAgent:
    """The same agent on a new connection, ready for what it played."""
    agent.close()
    back = connect(server, agent.name, token=agent.token, ladders=(LADDER,))
    back.send({"type": "ready", "match": back.await_message("match_start")["match"]})
    return back


@pytest.mark.deep
def test_a_long_stall_in_which_nobody_answered_is_nobodys_loss(
    make_server: MakeServer, raw_agent: Connect
) -> None:
    server = opened(make_server(**QUIET), move_ms=MOVE_MS)
    agents = seated(server, raw_agent)
    before = server.standings(LADDER)
    agents[0].await_message("your_move")
    with standing_still(server, OVERLOAD_S):
        pass
    assert all(agent.await_message("match_end")["outcome"] == ["void"] * 2 for agent in agents)
    match = assert_replayed(server, 1)
    assert match["detail"].startswith("overload: the server was ")
    assert {player["cause"] for player in match["players"]} == {"infrastructure"}
    assert server.standings(LADDER) == before
    server.stop()
    server.doctor()


@pytest.mark.parametrize("stall_s", [0.0, pytest.param(STALL_S, marks=pytest.mark.deep)])
def test_whoever_comes_back_is_told_what_is_left_without_the_time_forgiven(
    make_server: MakeServer, raw_agent: Connect, stall_s: float
) -> None:
    server = opened(make_server(**QUIET), move_ms=9_000)
    agents = seated(server, raw_agent)
    agents[0].await_message("your_move")
    agents[0].close()
    time.sleep(3)  # it stays away
    with ThreadPoolExecutor() as pool:
        with standing_still(server, stall_s):
            back = pool.submit(raw_agent, server, agents[0].name, token=agents[0].token, ladders=(LADDER,))
        left_ms = back.result(PATIENCE_S).await_message("your_move")["clock"]["move_ms"]
    assert 9_000 - 2_500 <= left_ms <= 9_000, "of 3 s away nothing was its own"
    server.stop()
    server.doctor()
