"""Checks in positions as they are read or shown: by whom, and whether they can be. Plain Python only."""

from games.chess_board import (
    Pieces,
    between,
    diagonal_attacks,
    diagonal_sliders,
    everyone,
    king_attacks,
    kings,
    knight_attacks,
    knights,
    pawn_attacks,
    pawns,
    side,
    straight_attacks,
    straight_sliders,
)
from games.protocol import popcount, trailing_zeros, word


def king_square(pieces: Pieces, seat: int) -> int:
    """Square of a side's king."""
    return trailing_zeros(side(pieces, seat) & kings(pieces))


def attackers(pieces: Pieces, square: int, seat: int, occupied: word) -> word:
    """Pieces of a side that attack a square; `occupied` squares stop sliders."""
    bit = 1 << square
    found = (
        straight_attacks(square, occupied) & straight_sliders(pieces)
        | diagonal_attacks(square, occupied) & diagonal_sliders(pieces)
        | knight_attacks(bit) & knights(pieces)
        | pawn_attacks(bit, 1 - seat) & pawns(pieces)
        | king_attacks(bit) & kings(pieces)
    )
    return found & side(pieces, seat)


def checkers_of(pieces: Pieces, mover: int) -> word:
    """Pieces that give check to the king of `mover`."""
    return attackers(pieces, king_square(pieces, mover), 1 - mover, everyone(pieces))


def together(pieces: Pieces, checkers: word, king: int) -> bool:
    """Whether one move can have led to these checks at once.

    Of two checkers one was moved and the other one, a slider, was uncovered by that, on another line.
    Which move it was is not asked: well-known positions for counting have checks that no move explains.
    """
    if popcount(checkers) < 2:
        return True
    first, last = trailing_zeros(checkers), checkers.bit_length() - 1
    sliders = straight_sliders(pieces) | diagonal_sliders(pieces)
    facing = between(first, last) >> king & 1
    return popcount(checkers) == 2 and bool(checkers & sliders) and not facing
