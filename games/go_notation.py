"""How points, moves and positions of Go are written."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from games.board import Cell
from games.errors import shown
from games.go_points import NOTHING, Points, around, bits_of, first, flood, points_of, some, without
from games.notation import bad_position

LETTERS = "abcdefghjklmnopqrst"
"""Columns from the left, as the Go Text Protocol names them: there is no i."""
PASS_TEXT = "pass"  # noqa: S105 - no password
SIDES = "XO"
"""Letters of the first mover, black, and the second, white, in position texts."""
EMPTY = "."
NO_POINT = "-"
TWO_PASSES = 2
STOPPED = 3
"""In place of passes: the referee ended the game for its length."""
FORM = "rows, X or O to move, a number of passes, and barred points or -, one blank between them"


class Setup(NamedTuple):
    """What a position text says."""

    black: Points
    white: Points
    mover: int
    passes: int
    barred: Points = NOTHING


def cell_of(bit: int, size: int) -> Cell:
    """Return row and column, from the top left, of a bit."""
    return divmod(bit, size + 1)


def point_text(bit: int, size: int) -> str:
    """Write a point: the letter of its column and the number of its row, from below."""
    row, column = cell_of(bit, size)
    return f"{LETTERS[column]}{size - row}"


def bits(points: Points) -> Iterator[int]:
    """Yield the bits of a set, in order."""
    left = bits_of(points)
    while left:
        yield (left & -left).bit_length() - 1
        left &= left - 1


def points_text(points: Points, size: int) -> str:
    """Write points with commas between them, row by row from the top, or `-` for none."""
    return ",".join(point_text(bit, size) for bit in bits(points)) or NO_POINT


def stones(black: Points, white: Points) -> dict[int, int]:
    """Seat of the stone on each bit that has one."""
    return {bit: seat for seat, points in enumerate((black, white)) for bit in bits(points)}


def write(setup: Setup, size: int) -> str:
    """Write a position: `.../.XO/... X 0 -`."""
    seats = stones(setup.black, setup.white)
    letters = {bit: SIDES[seat] for bit, seat in seats.items()}
    rows = (
        "".join(letters.get((size + 1) * row + column, EMPTY) for column in range(size))
        for row in range(size)
    )
    barred = points_text(setup.barred, size)
    return f"{'/'.join(rows)} {SIDES[setup.mover]} {setup.passes} {barred}"


def read(text: object, size: int) -> Setup:
    """Read a position's text. Raises InputError for one that `write` does not write."""
    parts = text.split(" ") if isinstance(text, str) else []
    if len(parts) != 4 or parts[1] not in tuple(SIDES):
        raise bad_position(FORM, shown(text), "go")
    rows, side, passes, barred = parts
    if passes not in map(str, range(STOPPED + 1)):
        raise bad_position(f"passes in a row from 0 to 2, or {STOPPED}", shown(passes), "go")
    black, white = _read_rows(rows.split("/"), size)
    points = NOTHING if barred == NO_POINT else _read_points(barred, size)
    setup = Setup(black, white, SIDES.index(side), int(passes), points)
    _check_liberties(setup, size)
    _check_last_stone(setup)
    return setup


def _check_liberties(setup: Setup, size: int) -> None:
    every = _set_of((size + 1) * row + column for row in range(size) for column in range(size))
    empty = without(every, setup.black | setup.white)
    for colour, stones_of in (("black", setup.black), ("white", setup.white)):
        living = flood(around(empty, size + 1, stones_of), size + 1, stones_of)
        if some(without(stones_of, living)):
            dead = point_text(first(without(stones_of, living)), size)
            raise bad_position("a liberty for every group", f"none for {colour}'s at {dead}", "go")


def _check_last_stone(setup: Setup) -> None:
    """Check that whoever moved last, other than to pass, has a stone: that one."""
    if not some(setup.black | setup.white):
        if setup.mover != setup.passes & 1 or setup.passes > TWO_PASSES or some(setup.barred):
            raise bad_position("an empty board after passes alone", "another", "go")
        return
    last = setup.mover if setup.passes == 1 else 1 - setup.mover
    if setup.passes <= TWO_PASSES and not some((setup.black, setup.white)[last]):
        raise bad_position(f"a stone of {SIDES[last]}, who set the last one", "none", "go")


def _read_rows(rows: list[str], size: int) -> tuple[Points, Points]:
    if len(rows) != size or any(len(row) != size for row in rows):
        raise bad_position(f"{size} rows of {size} points", shown("/".join(rows)), "go")
    for number, row in enumerate(rows):
        for column, letter in enumerate(row):
            if letter not in (*SIDES, EMPTY):
                raise bad_position(
                    "X, O or .", f"{letter!r} at {point_text((size + 1) * number + column, size)}", "go"
                )
    line = "".join(f"{row}{EMPTY}" for row in rows)  # with the empty bit after each row
    black, white = (_set_of(bit for bit, letter in enumerate(line) if letter == side) for side in SIDES)
    return black, white


def _read_points(text: str, size: int) -> Points:
    by_text = {
        point_text((size + 1) * row + column, size): (size + 1) * row + column
        for row in range(size)
        for column in range(size)
    }
    named = [by_text.get(name, -1) for name in text.split(",")]
    if -1 in named or sorted(set(named)) != named:
        raise bad_position("barred points once each, row by row from the top", shown(text), "go")
    return _set_of(named)


def _set_of(numbers: Iterable[int]) -> Points:
    return points_of(sum(1 << number for number in numbers))
