"""Tic-tac-toe: the whole tree is small enough to check everything."""

import json
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import games
from games import InputError, Position, State
from games.perft import layers
from games.tic_tac_toe import Features

GAME = games.load("tic_tac_toe")
DATA = Path(__file__).parents[1] / "data" / "truth"
FACTS = {
    fact["fact"]: fact["value"]
    for fact in map(json.loads, (DATA / "facts.jsonl").read_text(encoding="utf-8").splitlines())
    if fact["game"] == "tic_tac_toe"
}
TURN = (6, 3, 0, 7, 4, 1, 8, 5, 2)
MIRROR = (2, 1, 0, 5, 4, 3, 8, 7, 6)


@pytest.fixture(scope="module")
def plies() -> list[Counter[State]]:
    return list(layers(GAME.initial_state()))


def cells(state: State) -> str:
    return GAME.format_position(state)[:9]


def least_symmetric(board: str) -> str:
    boards = [board]
    for _ in range(3):
        boards.append("".join(boards[-1][cell] for cell in TURN))
    boards += ["".join(turned[cell] for cell in MIRROR) for turned in boards]
    return min(boards)


@cache
def value(state: State) -> float:
    """Utility for the first mover with best play: MINIMAX of the textbook."""
    if state.is_terminal():
        return state.utility(0)
    best = max if state.to_move() == 0 else min
    return best(value(state.result(action)) for action in state.actions())


def test_number_of_games(plies):
    finished = [(state, paths) for layer in plies for state, paths in layer.items() if state.is_terminal()]
    assert sum(paths for _, paths in finished) == 255_168
    by_winner = Counter()
    for state, paths in finished:
        by_winner[state.utility(0)] += paths
    assert by_winner == {1.0: 131_184, -1.0: 77_904, 0.0: 46_080}


def test_number_of_nodes(plies):
    assert sum(layer.total() for layer in plies) == FACTS["nodes in the full tree incl. root"] == 549_946


def test_number_of_positions(plies):
    assert sum(map(len, plies)) == FACTS["reachable positions"] == 5_478
    classes = {least_symmetric(cells(state)) for layer in plies for state in layer}
    assert len(classes) == FACTS["positions up to symmetry"] == 765


def test_value_is_a_draw():
    assert FACTS["value"] == "draw"
    assert value(GAME.initial_state()) == 0


def test_exactly_the_reachable_positions_are_accepted(plies):
    reachable = {GAME.format_position(state) for layer in plies for state in layer}
    accepted = set()
    for letters in product("xo.", repeat=9):
        for side in "xo":
            text = f"{''.join(letters)} {side}"
            try:
                state = GAME.parse_position(text)
            except InputError:
                continue
            assert GAME.format_position(state) == text
            accepted.add(text)
    assert accepted == reachable


def test_all_keys_differ(plies):
    assert len({state.key() for layer in plies for state in layer}) == 5_478


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("........ x", "expected nine cells, got 8"),
        ("....?.... x", "expected x, o or ., got '?' at cell 4"),
        ("....X.... o", "expected x, o or ., got 'X' at cell 4"),
        (".........x", "a board, one blank, and x or o to move"),
        ("......... X", "a board, one blank, and x or o to move"),
        ("xx....... x", "as many x as o, or one x more, got 2 x and 0 o"),
        ("o........ x", "as many x as o, or one x more, got 0 x and 1 o"),
        ("......... o", "x to move after 0 x and 0 o, got o to move"),
        ("x........ x", "o to move after 1 x and 0 o, got x to move"),
        ("xxxooo... x", "x to move without a line"),
    ],
)
def test_unusable_position_says_why(text, message):
    with pytest.raises(InputError) as refusal:
        GAME.parse_position(text)
    assert message in str(refusal.value)
    assert refusal.value.code == "bad_position"


def test_illegal_action_names_the_legal_ones():
    with pytest.raises(InputError) as refusal:
        Position.start(GAME, "xox.x.o.o x").play("0")
    assert refusal.value.code == "illegal_action"
    assert refusal.value.available == ("3", "5", "7")


def test_features_by_hand():
    x_to_move = GAME.parse_position("xo..x.... o").features(0)
    # x alone: 0-4-8 (two stones); 0-3-6, 3-4-5, 2-4-6 (one). o alone: none of 0-1-2 and 1-4-7.
    assert x_to_move == Features(open_twos=1, open_ones=3, centre=1, corners=1)


def test_line_shows_both_lines_of_a_double_win():
    board = Position.start(GAME, "xooxooxxx o").board()
    assert board.line == ((0, 0), (1, 0), (2, 0), (2, 1), (2, 2))


def test_each_empty_cell_is_named_by_its_action():
    board = Position.start(GAME, moves=["4", "0"]).board()
    assert (board.row_labels, board.column_labels) == ((), ())
    assert board.to_text().splitlines() == ["   [o] 1  2 ", "    3  x  5 ", "    6  7  8 "]
    over = Position.start(GAME, moves=["0", "3", "1", "4", "2"]).board()
    assert over.to_text().splitlines()[-1] == "    .  .  . "
