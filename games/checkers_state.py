"""The state of checkers: pieces on bitboards of 36 bits, and what they can do.

Samuel's numbering of the dark squares (Some studies in machine learning using the game of checkers, 1959):
row by row from a1, 4 squares a row, with an unused bit before every second row. Then each diagonal step is
the same shift from every square, and one that would leave the board at a side ends on an unused bit.

An action is 4 * the bit of the square that is left + the direction. Whether it is a step or a jump follows
from the position: it is a jump if an opponent's piece is on the next square.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from games.protocol import compiled, kernel, like, mix, popcount, trailing_zeros, u64, word

DIRECTIONS = 4
"""Up left, up right, down left, down right: shifts by 4, 5, -5 and -4. Up is from row 1 to row 8."""

MOST_QUIET = 40
"""So many steps without a capture, of both sides together, draw the game."""

Movers: TypeAlias = tuple[word, word, word, word]
"""Pieces that can go in each direction."""


def bit_at(row: int, column: int) -> int:
    """Bit of a dark square; both numbers from 0, row 0 at the bottom."""
    return 9 * (row // 2) + 5 * (row % 2) + column // 2


def squares(rows: range, columns: range = range(8)) -> word:
    """Dark squares in some rows and columns, numbered from 0."""
    return sum(1 << bit_at(r, c) for r in rows for c in columns if (r + c) % 2 == 0)


BOARD = squares(range(8))
FIRST_ROW = squares(range(1))
LAST_ROW = squares(range(7, 8))
CENTRE = squares(range(2, 6), range(2, 6))
ODD_ROWS = squares(range(1, 8, 2))
ROWS_BY_TWO = squares(range(2, 4)) | squares(range(6, 8))
UPPER_ROWS = squares(range(4, 8))
LOW_KINGS = (1 << 20) - 1
"""What of the kings fits beside one side's pieces in a word, for the key."""


class Features(NamedTuple):
    """Own minus the opponent's.

    `men` and `kings` are pieces; `back_row` men still on their own first row, which keep the other side from
    crowning; `centre` pieces on the eight squares of columns c to f and rows 3 to 6; `advancement` the rows
    that all men together have come forward; `mobility` the single steps to free squares.
    """

    men: int
    kings: int
    back_row: int
    centre: int
    advancement: int
    mobility: int


