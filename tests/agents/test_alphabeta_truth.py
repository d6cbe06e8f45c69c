"""Exact alpha-beta against positions that others solved: the value of every action."""

import json
from pathlib import Path

import pytest

import games
from agents.alphabeta import AlphaBeta
from games import Position
from games.kernel.jit import COMPILES

DATA = Path(__file__).parents[1] / "data" / "truth"
CELLS = 42

pytestmark = pytest.mark.skipif(not COMPILES, reason="plain Python would take hours")


def rows(*names):
    for name in names:
        yield from map(json.loads, (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())


def connect_four(at_once, most_empty):
    """Rows with at most `most_empty` empty cells; those with more than `at_once` are deep."""
    for row in rows("connect_four_scores", "connect_four_deep"):
        empty = CELLS - len(row["columns"])
        if empty <= most_empty:
            marks = [pytest.mark.deep] if empty > at_once else []
            yield pytest.param(row, id=row["id"], marks=marks)


def othello(at_once, most_empty):
    for row in rows("othello_endgames"):
        if row["empties"] <= most_empty and row["agree"] is not None:
            marks = [pytest.mark.deep] if row["empties"] > at_once else []
            yield pytest.param(row, id=row["id"], marks=marks)


def sign(number):
    return (number > 0) - (number < 0)


@pytest.mark.parametrize("row", list(connect_four(at_once=22, most_empty=26)))
def test_every_column_of_connect_four_is_won_drawn_or_lost_as_solved(row):
    state = Position.start(games.load("connect_four"), None, row["columns"]).state
    if state.is_terminal():
        assert sign(row["score"]) == state.utility(state.to_move())
        return

    values = AlphaBeta().values(state, CELLS - len(row["columns"]))

    assert max(values.values()) == sign(row["score"])
    solved = row.get("column_scores") or []
    assert {a: v for a, v in values.items() if solved} == {
        column: sign(score) for column, score in enumerate(solved) if score is not None
    }


@pytest.mark.parametrize("row", list(othello(at_once=14, most_empty=16)))
def test_every_move_of_an_othello_endgame_is_won_drawn_or_lost_as_solved(row):
    game = games.load("othello")
    state = Position.start(game, f"{row['board']} {row['to_move']}").state

    values = AlphaBeta().values(state, 2 * row["empties"])  # a pass is a ply

    assert {game.format_action(state, action): value for action, value in values.items()} == {
        move: sign(score) for move, score in row["move_scores"].items()
    }
