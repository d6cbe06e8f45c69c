"""Checks in positions that were read: by whom, and whether a move can have given them. Plain Python only."""

from collections.abc import Iterator

from games.chess_board import (
    LAST_RANKS,
    RANK_1,
    ROOK,
    Pieces,
    diagonal_attacks,
    diagonal_sliders,
    everyone,
    forward,
    king_attacks,
    kings,
    knight_attacks,
    knights,
    of_kind,
    pawn_attacks,
    pawns,
    side,
    straight_attacks,
    straight_sliders,
)
from games.protocol import trailing_zeros, word


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


def moved_back(pieces: Pieces, target: word, origin: word, *, pawn: bool = False) -> Pieces:
    """Return the pieces with one put back on an empty square, as a pawn again if it was promoted."""
    white, *digits = (squares & ~target | (origin if squares & target else 0) for squares in pieces)
    if pawn:
        digits = [digits[0] | origin, digits[1] & ~origin, digits[2] & ~origin]
    return Pieces(white, *digits)


def check_explained(pieces: Pieces, mover: int) -> bool:
    """Whether the opponent of `mover`, who is in check, has a last move before which that was no check.

    All moves are tried backwards: from every square that the piece may have left, with and without a piece
    taken where it stands now.
    """
    king = king_square(pieces, mover)
    return any(
        not attackers(earlier, king, 1 - mover, occupied) for earlier, occupied in _before(pieces, 1 - mover)
    )


def _before(pieces: Pieces, seat: int) -> Iterator[tuple[Pieces, word]]:
    """Yield what may have been before a side's last move: its pieces, and all squares taken."""
    occupied, own = everyone(pieces), side(pieces, seat)
    for target in _bits(own):
        if target & pawns(pieces):
            yield from _pawn_before(pieces, target, seat)
            continue
        for origin in _bits(_reach(pieces, target) & ~occupied):
            yield from _with_and_without(pieces, target, origin)
        if target & LAST_RANKS & ~kings(pieces) and forward(target, seat) == 0:
            behind = forward(target, 1 - seat) | pawn_attacks(target, 1 - seat)
            for origin in _bits(behind & ~occupied):
                yield from _with_and_without(pieces, target, origin, pawn=True)
    yield from _before_castling(pieces, seat)


def _with_and_without(
    pieces: Pieces, target: word, origin: word, *, pawn: bool = False
) -> Iterator[tuple[Pieces, word]]:
    """Yield a move backwards, and the same with a piece taken."""
    earlier, taken = moved_back(pieces, target, origin, pawn=pawn), everyone(pieces) | origin
    yield earlier, taken & ~target
    yield earlier, taken


def _pawn_before(pieces: Pieces, target: word, seat: int) -> Iterator[tuple[Pieces, word]]:
    """Yield a pawn's moves backwards; a pawn has never stood on its side's first rank."""
    occupied = everyone(pieces)
    free = ~(occupied | RANK_1 << 56 * seat)
    step = forward(target, 1 - seat) & free
    jump = forward(step, 1 - seat) & free & (RANK_1 << (8 if seat == 0 else 48))
    for origin in _bits(step | jump):
        yield moved_back(pieces, target, origin), occupied & ~target | origin
    for origin in _bits(pawn_attacks(target, 1 - seat) & free):
        earlier = moved_back(pieces, target, origin)
        yield earlier, occupied | origin
        if step and target & RANK_1 << (40 if seat == 0 else 16) and not forward(target, seat) & occupied:
            yield earlier, occupied & ~target | origin | step  # taken in passing


def _before_castling(pieces: Pieces, seat: int) -> Iterator[tuple[Pieces, word]]:
    """Yield what was before a side has castled."""
    occupied, own = everyone(pieces), side(pieces, seat)
    for king_to, rook_to, rook_from in ((6, 5, 7), (2, 3, 0)):
        castled, rook, corner, home = (1 << file + 56 * seat for file in (king_to, rook_to, rook_from, 4))
        stand = own & kings(pieces) & castled and own & of_kind(pieces, ROOK) & rook
        if stand and not (home | corner) & occupied:
            earlier = moved_back(moved_back(pieces, castled, home), rook, corner)
            yield earlier, everyone(earlier)


def _reach(pieces: Pieces, piece: word) -> word:
    """Squares from which a piece, not a pawn, may have come, and taken ones."""
    square, occupied = trailing_zeros(piece), everyone(pieces)
    found = 0
    if piece & straight_sliders(pieces):
        found |= straight_attacks(square, occupied)
    if piece & diagonal_sliders(pieces):
        found |= diagonal_attacks(square, occupied)
    if piece & knights(pieces):
        found |= knight_attacks(piece)
    if piece & kings(pieces):
        found |= king_attacks(piece)
    return found


def _bits(squares: word) -> Iterator[word]:
    while squares:
        yield squares & -squares
        squares &= squares - 1
