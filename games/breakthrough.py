"""Breakthrough (Dan Troyka, 2000): two rows of pieces each, that only go forward; one through is enough.

Bit 8 * row + column of a word is a cell, from the top left, on every size of board. Black, the first mover,
goes down. An action is three times the bit of the piece's cell, plus 0, 1 or 2 for a step to the column
before, straight on, or to the column after.

A player always has a move. No own piece is ahead of the foremost one, which is not on the last row yet; so
each cell diagonally ahead of it, and the board has one or two, is empty or the opponent's. Every action
takes a piece a row on, so a game ends after fewer than 2 size (2 size - 3) of them.
"""

from collections.abc import Iterator
from typing import NamedTuple

from games.bits import nth_one
from games.board import Board, Cell
from games.breakthrough_reach import SIDES, check_reachable
from games.errors import shown
from games.game import Game
from games.notation import bad_position, read_action
from games.options import Option
from games.protocol import (
    LISTED,
    State,
    as_state,
    compiled,
    draw,
    kernel,
    like,
    mix,
    popcount,
    trailing_zeros,
    u64,
    variant,
    word,
)

STRIDE = 8
EMPTY = "."
LETTERS = "abcdefgh"
FIRST_ROW = 0xFF
NOT_FIRST_COLUMN = 0xFEFE_FEFE_FEFE_FEFE
NOT_LAST_COLUMN = 0x7F7F_7F7F_7F7F_7F7F
ODD_ROWS = 0xFF00_FF00_FF00_FF00
ROWS_2_3_6_7 = 0xFFFF_0000_FFFF_0000
ROWS_4_TO_7 = 0xFFFF_FFFF_0000_0000
SECOND = 0x94D0_49BB_1331_11EB
"""Any number without a pattern: it tells apart the keys of boards alike but for the side to move."""


class Features(NamedTuple):
    """Own minus the opponent's.

    `pieces` are all of them; `advance` is the sum of the rows between each piece and its own edge, and
    `foremost` that of the one furthest on; `guarded` are pieces that another one could take back for;
    `threats` are the opponent's pieces that could be captured.
    """

    pieces: int
    advance: int
    foremost: int
    guarded: int
    threats: int


@compiled
class Breakthrough(NamedTuple):
    """Pieces as bitboards, on a board of 8 by 8. Seat 0 is black and begins."""

    black: word
    """Pieces that go down."""
    white: word
    """Pieces that go up."""
    mover: int
    """Seat of the player to move: both sides may stand as they do whoever is."""

    # mypy knows no constants in a NamedTuple.
    size = 8  # type: ignore[misc]
    full = 0xFFFF_FFFF_FFFF_FFFF  # type: ignore[misc]

    def to_move(self) -> int:
        """Seat whose turn it is."""
        return self.mover

    def actions(self) -> Iterator[int]:
        """Every step to the column before, then straight on, then to the column after."""
        bits, later, last = targets(self)
        back = step(self.mover, 0)
        for side in range(3):
            while bits != u64(0):
                yield 3 * (trailing_zeros(bits) - back - side) + side
                bits &= bits - u64(1)
            bits, later = later, last

    def count_actions(self) -> int:
        """Return how many actions there are."""
        before, straight, after = targets(self)
        return popcount(before) + popcount(straight) + popcount(after)

    def playout_action(self, rng: word) -> int:
        """Draw one of `actions()`, all equally likely."""
        bits, straight, after = targets(self)
        first, second = popcount(bits), popcount(straight)
        third = popcount(after)
        if first + second + third == 0:
            return LISTED
        number, side = draw(rng, 0, first + second + third), 0
        if number >= first + second:
            bits, side = after, 2
            number -= first + second
        elif number >= first:
            bits, side = straight, 1
            number -= first
        return 3 * (nth_one(bits, number) - step(self.mover, side)) + side

    def result(self, a: int) -> "Breakthrough":
        """Move a piece a row on; an opponent's piece there is captured."""
        cell, side = a // 3, a % 3
        gone = u64(1) << cell
        come = u64(1) << cell + step(self.mover, side)
        if self.mover == 0:
            return like(self, self.black ^ gone ^ come, self.white & ~come, 1)
        return like(self, self.black & ~come, self.white ^ gone ^ come, 0)

    def is_terminal(self) -> bool:
        """Whether a piece has reached its last row, or a side has no pieces left."""
        through = self.black & last_row(self.size) | self.white & u64(FIRST_ROW)
        return through != u64(0) or self.black == u64(0) or self.white == u64(0)

    def utility(self, p: int) -> float:
        """+1 for the last mover, whose piece is through or captured the last one, -1 for the other."""
        return -1.0 if p == self.mover else 1.0

    def features(self, p: int) -> Features:
        """Pieces, how far they are and what they guard and threaten, own minus the opponent's."""
        black, white, last = self.black, self.white, self.size - 1
        covered, hit = diagonal_down(black), diagonal_up(white)
        sign = 1
        if p != 0:
            sign = -1
        return Features(
            sign * (popcount(black) - popcount(white)),
            sign * (rows_down(black) + rows_down(white) - last * popcount(white)),
            sign * (foremost_down(black) - foremost_up(white, last)),
            sign * (popcount(black & covered) - popcount(white & hit)),
            sign * (popcount(white & covered) - popcount(black & hit)),
        )

    def key(self) -> int:
        """Both bitboards and the side to move, mixed one into the other."""
        black = self.black
        if self.mover == 1:
            black ^= u64(SECOND)
        return mix(u64(mix(black) + self.white))


