"""What is drawn around the pieces: the last move, the line that decided the game, labels.

The pages' `marks.js` does the same.
"""

from collections.abc import Callable, Sequence

from games.board import Cell
from games.picture.grounds import point
from games.picture.layouts import BAR, POINTS_HEIGHT, Layout
from games.picture.shapes import Place, Shape, circle, path, path_of, polygon, rect, text

Mark = Callable[[int, int, Layout], list[Shape]]
"""Draws a mark in a cell, by row and column."""


def tint(row: int, column: int, _layout: Layout) -> list[Shape]:
    """Colour the cell of a last move."""
    return [rect("tint", column + 0.04, row + 0.04, 0.92, 0.92, 0.08)]


def square(row: int, column: int, _layout: Layout) -> list[Shape]:
    """Colour a whole square."""
    return [rect("tint strong", column, row, 1, 1)]


def chevron(_row: int, column: int, _layout: Layout) -> list[Shape]:
    """Show above the board where a piece was dropped."""
    x = column + 0.5
    return [path("chevron", polygon([(x - 0.17, -0.14), (x + 0.17, -0.14), (x, 0.03)]))]


def point_outline(row: int, column: int, layout: Layout) -> list[Shape]:
    """Outline a point, or the place beside it where checkers lie."""
    if column < BAR:
        return [path("outline", point(row, column))]
    x, _ = layout.at(row, column)
    half = POINTS_HEIGHT / 2
    return [rect("outline", x - 0.47, row * half + 0.03, 0.94, half - 0.06, 0.06)]


def ring(row: int, column: int, layout: Layout) -> list[Shape]:
    """Draw a ring around a pit."""
    return [circle("outline", *layout.at(row, column), 0.42)]


def dot(r: float = 0.1, right: float = 0, down: float = 0) -> Mark:
    """Return a mark that is a dot: so large, so far right and down of the middle of its cell."""

    def draw(row: int, column: int, layout: Layout) -> list[Shape]:
        x, y = layout.at(row, column)
        return [circle("last-dot", x + right, y + down, r)]

    return draw


def nothing(_row: int, _column: int, _layout: Layout) -> list[Shape]:
    """Draw no mark."""
    return []


def run_lines(cells: Sequence[Cell], layout: Layout) -> list[Shape]:
    """Draw lines through straight runs of three or more cells: one move can complete several."""
    there, runs = set(cells), []
    for row, column in cells:
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            if (row - down, column - right) in there:
                continue
            length = 1
            while (row + length * down, column + length * right) in there:
                length += 1
            end = (row + (length - 1) * down, column + (length - 1) * right)
            if length >= 3:
                runs.append(path_of([layout.at(row, column), layout.at(*end)]))
    return _twice(runs)


def chain_line(cells: Sequence[Cell], layout: Layout) -> list[Shape]:
    """Draw one line from cell to cell."""
    return _twice([path_of([layout.at(*cell) for cell in cells])]) if cells else []


def cell_outlines(cells: Sequence[Cell], _layout: Layout) -> list[Shape]:
    """Draw an outline around each cell."""
    return _twice([_frame(row, column) for row, column in cells], " thin")


def no_line(_cells: Sequence[Cell], _layout: Layout) -> list[Shape]:
    """Draw no line."""
    return []


def _frame(row: int, column: int) -> str:
    (left, top), (right, bottom) = (column + 0.05, row + 0.05), (column + 0.95, row + 0.95)
    return polygon([(left, top), (right, top), (right, bottom), (left, bottom)])


def _twice(paths: list[str], width: str = "") -> list[Shape]:
    """Black on white, so that it is seen on everything."""
    return [path(name + width, d) for name in ("win-under", "win-over") for d in paths]


def label_texts(labels: Sequence[str], place: Callable[[int], Place], size: float) -> list[Shape]:
    """Write labels of rows or columns, or of anything else."""
    return [text("board-label", *place(i), label, size) for i, label in enumerate(labels) if label]
