"""What games in an upright frame share: stones that fall to the bottom of a column, and k of them in a row.

The bitboard is John Tromp's (The Game of Connect-4, fhourstones): bit `column * (rows + 1) + height`, from
the bottom up, with one bit above each column always empty, so that lines do not wrap into the next column.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from games.board import Cell
from games.notation import bad_position
from games.protocol import kernel, popcount, trailing_zeros, u64, word


class Frame(NamedTuple):
    """Size of a board, and how many stones in a row are a line."""

    rows: int
    columns: int
    k: int


# bitboards --------------------------------------------------------------------------------------------


@kernel
def has_line(stones: word, rows: int, k: int) -> bool:
    """Whether the stones hold k in a row, in any of the four directions."""
    return (
        run_starts(stones, 1, k)
        | run_starts(stones, rows, k)
        | run_starts(stones, rows + 1, k)
        | run_starts(stones, rows + 2, k)
    ) != u64(0)


@kernel
def run_starts(stones: word, step: int, k: int) -> word:
    """First cells of all runs of k stones `step` bits apart, doubling the length proven so far."""
    length = 1
    while length < k:
        shift = length if 2 * length <= k else k - length
        stones &= stones >> shift * step
        length += shift
    return stones


@kernel
def open_windows(own: word, empty: word, rows: int, k: int) -> tuple[int, int]:
    """Count windows of k cells that hold only `own` and one (two) empty cells."""
    up_one, up_two = open_starts(own, empty, 1, k)
    falling_one, falling_two = open_starts(own, empty, rows, k)
    level_one, level_two = open_starts(own, empty, rows + 1, k)
    rising_one, rising_two = open_starts(own, empty, rows + 2, k)
    ones = popcount(up_one) + popcount(falling_one) + popcount(level_one) + popcount(rising_one)
    twos = popcount(up_two) + popcount(falling_two) + popcount(level_two) + popcount(rising_two)
    return ones, twos


@kernel
def open_starts(own: word, empty: word, step: int, k: int) -> tuple[word, word]:
    """First cells of the windows in one direction that hold only `own` and one (two) empty cells.

    All windows at once, lacking none, one, two: doubled as long as that fits into k, then cell by cell.
    """
    none, one, two = own, empty, u64(0)
    length = 1
    while length < k:
        shift = length * step
        if 2 * length <= k:
            two = two & (none >> shift) | one & (one >> shift) | none & (two >> shift)
            one = one & (none >> shift) | none & (one >> shift)
            none &= none >> shift
            length *= 2
        else:
            two = two & (own >> shift) | one & (empty >> shift)
            one = one & (own >> shift) | none & (empty >> shift)
            none &= own >> shift
            length += 1
    return one, two


@kernel
def band(rows: int, first: int, last: int) -> word:
    """All cells of the columns from `first` to `last`."""
    cells = u64(0)
    for column in range(first, last + 1):
        cells |= ((u64(1) << rows) - u64(1)) << column * (rows + 1)
    return cells


@kernel
def full_board(rows: int, columns: int) -> word:
    """All cells."""
    return band(rows, 0, columns - 1)


# notation and looks -----------------------------------------------------------------------------------


def write_grid(frame: Frame, stones: Sequence[word], letters: str) -> str:
    """Write the rows from the top, `/` between them, with the letter of whose stone it is; `.` for none."""
    # The bits of a bitboard read as decimal digits: 1 for stones of the first side, 2 for the second's ...
    digits = str(sum(number * int(f"{bits:b}") for number, bits in enumerate(stones, start=1)))
    by_digit = str.maketrans("0123456789"[: len(letters) + 1], f".{letters}")
    cells = digits.zfill(frame.columns * (frame.rows + 1))[::-1].translate(by_digit)
    return "/".join(cells[height :: frame.rows + 1] for height in reversed(range(frame.rows)))


def read_grid(frame: Frame, grid: str, letters: str, where: str) -> list[word]:
    """Read what `write_grid` writes: the stones of each letter.

    Raises InputError for a wrong size, a wrong letter, a floating stone.
    """
    rows = frame.rows
    lines = grid.split("/")
    if len(lines) != rows:
        raise bad_position(f"{rows} rows joined by /", str(len(lines)), where)
    stones = [0 for _ in letters]
    below = "/" * frame.columns
    for row, line in reversed(list(enumerate(lines))):
        if len(line) != frame.columns:
            raise bad_position(f"{frame.columns} columns in row {row + 1}", str(len(line)), where)
        for column, letter in enumerate(line):
            place = f"row {row + 1} column {column + 1}"
            if letter not in f"{letters}.":
                listed = f"{', '.join(letters)} or ."
                raise bad_position(listed, f"{letter!r} in {place}", where)
            if letter == ".":
                continue
            if below[column] == ".":
                raise bad_position(
                    "stones that rest on others", f"{letter} above an empty cell in {place}", where
                )
            stones[letters.index(letter)] |= 1 << column * (rows + 1) + rows - 1 - row
        below = line
    return stones


def has_last_move(frame: Frame, last_mover: word, mask: word) -> bool:
    """Whether taking back some topmost stone of the last mover leaves them without a line."""
    for column, height in enumerate(heights(frame, mask)):
        top = 1 << column * (frame.rows + 1) + max(height - 1, 0)
        if last_mover & top and not has_line(last_mover ^ top, frame.rows, frame.k):
            return True
    return False


def heights(frame: Frame, mask: word) -> list[int]:
    """Return the number of stones in each column."""
    return [popcount(mask & band(frame.rows, column, column)) for column in range(frame.columns)]


def cells_of(frame: Frame, stones: word) -> Iterator[Cell]:
    """Yield the cells of a bitboard."""
    while stones:
        column, height = divmod(trailing_zeros(stones), frame.rows + 1)
        yield frame.rows - 1 - height, column
        stones &= stones - 1


def line_cells(frame: Frame, stones: word) -> tuple[Cell, ...]:
    """Return the cells of all lines that the stones hold."""
    line = 0
    for step in (1, frame.rows, frame.rows + 1, frame.rows + 2):
        starts = run_starts(stones, step, frame.k)
        for i in range(frame.k):
            line |= starts << i * step
    return tuple(sorted(cells_of(frame, line)))
