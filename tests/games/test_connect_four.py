"""Connect four on many sizes, against an independent implementation on a plain grid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from games import Game, InputError, Position
from games.connect_four import ConnectFour, Features
from games.frame import has_line

GAME = games.load("connect_four")
SIZES = [
    (6, 7, 4),
    (5, 6, 4),
    (4, 4, 3),
    (2, 2, 2),
    (3, 9, 5),
    (9, 5, 4),
    (6, 9, 4),
    (9, 6, 9),
    (2, 9, 9),
    (7, 8, 5),
]

Grid = list[list[str]]
"""Rows from the top; x, o or . in each cell."""


def variant(rows: int, columns: int, k: int) -> Game:
    return games.load(f"connect_four(rows={rows},columns={columns},k={k})")


def naive_line(grid: Grid, side: str, k: int) -> bool:
    """Walk k cells from each cell in each direction."""
    rows, columns = len(grid), len(grid[0])
    for row in range(rows):
        for column in range(columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + i * down, column + i * right) for i in range(k)]
                inside = all(0 <= r < rows and 0 <= c < columns for r, c in cells)
                if inside and all(grid[r][c] == side for r, c in cells):
                    return True
    return False


def naive_windows(grid: Grid, side: str, k: int, lacking: int) -> int:
    """Count windows of k cells with k - lacking stones of `side` and nothing else."""
    rows, columns = len(grid), len(grid[0])
    number = 0
    for row in range(rows):
        for column in range(columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + i * down, column + i * right) for i in range(k)]
                if all(0 <= r < rows and 0 <= c < columns for r, c in cells):
                    letters = [grid[r][c] for r, c in cells]
                    number += letters.count(side) == k - lacking and letters.count(".") == lacking
    return number


def drop(grid: Grid, column: int, side: str) -> None:
    for row in reversed(grid):
        if row[column] == ".":
            row[column] = side
            return
    raise AssertionError("the column is full")


def write(grid: Grid, side: str) -> str:
    return "/".join("".join(row) for row in grid) + f" {side}"


def stones(grid: Grid, side: str) -> int:
    rows = len(grid)
    return sum(
        1 << column * (rows + 1) + rows - 1 - row
        for row, letters in enumerate(grid)
        for column, letter in enumerate(letters)
        if letter == side
    )


@given(size=st.sampled_from(SIZES), picks=st.lists(st.integers(0, 8), min_size=63, max_size=63))
def test_play_agrees_with_a_plain_grid(size, picks):
    rows, columns, k = size
    position = Position.start(variant(*size))
    grid = [["."] * columns for _ in range(rows)]
    for ply, pick in enumerate(picks):
        side = "xo"[ply % 2]
        assert position.text() == write(grid, side)
        won = [naive_line(grid, letter, k) for letter in "xo"]
        open_columns = [column for column in range(columns) if grid[0][column] == "."]
        assert position.is_terminal() is (any(won) or not open_columns)
        if position.is_terminal():
            assert position.utilities() == (won[0] - won[1], won[1] - won[0])
            return
        assert position.legal() == [str(column + 1) for column in open_columns]
        column = open_columns[pick % len(open_columns)]
        drop(grid, column, side)
        position = position.play(str(column + 1))
    raise AssertionError("a game of 64 cells did not end")


@given(data=st.data(), size=st.sampled_from(SIZES))
def test_lines_in_any_set_of_stones(data, size):
    rows, columns, k = size
    letters = st.lists(st.sampled_from("x."), min_size=columns, max_size=columns)
    grid = data.draw(st.lists(letters, min_size=rows, max_size=rows))
    assert has_line(stones(grid, "x"), rows, k) is naive_line(grid, "x", k)


@given(data=st.data(), size=st.sampled_from(SIZES))
def test_line_of_any_direction_and_place(data, size):
    rows, columns, k = size
    down, right = data.draw(st.sampled_from([(0, 1), (1, 0), (1, 1), (1, -1)]))
    row, column = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))
    grid = [["."] * columns for _ in range(rows)]
    for i in range(k):
        if 0 <= row + i * down < rows and 0 <= column + i * right < columns:
            grid[row + i * down][column + i * right] = "x"
    assert has_line(stones(grid, "x"), rows, k) is naive_line(grid, "x", k)


@given(size=st.sampled_from(SIZES), picks=st.lists(st.integers(0, 8), max_size=63))
def test_features_agree_with_a_plain_grid(size, picks):
    rows, columns, k = size
    grid = [["."] * columns for _ in range(rows)]
    state = variant(*size).initial_state()
    for ply, pick in enumerate(picks):
        actions = list(state.actions())
        if not actions:
            break
        action = actions[pick % len(actions)]
        drop(grid, action, "xo"[ply % 2])
        state = state.result(action)
    middle = {(columns - 1) // 2, columns // 2}
    outer = {0, columns - 1} - middle

    def lead(wanted: set[int]) -> int:
        letters = [row[column] for row in grid for column in wanted]
        return letters.count("x") - letters.count("o")

    assert state.features(0) == Features(
        threes=naive_windows(grid, "x", k, 1) - naive_windows(grid, "o", k, 1),
        twos=naive_windows(grid, "x", k, 2) - naive_windows(grid, "o", k, 2),
        centre=lead(middle),
        inner=lead(set(range(columns)) - middle - outer),
        edge=lead(outer),
    )


@given(size=st.sampled_from(SIZES), picks=st.lists(st.integers(0, 8), max_size=63))
def test_position_text_reads_back(size, picks):
    game = variant(*size)
    state = game.initial_state()
    for pick in picks:
        actions = list(state.actions())
        if not actions:
            break
        state = state.result(actions[pick % len(actions)])
    text = game.format_position(state)
    assert game.parse_position(text) == state
    assert text.count("/") == size[0] - 1


@given(text=st.text("xo./ ", max_size=12) | st.from_regex(r"[xo.]{3}/[xo.]{3}/[xo.]{3} [xo]", fullmatch=True))
def test_any_text_is_refused_or_reads_back_exactly(text):
    game = variant(3, 3, 3)
    try:
        state = game.parse_position(text)
    except InputError:
        return
    assert game.format_position(state) == text


def test_keys_of_all_small_positions_differ():
    game = variant(3, 4, 3)
    states, frontier = set(), {game.initial_state()}
    while frontier:
        states |= frontier
        frontier = {state.result(action) for state in frontier for action in state.actions()} - states
    assert len({state.key() for state in states}) == len(states) > 1_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a board, one blank, and x or o to move"),
        ("./. x", "expected 3 rows joined by /, got 2"),
        (".../.../.. x", "expected 3 columns in row 3, got 2"),
        (".../.../.X. o", "expected x, o or ., got 'X' in row 3 column 2"),
        (".../.../.\u0445. o", "expected x, o or ., got '\u0445' in row 3 column 2"),
        ("/.../... x", "expected 3 columns in row 1, got 0"),
        (".../.x./... o", "got x above an empty cell in row 2 column 2"),
        ("x../.../x.. x", "got x above an empty cell in row 1 column 1"),
        (".../.../xx. x", "as many x as o, or one x more, got 2 x and 0 o"),
        (".../.../.o. x", "as many x as o, or one x more, got 0 x and 1 o"),
        (".../.../.x. x", "o to move after 1 x and 0 o, got x to move"),
        (".../.../xo. o", "x to move after 1 x and 1 o, got o to move"),
        (".../ooo/xxx x", "x to move without a line"),
        (".../.../oxo x", "as many x as o, or one x more, got 1 x and 2 o"),
        (".../x../o.. x", "a topmost o that was the last move of an unfinished game, got none"),
        ("xxx/oox/xoo x", "o to move after 5 x and 4 o, got x to move"),
    ],
)
def test_unusable_position_says_why(text, message):
    with pytest.raises(InputError) as refusal:
        variant(3, 3, 3).parse_position(text)
    assert message in str(refusal.value)
    assert refusal.value.code == "bad_position"


def test_line_of_both_sides_is_refused():
    with pytest.raises(InputError, match="x to move without a line"):
        GAME.parse_position("......./......./......./......./oooo.../xxxx... x")


def test_two_lines_that_no_single_move_completes_are_refused():
    text = "......./......./x.....x/xo....x/xo...ox/xoo.oox o"
    with pytest.raises(InputError, match="last move of an unfinished game"):
        GAME.parse_position(text)


def test_two_lines_that_one_move_completes_are_a_win():
    position = Position.start(GAME, None, "1122335566774")
    assert position.utilities() == (1.0, -1.0)
    assert GAME.parse_position(position.text()) == position.state
    assert position.board().line == tuple((5, column) for column in range(7))


def test_full_board_without_a_line_is_a_draw():
    position = Position.start(variant(2, 3, 3), None, "123123")
    assert position.is_terminal()
    assert position.utilities() == (0.0, 0.0)
    assert position.board().line == ()


def test_board_shows_where_each_column_lands():
    board = Position.start(GAME, None, "443").board()
    assert board.style == "frame"
    assert board.pieces == {(5, 3): 0, (4, 3): 1, (5, 2): 0}
    assert board.last == ((5, 2),)
    assert board.column_labels == tuple("1234567")
    assert board.targets["4"] == (3, 3)
    assert board.targets["1"] == (5, 0)


def test_full_column_is_refused_and_the_others_named():
    with pytest.raises(InputError) as refusal:
        Position.start(GAME, None, "111111").play("1")
    assert refusal.value.available == ("2", "3", "4", "5", "6", "7")


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"rows": 7, "columns": 9}, "(rows + 1) * columns at most 64, got rows=7, columns=9: 72"),
        ({"rows": 9}, "(rows + 1) * columns at most 64, got rows=9, columns=7: 70"),
        ({"columns": 10}, "columns from 2 to 9, got 10"),
        ({"columns": 1}, "columns from 2 to 9, got 1"),
        ({"rows": 0}, "rows from 2 to 9, got 0"),
        ({"k": 1}, "k from 2 to 9, got 1"),
        ({"k": 8}, "k at most 7, the longer side of the board, got 8"),
        ({"rows": 4, "columns": 3, "k": 5}, "k at most 4, the longer side of the board, got 5"),
    ],
)
def test_impossible_board_is_refused(chosen, message):
    with pytest.raises(InputError) as refusal:
        GAME.with_options(**chosen)
    assert message in str(refusal.value)
    assert refusal.value.code == "bad_option"


def test_largest_board_uses_all_but_the_spare_bits():
    game = variant(7, 8, 4)
    position = Position.start(game, None, "8888888")
    assert isinstance(position.state, ConnectFour)
    assert position.state.mask == 0x7F << 56
    assert 0 <= position.state.key() < 2**64
