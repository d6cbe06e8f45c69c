"""Which positions of Breakthrough a game can reach: conditions that every game keeps.

Pieces are told as (rows from their own edge, column), a list a seat.
"""

from games.board import Cell
from games.errors import InputError
from games.notation import bad_position

SIDES = "bw"
"""Letters of the first mover, black, and the second, white, in position texts."""

Pieces = list[Cell]


def check_reachable(sides: tuple[Pieces, Pieces], size: int, mover: int) -> None:
    """Raise InputError for a position that no game can reach, as far as these conditions tell.

    No side has too many pieces; nobody has won but the last mover, by the last move; the numbers of moves
    that both sides have made fit who is to move; and the pieces can all have come from cells of their own.
    """
    for pieces, letter in zip(sides, SIDES, strict=True):
        if len(pieces) > 2 * size:
            raise _unreachable(f"at most {2 * size} {letter}", str(len(pieces)))
    _check_end(sides[mover], sides[1 - mover], size)
    fewest, most = zip(*(moves_made(sides[p], sides[1 - p], size) for p in (0, 1)), strict=True)
    if max(fewest[0] - mover, fewest[1]) > min(most[0] - mover, most[1]):
        got = f"{fewest[0]} to {most[0]} of b, {fewest[1]} to {most[1]} of w, {SIDES[mover]} to move"
        raise _unreachable("numbers of moves made that fit who is to move", got)
    for pieces, letter in zip(sides, SIDES, strict=True):
        if not come_from_start(pieces, size):
            raise _unreachable(f"{letter} where the two rows they start on let them come", "some elsewhere")


def _unreachable(expected: str, got: str) -> InputError:
    return bad_position(expected, got, "breakthrough")


def _check_end(to_move: Pieces, moved: Pieces, size: int) -> None:
    """Check that only the last move can have ended the game, and for who made it."""
    if _through(to_move, size) or _through(moved, size) > 1 or not moved:
        raise _unreachable("a game that only the last move can have ended", "one that had ended before")


def _through(pieces: Pieces, size: int) -> int:
    """Count the pieces that have reached their last row."""
    return sum(row == size - 1 for row, _ in pieces)


def moves_made(own: Pieces, other: Pieces, size: int) -> tuple[int, int]:
    """Fewest and most moves that a side can have made: the rows that its pieces came on, those captured too.

    Captured pieces stood on neither edge: on the far one the game was over, and on the own one it is over
    now. Each piece that the opponent lacks took a move.
    """
    captured = 2 * size - len(own)
    made = sum(row for row, _ in own) - size
    low = captured - 1 if captured and _through(other, size) else captured
    return max(made + low, 2 * size - len(other)), made + captured * (size - 2)


def come_from_start(pieces: Pieces, size: int) -> bool:
    """Whether each piece can have had a cell of its own on the two first rows.

    A matching of pieces and cells, by augmenting paths (Kuhn: The Hungarian method for the assignment
    problem, 1955).
    """
    taken: dict[Cell, Cell] = {}

    def place(piece: Cell, tried: set[Cell]) -> bool:
        for cell in _starts(piece, size):
            if cell in tried:
                continue
            tried.add(cell)
            if cell not in taken or place(taken[cell], tried):
                taken[cell] = piece
                return True
        return False

    return all(place(piece, set()) for piece in pieces)


def _starts(piece: Cell, size: int) -> list[Cell]:
    """Cells of the two first rows from where a piece can have come, a column aside a row at most."""
    row, column = piece
    reaches = ((first, row - first) for first in range(min(row, 1) + 1))
    return [
        (first, start)
        for first, reach in reaches
        for start in range(max(column - reach, 0), min(column + reach, size - 1) + 1)
    ]
