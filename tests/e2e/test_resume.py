"""What agents and people see of a server that was killed, or stopped, in the middle of matches."""

import contextlib
import signal
import sqlite3
import time
from collections.abc import Callable
from typing import Any

import pytest
from harness import FAST, PATIENCE_S, QUIET, RawAgent, Server, wait_for
from websockets.exceptions import ConnectionClosed

MakeServer = Callable[..., Server]
MOVE_MS = 3_000
GAMES = {
    "tic_tac_toe": "tic_tac_toe",
    "connect_four": "connect_four",
    "small": "connect_four(rows=5,columns=6,k=4)",
}


def make_quiet(make_server: MakeServer, **more: str) -> Server:
    """Start a server with a ladder for each of GAMES, a short limit, and no agents but a test's."""
    server = make_server(**QUIET, **more)
    server.open_ladders(GAMES, MOVE_MS)
    return server.start()


def kill(server: Server) -> None:
    server.signal(signal.SIGKILL)
    server.wait()


def await_state(server: Server, number: int, state: str, timeout_s: float = PATIENCE_S) -> Any:
    """Wait until a match is in a state, and return it."""
    return wait_for(
        lambda: (match := server.match(number))["state"] == state and match,
        f"match {number} {state}",
        timeout_s,
    )


def connect_again(server: Server, agent: RawAgent, ladder: str, **options: Any) -> RawAgent:
    return RawAgent(server, agent.name, token=agent.token, ladders=(ladder,), **options)


class Pair:
    """Two agents that play one match by hand."""

    def __init__(
        self, server: Server, ladder: str = "tic_tac_toe", names: tuple[str, str] = ("ada", "bob")
    ) -> None:
        self.server, self.ladder = server, ladder
        self.agents = [RawAgent(server, name, ladders=(ladder,)) for name in names]
        self.starts: list[Any] = []
        self._get_ready()

    def _get_ready(self) -> None:
        told = [(agent.await_message("match_start"), agent) for agent in self.agents]
        told.sort(key=lambda pair: pair[0]["seat"])
        self.starts, self.agents = [start for start, _ in told], [agent for _, agent in told]
        for agent in self.agents:
            agent.send({"type": "ready", "match": self.match})

    @property
    def match(self) -> int:
        return int(self.starts[0]["match"])

    def play(self, *actions: str) -> None:
        """Play these actions; the last one is acknowledged."""
        for action in actions:
            request = self.request()
            mover = self.agents[request["ply"] % 2]
            mover.move(request, action=action)
            assert mover.await_message("ack")["ply"] == request["ply"]

    def request(self) -> Any:
        """Receive the request of whose turn it is."""
        ply = self.server.match(self.match)["moves"]
        request = self.agents[ply % 2].await_message("your_move")
        assert request["ply"] == ply
        return request

    def come_back(self) -> None:
        """Connect both again and get ready."""
        self.agents = [connect_again(self.server, agent, self.ladder) for agent in self.agents]
        self._get_ready()


def test_a_killed_match_goes_on_where_it_was(make_server: MakeServer) -> None:
    server = make_quiet(make_server)
    pair = Pair(server)
    pair.play("4", "0")
    before = server.match(pair.match)
    kill(server)
    server.start()
    assert server.match(pair.match)["state"] == "starting"
    pair.come_back()
    assert [start["match"] for start in pair.starts] == [before["id"]] * 2
    assert [start["history"] for start in pair.starts] == [["4", "0"]] * 2
    pair.play("3", "1", "5")
    after = await_state(server, pair.match, "finished")
    assert [player["outcome"] for player in after["players"]] == ["win", "loss"]
    assert {player["cause"] for player in after["players"]} == {"normal"}
    assert after["times"][:2] == before["times"]
    assert after["started_at"] == before["started_at"]
    server.stop()
    server.doctor()


def test_PB03_the_outage_is_charged_to_nobody(make_server: MakeServer) -> None:
    server = make_quiet(make_server)
    pair = Pair(server)
    pair.play("4")
    pair.request()
    time.sleep(MOVE_MS / 1000 * 0.8)
    kill(server)
    time.sleep(MOVE_MS / 1000)
    server.start()
    pair.come_back()
    request = pair.request()
    assert (request["ply"], request["clock"]["move_ms"]) == (1, MOVE_MS)
    time.sleep(MOVE_MS / 1000 * 0.6)
    pair.agents[1].move(request)
    assert pair.agents[1].await_message("ack")["ply"] == 1
    assert server.match(pair.match)["times"][1] < MOVE_MS


