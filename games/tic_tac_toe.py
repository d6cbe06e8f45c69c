"""Tic-tac-toe: three in a row on three by three cells.

Cells count from 0 at the top left, row by row; bit i of a word is cell i. An action is its cell.
"""

from collections.abc import Iterator
from typing import NamedTuple

from games.board import Board
from games.game import Game
from games.notation import SIDES, bad_position, check_alternation, read_action, split_side
from games.protocol import State, as_state, compiled, kernel, like, mix, popcount, u64, word

FULL = u64(0b111_111_111)
CENTRE = u64(0b000_010_000)
CORNERS = u64(0b101_000_101)
LINES: tuple[word, ...] = (
    *(u64(0b111 << 3 * row) for row in range(3)),
    *(u64(0b001_001_001 << column) for column in range(3)),
    u64(0b100_010_001),
    u64(0b001_010_100),
)


class Features(NamedTuple):
    """Own minus the opponent's.

    `open_twos` and `open_ones` are lines with two (one) own marks and none of the other side; `centre` and
    `corners` are own marks there. The first two are the X2, O2 and X1, O1 of the textbook's exercise on
    tic-tac-toe (Russell and Norvig).
    """

    open_twos: int
    open_ones: int
    centre: int
    corners: int


@compiled
class TicTacToe(NamedTuple):
    """Stones as bitboards. Seat 0 writes x and begins."""

    me: word
    """Stones of the player to move."""
    mask: word
    """All stones."""

    def to_move(self) -> int:
        """Seat whose turn it is: they alternate, so the number of stones tells."""
        return popcount(self.mask) & 1

    def actions(self) -> Iterator[int]:
        """Empty cells, in order."""
        if not has_line(self.me ^ self.mask):
            for cell in range(9):
                if not (self.mask >> cell) & u64(1):
                    yield cell

    def result(self, a: int) -> "TicTacToe":
        """Mark cell `a` for the player to move."""
        return like(self, self.me ^ self.mask, self.mask | (u64(1) << a))

    def is_terminal(self) -> bool:
        """Whether the last mover has a line, or no cell is empty."""
        return self.mask == u64(FULL) or has_line(self.me ^ self.mask)

    def utility(self, p: int) -> float:
        """+1 for the side with a line, -1 for the other, 0 for a full board without."""
        if not has_line(self.me ^ self.mask):
            return 0.0
        return -1.0 if p == self.to_move() else 1.0

    def features(self, p: int) -> Features:
        """Lines still open, centre and corners, own minus the opponent's."""
        own, other = self.me, self.me ^ self.mask
        if p != self.to_move():
            own, other = other, own
        twos = ones = 0
        for line in LINES:
            mine, theirs = popcount(own & u64(line)), popcount(other & u64(line))
            if theirs == 0:
                twos += mine == 2
                ones += mine == 1
            if mine == 0:
                twos -= theirs == 2
                ones -= theirs == 1
        return Features(
            twos,
            ones,
            popcount(own & u64(CENTRE)) - popcount(other & u64(CENTRE)),
            popcount(own & u64(CORNERS)) - popcount(other & u64(CORNERS)),
        )

    def key(self) -> int:
        """Both bitboards side by side, mixed: different for different states."""
        return mix(self.me << 9 | self.mask)


@kernel
def has_line(stones: word) -> bool:
    """Whether the stones fill a line."""
    for line in LINES:  # noqa: SIM110 - any() would cost a generator in the innermost loop
        if stones & u64(line) == u64(line):
            return True
    return False


def start() -> State:
    """Return the empty board."""
    return as_state(TicTacToe(u64(0), u64(0)))


def _actions_by_text(state: TicTacToe) -> Iterator[tuple[str, int]]:
    return ((str(cell), cell) for cell in state.actions())


def parse_action(state: TicTacToe, text: str) -> int:
    """Read a cell, "0" to "8"."""
    return read_action(text, _actions_by_text(state), lambda: f"tic_tac_toe ({format_position(state)})")


def format_action(_state: TicTacToe, action: int) -> str:
    """Write the number of a cell, row by row: `0` to `2` above, `3` to `5`, `6` to `8`."""
    return str(action)


def format_position(state: TicTacToe) -> str:
    """Write nine cells row by row, a blank, and who moves: `xxxo.ox.o o`. Player 0 is x, player 1 is o."""
    seats = _stones(state)
    cells = "".join(SIDES[seats[cell]] if cell in seats else "." for cell in range(9))
    return f"{cells} {SIDES[state.to_move()]}"


def parse_position(text: str) -> State:
    """Read a position text. Raises InputError where no game can reach it."""
    cells, to_move = split_side(text, "tic_tac_toe")
    if len(cells) != 9:
        raise bad_position("nine cells", str(len(cells)), "tic_tac_toe")
    for cell, character in enumerate(cells):
        if character not in "xo.":
            raise bad_position("x, o or .", f"{character!r} at cell {cell}", "tic_tac_toe")
    check_alternation(cells.count("x"), cells.count("o"), to_move, "tic_tac_toe")
    bits = [u64(sum(1 << cell for cell in range(9) if cells[cell] == side)) for side in SIDES]
    if has_line(bits[to_move]):
        raise bad_position(
            f"{SIDES[to_move]} to move without a line (the game would be over before)",
            f"a line of {SIDES[to_move]}",
            "tic_tac_toe",
        )
    return as_state(TicTacToe(bits[to_move], bits[0] | bits[1]))


def board(state: TicTacToe, last: int | None) -> Board:
    """Return the board as data. It has no labels: each empty cell is named by its action."""
    winner = state.me ^ state.mask
    line = {cell for line in LINES if winner & line == line for cell in range(9) if line >> cell & 1}
    return Board(
        rows=3,
        columns=3,
        pieces={divmod(cell, 3): seat for cell, seat in _stones(state).items()},
        style="lines",
        last=() if last is None else (divmod(last, 3),),
        line=tuple(divmod(cell, 3) for cell in sorted(line)),
        targets={text: divmod(cell, 3) for text, cell in _actions_by_text(state)},
    )


def _stones(state: TicTacToe) -> dict[int, int]:
    """Seat of the stone in each marked cell."""
    mover = state.to_move()
    return {cell: mover if state.me >> cell & 1 else 1 - mover for cell in range(9) if state.mask >> cell & 1}


GAME = Game(
    name="tic_tac_toe",
    title="Tic-tac-toe",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    rules=(
        "Two players take turns to mark one of nine cells, the first with x, the second with o. Three "
        "own marks in a row, column or diagonal win (+1, the other player -1); a full board without such"
        " a line is a draw (0)."
    ),
    typical=("4", "0", "8", "2", "1"),
)
