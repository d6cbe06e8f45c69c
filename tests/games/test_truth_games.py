"""Others' random games, corner cases and won lines replayed by our rules."""

import json
from pathlib import Path

import pytest

import games
from games import Position

DATA = Path(__file__).parents[1] / "data" / "truth"
NAMES = ("tic_tac_toe", "connect_four")


def rows(name: str) -> list[object]:
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [pytest.param(row, id=row["id"]) for row in map(json.loads, lines)]


def replay(name: str, moves: str | list[str]) -> Position:
    return Position.start(games.load(name), None, moves)


@pytest.mark.parametrize("row", [row for name in NAMES for row in rows(f"games_{name}")])
def test_random_game(row):
    position = Position.start(games.load(row["id"].rpartition("-")[0]))
    numbers = []
    for move in row["moves"].split():
        numbers.append(len(position.legal()))
        position = position.play(move)
    assert numbers == row["legal"]
    assert position.is_terminal()
    assert list(position.utilities()) == row["returns"]
    assert position.text().partition(" ")[0] == row["final"]


@pytest.mark.parametrize("row", rows("corner_cases"))
def test_corner_case(row):
    name = row["id"].partition("-")[0]
    where = row["position"]
    moves = where["columns"] if "columns" in where else [str(cell - 1) for cell in where["cells_1to9"]]
    position = replay(name, moves)
    if "result" in row["expect"]:
        assert position.is_terminal()
        assert list(position.utilities()) == row["expect"]["result"]
    else:
        assert position.is_terminal() is row["expect"]["over"]


@pytest.mark.parametrize("row", rows("connect_four_all_69_lines"))
def test_line_wins(row):
    before = replay("connect_four", row["columns"][:-1])
    assert not before.is_terminal()
    assert before.board().line == ()
    position = before.play(row["columns"][-1])
    assert list(position.utilities()) == row["result"]
    line = {(6 - int(cell[1]), "abcdefg".index(cell[0])) for cell in row["line"]}
    assert set(position.board().line) == line
    assert position.board().last[0] in line
