"""Ladders of other times than so much a move, played by `plyground connect` and by the house."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import FAST, QUIET, Server, SteadyAgent, wait_for

MakeServer = Callable[..., Server]

LATE_ONCE = """
import time

LIMIT_S = 2
late = []

def match_start(start):
    late[:] = [True] if start.match else []     # not in the trial before the first match

def choose(state, clock):
    if late and late.pop():
        time.sleep(LIMIT_S + 1)
    return next(iter(state.actions()))
"""

SEARCHING = """
import random
import time

from agents.clock import search_ms

def choose(state, clock):
    end_s = time.monotonic() + search_ms(clock, 150) / 1000
    while time.monotonic() < end_s:
        time.sleep(0.001)
    return random.choice(list(state.actions()))
"""


def with_ladder(make_server: MakeServer, times: str, **settings: str) -> Server:
    """A running server with one ladder, of connect four."""
    server = make_server(**settings)
    config = server.folder / "times.toml"
    config.write_text(f'[[ladders]]\nname = "four"\ngame = "connect_four"\n{times}\n', encoding="utf-8")
    server.settings["PLYGROUND_CONFIG"] = str(config)
    return server.start()


def connect(server: Server, folder: Path, source: str, *more: str) -> Any:
    file = folder / "agent.py"
    file.write_text(source, encoding="utf-8")
    arguments = ("connect", str(file), "--ladder", "four", "--name", "ada", "--matches", "1")
    return server.plyground(*arguments, *more)


def only_match(server: Server, agent: str) -> dict[str, Any]:
    """The record of the agent's first match that came to an end."""
    ended = [match for match in server.items(f"matches?agent={agent}") if match["state"] == "finished"]
    return dict(server.api(f"matches/{ended[-1]['id']}/record"))


def test_an_agent_with_a_strike_left_plays_on_after_a_time_out(
    make_server: MakeServer, tmp_path: Path
) -> None:
    server = with_ladder(make_server, "move_ms = 2000\nstrikes = 3", **QUIET)
    rival = SteadyAgent(server, "rival", ("four",), concurrency=1)
    answer = connect(server, tmp_path, LATE_ONCE)
    rival.stop()
    assert answer.returncode == 0, answer.stdout + answer.stderr
    record = only_match(server, "ada")
    assert [player["cause"] for player in record["match"]["players"]] == ["normal", "normal"]
    struck = next(action for action in record["actions"] if action["timed_out"])
    line = f"match {record['match']['id']}, ply {struck['ply']}: too late, a random action was played"
    assert f"{line}: 2 strikes left" in answer.stdout
    server.stop()
    server.doctor()


def test_a_search_that_keeps_to_its_share_does_not_lose_a_game_with_a_bank(
    make_server: MakeServer, tmp_path: Path
) -> None:
    server = with_ladder(make_server, "bank_ms = 6000\nincrement_ms = 200", **QUIET)
    rival = SteadyAgent(server, "rival", ("four",), concurrency=1)
    answer = connect(server, tmp_path, SEARCHING)
    rival.stop()
    assert answer.returncode == 0, answer.stdout + answer.stderr
    record = only_match(server, "ada")
    assert [player["cause"] for player in record["match"]["players"]] == ["normal", "normal"]
    seat = next(player["seat"] for player in record["match"]["players"] if player["agent"] == "ada")
    limits = [action["limit_ms"] for action in record["actions"] if action["seat"] == seat]
    assert limits[0] == 6_000
    assert min(limits) > 500, "the bank lasts"


def test_house_agents_play_by_a_ladders_budget_of_nodes(make_server: MakeServer) -> None:
    server = with_ladder(make_server, "nodes = 300", **FAST)
    wanted = {"minimax", "ab-centre", "mcts"}

    def infos() -> dict[str, list[dict[str, Any]]]:
        """What the agents wanted said of each move, by their names."""
        told: dict[str, list[dict[str, Any]]] = {}
        for match in server.items("matches?ladder=four&state=finished"):
            names = {player["seat"]: player["agent"] for player in match["players"]}
            for action in server.api(f"matches/{match['id']}/record")["actions"]:
                if names[action["seat"]] in wanted:
                    told.setdefault(names[action["seat"]], []).append(action["info"])
        return told

    told = wait_for(lambda: (found := infos()).keys() == wanted and found, "them all to have played", 180)
    for name, moves in told.items():
        counts = [info["playouts" if name == "mcts" else "nodes"] for info in moves]
        assert max(counts) == 300, f"{name} uses the budget, and no more"
