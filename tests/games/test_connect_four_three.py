"""Connect four for three, against an independent implementation on a plain grid, and what is read."""

import random

import numpy as np
import pytest
from agreement import agrees
from fuzz import check_text, nearly, texts_of
from hypothesis import given

import games
from games import InputError, Position
from games.connect_four_three import Features
from games.kernel.jit import native, njit

GAME = games.load("connect_four_three")
EMPTY = "/".join(["." * 9] * 6)

Grid = list[list[str]]
"""Rows from the top; x, o, v or . in each cell."""


def text_of(*rows: str) -> str:
    """Write a position: the lowest rows from above, those above them are empty, and who moves."""
    *cells, side = rows
    return "/".join(["." * 9] * (6 - len(cells)) + list(cells)) + f" {side}"


def line_at(grid: Grid, row: int, column: int) -> bool:
    """Whether four of the kind that is there begin in a cell, in any of four directions."""
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        cells = [(row + i * down, column + i * right) for i in range(4)]
        if all(r < 6 and 0 <= c < 9 and grid[r][c] == grid[row][column] for r, c in cells):
            return True
    return False


def winner(grid: Grid) -> str | None:
    for row in range(6):
        for column in range(9):
            if grid[row][column] != "." and line_at(grid, row, column):
                return grid[row][column]
    return None


def drop(grid: Grid, column: int, side: str) -> None:
    lowest = max(row for row in range(6) if grid[row][column] == ".")
    grid[lowest][column] = side


def windows(grid: Grid, side: str, lacking: int) -> int:
    """Count windows of four cells with 4 - lacking stones of `side` and nothing else."""
    number = 0
    for row in range(6):
        for column in range(9):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + i * down, column + i * right) for i in range(4)]
                if all(r < 6 and 0 <= c < 9 for r, c in cells):
                    letters = [grid[r][c] for r, c in cells]
                    number += letters.count(side) == 4 - lacking and letters.count(".") == lacking
    return number


def test_a_thousand_random_games_agree_with_a_plain_grid():
    rng, ends = random.Random(1), set()
    for _ in range(1_000):
        grid, state, ply = [["."] * 9 for _ in range(6)], GAME.initial_state(), 0
        while (won := winner(grid)) is None and any("." in row for row in grid):
            free = [column for column in range(9) if grid[0][column] == "."]
            assert list(state.actions()) == free
            assert state.to_move() == ply % 3
            column = rng.choice(free)
            drop(grid, column, "xov"[ply % 3])
            state, ply = state.result(column), ply + 1
        rows = "/".join("".join(row) for row in grid)
        assert GAME.format_position(state) == f"{rows} {'xov'[ply % 3]}"
        assert state.is_terminal()
        assert list(state.actions()) == []
        utilities = [1.0 if side == won else -0.5 if won else 0.0 for side in "xov"]
        assert [state.utility(p) for p in range(3)] == utilities
        ends.add(won)
    assert ends >= set("xov")


def test_features_agree_with_a_plain_grid():
    rng = random.Random(2)
    for _ in range(30):
        grid, state = [["."] * 9 for _ in range(6)], GAME.initial_state()
        for _ in range(rng.randrange(54)):
            if state.is_terminal():
                break
            column = rng.choice(list(state.actions()))
            drop(grid, column, "xov"[state.to_move()])
            state = state.result(column)
        in_column = [[row[column] for row in grid] for column in range(9)]
        counts = {
            side: (
                windows(grid, side, 1),
                windows(grid, side, 2),
                in_column[4].count(side),
                (in_column[0] + in_column[8]).count(side),
            )
            for side in "xov"
        }
        for p in range(3):
            own, one, other = (counts["xov"[(p + turns) % 3]] for turns in range(3))
            expected = [a - (b + c) / 2 for a, b, c in zip(own, one, other, strict=True)]
            assert state.features(p) == Features(*expected)


@njit
def third(s, weights):
    return s.utility(2), s.features(2), s.evaluate(2, weights), s.players()


def test_machine_code_agrees_on_random_games():
    rng, weights = random.Random(3), np.linspace(-0.7, 1.1, len(GAME.feature_names))
    for _ in range(8):
        position = Position.start(GAME)
        while True:
            agrees(position, weights)
            state = position.state
            utility, features, value, players = third(native(state), weights)
            assert (utility, features, players) == (state.utility(2), state.features(2), 3)
            assert value == pytest.approx(state.evaluate(2, weights))
            if position.is_terminal():
                break
            position = position.play(rng.choice(position.legal()))