def test_a_move_acknowledged_before_the_kill_is_acknowledged_again(make_server: MakeServer) -> None:
    server = make_quiet(make_server)
    pair = Pair(server)
    pair.play("4", "0")
    kill(server)
    server.start()
    back = connect_again(server, pair.agents[0], pair.ladder)
    again = {"type": "move", "match": pair.match, "ply": 0, "action": "4"}
    back.send(again)
    assert back.await_message("ack") == {"type": "ack", "match": pair.match, "ply": 0}
    back.send({**again, "action": "8"})
    assert back.await_message("reject")["code"] == "not_started"
    pair.come_back()
    request = pair.request()  # before the acknowledgement, which would be read past it
    pair.agents[0].send(again)
    assert pair.agents[0].await_message("ack")["ply"] == 0
    pair.agents[0].move(request, action="3")
    assert pair.agents[0].await_message("ack")["ply"] == 2
    assert server.match(pair.match)["moves"] == 3


def test_whoever_waits_to_go_on_is_given_no_match_beyond_its_hands(make_server: MakeServer) -> None:
    server = make_quiet(make_server)
    pair = Pair(server)
    pair.play("4")
    kill(server)
    server.start()
    back = connect_again(server, pair.agents[0], pair.ladder)
    start = back.await_message("match_start")
    back.send({"type": "ready", "match": start["match"]})
    RawAgent(server, "eve", ladders=(pair.ladder,))
    time.sleep(1.5)  # the scheduler has looked at them more than once
    assert server.items("matches?agent=eve") == []
    other = connect_again(server, pair.agents[1], pair.ladder)
    assert other.await_message("match_start")["match"] == pair.match


def kinds_until_the_close(agent: RawAgent) -> list[str]:
    kinds = []
    with contextlib.suppress(ConnectionClosed):
        while True:
            kinds.append(agent.receive()["type"])
    return kinds


def test_a_stopped_server_tells_of_no_end_and_its_matches_go_on(make_server: MakeServer) -> None:
    server = make_quiet(make_server, PLYGROUND_DRAIN_S="0.2")
    pair = Pair(server)
    pair.play("4")
    server.signal(signal.SIGTERM)
    for agent in pair.agents:
        assert "match_end" not in kinds_until_the_close(agent)
    server.wait()
    server.doctor()
    server.start()
    pair.come_back()
    pair.play("0", "3", "1", "5")
    await_state(server, pair.match, "finished")


def stop_as_a_service_manager_does(server: Server) -> None:
    """Send SIGTERM to every process of the server."""
    for process in reversed(server.remember_family()):
        process.terminate()
    server.wait()


@pytest.mark.parametrize("end", [kill, stop_as_a_service_manager_does])
def test_house_agents_come_back_by_themselves(make_server: MakeServer, end: Callable[[Server], None]) -> None:
    server = make_server(**{**FAST, "PLYGROUND_PACE_MS": "300"})
    server.open_ladders({"tic_tac_toe": "tic_tac_toe"}, move_ms=20_000)
    server.start()
    running = wait_for(lambda: server.items("matches?state=running"), "running matches")
    end(server)
    server.assert_nothing_is_left()
    server.start()
    for match in running:
        over = await_state(server, match["id"], "finished", timeout_s=120)
        assert {player["cause"] for player in over["players"]} == {"normal"}


