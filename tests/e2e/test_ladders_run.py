"""A started server by itself: house agents play rated matches on all ladders, and everybody can see it."""

import csv
import io
import json

import pytest
from harness import Server, wait_for

import games
from agents import roster
from server import settings

LADDERS = {ladder.name: ladder.game for ladder in settings.DEFAULT_LADDERS}
AGENTS = {
    name: sum(agent.plays(games.load(game)) for agent in roster.load()) for name, game in LADDERS.items()
}
"""House agents on a ladder."""


def finished(server: Server, ladder: str) -> list[dict]:
    return server.items(f"matches?ladder={ladder}&state=finished")


@pytest.fixture(scope="module")
def played(house_server: Server) -> Server:
    """The server with all its house agents, after at least two rated matches on every ladder."""
    for ladder in LADDERS:
        wait_for(
            lambda ladder=ladder: len(house_server.standings(ladder)) >= AGENTS[ladder],
            f"the house agents of {ladder}",
            timeout_s=180,
        )
        wait_for(
            lambda ladder=ladder: len(finished(house_server, ladder)) >= 2,
            f"two matches on {ladder}",
            timeout_s=180,
        )
    return house_server


def test_every_game_has_a_ladder_and_enough_agents_for_it() -> None:
    assert {games.load(game).name for game in LADDERS.values()} == set(games.names())
    for name, game in LADDERS.items():
        assert AGENTS[name] >= max(3, games.load(game).players), name


def test_the_ladders_play_their_games(house_server: Server) -> None:
    found = {ladder["name"]: ladder["game"] for ladder in house_server.api("ladders")["items"]}
    assert found == LADDERS


@pytest.mark.parametrize("ladder", LADDERS)
def test_standings_move_by_what_was_played(played: Server, ladder: str) -> None:
    decided = [
        match
        for match in finished(played, ladder)
        if {player["outcome"] for player in match["players"]} == {"win", "loss"}
    ]
    rows = played.standings(ladder)
    assert len(rows) == AGENTS[ladder]
    assert sum(row["games"] for row in rows.values()) >= 2 * len(decided)
    for row in rows.values():
        assert row["games"] == row["wins"] + row["draws"] + row["losses"]
    if decided:
        assert any(row["elo"] != 1500 for row in rows.values())


def test_a_finished_match_says_who_won_and_why(played: Server) -> None:
    for match in finished(played, "connect_four")[:5]:
        assert {player["outcome"] for player in match["players"]} in ({"win", "loss"}, {"draw"})
        assert all(player["cause"] in ("normal", "rule_draw") for player in match["players"])
        assert match["moves"] >= 7
        record = played.api(f"matches/{match['id']}/record")
        assert [action["ply"] for action in record["actions"]] == list(range(match["moves"]))


def test_standings_as_csv_are_the_standings(played: Server) -> None:
    status, body = played.get("/api/v1/ladders/connect_four/standings.csv")
    assert status == 200
    table = list(csv.DictReader(io.StringIO(body.decode("utf-8"))))
    assert ",".join(table[0]) == (
        "rank,tier,agent,version,owner,rating,rating_low,rating_high,elo,provisional,games,wins,draws,losses,los_next"
    )
    assert {row["agent"] for row in table} == set(played.standings("connect_four"))


def test_the_page_answers_and_names_the_ladders(played: Server) -> None:
    status, page = played.get("/")
    assert status == 200
    assert b"Connect four" in page
    assert b"Tic-tac-toe" in page


def test_the_program_shows_the_standings(played: Server) -> None:
    table = played.plyground("standings", "connect_four")
    assert table.returncode == 0, table.stderr
    assert "minimax" in table.stdout
    rows = json.loads(played.plyground("standings", "connect_four", "--json").stdout)
    assert {row["agent"] for row in rows} == set(played.standings("connect_four"))


def test_the_program_shows_a_match_to_its_end(played: Server) -> None:
    shown = played.plyground("watch", "--ladder", "tic_tac_toe")
    assert shown.returncode == 0, shown.stderr
    assert " won against " in shown.stdout or "drew" in shown.stdout
    assert "win (" in shown.stdout or "draw (" in shown.stdout


def test_the_data_hold_together_while_it_runs(played: Server) -> None:
    answer = played.plyground("doctor")
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_a_wrong_address_answers_a_problem(house_server: Server) -> None:
    status, body = house_server.get("/api/v1/ladders/halma/standings")
    assert status == 404
    problem = json.loads(body)
    assert problem["code"] == "unknown_ladder"
    assert set(problem["available"]) == set(LADDERS)
