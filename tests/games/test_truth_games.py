"""Others' random games, corner cases and won lines replayed by our rules, and by their machine code."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agreement import agrees

import games
from games import Position

DATA = Path(__file__).parents[1] / "data" / "truth"
NAMES = ("tic_tac_toe", "connect_four", "othello", "kuhn_poker")


def rows(name: str) -> list[object]:
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [
        pytest.param(row, id=row["id"])
        for row in map(json.loads, lines)
        if row.get("game", NAMES[0]) in NAMES
    ]


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
    assert row.get("final") in (None, position.text().partition(" ")[0])


@pytest.mark.parametrize("name", NAMES)
def test_machine_code_agrees_on_every_position_of_the_games(name):
    game = games.load(name)
    weights = np.linspace(-0.7, 1.1, len(game.feature_names))
    seen = set()
    for line in (DATA / f"games_{name}.jsonl").read_text(encoding="utf-8").splitlines():
        position = Position.start(game)
        for move in (*json.loads(line)["moves"].split(), None):
            if position.state not in seen:
                seen.add(position.state)
                agrees(position, weights)
            position = position if move is None else position.play(move)
    assert len(seen) > {"kuhn_poker": 50, "tic_tac_toe": 400}.get(name, 2_000)


@pytest.mark.parametrize("variant", ["othello(size=6)", "connect_four(rows=5,columns=6,k=4)"])
def test_machine_code_agrees_on_random_games_of_variants(variant):
    game, rng = games.load(variant), random.Random(variant)
    weights = np.linspace(-0.7, 1.1, len(game.feature_names))
    for _ in range(3):
        position = Position.start(game)
        while not position.is_terminal():
            agrees(position, weights)
            position = position.play(rng.choice(position.legal()))
        agrees(position, weights)


def moves_of(where: dict[str, Any]) -> list[str]:
    if "cells_1to9" in where:
        return [str(cell - 1) for cell in where["cells_1to9"]]
    return where["moves"] if "moves" in where else list(where["columns"])


@pytest.mark.parametrize("row", rows("corner_cases"))
def test_corner_case(row):
    position = replay(row["id"].partition("-")[0], moves_of(row["position"]))
    expect = dict(row["expect"])
    letters = position.text().partition(" ")[0]
    found = {
        "over": position.is_terminal(),
        "result": list(position.utilities()),
        "to_move_must_pass": position.legal() == ["pass"],
        "to_move_legal": sorted(position.legal()),
        "black": letters.count("X"),
        "white": letters.count("O"),
        "empty": letters.count("-"),
    }
    assert {key: found[key] for key in expect} == expect
    assert position.is_terminal() is expect.get("over", "result" in expect)


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
