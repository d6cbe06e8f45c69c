"""What a chess position is worth, as a few numbers that are quick to take from bitboards."""

from typing import NamedTuple

from games.chess_board import (
    FULL,
    NOT_A,
    NOT_H,
    Pieces,
    diagonal_sliders,
    everyone,
    king_attacks,
    kings,
    knight_attacks,
    knights,
    pawn_attacks,
    pawns,
    queens,
    side,
    slider_attacks,
    straight_sliders,
)
from games.protocol import kernel, popcount, trailing_zeros, u64, word

CENTRE = 0x0000_0018_1800_0000
"""d4, e4, d5 and e5."""
AROUND_CENTRE = 0x0000_3C3C_3C3C_0000
"""c3 to f6."""
INNER = 0x007E_7E7E_7E7E_7E00
"""b2 to g7."""


class Features(NamedTuple):
    """Own minus the opponent's.

    `material` counts a pawn 1, knight and bishop 3, rook 5, queen 9; `mobility` is the number of squares
    that knights, bishops, rooks and queens attack, those aside that an own piece takes or an opponent's
    pawn attacks; `pressure` is how many of them are next to the opponent's king; `centre` is pawns and
    knights on c3 to f6, those on d4, e4, d5 and e5 twice; `passed` is pawns that no pawn of the opponent can
    stop or take, up to four times by how far they are; `weak` is pawns beyond the first on their file, and
    pawns without any on the files beside; `shelter` is pawns next to their king, while the opponent has a
    queen; `hunt` is how near to the rim, and how near to the own king, the opponent's king is when it stands
    alone.
    """

    material: int
    mobility: int
    pressure: int
    centre: int
    passed: int
    weak: int
    shelter: int
    hunt: int


@kernel
def side_features(pieces: Pieces, seat: int) -> Features:
    """Take the features of one side alone."""
    own, other = side(pieces, seat), side(pieces, 1 - seat)
    foot = own & pawns(pieces)
    straight, diagonal = own & straight_sliders(pieces), own & diagonal_sliders(pieces)
    horses, queen = own & knights(pieces), own & queens(pieces)
    king, target = own & kings(pieces), other & kings(pieces)
    reach = slider_attacks(straight, diagonal, ~everyone(pieces)) | knight_attacks(horses)
    reach &= ~(own | pawn_attacks(other & pawns(pieces), 1 - seat))
    middle = foot | horses
    sheltered = popcount(foot & king_attacks(king)) if other & queens(pieces) != u64(0) else 0
    return Features(
        # a queen is among the sliders of both kinds: 3 and 5, and 1 more
        popcount(foot) + 3 * popcount(horses | diagonal) + 5 * popcount(straight) + popcount(queen),
        popcount(reach),
        popcount(reach & king_attacks(target)),
        popcount(middle & u64(AROUND_CENTRE)) + popcount(middle & u64(CENTRE)),
        passed(foot, other & pawns(pieces), seat),
        weak(foot),
        sheltered,
        hunt(king, target) if other == target else 0,
    )


@kernel
def smear(bits: word, seat: int) -> word:
    """Squares, and all in front of them as a side sees it."""
    if seat == 0:
        bits |= u64(bits << 8)
        bits |= u64(bits << 16)
        return bits | u64(bits << 32)
    bits |= bits >> 8
    bits |= bits >> 16
    return bits | bits >> 32


@kernel
def beside(bits: word) -> word:
    """Squares to the left and to the right."""
    return u64(bits << 1) & u64(NOT_A) | bits >> 1 & u64(NOT_H)


@kernel
def passed(foot: word, others: word, seat: int) -> int:
    """Count passed pawns, each once, and once more on the fifth, sixth and seventh rank."""
    ahead = smear(others, 1 - seat)
    free = foot & ~(ahead | beside(ahead))
    number = popcount(free)
    for rank in range(4, 7):
        far = u64(u64(FULL) << 8 * rank) if seat == 0 else u64(FULL) >> 8 * rank
        number += popcount(free & far)
    return number


@kernel
def weak(foot: word) -> int:
    """Count pawns beyond the first on their file, and pawns with none on the files beside them."""
    files = smear(smear(foot, 0), 1)
    return popcount(foot & smear(u64(foot << 8), 0)) + popcount(foot & ~beside(files))


@kernel
def hunt(king: word, target: word) -> int:
    """Tell how near a bare king is to the rim, twice, and how near to the king that hunts it."""
    rings = popcount(target & ~u64(CENTRE)) + popcount(target & ~u64(AROUND_CENTRE))
    rings += popcount(target & ~u64(INNER))
    first, second = trailing_zeros(king), trailing_zeros(target)
    ranks, files = abs((first >> 3) - (second >> 3)), abs((first & 7) - (second & 7))
    return 2 * rings + 7 - max(ranks, files)
