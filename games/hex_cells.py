"""Sets of cells of a Hex board, as bits in two words, and what is next to what on it.

Functions of a board take any state `s` whose class has the constants that `masks` makes.
"""

from typing import Any, NamedTuple

from games.bits import nth_one
from games.protocol import bitboard, kernel, popcount, trailing_zeros, u64, word


@bitboard
class HexCells(NamedTuple):
    """A set of cells: those of bits 0 to 63, and those of bits 64 to 127."""

    lo: word
    hi: word

    def __and__(self, other: "HexCells") -> "HexCells":
        """Cells in both sets."""
        return HexCells(self.lo & other.lo, self.hi & other.hi)

    def __or__(self, other: "HexCells") -> "HexCells":
        """Cells in either set."""
        return HexCells(self.lo | other.lo, self.hi | other.hi)

    def __xor__(self, other: "HexCells") -> "HexCells":
        """Cells in one of the sets alone."""
        return HexCells(self.lo ^ other.lo, self.hi ^ other.hi)

    def __invert__(self) -> "HexCells":
        """All other bits, those outside the board too."""
        return HexCells(u64(~self.lo), u64(~self.hi))


@kernel
def one(cell: int) -> HexCells:
    """Return the set of one cell."""
    bit = u64(1) << (cell & 63)
    return HexCells(bit, u64(0)) if cell < 64 else HexCells(u64(0), bit)


@kernel
def some(cells: HexCells) -> bool:
    """Whether a set is not empty."""
    return cells.lo | cells.hi != u64(0)


@kernel
def count(cells: HexCells) -> int:
    """Return the number of cells in a set."""
    return popcount(cells.lo) + popcount(cells.hi)


@kernel
def lowest(cells: HexCells) -> int:
    """Return the first cell of a set that is not empty."""
    return trailing_zeros(cells.lo) if cells.lo != u64(0) else 64 + trailing_zeros(cells.hi)


@kernel
def numbered(cells: HexCells, number: int) -> int:
    """Return the cell of this number, from 0, in a set that has more cells."""
    bits, base, before = cells.lo, 0, popcount(cells.lo)
    if number >= before:
        bits, base = cells.hi, 64
        number -= before
    return base + nth_one(bits, number)


@kernel
def up(cells: HexCells, step: int) -> HexCells:
    """Move cells to higher bits, by 0 to 63; the carry takes two steps since one by 64 is not defined."""
    return HexCells(u64(cells.lo << step), u64(cells.hi << step | cells.lo >> 1 >> 63 - step))


@kernel
def down(cells: HexCells, step: int) -> HexCells:
    """Move cells to lower bits, by 0 to 63."""
    return HexCells(u64(cells.lo >> step | cells.hi << 1 << 63 - step), cells.hi >> step)


def masks(size: int) -> dict[str, int]:
    """Return the constants of a size of board: its cells and those at the edges and in the middle."""
    last, margin = size - 1, size // 3
    every, inner = range(size), range(margin, size - margin)
    kinds = {
        "board": (every, every),
        "top": ((0,), every),
        "bottom": ((last,), every),
        "left": (every, (0,)),
        "right": (every, (last,)),
        "centre": (inner, inner),
    }
    constants = {"size": size}
    for name, (rows, columns) in kinds.items():
        bits = sum(1 << size * row + column for row in rows for column in columns)
        constants |= {f"{name}_lo": u64(bits), f"{name}_hi": bits >> 64}
    return constants


@kernel
def mirrored(cell: int, size: int) -> int:
    """Return the cell across the main diagonal, from the top left to the bottom right."""
    return cell % size * size + cell // size


# cells of a board -------------------------------------------------------------------------------------


@kernel
def board_cells(s: Any) -> HexCells:
    """Return all cells of the board."""
    return HexCells(u64(s.board_lo), u64(s.board_hi))


@kernel
def top(s: Any) -> HexCells:
    """Return the first row."""
    return HexCells(u64(s.top_lo), u64(s.top_hi))


@kernel
def bottom(s: Any) -> HexCells:
    """Return the last row."""
    return HexCells(u64(s.bottom_lo), u64(s.bottom_hi))


@kernel
def left(s: Any) -> HexCells:
    """Return the first column."""
    return HexCells(u64(s.left_lo), u64(s.left_hi))


@kernel
def right(s: Any) -> HexCells:
    """Return the last column."""
    return HexCells(u64(s.right_lo), u64(s.right_hi))


@kernel
def neighbours(s: Any, cells: HexCells) -> HexCells:
    """Cells that touch one of a set; also bits outside the board, before the first row and after the last."""
    rightwards = (up(cells, 1) | down(cells, s.size - 1)) & ~left(s)
    leftwards = (down(cells, 1) | up(cells, s.size - 1)) & ~right(s)
    return rightwards | leftwards | up(cells, s.size) | down(cells, s.size)


@kernel
def flood(s: Any, start: HexCells, through: HexCells) -> HexCells:
    """Return `start` and the cells of `through` that hang together with it."""
    reached = wave = start
    while some(wave):
        wave = neighbours(s, wave) & through & ~reached
        reached = reached | wave
    return reached
