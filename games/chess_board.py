"""The chess board as bitboards: squares, kinds of pieces, and the squares that a piece attacks.

Bit 8 * rank + file of a word is a square, a1 first, h8 last; ranks and files count from 0.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from games.protocol import bitboard, kernel, leading_zeros, u64, word

Words = npt.NDArray[np.uint64]

PAWN, BISHOP, KNIGHT, ROOK, KING, QUEEN = range(1, 7)
KINDS = ("", "pawn", "bishop", "knight", "rook", "king", "queen")
"""Names of the kinds by number."""
LETTERS = " pbnrkq"
"""Letters of the kinds by number, as Black's pieces are written."""
FILES = "abcdefgh"

FULL = 0xFFFF_FFFF_FFFF_FFFF
LIGHT = 0x55AA_55AA_55AA_55AA
NOT_A = 0xFEFE_FEFE_FEFE_FEFE
NOT_H = 0x7F7F_7F7F_7F7F_7F7F
NOT_AB = 0xFCFC_FCFC_FCFC_FCFC
NOT_GH = 0x3F3F_3F3F_3F3F_3F3F
RANK_1 = 0xFF
LAST_RANKS = 0xFF00_0000_0000_00FF


def square_name(square: int) -> str:
    """Write a square: `e4`."""
    return f"{FILES[square % 8]}{square // 8 + 1}"


# pieces -----------------------------------------------------------------------------------------------


@bitboard
class Pieces(NamedTuple):
    """What stands on each square.

    A kind of piece is a number of three binary digits, and there is one word for each digit; on an empty
    square all are 0. So four words hold the board, and a move changes each of them in the same way.
    """

    white: word
    """Squares of White's pieces."""
    ones: word
    """Last binary digit of the kind on each square."""
    twos: word
    """The digit before it."""
    fours: word
    """The first digit."""


@kernel
def everyone(pieces: Pieces) -> word:
    """Squares that are taken."""
    return pieces.ones | pieces.twos | pieces.fours


@kernel
def side(pieces: Pieces, seat: int) -> word:
    """Squares of one side's pieces; seat 0 is White."""
    return pieces.white if seat == 0 else everyone(pieces) & ~pieces.white


@kernel
def pawns(pieces: Pieces) -> word:
    """Squares of pawns: kind 1, binary 001."""
    return pieces.ones & ~(pieces.twos | pieces.fours)


@kernel
def knights(pieces: Pieces) -> word:
    """Squares of knights: kind 3, binary 011."""
    return pieces.ones & pieces.twos


@kernel
def kings(pieces: Pieces) -> word:
    """Squares of kings: kind 5, binary 101."""
    return pieces.ones & pieces.fours


@kernel
def queens(pieces: Pieces) -> word:
    """Squares of queens: kind 6, binary 110."""
    return pieces.twos & pieces.fours


@kernel
def diagonal_sliders(pieces: Pieces) -> word:
    """Squares of bishops, binary 010, and queens, 110."""
    return pieces.twos & ~pieces.ones


@kernel
def straight_sliders(pieces: Pieces) -> word:
    """Squares of rooks, binary 100, and queens, 110."""
    return pieces.fours & ~pieces.ones


def kind_on(pieces: Pieces, square: int) -> int:
    """Return the kind of what stands on a square, 0 for nothing."""
    ones, twos, fours = (digits >> square & 1 for digits in pieces[1:])
    return ones | twos << 1 | fours << 2


def of_kind(pieces: Pieces, kind: int) -> word:
    """Squares of both sides' pieces of a kind."""
    found = everyone(pieces)
    for digit, squares in enumerate(pieces[1:]):
        found &= squares if kind >> digit & 1 else ~squares
    return found


# lines ------------------------------------------------------------------------------------------------


def _steps(square: int, up: int, right: int) -> int:
    """Squares from one on, without it, in one direction up to the rim."""
    found, rank, file = 0, square // 8 + up, square % 8 + right
    while 0 <= rank < 8 and 0 <= file < 8:
        found |= 1 << 8 * rank + file
        rank, file = rank + up, file + right
    return found


def _by_square(squares: Callable[[int], int]) -> Words:
    return np.array([squares(square) for square in range(64)], np.uint64)


def _between() -> Words:
    """Squares strictly between any two on one line; none for others."""
    table = np.zeros((64, 64), np.uint64)
    for up, right in ((0, 1), (1, -1), (1, 0), (1, 1)):
        for first in range(64):
            line = _steps(first, up, right)
            for last in range(first + 1, 64):
                if line >> last & 1:
                    table[first, last] = table[last, first] = line & _steps(last, -up, -right)
    return table


