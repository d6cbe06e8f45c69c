"""The rules of Go once more, slowly, on dictionaries: what the tests hold the bitboards against."""

from collections.abc import Iterator

import games
from games import State
from games.go import PASS

Point = tuple[int, int]
Stones = dict[Point, str]
"""X or O on a cell (row, column), from the top left."""


def read(rows: str) -> tuple[Stones, int]:
    """Stones and size of a board whose rows stand between slashes."""
    lines = rows.split("/")
    stones = {
        (row, column): letter
        for row, line in enumerate(lines)
        for column, letter in enumerate(line)
        if letter != "."
    }
    return stones, len(lines)


def written(stones: Stones, size: int) -> str:
    return "/".join("".join(stones.get((row, column), ".") for column in range(size)) for row in range(size))


def cells(size: int) -> list[Point]:
    return [(row, column) for row in range(size) for column in range(size)]


def name(cell: Point, size: int) -> str:
    return f"{'abcdefghjklmnopqrst'[cell[1]]}{size - cell[0]}"


def steps(cell: Point, size: int, diagonal: bool = False) -> Iterator[Point]:
    row, column = cell
    ways = [(1, 1), (1, -1), (-1, 1), (-1, -1)] if diagonal else [(1, 0), (-1, 0), (0, 1), (0, -1)]
    for down, right in ways:
        if 0 <= row + down < size and 0 <= column + right < size:
            yield row + down, column + right


def region(cell: Point, stones: Stones, size: int) -> tuple[set[Point], set[Point]]:
    """Cells of the same content as `cell` that hang together with it, and the others next to them."""
    inside, rim, waiting = {cell}, set(), [cell]
    while waiting:
        for beside in steps(waiting.pop(), size):
            if stones.get(beside) != stones.get(cell):
                rim.add(beside)
            elif beside not in inside:
                inside.add(beside)
                waiting.append(beside)
    return inside, rim


def liberties(cell: Point, stones: Stones, size: int) -> set[Point]:
    return region(cell, stones, size)[1] - set(stones)


def play(cell: Point, side: str, stones: Stones, size: int) -> Stones | None:
    """The stones after a move; None for suicide."""
    after = {**stones, cell: side}
    for beside in steps(cell, size):
        if after.get(beside, side) != side and not liberties(beside, after, size):
            for taken in region(beside, after, size)[0]:
                del after[taken]
    return after if liberties(cell, after, size) else None


def area(stones: Stones, size: int) -> int:
    """Black's points minus white's: stones, and empty regions with one colour at their rim."""
    ahead = 0
    for cell in cells(size):
        owners = stones.get(cell) or "".join({stones[rim] for rim in region(cell, stones, size)[1]})
        ahead += {"X": 1, "O": -1}.get(owners, 0)
    return ahead


def own_eye(cell: Point, side: str, stones: Stones, size: int) -> bool:
    """Own stones or the edge all around; the opponent has at most one diagonal cell, at the edge none."""
    if any(stones.get(beside) != side for beside in steps(cell, size)):
        return False
    corners = list(steps(cell, size, diagonal=True))
    hostile = sum(stones.get(corner, side) != side for corner in corners)
    return hostile <= (1 if len(corners) == 4 else 0)


def but_own_eyes(state: State, actions: list[int]) -> list[int]:
    """Actions that fill no own eye: the ones drawn in playouts."""
    rows, side, *_ = games.load("go").format_position(state).split(" ")
    stones, size = read(rows)
    return [
        action
        for action in actions
        if action == PASS or not own_eye(divmod(action, size + 1), side, stones, size)
    ]
