"""Othello on a square board: surround the opponent's discs in a straight line to turn them over.

Bit 8 * row + column of a word is a cell, from the top left, on every size of board. An action is its cell's
bit; to pass is an action of its own, the only one of a player who can turn no disc while the other can.
"""

from collections.abc import Iterator
from typing import NamedTuple

from games.board import Board, Cell
from games.errors import InputError, shown
from games.game import Game
from games.notation import bad_position, read_action
from games.options import Option
from games.protocol import (
    State,
    as_state,
    compiled,
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
PASS = 64
PASS_TEXT = "pass"  # noqa: S105 - no password
SIDES = "XO"
"""Letters of the first mover, black, and the second, white, in position texts."""
EMPTY = "-"
LETTERS = "abcdefgh"
NOT_FIRST_COLUMN = 0xFEFE_FEFE_FEFE_FEFE
NOT_LAST_COLUMN = 0x7F7F_7F7F_7F7F_7F7F
SECOND = 0x94D0_49BB_1331_11EB
"""Any number without a pattern: it tells apart the keys of boards alike but for the side to move."""


def square(first: int, last: int) -> word:
    """All cells whose row and column are from `first` to `last`."""
    inside = range(first, last + 1)
    return sum(1 << STRIDE * row + column for row in inside for column in inside)


def masks(size: int) -> dict[str, int]:
    """Return the constants of a size of board."""
    full, inner, last = square(0, size - 1), square(1, size - 2), size - 1
    corners = sum(1 << STRIDE * row + column for row in (0, last) for column in (0, last))
    columns = sum(1 << STRIDE * row + column for row in range(size) for column in range(1, last))
    near = sum(1 << STRIDE * row + column for row in (1, last - 1) for column in (1, last - 1))
    return {
        "size": size,
        "full": full,
        "middle": columns,
        "corner_cells": corners,
        "edge_cells": full & ~inner & ~corners,
        "x_cells": near,
    }


class Features(NamedTuple):
    """Own minus the opponent's.

    `corners` are discs that nothing can turn; `mobility` is the number of discs that could be set now;
    `discs` are all of them; `edges` those at the rim, corners aside; `x_squares` those diagonally next to an
    empty corner, which they give away; `frontier` those next to an empty cell, which can be turned.
    """

    corners: int
    mobility: int
    discs: int
    edges: int
    x_squares: int
    frontier: int


@compiled
class Othello(NamedTuple):
    """Discs as bitboards, on a board of 8 by 8. Seat 0 is black and begins."""

    me: word
    """Discs of the player to move."""
    other: word
    """Discs of the opponent."""
    moves: word
    """Cells where the player to move can set a disc."""
    mover: int
    """Seat of the player to move: passes break the alternation."""

    # mypy knows no constants in a NamedTuple.
    size = 8  # type: ignore[misc]
    full = masks(8)["full"]  # type: ignore[misc]
    middle = masks(8)["middle"]  # type: ignore[misc]
    corner_cells = masks(8)["corner_cells"]  # type: ignore[misc]
    edge_cells = masks(8)["edge_cells"]  # type: ignore[misc]
    x_cells = masks(8)["x_cells"]  # type: ignore[misc]

    def to_move(self) -> int:
        """Seat whose turn it is, if only to pass."""
        return self.mover

    def actions(self) -> Iterator[int]:
        """Cells that turn a disc, row by row; else to pass, if the opponent can still move."""
        moves = self.moves
        if moves == u64(0) and not self.is_terminal():
            yield PASS
        while moves != u64(0):
            yield trailing_zeros(moves)
            moves &= moves - u64(1)

    def result(self, a: int) -> "Othello":
        """Set a disc and turn all that it surrounds, or pass."""
        me, other = self.me, self.other
        if a != PASS:
            disc = u64(1) << a
            turned = flips(disc, me, other, u64(self.middle))
            me |= turned | disc
            other ^= turned
        return like(self, other, me, mobility(other, me, u64(self.full), u64(self.middle)), 1 - self.mover)

    def is_terminal(self) -> bool:
        """Whether neither side can set a disc."""
        return self.moves == u64(0) and mobility(
            self.other, self.me, u64(self.full), u64(self.middle)
        ) == u64(0)

    def utility(self, p: int) -> float:
        """+1 for more discs, -1 for fewer, 0 for as many."""
        ahead = popcount(self.me) - popcount(self.other)
        if p != self.mover:
            ahead = -ahead
        return 1.0 if ahead > 0 else -1.0 if ahead < 0 else 0.0

    def features(self, p: int) -> Features:
        """Where discs are and what they can do, own minus the opponent's."""
        full = u64(self.full)
        own, other = self.me, self.other
        sign = 1
        if p != self.mover:
            sign = -1
        empty = full & ~(own | other)
        given = diagonal_neighbours(empty & u64(self.corner_cells)) & u64(self.x_cells)
        replies = mobility(other, own, full, u64(self.middle))
        return Features(
            sign * lead(own, other, u64(self.corner_cells)),
            sign * (popcount(self.moves) - popcount(replies)),
            sign * lead(own, other, full),
            sign * lead(own, other, u64(self.edge_cells)),
            sign * lead(own, other, given),
            sign * lead(own, other, around(empty)),
        )

    def key(self) -> int:
        """Both bitboards and the side to move, mixed one into the other."""
        me = self.me
        if self.mover == 1:
            me ^= u64(SECOND)
        return mix(u64(mix(me) + self.other))


@kernel
def lead(own: word, other: word, cells: word) -> int:
    """Discs on some cells, own minus the opponent's."""
    return popcount(own & cells) - popcount(other & cells)


@kernel
def run_up(start: word, through: word, step: int) -> word:
    """Cells of `through` in unbroken runs of at most 6 from `start`, towards higher bits (Kogge-Stone)."""
    run = through & (start << step)
    run |= through & (run << step)
    pairs = through & (through << step)
    run |= pairs & (run << 2 * step)
    return run | pairs & (run << 2 * step)


@kernel
def run_down(start: word, through: word, step: int) -> word:
    """Cells of `through` in unbroken runs from `start`, towards lower bits."""
    run = through & (start >> step)
    run |= through & (run >> step)
    pairs = through & (through >> step)
    run |= pairs & (run >> 2 * step)
    return run | pairs & (run >> 2 * step)


@kernel
def ends(own: word, through: word, step: int) -> word:
    """Cells right after a run of `through` that `own` begins, both ways along one line."""
    return run_up(own, through, step) << step | run_down(own, through, step) >> step


@kernel
def mobility(own: word, other: word, full: word, middle: word) -> word:
    """Cells where `own` can set a disc.

    Runs that leave the board sideways would come back a row further: they stay within the `middle` columns.
    """
    inside = other & middle
    cells = ends(own, inside, 1) | ends(own, other, 8) | ends(own, inside, 7) | ends(own, inside, 9)
    return cells & full & ~(own | other)


@kernel
def flips(disc: word, own: word, other: word, middle: word) -> word:
    """Discs of `other` that a new disc of `own` turns."""
    inside = other & middle
    return (
        bracketed(disc, own, inside, 1)
        | bracketed(disc, own, other, 8)
        | bracketed(disc, own, inside, 7)
        | bracketed(disc, own, inside, 9)
    )


@kernel
def bracketed(disc: word, own: word, through: word, step: int) -> word:
    """Return runs of `through` between `disc` and `own`, both ways along one line."""
    up, down = run_up(disc, through, step), run_down(disc, through, step)
    turned = u64(0)
    if (up << step) & own != u64(0):
        turned |= up
    if (down >> step) & own != u64(0):
        turned |= down
    return turned


@kernel
def diagonal_neighbours(corners: word) -> word:
    """Cells diagonally next to corners, and some far from them."""
    return corners << 9 | corners << 7 | corners >> 7 | corners >> 9


@kernel
def around(cells: word) -> word:
    """Return some cells and all next to them."""
    row = cells | (cells << 1) & u64(NOT_FIRST_COLUMN) | (cells >> 1) & u64(NOT_LAST_COLUMN)
    return row | row << STRIDE | row >> STRIDE


def start(size: int = 8) -> State:
    """Return the board with its four discs, black's on the rising diagonal."""
    above = (STRIDE + 1) * (size // 2 - 1)
    black = 1 << above + 1 | 1 << above + STRIDE
    white = 1 << above | 1 << above + STRIDE + 1
    return _state(board_class(size), (black, white), 0)


def board_class(size: int) -> type[Othello]:
    """Return the state class of a size of board."""
    return Othello if size == Othello.size else variant(Othello, f"Othello_{size}", **masks(size))


def __getattr__(name: str) -> type[Othello]:
    """Make the class of a variant when code that another process compiled for it asks for it by name."""
    first, _, size = name.partition("_")
    if first != "Othello" or not size.isdigit():
        raise AttributeError(name)
    return board_class(int(size))


def _state(cls: type[Othello], discs: tuple[word, word], mover: int) -> State:
    me, other = discs[mover], discs[1 - mover]
    return as_state(cls._make((me, other, mobility(me, other, cls.full, cls.middle), mover)))


def check_options(size: int) -> None:
    """Refuse a board without a middle."""
    if size % 2:
        raise InputError("bad_option", expected="an even size", got=str(size), where="othello")


def _actions_by_text(state: Othello) -> Iterator[tuple[str, int]]:
    return ((format_action(state, action), action) for action in state.actions())


def parse_action(state: Othello, text: str) -> int:
    """Read a cell, column and row, such as `d3`, or `pass`."""
    return read_action(text, _actions_by_text(state), lambda: f"othello ({format_position(state)})")


def format_action(_state: Othello, action: int) -> str:
    """Write a cell, column and row from the top, such as `d3`, or `pass`."""
    return PASS_TEXT if action == PASS else f"{LETTERS[action % STRIDE]}{action // STRIDE + 1}"


def _cells(state: Othello) -> Iterator[tuple[Cell, str]]:
    """Every cell with its letter, row by row."""
    letters = SIDES if state.mover == 0 else SIDES[::-1]
    for row in range(state.size):
        for column in range(state.size):
            bit = STRIDE * row + column
            mine, theirs = state.me >> bit & 1, state.other >> bit & 1
            yield (row, column), letters[0] if mine else letters[1] if theirs else EMPTY


def format_position(state: Othello) -> str:
    """Write all cells row by row from the top, a blank, and who moves: X is black, O white, - empty."""
    return f"{''.join(letter for _, letter in _cells(state))} {SIDES[state.mover]}"


def parse_position(text: str, size: int = 8) -> State:
    """Read a position text. Raises InputError where no game can reach it.

    Checked are size, letters, that the four cells in the middle are taken and all discs hang together, as
    they do in every game, and that four discs are the start; whether the discs can have come in turn is not.
    """
    letters, blank, side = text.partition(" ") if isinstance(text, str) else ("", "", "")
    if not blank or side not in tuple(SIDES):
        raise bad_position("a board, one blank, and X or O to move", shown(text), "othello")
    if len(letters) != size * size:
        raise bad_position(f"{size * size} cells", str(len(letters)), "othello")
    discs = {"X": 0, "O": 0, EMPTY: 0}
    for number, letter in enumerate(letters):
        row, column = divmod(number, size)
        if letter not in discs:
            raise bad_position("X, O or -", f"{letter!r} at {LETTERS[column]}{row + 1}", "othello")
        discs[letter] |= 1 << STRIDE * row + column
    first, second = discs["X"], discs["O"]
    state = _state(board_class(size), (first, second), SIDES.index(side))
    _check_reachable(first | second, state, size)
    return state


def _check_reachable(taken: word, state: State, size: int) -> None:
    middle = square(size // 2 - 1, size // 2)
    if middle & ~taken:
        raise bad_position("discs on all four cells in the middle", "fewer", "othello")
    if taken == middle and state != start(size):
        raise bad_position("the start, with four discs", "other four discs", "othello")
    reached, grown = 0, middle
    while grown != reached:
        reached, grown = grown, around(grown) & taken
    if reached != taken:
        raise bad_position("discs that hang together", "some apart", "othello")


def board(state: Othello, last: int | None) -> Board:
    """Return the board as data, labelled by letters and numbers."""
    return Board(
        rows=state.size,
        columns=state.size,
        pieces={cell: SIDES.index(letter) for cell, letter in _cells(state) if letter != EMPTY},
        style="felt",
        last=() if last is None or last == PASS else (divmod(last, STRIDE),),
        column_labels=tuple(LETTERS[: state.size]),
        row_labels=tuple(str(row + 1) for row in range(state.size)),
        targets={text: divmod(cell, STRIDE) for text, cell in _actions_by_text(state) if cell != PASS},
    )


GAME = Game(
    name="othello",
    title="Othello",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    options={"size": Option(8, 4, 8, "cells in a row and in a column, an even number")},
    check_options=check_options,
    rules=(
        "Black, the first mover, and White take turns to set a disc so that at least one straight "
        "unbroken line of the opponent's discs lies between it and another own disc; all discs so "
        "surrounded are turned over. Who can turn none must pass. The game ends when neither can; more "
        "discs win (+1, the other player -1), as many are a draw (0)."
    ),
    typical=("d3", "c5", "e6", "f5", "f6", "e3", "c3", "f3", "c4", "b4"),
)