# hand-written cases -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moves", "utilities"),
    [
        ("1 9 9 2 9 8 3 8 9 4", (1.0, -0.5, -0.5)),
        ("9 1 8 9 1 8 9 1 7 8 1", (-0.5, 1.0, -0.5)),
        ("2 3 5 3 4 4 8 4 7 2 9 3 2 5 2", (-0.5, -0.5, 1.0)),
    ],
)
def test_the_first_to_have_four_in_a_row_wins_from_both_others(moves, utilities):
    position = Position.start(GAME, moves=moves.split())
    assert position.is_terminal()
    assert position.utilities() == utilities
    assert sum(utilities) == 0


def test_three_in_a_row_win_nothing():
    assert not Position.start(GAME, moves=["1", "9", "9", "2", "9", "8", "3"]).is_terminal()


def test_a_full_board_without_a_line_is_a_draw():
    rng = random.Random(5)
    for _ in range(50_000):
        state = GAME.initial_state()
        while not state.is_terminal():
            safe = [a for a in state.actions() if not any(map(state.result(a).utility, range(3)))]
            if not safe:
                break
            state = state.result(rng.choice(safe))
        if state.is_terminal():
            break
    position = Position.start(GAME, GAME.format_position(state))
    assert "." not in position.text()
    assert position.utilities() == (0.0, 0.0, 0.0)
    assert position.board().line == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a board, one blank, and x, o or v to move"),
        (EMPTY, "a board, one blank, and x, o or v to move"),
        (f"{EMPTY} X", "a board, one blank, and x, o or v to move"),
        (f"{EMPTY} xo", "a board, one blank, and x, o or v to move"),
        (f"{EMPTY} o", "x to move after 0 stones, got o to move"),
        (f"{EMPTY[10:]} x", "expected 6 rows joined by /, got 5"),
        (f"{EMPTY[1:]} x", "expected 9 columns in row 1, got 8"),
        (text_of("a........", "o"), "expected x, o, v or ., got 'a' in row 6 column 1"),
        (text_of("x........", ".........", "o"), "got x above an empty cell in row 5 column 1"),
        (text_of("o........", "o"), "the stones of 1 turns, 1x 0o 0v, got 0x 1o 0v"),
        (text_of("xxo......", "x"), "the stones of 3 turns, 1x 1o 1v, got 2x 1o 0v"),
        (text_of("xov......", "o"), "x to move after 3 stones, got o to move"),
        (text_of("xxxxooovv", "x"), "the stones of 9 turns, 3x 3o 3v, got 4x 3o 2v"),
        (text_of("vv.o.....", "xxxxooovv", "x"), "no line but of the last to move"),
        (text_of("vv..xx...", "ooooxxxvv", "o"), "no line but of the last to move"),
        (text_of("oo..xx...", "vvvvxxxoo", "o"), "no line but of the last to move"),
        (text_of("ooxvv....", "xxxxoovv.", "o"), "a topmost x that was the last move of an unfinished game"),
    ],
)
def test_unusable_position_says_why(text, message):
    with pytest.raises(InputError) as refusal:
        GAME.parse_position(text)
    assert message in str(refusal.value)
    assert refusal.value.code == "bad_position"


@given(text=nearly(texts_of("connect_four_three")))
def test_nearly_valid_texts_are_refused_or_read_exactly(text):
    check_text(GAME, text)


def test_keys_tell_apart_who_has_which_stones():
    texts = [text_of(f"{row}......", "x") for row in ("xov", "xvo", "oxv", "ovx", "vxo", "vox")]
    assert len({GAME.parse_position(text).key() for text in texts}) == 6


# looks ------------------------------------------------------------------------------------------------


def test_board_has_stones_of_three_seats():
    position = Position.start(GAME, moves=["5", "5", "4", "1"])
    board = position.board()
    assert (board.style, board.rows, board.columns) == ("frame", 6, 9)
    assert board.pieces == {(5, 4): 0, (4, 4): 1, (5, 3): 2, (5, 0): 0}
    assert board.last == ((5, 0),)
    assert board.targets["5"] == (3, 4)
    assert board.column_labels == tuple("123456789")
    rows = [line.split() for line in board.to_text().splitlines()]
    assert rows[4] == list("....o....")
    assert rows[5] == ["[x]", ".", ".", "■", "x", ".", ".", ".", "."]


def test_board_shows_the_line():
    board = Position.start(GAME, moves=["1", "9", "9", "2", "9", "8", "3", "8", "9", "4"]).board()
    assert board.line == ((5, 0), (5, 1), (5, 2), (5, 3))
