"""A ladder of a game of three: real matches of three agents, rated by places, with the seats moving on.

And one of a game of two whose sum is not zero.
"""

import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from harness import FAST, QUIET, RawAgent, Server, SteadyAgent, wait_for

NAMES = ("ada", "bob", "cy")
GAMES = 18


@pytest.fixture
def server(make_server: Callable[..., Server], with_share_out: dict[str, str]) -> Server:
    """A running server with the ladder."""
    made = make_server(**QUIET, **with_share_out)
    made.open_ladders({"trio": "share_out"}, move_ms=5_000)
    return made.start()


@pytest.fixture
def agents(server: Server) -> Iterator[list[RawAgent]]:
    """Three agents that a test plays by hand, in a match; by seat."""
    made = [RawAgent(server, name, ladders=("trio",)) for name in NAMES]
    starts = [agent.await_message("match_start") for agent in made]
    for agent, start in zip(made, starts, strict=True):
        agent.send({"type": "ready", "match": start["match"]})
    yield [agent for _, agent in sorted(zip((start["seat"] for start in starts), made, strict=True))]
    for agent in made:
        agent.close()


def finished(server: Server) -> list[Any]:
    return server.items("matches?ladder=trio&state=finished")


def in_play(server: Server) -> list[Any]:
    return [match for state in ("starting", "running") for match in server.items(f"matches?state={state}")]


def test_three_agents_play_rated_matches_and_everybody_has_every_seat(
    server: Server, steady_agent: Callable[..., SteadyAgent]
) -> None:
    steady = [steady_agent(server, name, "trio") for name in NAMES]
    wait_for(lambda: len(finished(server)) >= GAMES, f"{GAMES} matches of three")
    for agent in steady:
        agent.stop()
    wait_for(lambda: not in_play(server), "the last matches to end")
    server.doctor()
    matches = finished(server)
    seats = defaultdict(Counter)
    for match in matches:
        assert sorted(player["agent"] for player in match["players"]) == list(NAMES)
        for player in match["players"]:
            seats[player["agent"]][player["seat"]] += 1
        played_out = all(player["cause"] in ("normal", "rule_draw") for player in match["players"])
        utilities = [player["utility"] for player in match["players"]]
        assert (None not in utilities) == played_out
    whole = len(matches) // 3
    for counted in seats.values():
        assert all(count >= whole - 4 for count in (counted[seat] for seat in range(3))), seats
    rows = server.standings("trio")
    assert {row["games"] for row in rows.values()} == {len(matches)}
    for outcome, column in (("win", "wins"), ("draw", "draws"), ("loss", "losses")):
        told = sum(player["outcome"] == outcome for match in matches for player in match["players"])
        assert sum(row[column] for row in rows.values()) == told
    # All three have played the same number of games at any time, so what one wins the others lose.
    assert sum(row["elo"] for row in rows.values()) == pytest.approx(4500.0)
    assert any(row["elo"] != 1500.0 for row in rows.values())


def test_a_forfeit_ends_the_match_for_all_three(server: Server, agents: list[RawAgent]) -> None:
    first, second, _ = agents
    request = first.await_message("your_move")
    first.move(request, action="2")
    request = second.await_message("your_move")
    assert request["last_actions"] == ["2"]
    second.move(request, action="7")
    ends = [agent.await_message("match_end") for agent in agents]
    assert ends[0] == ends[1] == ends[2]
    assert ends[0]["outcome"] == ["draw", "loss", "draw"]
    assert ends[0]["cause"] == ["normal", "illegal_action", "normal"]
    assert ends[0]["scores"] == [0.75, 0.0, 0.75]
    match = server.match(ends[0]["match"])
    assert match["verdict"].startswith(f"Seat 2 ({second.name}) lost by an illegal action at ply 1")
    assert [player["utility"] for player in match["players"]] == [None] * 3
    assert [round(player["elo_after"]) for player in match["players"]] == [1540, 1420, 1540]
    server.doctor()


def test_a_match_of_three_is_taken_up_after_a_kill_and_drawn_by_rule(
    server: Server, agents: list[RawAgent]
) -> None:
    agents[0].move(agents[0].await_message("your_move"), action="2")
    number = agents[0].await_message("ack")["match"]
    server.signal(signal.SIGKILL)
    server.wait()
    server.start()
    back = [RawAgent(server, agent.name, token=agent.token, ladders=("trio",)) for agent in agents]
    for agent in back:
        assert agent.await_message("match_start")["history"] == ["2"]
        agent.send({"type": "ready", "match": number})
    for seat in (1, 2, 0):
        back[seat].move(back[seat].await_message("your_move"), action="0")
    ends = [agent.await_message("match_end") for agent in back]
    assert [(end["match"], end["outcome"], end["scores"]) for end in ends] == [
        (number, ["draw"] * 3, [0.5] * 3)
    ] * 3
    assert ends[0]["cause"] == ["rule_draw"] * 3
    record = server.api(f"matches/{number}/record")
    moves = [(action["seat"], action["action"]) for action in record["actions"]]
    assert moves == [(0, "2"), (1, "0"), (2, "0"), (0, "0")]
    assert [player["utility"] for player in record["match"]["players"]] == [0.0] * 3
    assert record["verdict"].startswith("Drawn by a rule of the game")
    server.doctor()
    for agent in back:
        agent.close()


def test_house_agents_play_for_three_and_for_a_sum_that_is_not_zero(
    make_server: Callable[..., Server],
) -> None:
    server = make_server(**FAST)
    server.open_ladders({"trio": "connect_four_three", "legs": "centipede"}, move_ms=5_000)
    server.start()
    wait_for(lambda: len(finished(server)) >= 4, "matches of three house agents", timeout_s=300)
    wait_for(
        lambda: len(server.items("matches?ladder=legs&state=finished")) >= 4, "some of two", timeout_s=300
    )
    server.doctor()
    by_seat = [[player["agent"] for player in match["players"]] for match in finished(server)[::-1]]
    first = by_seat[0]
    assert len(set(first)) == 3, "there are three house agents, so all of them are at every table"
    assert by_seat[:3] == [first, [*first[1:], first[0]], [*first[2:], *first[:2]]]
    for match in (*finished(server), *server.items("matches?ladder=legs&state=finished")):
        players = match["players"]
        best = max(player["utility"] for player in players)
        top = [player for player in players if player["utility"] == best]
        given = "win" if len(top) == 1 else "draw"
        assert all(player["outcome"] == (given if player in top else "loss") for player in players)
        gained = {player["utility"]: player["elo_after"] - player["elo_before"] for player in players}
        assert len(players) > 2 or len(gained) == 1 or gained[best] == max(gained.values())
    for ladder in ("trio", "legs"):
        for row in server.standings(ladder).values():
            assert row["games"] == row["wins"] + row["draws"] + row["losses"]
