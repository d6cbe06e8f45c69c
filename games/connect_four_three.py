"""Connect four for three players, on a board of 9 columns of 6 cells.

Stones are bitboards as in games.frame. An action is a column counted from 0; its text counts from 1.
"""

from collections.abc import Iterator
from typing import NamedTuple

from games.board import Board
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
from games.notation import bad_position, read_action, split_side
from games.protocol import State, as_state, compiled, kernel, like, mix, popcount, u64, word

PLAYERS = 3
SIDES = "xov"
"""Letters of the seats, in the order of their turns, in position texts."""

ROWS, COLUMNS, K = 6, 9, 4
FRAME = Frame(ROWS, COLUMNS, K)
WHERE = "connect_four_three"


class Features(NamedTuple):
    """Own minus the mean of both opponents'.

    `threes` and `twos` are windows of four cells that lack one (two) stones and hold no other side's stone;
    `centre` and `edge` are stones in the middle column and in the two outermost ones.
    """

    threes: float
    twos: float
    centre: float
    edge: float


@compiled
class ConnectFourThree(NamedTuple):
    """Stones as bitboards, by whose turn it is. Seat 0 writes x and begins, then come o and v."""

    me: word
    """Stones of the player to move."""
    following: word
    """Stones of the player who moves after that."""
    last: word
    """Stones of the player who moved last."""

    def to_move(self) -> int:
        """Seat whose turn it is: they take turns, so the number of stones tells."""
        return popcount(self.me | self.following | self.last) % PLAYERS

    def actions(self) -> Iterator[int]:
        """Columns with room, from the left."""
        if not has_line(self.last, ROWS, K):
            mask = self.me | self.following | self.last
            for column in range(COLUMNS):
                if mask >> (column * (ROWS + 1) + ROWS - 1) & u64(1) == u64(0):
                    yield column

    def result(self, a: int) -> "ConnectFourThree":
        """Drop a stone into column `a`: adding at its foot carries to the lowest empty cell."""
        mask = self.me | self.following | self.last
        stone = (mask + (u64(1) << a * (ROWS + 1))) & ~mask
        return like(self, self.following, self.last, self.me | stone)

    def is_terminal(self) -> bool:
        """Whether the last mover has a line, or the board is full."""
        full = popcount(self.me | self.following | self.last) == ROWS * COLUMNS
        return full or has_line(self.last, ROWS, K)

    def utility(self, p: int) -> float:
        """+1 for the player with a line, -1/2 for the two others, 0 for a full board without."""
        if not has_line(self.last, ROWS, K):
            return 0.0
        return 1.0 if (p + 1) % PLAYERS == self.to_move() else -0.5

    def features(self, p: int) -> Features:
        """Lines that can still be filled, and stones by column."""
        own, one, other = self.me, self.following, self.last
        turns = (p - self.to_move() + PLAYERS) % PLAYERS  # before it is the turn of p
        if turns == 1:
            own, one, other = one, other, own
        elif turns == 2:
            own, one, other = other, own, one
        empty = full_board(ROWS, COLUMNS) & ~(own | one | other)
        own_threes, own_twos = open_windows(own, empty, ROWS, K)
        one_threes, one_twos = open_windows(one, empty, ROWS, K)
        other_threes, other_twos = open_windows(other, empty, ROWS, K)
        middle = band(ROWS, COLUMNS // 2, COLUMNS // 2)
        outer = band(ROWS, 0, 0) | band(ROWS, COLUMNS - 1, COLUMNS - 1)
        return Features(
            lead(own_threes, one_threes, other_threes),
            lead(own_twos, one_twos, other_twos),
            lead(popcount(own & middle), popcount(one & middle), popcount(other & middle)),
            lead(popcount(own & outer), popcount(one & outer), popcount(other & outer)),
        )

    def key(self) -> int:
        """All three bitboards, mixed one into the other."""
        return mix(u64(mix(u64(mix(self.me) + self.following)) + self.last))

    def players(self) -> int:
        """Return the number of players."""
        return PLAYERS


@kernel
def lead(own: int, one: int, other: int) -> float:
    """Own minus the mean of both opponents'."""
    return own - (one + other) / 2


def start() -> State:
    """Return the empty board."""
    return as_state(ConnectFourThree(u64(0), u64(0), u64(0)))


def _actions_by_text(state: ConnectFourThree) -> Iterator[tuple[str, int]]:
    return ((format_action(state, column), column) for column in state.actions())


def parse_action(state: ConnectFourThree, text: str) -> int:
    """Read a column, "1" for the leftmost."""
    return read_action(text, _actions_by_text(state), lambda: f"{WHERE} ({format_position(state)})")


def format_action(_state: ConnectFourThree, action: int) -> str:
    """Write the number of a column, 1 for the leftmost."""
    return str(action + 1)


def _by_seat(state: ConnectFourThree) -> tuple[word, word, word]:
    """Stones of each seat."""
    first, second, third = (state[(seat - state.to_move()) % PLAYERS] for seat in range(PLAYERS))
    return first, second, third


def format_position(state: ConnectFourThree) -> str:
    """Write the rows from the top, `/` between them, a blank, and who moves.

    Player 0 is x, player 1 o and player 2 v; `.` is an empty cell.
    """
    return f"{write_grid(FRAME, _by_seat(state), SIDES)} {SIDES[state.to_move()]}"


def parse_position(text: str) -> State:
    """Read a position text. Raises InputError where no game can reach it.

    Checked are size, letters, gravity, numbers of stones, who moves, and that some last move can have led
    here from an unfinished game; whether the stones below can have come in turn is not.
    """
    grid, to_move = split_side(text, WHERE, SIDES)
    stones = read_grid(FRAME, grid, SIDES, WHERE)
    _check_turns([grid.count(letter) for letter in SIDES], to_move)
    state = ConnectFourThree._make(stones[(to_move + turns) % PLAYERS] for turns in range(PLAYERS))
    if has_line(state.me, ROWS, K) or has_line(state.following, ROWS, K):
        raise bad_position(
            "no line but of the last to move (the game would be over before)", "another line", WHERE
        )
    mask = state.me | state.following | state.last
    if mask and not has_last_move(FRAME, state.last, mask):
        last = SIDES[to_move - 1]
        raise bad_position(f"a topmost {last} that was the last move of an unfinished game", "none", WHERE)
    return as_state(state)


def _check_turns(numbers: list[int], to_move: int) -> None:
    """Check numbers of stones and the seat to move: each turn sets one stone."""
    turns = sum(numbers)
    expected = [(turns + PLAYERS - 1 - seat) // PLAYERS for seat in range(PLAYERS)]
    if numbers != expected:
        got, wanted = (
            " ".join(f"{number}{letter}" for number, letter in zip(counts, SIDES, strict=True))
            for counts in (numbers, expected)
        )
        raise bad_position(f"the stones of {turns} turns, {wanted}", got, WHERE)
    if to_move != turns % PLAYERS:
        mover = SIDES[turns % PLAYERS]
        raise bad_position(f"{mover} to move after {turns} stones", f"{SIDES[to_move]} to move", WHERE)


def board(state: ConnectFourThree, last: int | None) -> Board:
    """Return the board as data: an upright frame, columns labelled by their actions."""
    height = heights(FRAME, state.me | state.following | state.last)
    return Board(
        rows=ROWS,
        columns=COLUMNS,
        pieces={
            cell: seat for seat, stones in enumerate(_by_seat(state)) for cell in cells_of(FRAME, stones)
        },
        style="frame",
        last=() if last is None else ((ROWS - height[last], last),),
        line=line_cells(FRAME, state.last),
        column_labels=tuple(str(column + 1) for column in range(COLUMNS)),
        targets={text: (ROWS - 1 - height[column], column) for text, column in _actions_by_text(state)},
    )


GAME = Game(
    name="connect_four_three",
    title="Connect four for three",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    players=PLAYERS,
    rules=(
        "Three players take turns to drop a disc into one of nine columns of six cells, where it falls to "
        "the lowest free cell. Whoever first has four own discs in an unbroken row, column or diagonal wins "
        "(+1, each of the two others -1/2); a full board without such a line is a draw (0 for all)."
    ),
    typical=("5", "5", "4", "6", "5", "3", "4", "4", "6", "5", "7", "7"),
)