def test_PB35_after_a_kill_nothing_stays_in_progress_for_ever(make_server: MakeServer) -> None:
    """Three matches run and their return matches wait; one pair comes back, two do not."""
    server = make_quiet(make_server, PLYGROUND_RESUME_S="6")
    pairs = [Pair(server, ladder, (f"{ladder}-x", f"{ladder}-y")) for ladder in GAMES]
    back, *away = pairs
    for pair in pairs:
        pair.play("1")
    assert len(server.items("matches?state=running")) == 3
    waiting = [match["id"] for match in server.items("matches?state=queued")]
    assert len(waiting) == 3
    before = {pair.ladder: server.standings(pair.ladder) for pair in away}
    kill(server)
    server.start()
    back.come_back()
    await_state(server, back.match, "running")
    for pair in away:
        closed = await_state(server, pair.match, "void")
        assert {player["cause"] for player in closed["players"]} == {"infrastructure"}
        assert "restart" in closed["detail"]
    assert {pair.ladder: server.standings(pair.ladder) for pair in away} == before
    absent = away[0]
    absent.agents = [connect_again(server, agent, absent.ladder) for agent in absent.agents]
    assert {agent.await_message("match_start")["match"] for agent in absent.agents} <= set(waiting)
    replays = {match["replay_of"] for match in server.items("matches?state=queued")}
    assert {pair.match for pair in away} <= replays
    server.stop()
    server.doctor()


def test_who_comes_back_and_will_not_go_on_rests_like_a_no_show(make_server: MakeServer) -> None:
    server = make_quiet(make_server, PLYGROUND_RESUME_S="4")
    pair = Pair(server)
    pair.play("4")
    kill(server)
    server.start()
    ready, idle = (connect_again(server, agent, pair.ladder) for agent in pair.agents)
    start = ready.await_message("match_start")
    ready.send({"type": "ready", "match": start["match"]})
    idle.receive()  # its match_start, to which it says nothing
    await_state(server, pair.match, "void")
    told = [line for line in server.log().splitlines() if "agent.no_show" in line]
    assert len(told) == 1
    assert f"agent={idle.name} " in told[0]
    assert pair.match in {match["replay_of"] for match in server.items("matches?state=queued")}


def test_a_new_version_does_not_wait_for_the_matches_of_the_old_one(make_server: MakeServer) -> None:
    server = make_quiet(make_server)
    pair = Pair(server)
    pair.play("4")
    kill(server)
    server.start()
    one = pair.agents[0]
    new = RawAgent(server, one.name, token=one.token)
    new.hello(ladders=["tic_tac_toe"], fingerprint="another")
    assert new.await_message("welcome")["running"] == []
    over = server.match(pair.match)
    assert (over["state"], over["detail"]) == ("void", "an agent came with a new version; counts for nobody")
    assert server.items("matches?state=queued") == []
    connect_again(server, pair.agents[1], "tic_tac_toe")
    assert new.await_message("match_start")["history"] == []


CHANGES = {
    "tic_tac_toe": ("UPDATE matches SET game = 'tiddlywinks' WHERE id = ?", "tiddlywinks"),
    "connect_four": ("UPDATE moves SET action = '99' WHERE match_id = ?", "99"),
    "small": ("UPDATE moves SET seat = 1 WHERE match_id = ?", "a move of seat 1"),
}


def test_a_match_that_the_rules_no_longer_allow_is_void_and_says_why(make_server: MakeServer) -> None:
    server = make_quiet(make_server)
    pairs = [Pair(server, ladder, (f"{ladder}-x", f"{ladder}-y")) for ladder in GAMES]
    for pair in pairs:
        pair.play("1")
    kill(server)
    with contextlib.closing(sqlite3.connect(server.data_dir / "plyground.db")) as database, database:
        for pair in pairs:
            database.execute(CHANGES[pair.ladder][0], (pair.match,))
    server.start()
    for pair in pairs:
        match = server.match(pair.match)
        assert match["state"] == "void"
        assert {player["cause"] for player in match["players"]} == {"infrastructure"}
        assert "cannot go on after a restart" in match["detail"]
        assert CHANGES[pair.ladder][1] in match["detail"]


def test_a_spectator_sees_the_match_go_on(make_server: MakeServer) -> None:
    server = make_quiet(make_server)
    pair = Pair(server)
    pair.play("4")
    seen = server.watch(match=pair.match)
    kill(server)
    server.start()
    shown = server.watch(match=pair.match)
    assert shown["version"] > seen["version"]
    assert (shown["matches"][0]["state"], shown["matches"][0]["moves"]) == ("starting", ["4"])
    assert [player["connected"] for player in shown["matches"][0]["players"]] == [False, False]
    pair.come_back()
    pair.play("0")
    again = server.watch(match=pair.match)
    assert (again["matches"][0]["state"], again["matches"][0]["moves"]) == ("running", ["4", "0"])
