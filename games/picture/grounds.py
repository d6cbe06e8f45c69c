"""What lies under the pieces: the board itself, by style. The pages' `grounds.js` draws the same."""

from collections.abc import Sequence

from games.board import Board, Cell
from games.picture.layouts import BAR_X, OFF_X, POINTS_HEIGHT, SIDE, Layout
from games.picture.shapes import Place, Shape, circle, line, path, path_of, polygon, rect, seat_shape


def frame_ground(board: Board, _layout: Layout) -> list[Shape]:
    """Draw an upright frame with holes."""
    frame = rect("frame", -0.14, -0.14, board.columns + 0.28, board.rows + 0.28, 0.22)
    return [frame, *(circle("hole", column + 0.5, row + 0.5, 0.4) for row, column in _cells(board))]


def lines_ground(board: Board, _layout: Layout) -> list[Shape]:
    """Draw lines between cells."""
    across, down = range(1, board.columns), range(1, board.rows)
    return [
        *(line("grid-line", x, 0.06, x, board.rows - 0.06) for x in across),
        *(line("grid-line", 0.06, y, board.columns - 0.06, y) for y in down),
    ]


def felt_ground(board: Board, _layout: Layout) -> list[Shape]:
    """Draw a felt with lines around its cells, in a rim."""
    rows, columns = board.rows, board.columns
    far = [(x, y) for x in (2, columns - 2) for y in (2, rows - 2)] if rows >= 6 else []
    return [
        rect("felt-rim", -0.22, -0.22, columns + 0.44, rows + 0.44, 0.14),
        rect("felt", 0, 0, columns, rows),
        *(line("felt-line", x, 0, x, rows) for x in range(columns + 1)),
        *(line("felt-line", 0, y, columns, y) for y in range(rows + 1)),
        *(circle("felt-dot", x, y, 0.07) for x, y in far),
    ]


def table_ground(board: Board, _layout: Layout) -> list[Shape]:
    """Draw a table."""
    return [rect("tabletop", -0.1, -0.1, board.columns + 0.2, board.rows + 0.2, 0.12)]


def squares_ground(board: Board, _layout: Layout) -> list[Shape]:
    """Draw light and dark squares, the bottom left one dark."""
    dark = [(row, column) for row, column in _cells(board) if (board.rows - 1 - row + column) % 2 == 0]
    return [
        rect("square-light", 0, 0, board.columns, board.rows),
        *(rect("square-dark", column, row, 1, 1) for row, column in dark),
    ]


def wood_ground(board: Board, layout: Layout) -> list[Shape]:
    """Draw wood with crossing lines, a heavier one around them, and star points."""
    rows, columns = board.rows, board.columns
    return [
        rect("wood", *layout.box, 0.14),
        *(line("wood-line", x + 0.5, 0.5, x + 0.5, rows - 0.5) for x in range(1, columns - 1)),
        *(line("wood-line", 0.5, y + 0.5, columns - 0.5, y + 0.5) for y in range(1, rows - 1)),
        rect("wood-border", 0.5, 0.5, columns - 1, rows - 1),
        *(circle("star", column + 0.5, row + 0.5, 0.09) for row, column in star_points(rows, columns)),
    ]


def star_points(rows: int, columns: int) -> list[Cell]:
    """Return the crossings that players mark to find their way.

    They are near the corners and, on boards with a middle, there; on large ones half way along the sides too.
    """
    size = min(rows, columns)
    odd = rows % 2 == 1 and columns % 2 == 1
    near = 3 if size >= 13 else 2

    def along(length: int) -> list[int]:
        corners = [near, length - 1 - near] if size >= 7 else []
        return [*corners, length // 2] if odd else corners

    points = [(row, column) for row in along(rows) for column in along(columns)]
    middle = (rows // 2, columns // 2)
    halfway = [point for point in points if (point[0] == middle[0]) != (point[1] == middle[1])]
    return points if size >= 15 or not odd else [point for point in points if point not in halfway]


def cells_ground(board: Board, layout: Layout) -> list[Shape]:
    """Draw six-cornered cells, and the edges that each seat joins."""
    rows, columns, at = board.rows, board.columns, layout.at
    last_row, last_column = rows - 1, columns - 1
    top = [corner for i in range(columns) for corner in _corners(at(0, i), (5, 0, 1))]
    bottom = [corner for i in range(columns) for corner in _corners(at(last_row, i), (4, 3, 2))]
    left = [corner for i in range(rows) for corner in _corners(at(i, 0), (5, 4))]
    right = [corner for i in range(rows) for corner in _corners(at(i, last_column), (1, 2))]
    return [
        *(path("cell", hexagon(*at(*cell), SIDE)) for cell in _cells(board)),
        *(path("edge-2", path_of(edge)) for edge in (left, right)),
        *(path("edge-1", path_of(edge)) for edge in (top, bottom)),
    ]


def _corners(middle: Place, numbers: Sequence[int]) -> list[Place]:
    """Corners of a cell around its middle, by number from the top one clockwise."""
    x, y = middle
    dx, dy = 0.5, SIDE / 2
    corners = [(0, -SIDE), (dx, -dy), (dx, dy), (0, SIDE), (-dx, dy), (-dx, -dy)]
    return [(x + corners[i][0], y + corners[i][1]) for i in numbers]


def hexagon(x: float, y: float, r: float) -> str:
    """Return the path of a cell with six corners around (x, y), `r` from the middle to each."""
    far, high, low = r / SIDE / 2, y - r / 2, y + r / 2
    return polygon([(x, y - r), (x + far, high), (x + far, low), (x, y + r), (x - far, low), (x - far, high)])


def pits_ground(board: Board, _layout: Layout) -> list[Shape]:
    """Draw a tray for pits, with each seat's shape in its corner."""
    rows, columns = board.rows, board.columns
    return [
        rect("tray", -0.12, -0.56, columns + 0.24, rows + 1.12, 0.2),
        path("owner-1", seat_shape(0, columns - 0.5, -0.28, 0.11)),
        path("owner-2", seat_shape(1, 0.5, rows + 0.28, 0.11)),
    ]


def points_ground(_board: Board, _layout: Layout) -> list[Shape]:
    """Draw the 24 points in their frame, the bar and the trays for checkers borne off."""
    half = POINTS_HEIGHT / 2
    places = [(row, column) for row in range(2) for column in range(12)]
    return [
        rect("points-frame", -0.2, -0.2, OFF_X + 0.9, POINTS_HEIGHT + 0.4, 0.16),
        rect("points-inside", 0, 0, BAR_X - 0.5, POINTS_HEIGHT),
        rect("points-inside", BAR_X + 0.5, 0, 6, POINTS_HEIGHT),
        rect("points-tray", BAR_X - 0.47, 0, 0.94, POINTS_HEIGHT, 0.06),
        *(rect("points-tray", OFF_X - 0.45, row * (half + 0.1), 0.9, half - 0.1, 0.06) for row in range(2)),
        *(path(f"point-{(row + column) % 2 + 1}", point(row, column)) for row, column in places),
    ]


def point(row: int, column: int) -> str:
    """Return the path of a point."""
    x = column if column < 6 else column + 1
    base, tip = (0.0, 4.3) if row == 0 else (POINTS_HEIGHT, POINTS_HEIGHT - 4.3)
    return polygon([(x + 0.03, base), (x + 0.5, tip), (x + 0.97, base)])


def _cells(board: Board) -> list[Cell]:
    return [(row, column) for row in range(board.rows) for column in range(board.columns)]
