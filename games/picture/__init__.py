"""A board as an SVG picture of its own: what the web pages draw, with their light colours.

Geometry and shapes are those of the pages' scripts (board.js and the files that it imports); a test compares
both, shape by shape. Style by style, a picture is made of a layout, a ground, pieces and marks.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from games.board import Board, Cell, Style
from games.picture import grounds, layouts, marks, pieces
from games.picture.layouts import Layout, grid_layout
from games.picture.paint import GRADIENTS, Paint, gradient, paint_of
from games.picture.pieces import Piece
from games.picture.shapes import Shape, number

Line = Callable[[Sequence[Cell], Layout], list[Shape]]

USUAL_DOT = marks.dot()

DIE_STEP = 0.98
"""From die to die."""


@dataclass(frozen=True)
class Looks:
    """How a style looks."""

    layout: Callable[[Board], Layout]
    ground: Callable[[Board, Layout], list[Shape]]
    piece: Callable[[Piece], list[Shape]]
    under: marks.Mark = marks.tint
    """The last move, under the pieces."""
    over: marks.Mark = USUAL_DOT
    """The last move, over them."""
    line: Line = marks.run_lines
    """The cells that decided the game, over the pieces."""
    framed: Line = marks.no_line
    """The same, under them."""
    named: bool = False
    """Whether actions are written into their cells where there are no labels."""


LOOKS: dict[Style, Looks] = {
    "frame": Looks(grid_layout(0.14), grounds.frame_ground, pieces.disc, under=marks.chevron),
    "lines": Looks(grid_layout(0.04), grounds.lines_ground, pieces.shape, named=True),
    "felt": Looks(grid_layout(0.22), grounds.felt_ground, pieces.turner),
    "table": Looks(
        grid_layout(0.1, 0.09), grounds.table_ground, pieces.lying, over=marks.dot(0.05, 0.4, -0.4)
    ),
    "chequered": Looks(
        layouts.squares_layout,
        grounds.squares_ground,
        pieces.chequered,
        under=marks.square,
        over=marks.nothing,
        line=marks.no_line,
        framed=marks.cell_outlines,
    ),
    "wood": Looks(
        grid_layout(0.12), grounds.wood_ground, pieces.stone, under=marks.nothing, over=marks.dot(0.16)
    ),
    "cells": Looks(
        layouts.hex_layout,
        grounds.cells_ground,
        pieces.hex_stone,
        under=marks.nothing,
        over=marks.dot(0.14),
        line=marks.chain_line,
    ),
    "pits": Looks(layouts.pits_layout, grounds.pits_ground, pieces.pit, under=marks.nothing, over=marks.ring),
    "points": Looks(
        layouts.points_layout,
        grounds.points_ground,
        pieces.pile,
        under=marks.point_outline,
        over=marks.nothing,
    ),
}


def svg(board: Board, *, size: int = 400, title: str = "") -> str:
    """Draw a board as SVG text that needs nothing else.

    Its longer side is `size` pixels; `title` is read aloud.
    """
    looks = LOOKS[board.style]
    layout = looks.layout(board)
    drawn = "\n".join(_element(shape, paint) for shape, paint in _painted(board, looks, layout))
    used = [name for name in GRADIENTS if f"url(#{name})" in drawn]
    defs = f"<defs>{''.join(map(gradient, used))}</defs>\n" if used else ""
    left, top, width, height = layout.box
    scale = size / max(width, height)
    box = " ".join(map(number, (left, top, width, height)))
    named = f"<title>{escape(title)}</title>\n" if title else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{round(width * scale)}" '
        f'height="{round(height * scale)}" viewBox="{box}" role="img">\n{named}{defs}{drawn}\n</svg>\n'
    )


def _painted(board: Board, looks: Looks, layout: Layout) -> Iterable[tuple[Shape, Paint]]:
    """Yield all shapes with their paint, from the bottom up."""
    under = [shape for cell in board.last for shape in looks.under(*cell, layout)]
    over = [shape for cell in board.last for shape in looks.over(*cell, layout)]
    below = [*looks.ground(board, layout), *under, *looks.framed(board.line, layout)]
    above = [*over, *looks.line(board.line, layout), *_dice(board)]
    for shape in (*below, *_action_texts(board, looks, layout)):
        yield shape, paint_of(shape, board)
    for piece in pieces_of(board, layout):
        for shape in looks.piece(piece):
            yield shape, paint_of(shape, board, piece.seat, piece=True)
    labels = [
        *marks.label_texts(board.row_labels, layout.row_label, layout.text),
        *marks.label_texts(board.column_labels, layout.column_label, layout.text),
        *marks.label_texts(board.top_labels, layout.top_label, layout.text),
    ]
    for shape in (*above, *labels):
        yield shape, paint_of(shape, board)


def pieces_of(board: Board, layout: Layout) -> list[Piece]:
    """Return the pieces, then the cards that are everybody's, each with what is on it."""
    seats: dict[Cell, int | None] = dict(sorted(board.pieces.items()))
    seats |= dict.fromkeys(sorted(cell for cell in board.cards if cell not in seats))
    filled = Counter(column for _, column in seats)
    return [
        Piece(
            *layout.at(row, column),
            row,
            column,
            seat,
            board.kinds.get((row, column)),
            board.cards.get((row, column)),
            board.counts.get((row, column)),
            filled[column] == 1,
            board.rows,
        )
        for (row, column), seat in seats.items()
    ]


def _dice(board: Board) -> list[Shape]:
    """Draw dice beside one another in the right half of a board of points."""
    if board.style != "points":
        return []
    left = layouts.BAR_X + 3.5 - (len(board.dice) - 1) * DIE_STEP / 2
    middle = layouts.POINTS_HEIGHT / 2
    return [
        part for i, pips in enumerate(board.dice) for part in pieces.die(left + i * DIE_STEP, middle, pips)
    ]


def _action_texts(board: Board, looks: Looks, layout: Layout) -> list[Shape]:
    if not looks.named or board.row_labels or board.column_labels:
        return []
    targets = list(board.targets.items())
    return marks.label_texts(
        [action for action, _ in targets], lambda i: layout.at(*targets[i][1]), layout.text
    )


def _element(shape: Shape, paint: Paint) -> str:
    attributes = " ".join(
        f'{name}="{value if isinstance(value, str) else number(value)}"'
        for name, value in (shape.attributes | paint).items()
    )
    if shape.tag == "text":
        return f"<text {attributes}>{escape(shape.text, quote=False)}</text>"
    return f"<{shape.tag} {attributes}/>"
