"""Where the cells of a board lie, in units of one cell, and how much room is around them.

The web pages draw the same boards; their `layouts.js` says the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

from games.board import Board
from games.picture.shapes import Place

STRIP = 0.42
"""Room for labels beside the board."""
WIDE = 8
"""From so many cells on, labels are as large as on a board of so many."""
SLOPE = sqrt(3) / 2
"""From row to row of six-cornered cells."""
SIDE = 1 / sqrt(3)
"""Length of a side of a six-cornered cell, and from its middle to a corner."""
POINTS_HEIGHT = 11
PITCH = 0.96
"""How far checkers are piled up from one another."""
BAR = 12
"""Column of the bar; checkers borne off are in the next one. Both stand elsewhere."""
BAR_X = 6.5
OFF_X = 13.6
GAP = 0.2
"""Between a board of points and the edge of its frame."""
NUMBERS = 0.56
"""Above and below pits, for their numbers."""


@dataclass(frozen=True)
class Layout:
    """Where things are."""

    at: Callable[[int, int], Place]
    """The middle of a cell, by row and column."""
    box: tuple[float, float, float, float]
    """The part of the plane that is shown: left, top, width, height."""
    text: float
    """Height of labels."""
    column_label: Callable[[int], Place]
    row_label: Callable[[int], Place]
    top_label: Callable[[int], Place] = lambda i: (i + 0.5, 0)


def grid_layout(pad: float, text: float = 0.2) -> Callable[[Board], Layout]:
    """Lay out cells in rows and columns, labels to the left and below."""

    def layout(board: Board) -> Layout:
        rows, columns = board.rows, board.columns
        scale = max(1, max(rows, columns) / WIDE)
        left = STRIP * scale if board.row_labels else 0
        under = STRIP * scale if board.column_labels else 0
        return Layout(
            middle,
            (-pad - left, -pad, columns + 2 * pad + left, rows + 2 * pad + under),
            text * scale,
            lambda i: (i + 0.5, rows + pad + under / 2),
            lambda i: (-pad - left / 2, i + 0.5),
        )

    return layout


def squares_layout(board: Board) -> Layout:
    """Lay out squares up to the edge, labels inside them."""
    rows = board.rows
    return Layout(
        middle,
        (0, 0, board.columns, rows),
        0.18,
        lambda i: (i + 0.88, rows - 0.13),
        lambda i: (0.11, i + 0.15),
    )


def hex_layout(board: Board) -> Layout:
    """Lay out six-cornered cells, each row half a cell further right; labels above and to the left."""
    rows, columns = board.rows, board.columns
    text = 0.22 * max(1, columns / WIDE)
    left = 0.3 + 1.2 * text if board.row_labels else 0.14
    over = 0.2 + text if board.column_labels else 0.14
    return Layout(
        lambda row, column: (column + row / 2 + 0.5, row * SLOPE + SIDE),
        (
            -left,
            -over,
            columns + (rows - 1) / 2 + left + 0.14,
            (rows - 1) * SLOPE + 2 * SIDE + over + 0.14,
        ),
        text,
        lambda i: (i, -0.1 - text / 2),
        lambda i: (i / 2 - 0.2 - 0.6 * text, i * SLOPE + SIDE),
    )


def pits_layout(board: Board) -> Layout:
    """Lay out pits in rows with their numbers above and below."""
    rows = board.rows
    under = STRIP if board.column_labels else 0
    return Layout(
        middle,
        (-0.12, -NUMBERS, board.columns + 0.24, rows + 2 * NUMBERS + under),
        0.18,
        lambda i: (i + 0.5, rows + NUMBERS + under / 2),
        lambda i: (0, i + 0.5),
    )


def points_layout(board: Board) -> Layout:
    """Lay out six points, the bar, six points, and the tray; a cell's middle is that of its first checker."""
    under = 0.7 if board.column_labels else 0
    over = 0.7 if board.top_labels else 0
    return Layout(
        lambda row, column: (_column_x(column), 0.5 if row == 0 else POINTS_HEIGHT - 0.5),
        (-GAP, -GAP - over, OFF_X + 0.5 + 2 * GAP, POINTS_HEIGHT + 2 * GAP + over + under),
        0.32,
        lambda i: (_column_x(i), POINTS_HEIGHT + GAP + under / 2),
        lambda i: (0, i),
        lambda i: (_column_x(i), -GAP - over / 2),
    )


def _column_x(column: int) -> float:
    if column >= BAR:
        return BAR_X if column == BAR else OFF_X
    return column + 0.5 if column < 6 else column + 1.5


def middle(row: int, column: int) -> Place:
    """Return the middle of a square cell."""
    return column + 0.5, row + 0.5
