"""Solved positions: an exact search over our rules finds the scores that others' solvers found.

Scores are Pons's: 22 less the number of stones that the winner will have set at the end. A search of
plain Python proves positions with few empty cells; those with more are left for compiled searches.
"""

import json
from pathlib import Path

import pytest

import games
from games import Position
from games.connect_four import ConnectFour
from games.frame import full_board, open_windows

DATA = Path(__file__).parents[1] / "data" / "truth"
GAME = games.load("connect_four")
CELLS = 42
MOST_EMPTY = 28
"""Positions with more empty cells are not run: some take plain Python minutes, and some hours."""
CENTRE_FIRST = (3, 2, 4, 1, 5, 0, 6)

Table = dict[ConnectFour, tuple[int, int]]


def after(columns: str) -> ConnectFour:
    state = Position.start(GAME, None, columns).state
    assert isinstance(state, ConnectFour)
    return state


def won_with(stones: int) -> int:
    """Score of a win by the stone that makes `stones` on the board."""
    return 22 - (stones + 1) // 2


def finished_score(state: ConnectFour) -> int:
    """Score of a finished game for the side that would move."""
    return 0 if state.utility(0) == 0 else -won_with(state.mask.bit_count())


def open_threes(state: ConnectFour) -> int:
    """Open threes of the side that has just moved, for ordering."""
    empty = full_board(state.rows, state.columns) ^ state.mask
    return open_windows(state.me ^ state.mask, empty, state.rows, state.k)[0]


def search(state: ConnectFour, alpha: int, beta: int, table: Table) -> int:
    """Fail-soft negamax: the score where it lies between alpha and beta, else a bound on it.

    The table keeps a lower and an upper bound for each state.
    """
    stones = state.mask.bit_count()
    actions = sorted(state.actions(), key=CENTRE_FIRST.index)
    children = [state.result(action) for action in actions]
    for child in children:
        if child.is_terminal():  # a win at once, or the last cell
            return -finished_score(child)
    low, high = table.get(state, (-won_with(stones + 2), won_with(stones + 3)))
    if low >= beta:
        return low
    if high <= alpha:
        return high
    passed = state._replace(me=state.me ^ state.mask)
    threats = [
        child for action, child in zip(actions, children, strict=True) if passed.result(action).utility(0)
    ]
    if len(threats) > 1:
        return -won_with(stones + 2)
    best, floor = low, alpha
    for child in threats or sorted(children, key=open_threes, reverse=True):
        best = max(best, -search(child, -beta, -max(alpha, best), table))
        if best >= beta:
            break
    table[state] = (best, high) if best >= beta else (low, best) if best <= floor else (best, best)
    return best


def score(state: ConnectFour, table: Table) -> int:
    """Close in on the score by yes-no questions: windows of width 1."""
    if state.is_terminal():
        return finished_score(state)
    low, high = -21, 21
    while low < high:
        middle = (low + high) // 2
        found = search(state, middle, middle + 1, table)
        if found <= middle:
            high = found
        else:
            low = found
    return low


def solvable(*names: str, at_once: int, most_empty: int) -> list[object]:
    """Rows with at most `most_empty` empty cells; those with more than `at_once` are deep."""
    params = []
    for name in names:
        for row in map(json.loads, (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()):
            empty = CELLS - len(row["columns"])
            marks = [pytest.mark.deep] if empty > at_once else []
            if empty <= most_empty:
                params.append(pytest.param(row, id=row["id"], marks=marks))
    return params


@pytest.mark.parametrize(
    "row", solvable("connect_four_scores", "connect_four_deep", at_once=24, most_empty=MOST_EMPTY)
)
def test_score(row):
    assert score(after(row["columns"]), {}) == row["score"]


@pytest.mark.parametrize("row", solvable("connect_four_scores", at_once=20, most_empty=24))
def test_score_of_every_column(row):
    state, table = after(row["columns"]), {}
    scores = [None] * 7
    for column in state.actions():
        scores[column] = -score(state.result(column), table)
    if row["column_scores"]:
        assert scores == row["column_scores"]
    assert max(known for known in scores if known is not None) == row["score"]
