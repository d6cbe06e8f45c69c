"""Checkers, that is English draughts: jump when you can, and leave the opponent without a move.

A turn is one step, or a chain of jumps with one piece, each of which is an action of its own: `c3d4`, `c3e5`.
"""

from collections.abc import Iterator

from games.board import Board, Cell
from games.checkers_reachable import check_reachable
from games.checkers_state import (
    BOARD,
    DIRECTIONS,
    FIRST_ROW,
    LAST_ROW,
    MOST_QUIET,
    Checkers,
    Features,
    bit_at,
    shifted,
    squares,
)
from games.errors import shown
from games.game import Game
from games.notation import bad_position, read_action
from games.protocol import State, as_state, trailing_zeros, word

SIZE = 8
COLUMNS = "abcdefgh"
SIDES = "o+"
"""Letters of the first and the second mover's men, and of who moves, in position texts."""
KINGS = "8*"
EMPTY = "."
NO_CHAIN = "-"
CELLS = {bit_at(row, column): (row, column) for row in range(SIZE) for column in range(row % 2, SIZE, 2)}
"""Row and column, from 0 and from a1, of each square's bit."""


START = Checkers(squares(range(3)), squares(range(5, 8)), 0, 0, 0, 0)


def start() -> State:
    """Return the board with twelve men on a side."""
    return as_state(START)


# actions ----------------------------------------------------------------------------------------------


def squares_of(state: Checkers, action: int) -> tuple[int, int]:
    """Bits of the squares that an action leaves and reaches."""
    origin, direction = divmod(action, DIRECTIONS)
    landing = shifted(1 << origin, direction)
    if landing & state.other:
        landing = shifted(landing, direction)
    return origin, trailing_zeros(landing)


def square_text(bit: int) -> str:
    """Write a square, such as `a1`."""
    row, column = CELLS[bit]
    return f"{COLUMNS[column]}{row + 1}"


def _actions_by_text(state: Checkers) -> Iterator[tuple[str, int]]:
    return ((format_action(state, action), action) for action in state.actions())


def parse_action(state: Checkers, text: str) -> int:
    """Read a step or a jump: the squares that are left and reached, such as `c3d4`."""
    return read_action(text, _actions_by_text(state), lambda: f"checkers ({format_position(state)})")


def format_action(state: Checkers, action: int) -> str:
    """Write the squares that are left and reached, such as `c3d4` for a step or `c3e5` for a jump.

    Each jump is an action of its own: whoever can go on jumping is asked again, until no jump is left.
    """
    origin, landing = squares_of(state, action)
    return f"{square_text(origin)}{square_text(landing)}"


# positions --------------------------------------------------------------------------------------------


def _letters(state: Checkers) -> Iterator[tuple[int, str]]:
    """Bit and letter of each piece."""
    for bit in CELLS:
        owner = state.mover if state.me >> bit & 1 else 1 - state.mover
        if (state.me | state.other) >> bit & 1:
            yield bit, (KINGS if state.kings >> bit & 1 else SIDES)[owner]


def format_position(state: Checkers) -> str:
    """Write the rows from row 8 down, who moves, the piece amid jumps, and the steps without capture.

    `/` stands between rows and a blank between the parts. Men of player 0 are `o`, of player 1 `+`, kings
    `8` and `*`. Who moves is `o` or `+`. A turn that has begun names its piece's square, else `-` stands
    there. The steps of both players since the last capture count.
    """
    rows = [[EMPTY] * SIZE for _ in range(SIZE)]
    for bit, letter in _letters(state):
        row, column = CELLS[bit]
        rows[SIZE - 1 - row][column] = letter
    chain = square_text(trailing_zeros(state.chain)) if state.chain else NO_CHAIN
    return f"{'/'.join(map(''.join, rows))} {SIDES[state.mover]} {chain} {state.quiet}"