RANKS = _by_square(lambda square: _steps(square, 0, 1) | _steps(square, 0, -1))
COLUMNS = _by_square(lambda square: _steps(square, 1, 0) | _steps(square, -1, 0))
RISING = _by_square(lambda square: _steps(square, 1, 1) | _steps(square, -1, -1))
FALLING = _by_square(lambda square: _steps(square, -1, 1) | _steps(square, 1, -1))
"""Lines through each square, without it: 512 bytes each."""
BETWEEN = _between()


@kernel
def along(line: word, bit: word, occupied: word) -> word:
    """Squares of a line through `bit` up to the nearest piece on either side, that one included.

    Twice the lowest blocker above minus the highest below is a run of ones from the one to the other
    (Michael Hoffmann's obstruction difference, chessprogramming.org). Bit 0 stands for no blocker below.
    """
    blockers = line & occupied
    below = blockers & (bit - u64(1)) | u64(1)
    above = blockers & u64(u64(0) - bit)
    nearest_above = above & u64(u64(0) - above)
    nearest_below = u64(1) << 63 - leading_zeros(below)
    return line & u64((nearest_above << 1) - nearest_below)


@kernel
def straight_attacks(square: int, occupied: word) -> word:
    """Squares that a rook attacks."""
    bit = u64(1) << square
    return along(u64(RANKS[square]), bit, occupied) | along(u64(COLUMNS[square]), bit, occupied)


@kernel
def diagonal_attacks(square: int, occupied: word) -> word:
    """Squares that a bishop attacks."""
    bit = u64(1) << square
    return along(u64(RISING[square]), bit, occupied) | along(u64(FALLING[square]), bit, occupied)


@kernel
def between(first: int, last: int) -> word:
    """Squares strictly between two on one line; none for others."""
    return u64(BETWEEN[first, last])


# attacks of many pieces at once -----------------------------------------------------------------------


@kernel
def knight_attacks(bits: word) -> word:
    """Squares that knights attack."""
    one = bits << 1 & u64(NOT_A) | bits >> 1 & u64(NOT_H)
    two = bits << 2 & u64(NOT_AB) | bits >> 2 & u64(NOT_GH)
    return u64(one << 16 | two << 8) | one >> 16 | two >> 8


@kernel
def king_attacks(bits: word) -> word:
    """Squares next to a king, and its own."""
    row = bits | bits << 1 & u64(NOT_A) | bits >> 1 & u64(NOT_H)
    return u64(row | row << 8) | row >> 8


@kernel
def forward(bits: word, mover: int) -> word:
    """Squares one rank on, as `mover` sees it."""
    return u64(bits << 8) if mover == 0 else bits >> 8


@kernel
def forward_left(bits: word, mover: int) -> word:
    """Squares one rank on and one file towards a."""
    left = bits & u64(NOT_A)
    return u64(left << 7) if mover == 0 else left >> 9


@kernel
def forward_right(bits: word, mover: int) -> word:
    """Squares one rank on and one file towards h."""
    right = bits & u64(NOT_H)
    return u64(right << 9) if mover == 0 else right >> 7


@kernel
def pawn_attacks(bits: word, mover: int) -> word:
    """Squares that pawns of `mover` attack."""
    return forward_left(bits, mover) | forward_right(bits, mover)


@kernel
def spread_up(pieces: word, through: word, step: int, inside: word) -> word:
    """Squares that sliders attack towards higher bits (Kogge-Stone); `inside` stops them at the rim."""
    free = through & inside
    pieces |= free & (pieces << step)
    free &= free << step
    pieces |= free & (pieces << 2 * step)
    free &= free << 2 * step
    pieces |= free & (pieces << 4 * step)
    return u64(pieces << step) & inside


@kernel
def spread_down(pieces: word, through: word, step: int, inside: word) -> word:
    """Squares that sliders attack towards lower bits."""
    free = through & inside
    pieces |= free & (pieces >> step)
    free &= free >> step
    pieces |= free & (pieces >> 2 * step)
    free &= free >> 2 * step
    pieces |= free & (pieces >> 4 * step)
    return pieces >> step & inside


@kernel
def slider_attacks(straight: word, diagonal: word, through: word) -> word:
    """Squares that sliders attack across the free squares `through`."""
    full, not_a, not_h = u64(FULL), u64(NOT_A), u64(NOT_H)
    return (
        spread_up(straight, through, 1, not_a)
        | spread_up(straight, through, 8, full)
        | spread_up(diagonal, through, 9, not_a)
        | spread_up(diagonal, through, 7, not_h)
        | spread_down(straight, through, 1, not_h)
        | spread_down(straight, through, 8, full)
        | spread_down(diagonal, through, 9, not_h)
        | spread_down(diagonal, through, 7, not_a)
    )
