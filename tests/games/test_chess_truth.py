"""Others' counts, games, corner cases and mates of chess, by our rules and their machine code."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agreement import agrees

import games
from games import Position
from games.chess_moves import dead
from games.kernel.counting import count_paths
from games.kernel.jit import native, njit
from games.perft import merged_perft

GAME = games.load("chess")
DATA = Path(__file__).parents[1] / "data" / "truth"
PLAIN = 10_000
DEEP = 5 * 10**7


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def parameters(rows: list[dict[str, Any]]) -> list[object]:
    return [pytest.param(row, id=row["id"]) for row in rows]


# counts -----------------------------------------------------------------------------------------------


def counts() -> list[object]:
    with (DATA / "counts.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["game"] == "chess"]
    return [
        pytest.param(
            row,
            id=row["id"].replace("|", " "),
            marks=[pytest.mark.deep] if int(row["count"]) > DEEP else [],
        )
        for row in rows
    ]


def test_every_count_is_here():
    assert len(counts()) == 29


@pytest.mark.parametrize("row", counts())
def test_count(row):
    state = GAME.parse_position(row["position"].partition(": ")[2])
    depth, count = int(row["depth"]), int(row["count"])
    assert count_paths(native(state), depth) == count
    if count <= PLAIN:
        assert merged_perft(state, depth) == count


@njit
def count_listed(s: Any, depth: int) -> int:
    """Paths, every one of them played to its end: `count_actions` has no part in this."""
    if depth == 0:
        return 1
    paths = 0
    for a in s.actions():
        paths += count_listed(s.result(a), depth - 1)
    return paths


@pytest.mark.parametrize("row", [row for row in counts() if int(row.values[0]["count"]) < 5 * 10**6])
def test_as_many_moves_are_listed_as_are_counted(row):
    state = GAME.parse_position(row["position"].partition(": ")[2])
    assert count_listed(native(state), int(row["depth"])) == int(row["count"])


# games ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", parameters(lines("games_chess")))
def test_random_game(row):
    position = Position.start(GAME)
    numbers = []
    for move in row["moves"].split():
        numbers.append(position.state.count_actions())
        position = position.play(move)
    assert numbers == row["legal"]
    assert position.is_terminal()
    assert list(position.utilities()) == row["returns"]
    assert position.rule_draw() is (row["end"] not in ("checkmate", "stalemate"))


@pytest.mark.parametrize("claims", ["auto", "fide"])
def test_machine_code_agrees_on_positions_of_the_games(claims):
    game, rng = games.load(f"chess(claims={claims})"), random.Random(claims)
    weights = np.linspace(-0.7, 1.1, len(game.feature_names))
    positions = []
    for row in rng.sample(lines("games_chess"), 12):
        state = game.initial_state()
        for move in row["moves"].split():
            state = state.result(game.parse_action(state, move))
            positions.append(Position(game, state))
        agrees(positions[-1], weights)
    for position in rng.sample(positions, 300):
        agrees(position, weights)


# corner cases -----------------------------------------------------------------------------------------


def cases(*topics: str) -> list[object]:
    """Corner cases that expect one of some things."""
    rows = [row for row in lines("corner_cases") if row["game"] == "chess"]
    return parameters([row for row in rows if set(topics) & set(row["expect"])])


def reached(row: dict[str, Any], claims: str = "auto") -> list[Position]:
    """All positions of a corner case, the first and the one after each move."""
    positions = [Position.start(games.load(f"chess(claims={claims})"), row["position"]["fen"])]
    for move in row["position"]["moves"]:
        positions.append(positions[-1].play(move))
    return positions


def test_every_corner_case_is_looked_at():
    kinds = ("move", "castling_field", "insufficient_material", "result", "threefold_at_ply", "fen", "after")
    assert len(cases(*kinds, "fifty_move_claim")) == 26


@pytest.mark.parametrize("row", cases("move"))
def test_corner_case_of_a_move(row):
    end, expect = reached(row)[-1], row["expect"]
    assert (expect["move"] in end.legal()) is expect["legal"]
    assert len(end.legal()) == expect.get("legal_move_count", len(end.legal()))
    assert end.text() == expect.get("fen_legal_ep", end.text())


@pytest.mark.parametrize("row", cases("fen", "castling_field"))
def test_corner_case_of_a_text(row):
    text = reached(row)[-1].text()
    expect = row["expect"]
    assert text == expect.get("fen", text)
    assert set(text.split(" ")[2]) == set(expect.get("castling_field", text.split(" ")[2]))


@pytest.mark.parametrize("row", cases("insufficient_material"))
def test_corner_case_of_dead_material(row):
    end, expected = reached(row)[-1], row["expect"]["insufficient_material"]
    assert dead(end.state.pieces) is expected
    assert end.rule_draw() is expected


@pytest.mark.parametrize("row", cases("result"))
def test_corner_case_of_mate_on_the_last_half_move(row):
    before, end = reached(row)
    assert end.state.clock == 100
    assert end.utilities() == (1.0, -1.0)
    assert not end.rule_draw()
    assert [move for move in before.legal() if before.play(move).utilities()[0] == 1.0] == row["expect"][
        "mating_moves"
    ]


@pytest.mark.parametrize("row", cases("threefold_at_ply"))
def test_corner_case_of_repetition(row):
    positions = reached(row, "fide")
    keys = positions[-1].keys
    times = [keys[: ply + 1].count(key) for ply, key in enumerate(keys)]
    assert [ply for ply, number in enumerate(times) if number >= 3] == row["expect"]["threefold_at_ply"]
    assert [ply for ply, number in enumerate(times) if number >= 2] == row["expect"]["twofold_at_ply"]
    over = [position.is_terminal() for position in reached(row)]
    assert over.index(True) == row["expect"]["threefold_at_ply"][0]


@pytest.mark.parametrize("row", cases("after"))
def test_corner_case_of_stalemate(row):
    for move, what in row["expect"]["after"].items():
        after = reached(row)[-1].play(move)
        assert after.is_terminal()
        assert after.utilities() == ((1.0, -1.0) if what == "checkmate" else (0.0, 0.0))
        assert not after.rule_draw()


@pytest.mark.parametrize("row", cases("fifty_move_claim"))
def test_corner_case_of_the_clock(row):
    claimed, by_itself = (
        reached(row, claims)[-1] if claims == "auto" or row["expect"].get("automatic_draw") else None
        for claims in ("auto", "fide")
    )
    assert claimed.is_terminal() is claimed.rule_draw() is row["expect"]["fifty_move_claim"]
    assert by_itself is None or by_itself.rule_draw()


# mates ------------------------------------------------------------------------------------------------


@njit
def forced(s: Any, left: int) -> bool:
    """Whether the side that moves at an odd number of plies `left` can mate within so many."""
    if s.is_terminal():
        return left % 2 == 0 and s.utility(s.to_move()) < 0.0
    if left == 0:
        return False
    for a in s.actions():
        if forced(s.result(a), left - 1) == (left % 2 == 1):
            return left % 2 == 1
    return left % 2 == 0


@pytest.mark.parametrize(
    "row", parameters([row for row in lines("chess_tactics") if row.get("brute_force_mate")])
)
def test_shortest_mate_and_its_first_moves(row):
    state = GAME.parse_position(row["fen"])
    plies = 2 * row["mate_in_exact"] - 1
    assert not forced(native(state), plies - 2)
    found = [
        GAME.format_action(state, action)
        for action in state.actions()
        if forced(native(state.result(action)), plies - 1)
    ]
    assert sorted(found) == sorted(row["mate_first_moves"])


@pytest.mark.parametrize("row", parameters(lines("chess_tactics") + lines("chess_search_traps")))
def test_published_positions_are_read_and_have_their_moves(row):
    position = Position.start(GAME, row["fen"])
    assert set(row["best_moves"] if "best_moves" in row else [row["trap_move"]]) <= set(position.legal())
