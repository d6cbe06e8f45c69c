"""Connect four on any board of at most 64 bits: k in a row wins, pieces fall to the bottom.

Stones are bitboards as in games.frame. An action is a column counted from 0; its text counts from 1.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from games.board import Board
from games.errors import InputError
from games.frame import (
    Frame,
    band,
    cells_of,
    full_board,
    has_last_move,
    has_line,
    heights,
    line_cells,
    open_windows,
    read_grid,
    write_grid,
)
from games.game import Game
from games.notation import SIDES, bad_position, check_alternation, read_action, split_side
from games.options import Option
from games.protocol import (
    State,
    as_state,
    compiled,
    like,
    mix,
    popcount,
    u64,
    variant,
    word,
)

WORD_BITS = 64


class Features(NamedTuple):
    """Own minus the opponent's.

    `threes` and `twos` are windows of k cells that lack one (two) stones and hold no other side's stone;
    `centre`, `inner` and `edge` are stones in the middle column or columns, between, and in the outermost.
    """

    threes: int
    twos: int
    centre: int
    inner: int
    edge: int


@compiled
class ConnectFour(NamedTuple):
    """Stones as bitboards, on a board of 7 columns of 6 cells. Seat 0 writes x and begins."""

    me: word
    """Stones of the player to move."""
    mask: word
    """All stones."""

    # mypy knows no constants in a NamedTuple.
    rows = 6  # type: ignore[misc]
    columns = 7  # type: ignore[misc]
    k = 4  # type: ignore[misc]

    def to_move(self) -> int:
        """Seat whose turn it is: they alternate, so the number of stones tells."""
        return popcount(self.mask) & 1

    def actions(self) -> Iterator[int]:
        """Columns with room, from the left."""
        if not has_line(self.me ^ self.mask, self.rows, self.k):
            top = u64(1) << (self.rows - 1)
            for column in range(self.columns):
                if not self.mask & (top << column * (self.rows + 1)):
                    yield column

    def result(self, a: int) -> "ConnectFour":
        """Drop a stone into column `a`: adding at its foot carries to the lowest empty cell."""
        foot = u64(1) << a * (self.rows + 1)
        return like(self, self.me ^ self.mask, self.mask | (self.mask + foot))

    def is_terminal(self) -> bool:
        """Whether the last mover has a line, or the board is full."""
        return popcount(self.mask) == self.rows * self.columns or has_line(
            self.me ^ self.mask, self.rows, self.k
        )

    def utility(self, p: int) -> float:
        """+1 for the side with a line, -1 for the other, 0 for a full board without."""
        if not has_line(self.me ^ self.mask, self.rows, self.k):
            return 0.0
        return -1.0 if p == self.to_move() else 1.0

    def features(self, p: int) -> Features:
        """Lines that can still be filled, and stones by column, own minus the opponent's."""
        own, other = self.me, self.me ^ self.mask
        if p != self.to_move():
            own, other = other, own
        empty = full_board(self.rows, self.columns) ^ self.mask
        my_threes, my_twos = open_windows(own, empty, self.rows, self.k)
        their_threes, their_twos = open_windows(other, empty, self.rows, self.k)
        middle = band(self.rows, (self.columns - 1) // 2, self.columns // 2)
        outer = band(self.rows, 0, 0) | band(self.rows, self.columns - 1, self.columns - 1)
        outer &= ~middle
        between = full_board(self.rows, self.columns) & ~(middle | outer)
        return Features(
            my_threes - their_threes,
            my_twos - their_twos,
            popcount(own & middle) - popcount(other & middle),
            popcount(own & between) - popcount(other & between),
            popcount(own & outer) - popcount(other & outer),
        )

    def key(self) -> int:
        """Tromp's number of the position (different for different positions of one size), mixed.

        Adding the mover's stones to all stones leaves each column's height and colours readable.
        """
        return mix(u64(self.me + self.mask))


def start(rows: int = 6, columns: int = 7, k: int = 4) -> State:
    """Return the empty board."""
    return as_state(board_class(rows, columns, k)(u64(0), u64(0)))


def _frame(state: ConnectFour) -> Frame:
    return Frame(state.rows, state.columns, state.k)


def board_class(rows: int, columns: int, k: int) -> Callable[..., ConnectFour]:
    """Return the state class of a board; each size has its own, so that compiled code knows the size."""
    if (rows, columns, k) == (ConnectFour.rows, ConnectFour.columns, ConnectFour.k):
        return ConnectFour
    return variant(ConnectFour, f"ConnectFour_{rows}_{columns}_{k}", rows=rows, columns=columns, k=k)


def __getattr__(name: str) -> Callable[..., ConnectFour]:
    """Make the class of a variant when code that another process compiled for it asks for it by name."""
    first, *sizes = name.split("_")
    if first != "ConnectFour" or len(sizes) != 3 or not all(size.isdigit() for size in sizes):
        raise AttributeError(name)
    rows, columns, k = map(int, sizes)
    return board_class(rows, columns, k)


def check_options(rows: int, columns: int, k: int) -> None:
    """Refuse a board that needs more than 64 bits and a line longer than the board."""
    if (rows + 1) * columns > WORD_BITS:
        raise InputError(
            "bad_option",
            expected=f"(rows + 1) * columns at most {WORD_BITS}",
            got=f"rows={rows}, columns={columns}: {(rows + 1) * columns}",
            where="connect_four",
        )
    if k > max(rows, columns):
        raise InputError(
            "bad_option",
            expected=f"k at most {max(rows, columns)}, the longer side of the board",
            got=str(k),
            where="connect_four",
        )


def _actions_by_text(state: ConnectFour) -> Iterator[tuple[str, int]]:
    return ((format_action(state, column), column) for column in state.actions())


def parse_action(state: ConnectFour, text: str) -> int:
    """Read a column, "1" for the leftmost."""
    return read_action(text, _actions_by_text(state), lambda: f"connect_four ({format_position(state)})")


def format_action(_state: ConnectFour, action: int) -> str:
    """Write the number of a column, 1 for the leftmost."""
    return str(action + 1)


def format_position(state: ConnectFour) -> str:
    """Write the rows from the top, `/` between them, a blank, and who moves: x is player 0, o player 1."""
    mover = state.to_move()
    first = state.me if mover == 0 else state.me ^ state.mask
    return f"{write_grid(_frame(state), (first, first ^ state.mask), SIDES)} {SIDES[mover]}"


def parse_position(text: str, rows: int = 6, columns: int = 7, k: int = 4) -> State:
    """Read a position text. Raises InputError where no game can reach it.

    Checked are size, letters, gravity, numbers of stones, who moves, and that some last move can have led
    here from an unfinished game; whether the stones below can have come in turn is not.
    """
    grid, to_move = split_side(text, "connect_four")
    frame = Frame(rows, columns, k)
    stones = read_grid(frame, grid, SIDES, "connect_four")
    check_alternation(grid.count("x"), grid.count("o"), to_move, "connect_four")
    state = board_class(rows, columns, k)(stones[to_move], stones[0] | stones[1])
    if has_line(state.me, rows, k):
        raise bad_position(
            f"{SIDES[to_move]} to move without a line (the game would be over before)",
            f"a line of {SIDES[to_move]}",
            "connect_four",
        )
    if state.mask and not has_last_move(frame, state.me ^ state.mask, state.mask):
        raise bad_position(
            f"a topmost {SIDES[1 - to_move]} that was the last move of an unfinished game",
            "none",
            "connect_four",
        )
    return as_state(state)


def board(state: ConnectFour, last: int | None) -> Board:
    """Return the board as data: an upright frame, columns labelled by their actions."""
    frame, mover = _frame(state), state.to_move()
    height = heights(frame, state.mask)
    theirs = dict.fromkeys(cells_of(frame, state.me ^ state.mask), 1 - mover)
    return Board(
        rows=state.rows,
        columns=state.columns,
        pieces=theirs | dict.fromkeys(cells_of(frame, state.me), mover),
        style="frame",
        last=() if last is None else ((state.rows - height[last], last),),
        line=line_cells(frame, state.me ^ state.mask),
        column_labels=tuple(str(column + 1) for column in range(state.columns)),
        targets={text: (state.rows - 1 - height[column], column) for text, column in _actions_by_text(state)},
    )


GAME = Game(
    name="connect_four",
    title="Connect four",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    options={  # at most 9: an action stays one digit, and no shift of a bitboard reaches 64 bits
        "rows": Option(6, 2, 9, "cells in a column"),
        "columns": Option(7, 2, 9, "cells in a row"),
        "k": Option(4, 2, 9, "stones in a line that win"),
    },
    check_options=check_options,
    rules=(
        "Two players take turns to drop a disc into a column, where it falls to the lowest free cell. "
        "Four own discs (option `k`) in an unbroken row, column or diagonal win (+1, the other player "
        "-1); a full board without such a line is a draw (0)."
    ),
    typical=("4", "4", "3", "5", "4", "2", "3", "3", "5", "5"),
)
