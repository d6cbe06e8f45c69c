"""SIGTERM lets what runs come to its end for a while, and begins nothing new."""

import json
import signal
from collections.abc import Callable

import pytest
from harness import QUIET, RawAgent, Server, wait_for
from witness import health

MakeServer = Callable[..., Server]
Connect = Callable[..., RawAgent]
MOVE_MS = 60_000
DRAIN_S = 30
"""Long beside what the test plays meanwhile, on a busy machine too."""


def draining_server(make_server: MakeServer, drain_s: float = DRAIN_S) -> Server:
    server = make_server(**QUIET, PLYGROUND_DRAIN_S=str(drain_s))
    server.open_ladders({"tic_tac_toe": "tic_tac_toe"}, MOVE_MS)
    return server.start()


@pytest.fixture
def pair(raw_agent: Connect) -> Callable[[Server], tuple[RawAgent, RawAgent]]:
    """Two agents in a match; the first is asked for its first move."""

    def make(server: Server) -> tuple[RawAgent, RawAgent]:
        ada, bob = (raw_agent(server, name, ladders=("tic_tac_toe",)) for name in ("ada", "bob"))
        seats = {agent.await_message("match_start")["seat"]: agent for agent in (ada, bob)}
        for agent in seats.values():
            agent.send({"type": "ready", "match": 1})
        return seats[0], seats[1]

    return make


def play_on(agents: tuple[RawAgent, RawAgent], *actions: str, first: int = 0) -> None:
    for ply, action in enumerate(actions, first):
        request = agents[ply % 2].await_message("your_move")
        assert request["ply"] == ply
        agents[ply % 2].move(request, action=action)


def await_draining(server: Server) -> None:
    wait_for(lambda: health(server)[0] == 503, "the server to drain")


def test_a_match_comes_to_its_end_under_a_server_that_stops(make_server: MakeServer, pair) -> None:
    server = draining_server(make_server)
    agents = pair(server)
    play_on(agents, "4", "0")
    assert "plyground_admission_open 1.0" in server.get("/metrics")[1].decode().splitlines()
    (waiting,) = server.items("matches?state=queued")
    server.signal(signal.SIGTERM)
    await_draining(server)
    assert health(server) == (503, "draining", "ok")
    assert json.loads(server.get("/healthz")[1])["admission"] == "waiting"
    assert "plyground_admission_open 0.0" in server.get("/metrics")[1].decode().splitlines()
    assert "is about to stop" in server.get("/")[1].decode()
    play_on(agents, "3", "1", "5", first=2)
    ends = [agent.await_message("match_end") for agent in agents]
    assert [end["cause"] for end in ends] == [["normal"] * 2] * 2
    assert server.wait() == 0
    server.assert_nothing_is_left()
    server.doctor()
    server.start()
    assert server.match(1)["state"] == "finished"
    assert server.match(waiting["id"])["state"] == "queued", "it waits for the next server"


def test_a_long_match_goes_on_under_the_next_server(
    make_server: MakeServer, pair, raw_agent: Connect
) -> None:
    server = draining_server(make_server, drain_s=1)
    agents = pair(server)
    play_on(agents, "4", "0")
    server.signal(signal.SIGTERM)
    for agent in agents:
        assert agent.await_close() == (1001, "server stops")
    assert server.wait() == 0
    server.doctor()
    server.start()
    back = tuple(raw_agent(server, a.name, token=a.token, ladders=("tic_tac_toe",)) for a in agents)
    for agent in back:
        assert agent.await_message("match_start")["history"] == ["4", "0"]
        agent.send({"type": "ready", "match": 1})
    play_on(back, "3", "1", "5", first=2)
    wait_for(lambda: server.match(1)["state"] == "finished", "the match to end")


def test_who_comes_to_a_server_that_stops_is_told_when_to_come_again(
    make_server: MakeServer, pair, raw_agent: Connect
) -> None:
    server = draining_server(make_server)
    agents = pair(server)
    token = server.register("eve")
    server.signal(signal.SIGTERM)
    await_draining(server)
    eve = raw_agent(server, "eve", token=token)
    eve.hello(ladders=["tic_tac_toe"])
    told = eve.await_message("error")
    assert told["code"] == "server_stopping"
    assert "stops within" in told["message"]
    assert eve.await_close() == (1013, "server_stopping")
    back = raw_agent(server, agents[0].name, token=agents[0].token, ladders=("tic_tac_toe",))
    assert back.await_message("match_start")["match"] == 1, "whoever plays is let in again"
    play_on((back, agents[1]), "4")
    server.signal(signal.SIGTERM)
    assert server.wait() == 1, "a second signal ends it at once"


def test_a_server_where_nobody_plays_stops_at_once(make_server: MakeServer) -> None:
    server = draining_server(make_server, drain_s=600)
    server.signal(signal.SIGTERM)
    assert server.wait() == 0


def test_ctrl_c_waits_for_no_match(make_server: MakeServer, pair) -> None:
    server = draining_server(make_server, drain_s=600)
    agents = pair(server)
    play_on(agents, "4")
    server.signal(signal.SIGINT)
    assert server.wait() == 0
    server.doctor()
