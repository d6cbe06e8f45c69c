"""Our rules reproduce the numbers of paths and positions that others counted.

Numbers up to a million are counted in plain Python and by machine code, larger ones by machine code alone,
those above fifty million in the deep tests.
"""

import csv
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import games
from games import State
from games.kernel.counting import count_paths
from games.kernel.jit import native, njit
from games.perft import layers, merged_perft

DATA = Path(__file__).parents[1] / "data" / "truth"
PLAIN = 10**6
DEEP = 5 * 10**7
COUNTED = ("tic_tac_toe", "connect_four", "othello")
"""Games whose rows are counted here; the others' tests have a file of their own."""


def read_counts() -> list[dict[str, str]]:
    with (DATA / "counts.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rows(low: int, high: int) -> list[object]:
    """Rows that count more than `low` and at most `high`."""
    found = [row for row in read_counts() if row["game"] in COUNTED and low < int(row["count"]) <= high]
    marks = [pytest.mark.deep] if low >= DEEP else []
    return [pytest.param(row, id=row["id"].replace("|", " "), marks=marks) for row in found]


def game_of(row: dict[str, str]) -> games.Game:
    size = row["position"][0]
    return games.load(f"othello(size={size})" if row["game"] == "othello" else row["game"])


def what(row: dict[str, str]) -> str:
    """Kind of count: a word of the row's description; with "as a leaf", finished games count too."""
    if "counts as a leaf" in row["position"]:
        return "leaf"
    [kind] = [word for word in row["position"].replace(",", "").split() if word in COMPILED]
    return kind


def layer_at(state: State, ply: int) -> Counter[State]:
    return next(islice(layers(state), ply, None), Counter())


def finished_paths(layer: Counter[State]) -> int:
    return sum(paths for state, paths in layer.items() if state.is_terminal())


def paths_and_finished_ones(state: State, depth: int) -> int:
    return merged_perft(state, depth) + sum(map(finished_paths, islice(layers(state), depth)))


PLAINLY = {
    "leaves": merged_perft,
    "perft": merged_perft,
    "games": lambda state, ply: finished_paths(layer_at(state, ply)),
    "distinct": lambda state, ply: len(layer_at(state, ply)),
    "leaf": paths_and_finished_ones,
}


@njit
def count_leaves(s: Any, depth: int) -> int:
    """Paths of `depth` actions, and shorter ones that end a game."""
    leaves = 0
    if depth == 1:
        for _ in s.actions():
            leaves += 1
        return max(leaves, 1)
    if s.is_terminal():
        return 1
    for a in s.actions():
        leaves += count_leaves(s.result(a), depth - 1)
    return leaves


@njit
def count_games(s: Any, depth: int) -> int:
    """Games that end after exactly `depth` actions."""
    if s.is_terminal():
        return 1 if depth == 0 else 0
    ended = 0
    if depth > 0:
        for a in s.actions():
            ended += count_games(s.result(a), depth - 1)
    return ended


@njit
def count_new(s: Any, depth: int, seen: Any) -> int:
    """Positions after exactly `depth` actions whose keys are not yet in the table `seen`, 0 for empty."""
    slot = np.int64(s.key() >> np.uint64(20)) % len(seen)
    for _ in range(len(seen)):
        if seen[slot] == 0:
            break
        if seen[slot] == s.key():
            return 0
        slot = (slot + 1) % len(seen)
    else:
        raise IndexError("more positions than room in the table")
    seen[slot] = s.key()
    if depth == 0:
        return 1
    found = 0
    for a in s.actions():
        found += count_new(s.result(a), depth - 1, seen)
    return found


def count_distinct(state: Any, depth: int, expected: int) -> int:
    """Positions by their keys, with room for those on the way there."""
    return count_new(state, depth, np.zeros(2 * expected + 10_000, np.uint64))


COMPILED = {
    "leaves": lambda state, depth, _: count_paths(state, depth),
    "perft": lambda state, depth, _: count_paths(state, depth),
    "games": lambda state, depth, _: count_games(state, depth),
    "distinct": count_distinct,
    "leaf": lambda state, depth, _: count_leaves(state, depth),
}


@pytest.mark.parametrize("row", rows(-1, PLAIN))
def test_count(row):
    assert PLAINLY[what(row)](game_of(row).initial_state(), int(row["depth"])) == int(row["count"])


@pytest.mark.parametrize("row", [*rows(-1, PLAIN), *rows(PLAIN, DEEP), *rows(DEEP, 10**12)])
def test_count_by_machine_code(row):
    state = native(game_of(row).initial_state())
    assert COMPILED[what(row)](state, int(row["depth"]), int(row["count"])) == int(row["count"])


def test_no_row_is_unchecked():
    assert all("read only" not in row["verified"] for row in read_counts())
    assert len(rows(PLAIN, DEEP)) + len(rows(DEEP, 10**12)) == 8