def parse_position(text: str) -> State:
    """Read a position text. Raises InputError where no game can reach it.

    Checked are letters, squares, numbers of pieces, and that some last action of an unfinished game can have
    led here; whether the actions before can have come in turn is checked only where there was no capture yet.
    """
    parts = text.split(" ") if isinstance(text, str) else []
    if len(parts) != 4 or parts[1] not in tuple(SIDES):
        raise bad_position("a board, o or + to move, a square or -, and a number", shown(text), "checkers")
    board, side, chain, quiet = parts
    pieces = _read_board(board)
    by_square = {square_text(bit): 1 << bit for bit in CELLS} | {NO_CHAIN: 0}
    if chain not in by_square:
        raise bad_position("the dark square of a piece amid jumps, or -", shown(chain), "checkers")
    if quiet not in map(str, range(MOST_QUIET + 1)):
        raise bad_position(f"0 to {MOST_QUIET} steps without a capture", shown(quiet), "checkers")
    mover = SIDES.index(side)
    men, kings = pieces[SIDES[mover]], pieces[KINGS[mover]]
    others_men, others_kings = pieces[SIDES[1 - mover]], pieces[KINGS[1 - mover]]
    state = Checkers(
        men | kings, others_men | others_kings, kings | others_kings, by_square[chain], mover, int(quiet)
    )
    check_reachable(state, START)
    return as_state(state)


def _read_board(board: str) -> dict[str, word]:
    """Return the squares of each letter. Raises InputError for a piece where none can be."""
    lines = board.split("/")
    if len(lines) != SIZE or any(len(line) != SIZE for line in lines):
        raise bad_position("8 rows of 8 squares joined by /", shown(board), "checkers")
    pieces = dict.fromkeys(SIDES + KINGS, 0)
    for row, line in enumerate(reversed(lines)):
        for column, letter in enumerate(line):
            if letter == EMPTY:
                continue
            square = f"{COLUMNS[column]}{row + 1}"
            if letter not in pieces:
                raise bad_position("o, 8, +, * or .", f"{letter!r} at {square}", "checkers")
            bits = 1 << bit_at(row, column) if (row + column) % 2 == 0 else 0
            if not bits & BOARD:
                raise bad_position("pieces on dark squares", f"{letter} at {square}", "checkers")
            pieces[letter] |= bits
    if pieces["o"] & LAST_ROW or pieces["+"] & FIRST_ROW:
        raise bad_position("kings on the row that crowns", "a man", "checkers")
    return pieces


# looks ------------------------------------------------------------------------------------------------


def _cell(bit: int) -> Cell:
    row, column = CELLS[bit]
    return SIZE - 1 - row, column


def _last_cells(state: Checkers, last: int | None) -> tuple[Cell, ...]:
    """Cells that the last action left and reached: it was a jump if it left the next square empty."""
    if last is None:
        return ()
    origin, direction = divmod(last, DIRECTIONS)
    landing = shifted(1 << origin, direction)
    if not landing & (state.me | state.other):
        landing = shifted(landing, direction)
    return _cell(origin), _cell(trailing_zeros(landing))


def board(state: Checkers, last: int | None) -> Board:
    """Return the board as data, row 8 at the top."""
    letters = dict(_letters(state))
    return Board(
        rows=SIZE,
        columns=SIZE,
        pieces={_cell(bit): (SIDES + KINGS).index(letter) % 2 for bit, letter in letters.items()},
        kinds={_cell(bit): "man" if letter in SIDES else "crowned" for bit, letter in letters.items()},
        style="chequered",
        last=_last_cells(state, last),
        column_labels=tuple(COLUMNS),
        row_labels=tuple(str(row) for row in range(SIZE, 0, -1)),
        targets={text: _cell(squares_of(state, action)[1]) for text, action in _actions_by_text(state)},
    )


GAME = Game(
    name="checkers",
    title="Checkers",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    rule_draw=lambda state: state.quiet >= MOST_QUIET,
    rules=(
        "English draughts on the dark squares of a chessboard, twelve men a side. Player 0, who moves first, "
        "has rows 1 to 3, below, and player 1 rows 6 to 8. Men step one square diagonally forward, kings in "
        "all four directions. A piece jumps over an opponent's piece beside it to the free square behind, "
        "and so captures it; who can jump must, and with the same piece as long as it can. Any of the "
        "possible jumps will do. A man that reaches the last row becomes a king, which ends the turn. Who "
        "has no legal move loses (-1, the other player +1). Forty steps in a row without a capture, of both "
        "sides together, are a draw (0): twenty of each player, where the usual rule has forty of each and "
        "counts anew also after a step of a man."
    ),
    typical=("c3d4", "f6g5", "b2c3", "g7f6", "g3h4", "h8g7", "c3b4", "d6c5", "b4d6", "e7c5"),
)