@kernel
def last_row(size: int) -> word:
    """Cells that black goes to."""
    return u64(FIRST_ROW) << STRIDE * (size - 1)


@kernel
def step(mover: int, side: int) -> int:
    """Difference of the bits of the cells a piece goes from and to."""
    return (STRIDE - 1 if mover == 0 else -STRIDE - 1) + side


@kernel
def targets(s: Breakthrough) -> tuple[word, word, word]:
    """Cells that a piece can reach by a step to the column before, straight on, and to the column after."""
    if s.is_terminal():
        return u64(0), u64(0), u64(0)
    own, ahead = s.black, s.black << STRIDE
    if s.mover == 1:
        own, ahead = s.white, s.white >> STRIDE
    free = u64(s.full) & ~own
    before = (ahead & u64(NOT_FIRST_COLUMN)) >> 1
    after = (ahead & u64(NOT_LAST_COLUMN)) << 1
    return before & free, ahead & free & ~(s.black | s.white), after & free


@kernel
def diagonal_down(pieces: word) -> word:
    """Cells that black pieces guard or threaten."""
    return u64((pieces & u64(NOT_FIRST_COLUMN)) << STRIDE - 1 | (pieces & u64(NOT_LAST_COLUMN)) << STRIDE + 1)


@kernel
def diagonal_up(pieces: word) -> word:
    """Cells that white pieces guard or threaten."""
    return (pieces & u64(NOT_FIRST_COLUMN)) >> STRIDE + 1 | (pieces & u64(NOT_LAST_COLUMN)) >> STRIDE - 1


@kernel
def rows_down(pieces: word) -> int:
    """Sum of the pieces' rows from the top, 0 to 7, added up bit by bit of the row's number."""
    units, twos = popcount(pieces & u64(ODD_ROWS)), popcount(pieces & u64(ROWS_2_3_6_7))
    return units + 2 * twos + 4 * popcount(pieces & u64(ROWS_4_TO_7))


@kernel
def foremost_down(pieces: word) -> int:
    """Row of the lowest piece, from the top; 0 without pieces."""
    row = 0
    while pieces >> STRIDE != u64(0):
        pieces >>= STRIDE
        row += 1
    return row


@kernel
def foremost_up(pieces: word, last: int) -> int:
    """Row of the highest piece, from the bottom, where the last one is; 0 without pieces."""
    return 0 if pieces == u64(0) else last - trailing_zeros(pieces) // STRIDE


def start(size: int = 8) -> State:
    """Return the board with two rows of pieces a side."""
    row = (1 << size) - 1
    black = row | row << STRIDE
    return as_state(board_class(size)._make((black, black << STRIDE * (size - 2), 0)))


def board_class(size: int) -> type[Breakthrough]:
    """Return the state class of a size of board."""
    if size == Breakthrough.size:
        return Breakthrough
    full = sum((1 << size) - 1 << STRIDE * row for row in range(size))
    return variant(Breakthrough, f"Breakthrough_{size}", size=size, full=full)


def __getattr__(name: str) -> type[Breakthrough]:
    """Make the class of a variant when code that another process compiled for it asks for it by name."""
    first, _, size = name.partition("_")
    if first != "Breakthrough" or not size.isdigit():
        raise AttributeError(name)
    return board_class(int(size))


def _actions_by_text(state: Breakthrough) -> Iterator[tuple[str, int]]:
    return ((format_action(state, action), action) for action in state.actions())