@compiled
class Checkers(NamedTuple):
    """Pieces as bitboards. Seat 0 begins; its men start on rows 1 to 3 and go up."""

    me: word
    """Pieces of the player to move."""
    other: word
    """Pieces of the opponent."""
    kings: word
    """Kings of both."""
    chain: word
    """The one piece that has jumped and must jump again, or none."""
    mover: int
    """Seat of the player to move."""
    quiet: int
    """Steps since the last capture, of both sides, from 0 to MOST_QUIET."""

    def to_move(self) -> int:
        """Seat whose turn it is, or goes on."""
        return self.mover

    def actions(self) -> Iterator[int]:
        """Jumps if there are any, else steps: by direction, then by square from a1."""
        moves = movers(self)
        for direction in range(DIRECTIONS):
            pieces = moves[direction]
            while pieces != u64(0):
                yield DIRECTIONS * trailing_zeros(pieces) + direction
                pieces &= pieces - u64(1)

    def result(self, a: int) -> "Checkers":
        """Step or jump; the turn goes on if the piece has jumped, can jump again and was not just crowned."""
        me, other, kings = self.me, self.other, self.kings
        origin = u64(1) << (a // DIRECTIONS)
        landing = shifted(origin, a % DIRECTIONS)
        captured = landing & other
        if captured != u64(0):
            landing = shifted(landing, a % DIRECTIONS)
        me ^= origin | landing
        other ^= captured
        kings &= ~captured
        crowned = False
        if origin & kings != u64(0):
            kings ^= origin | landing
        elif landing & crowning_row(self.mover) != u64(0):
            kings |= landing
            crowned = True
        if captured == u64(0):
            return like(self, other, me, kings, u64(0), 1 - self.mover, self.quiet + 1)
        if not crowned and any_of(jumps(landing, kings, other, free(me, other), self.mover)) != u64(0):
            return like(self, me, other, kings, landing, self.mover, 0)
        return like(self, other, me, kings, u64(0), 1 - self.mover, 0)

    def is_terminal(self) -> bool:
        """Whether the player to move cannot, or the game is drawn for want of captures."""
        return any_of(movers(self)) == u64(0)

    def utility(self, p: int) -> float:
        """-1 for who cannot move, +1 for the other player; 0 after MOST_QUIET steps, whoever can move."""
        if self.quiet >= MOST_QUIET:
            return 0.0
        return -1.0 if p == self.mover else 1.0

    def features(self, p: int) -> Features:
        """Pieces, where they are and their free squares, own minus the opponent's."""
        me, other, kings = self.me, self.other, self.kings
        men, others_men = me & ~kings, other & ~kings
        home, others_home = crowning_row(1 - self.mover), crowning_row(self.mover)
        empty = free(me, other)
        sign = 1
        if p != self.mover:
            sign = -1
        return Features(
            sign * (popcount(men) - popcount(others_men)),
            sign * (popcount(me & kings) - popcount(other & kings)),
            sign * (popcount(men & home) - popcount(others_men & others_home)),
            sign * (popcount(me & u64(CENTRE)) - popcount(other & u64(CENTRE))),
            sign * (advancement(men, self.mover) - advancement(others_men, 1 - self.mover)),
            sign
            * (
                number_of(steps(me, kings, empty, self.mover))
                - number_of(steps(other, kings, empty, 1 - self.mover))
            ),
        )

    def key(self) -> int:
        """All fields packed into two words without loss, mixed one into the other."""
        code = self.quiet
        if self.chain != u64(0):  # then no step has been made since the last capture
            code = MOST_QUIET + 1 + trailing_zeros(self.chain)
        rest = u64(2 * code + self.mover) << 36 | (self.kings & u64(LOW_KINGS)) << 44
        return mix(u64(mix(self.me | rest) + (self.other | self.kings >> 20 << 36)))

    def mid_turn(self) -> bool:
        """Whether a piece has jumped and must jump again."""
        return self.chain != u64(0)


@kernel
def free(me: word, other: word) -> word:
    """Squares without a piece."""
    return u64(BOARD) & ~(me | other)


@kernel
def shifted(bits: word, direction: int) -> word:
    """Squares one step further in a direction."""
    if direction == 0:
        return bits << 4
    if direction == 1:
        return bits << 5
    if direction == 2:
        return bits >> 5
    return bits >> 4


@kernel
def crowning_row(mover: int) -> word:
    """Return the row where a side's men become kings."""
    return u64(LAST_ROW) if mover == 0 else u64(FIRST_ROW)


@kernel
def movers(s: Checkers) -> Movers:
    """Pieces that may move in each direction: those that can jump, if any can, else those that can step."""
    pieces = s.me
    if s.chain != u64(0):
        pieces = s.chain
    if s.quiet >= MOST_QUIET:
        pieces = u64(0)
    empty = free(s.me, s.other)
    jumping = jumps(pieces, s.kings, s.other, empty, s.mover)
    return jumping if any_of(jumping) != u64(0) else steps(pieces, s.kings, empty, s.mover)


@kernel
def jumps(pieces: word, kings: word, other: word, empty: word, mover: int) -> Movers:
    """Pieces of a side that can jump in each direction over one of `other` to an empty square."""
    up = pieces if mover == 0 else pieces & kings
    down = pieces if mover == 1 else pieces & kings
    return (
        up & other >> 4 & empty >> 8,
        up & other >> 5 & empty >> 10,
        down & other << 5 & empty << 10,
        down & other << 4 & empty << 8,
    )


@kernel
def steps(pieces: word, kings: word, empty: word, mover: int) -> Movers:
    """Pieces of a side that can step in each direction to an empty square."""
    up = pieces if mover == 0 else pieces & kings
    down = pieces if mover == 1 else pieces & kings
    return up & empty >> 4, up & empty >> 5, down & empty << 5, down & empty << 4


@kernel
def any_of(moves: Movers) -> word:
    """Pieces that can move at all."""
    return moves[0] | moves[1] | moves[2] | moves[3]


@kernel
def number_of(moves: Movers) -> int:
    """Count moves."""
    return popcount(moves[0]) + popcount(moves[1]) + popcount(moves[2]) + popcount(moves[3])


@kernel
def advancement(men: word, mover: int) -> int:
    """Sum of the rows that a side's men have come forward: row numbers from 0, digit by binary digit."""
    rows = (
        popcount(men & u64(ODD_ROWS))
        + 2 * popcount(men & u64(ROWS_BY_TWO))
        + 4 * popcount(men & u64(UPPER_ROWS))
    )
    return rows if mover == 0 else 7 * popcount(men) - rows
