"""Our rules reproduce the numbers of paths and positions that others counted."""

import csv
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

import games
from games import State
from games.perft import layers, perft

DATA = Path(__file__).parents[1] / "data" / "truth"

NOT_RUN = {
    "connect_four|7x6 distinct positions at ply|12": "12,236,101 states at once: for compiled code",
}
DEEP = {
    "connect_four|7x6 distinct positions at ply|10": "1,662,623 states at once: half a gigabyte",
}


def read_counts() -> list[dict[str, str]]:
    with (DATA / "counts.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def mark(row: dict[str, str]) -> object:
    marks = [pytest.mark.deep] if row["id"] in DEEP else []
    return pytest.param(row, id=row["id"].replace("|", " "), marks=marks)


def layer_at(state: State, ply: int) -> Counter[State]:
    return next(islice(layers(state), ply, None), Counter())


def finished_paths(layer: Counter[State]) -> int:
    return sum(paths for state, paths in layer.items() if state.is_terminal())


COUNTING = {
    "leaves": perft,
    "perft": perft,
    "games": lambda state, ply: finished_paths(layer_at(state, ply)),
    "distinct": lambda state, ply: len(layer_at(state, ply)),
}


@pytest.mark.parametrize("row", [mark(row) for row in read_counts() if row["id"] not in NOT_RUN])
def test_count(row):
    [count] = [COUNTING[word] for word in row["position"].split() if word in COUNTING]
    assert count(games.load(row["game"]).initial_state(), int(row["depth"])) == int(row["count"])


def test_rows_left_out_exist():
    assert NOT_RUN.keys() | DEEP.keys() <= {row["id"] for row in read_counts()}