def parse_action(state: Breakthrough, text: str) -> int:
    """Read the cells from where and to where, such as `c7d6`, a capture too."""
    return read_action(text, _actions_by_text(state), lambda: f"breakthrough ({format_position(state)})")


def format_action(state: Breakthrough, action: int) -> str:
    """Write the cells that are left and reached, column and row, such as `c7d6`, a capture too."""
    return "".join(_cell_text(cell, state.size) for cell in _ends(action, state.mover))


def _ends(action: int, mover: int) -> tuple[Cell, Cell]:
    """Cells from where and to where a player moves."""
    return divmod(action // 3, STRIDE), divmod(action // 3 + step(mover, action % 3), STRIDE)


def _cell_text(cell: Cell, size: int) -> str:
    return f"{LETTERS[cell[1]]}{size - cell[0]}"


def _pieces(state: Breakthrough) -> dict[Cell, int]:
    """Seat of the piece in each cell that is not empty, row by row."""
    sides = (state.black, state.white)
    return {divmod(bit, STRIDE): seat for bit in range(64) for seat in (0, 1) if sides[seat] >> bit & 1}


def format_position(state: Breakthrough) -> str:
    """Write the rows from the top, `/` between them, a blank, and who moves: `bbbb/bbbb/wwww/wwww b`.

    Black, b, is player 0, White, w, player 1; `.` is an empty cell.
    """
    pieces, span = _pieces(state), range(state.size)
    letters = {cell: SIDES[seat] for cell, seat in pieces.items()}
    rows = ("".join(letters.get((row, column), EMPTY) for column in span) for row in span)
    return f"{'/'.join(rows)} {SIDES[state.mover]}"


def parse_position(text: str, size: int = 8) -> State:
    """Read a position text. Raises InputError where `check_reachable` sees that no game can reach it."""
    board, blank, side = text.partition(" ") if isinstance(text, str) else ("", "", "")
    if not blank or side not in tuple(SIDES):
        raise bad_position("a board, one blank, and b or w to move", shown(text), "breakthrough")
    rows = board.split("/")
    if len(rows) != size or any(len(row) != size for row in rows):
        raise bad_position(f"{size} rows of {size} cells, / between them", shown(board), "breakthrough")
    cells = {"b": 0, "w": 0, EMPTY: 0}
    for row, letters in enumerate(rows):
        for column, letter in enumerate(letters):
            if letter not in cells:
                place = _cell_text((row, column), size)
                raise bad_position("b, w or .", f"{letter!r} at {place}", "breakthrough")
            cells[letter] |= 1 << STRIDE * row + column
    state = board_class(size)._make((cells["b"], cells["w"], SIDES.index(side)))
    check_reachable((_advances(state, 0), _advances(state, 1)), size, state.mover)
    return as_state(state)


def _advances(state: Breakthrough, seat: int) -> list[Cell]:
    """Pieces of a seat as rows from its own edge, and columns."""
    cells = [cell for cell, owner in _pieces(state).items() if owner == seat]
    return [(row if seat == 0 else state.size - 1 - row, column) for row, column in cells]


def board(state: Breakthrough, last: int | None) -> Board:
    """Return the board as data, labelled by letters and numbers; the piece that is through is its line."""
    span = range(state.size)
    ended = {0: state.size - 1, 1: 0}
    return Board(
        rows=state.size,
        columns=state.size,
        pieces=_pieces(state),
        style="chequered",
        last=() if last is None else _ends(last, 1 - state.mover),
        line=tuple(cell for cell, seat in _pieces(state).items() if cell[0] == ended[seat]),
        column_labels=tuple(LETTERS[: state.size]),
        below=1,
        row_labels=tuple(str(state.size - row) for row in span),
        targets={text: _ends(action, state.mover)[1] for text, action in _actions_by_text(state)},
    )


GAME = Game(
    name="breakthrough",
    title="Breakthrough",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    options={"size": Option(8, 4, 8, "cells in a row and in a column")},
    rules=(
        "Black, the first mover, has two rows of pieces at the top and goes down, White has two at the "
        "bottom and goes up. A piece goes one cell straight ahead if that is empty, or one diagonally "
        "ahead if that is empty or the opponent's, whose piece there is captured. Nobody has to capture. "
        "The first piece to reach the opponent's edge wins, and so does who captures all (+1, the other "
        "player -1). A player always has a move, and there are no draws."
    ),
    typical=(
        *("d7d6", "e2e3", "e7e6", "d2d3", "g7f6", "b2c3", "d6c5"),
        *("e3f4", "c7c6", "f2e3", "c5d4", "f4e5", "f6e5", "e1e2"),
    ),
)
