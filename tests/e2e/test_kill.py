"""kill -9 at random moments, start again: nothing finished is lost or doubled; what ran is void, says so."""

import random
import signal
import time
from collections.abc import Callable

import pytest
from harness import FAST, Server, wait_for

MakeServer = Callable[..., Server]


def outcomes(server: Server) -> dict[int, list[str]]:
    """Outcome by seat of every finished match."""
    return {
        match["id"]: [player["outcome"] for player in match["players"]]
        for match in server.items("matches?state=finished")
    }


def assert_void_and_said(server: Server, number: int) -> None:
    match = server.match(number)
    assert match["state"] == "void"
    assert [player["cause"] for player in match["players"]] == ["infrastructure", "infrastructure"]
    assert "restart" in match["detail"]


def kill_and_restart(server: Server) -> None:
    """Kill the server while matches run; start it; compare what was with what is."""
    running = [match["id"] for match in server.items("matches?state=running")]
    before = outcomes(server)
    server.signal(signal.SIGKILL)
    server.wait()
    server.assert_nothing_is_left()
    server.start()
    after = outcomes(server)
    assert before.items() <= after.items(), "a finished match was lost or changed"
    for number in running:
        if number not in after:
            assert_void_and_said(server, number)
    server.doctor()


def play_and_kill(server: Server, seed: int, kills: int) -> None:
    draw = random.Random(seed)
    server.start()
    for _ in range(kills):
        wait_for(lambda: server.items("matches?state=running"), "a running match")
        time.sleep(draw.uniform(0, 2))
        kill_and_restart(server)
    wait_for(lambda: server.items("matches?state=running"), "play to go on")
    server.stop()
    server.doctor()


def test_a_server_killed_in_mid_match(make_server: MakeServer) -> None:
    play_and_kill(make_server(**FAST), seed=1, kills=3)


@pytest.mark.deep
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_a_server_killed_again_and_again(make_server: MakeServer, seed: int) -> None:
    play_and_kill(make_server(**FAST), seed=seed, kills=8)


def test_a_server_on_postgresql_killed_in_mid_match(make_server: MakeServer, postgres_url: str) -> None:
    play_and_kill(make_server(**FAST, PLYGROUND_DATABASE_URL=postgres_url), seed=5, kills=2)


def test_a_void_match_is_played_again(make_server: MakeServer) -> None:
    server = make_server(**{**FAST, "PLYGROUND_PACE_MS": "200"}).start()
    running = wait_for(lambda: server.items("matches?state=running"), "a running match")
    kill_and_restart(server)
    lost = {match["id"] for match in running if server.match(match["id"])["state"] == "void"}
    assert lost, "at that pace no match ends in the moment of the kill"
    replays = {match["replay_of"]: match for match in server.items("matches") if match["replay_of"]}
    for number in lost:
        assert [p["agent"] for p in replays[number]["players"]] == [
            p["agent"] for p in server.match(number)["players"]
        ]


@pytest.mark.parametrize("delay_s", [0.0, 0.2, 0.5, 1.0])
def test_a_server_killed_while_it_starts(make_server: MakeServer, delay_s: float) -> None:
    server = make_server(**FAST).launch()
    time.sleep(delay_s)
    server.signal(signal.SIGKILL)
    server.wait()
    server.assert_nothing_is_left()
    server.start()
    server.stop()
    server.doctor()
