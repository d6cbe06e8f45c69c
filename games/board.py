"""How a position looks, as data: terminal, SVG and browser draw any game from this alone."""

from dataclasses import dataclass, field
from typing import Literal

Cell = tuple[int, int]
"""(row, column), both from 0; row 0 is the top row."""

HIDDEN = "?"
"""Stands for a card that lies face down."""

Style = Literal["frame", "lines", "felt", "table", "chequered", "wood", "cells", "pits", "points"]

LETTERS = {"man": "", "knight": "n"}
"""Letters of kinds of pieces that are not the first one of their name."""


@dataclass(frozen=True)
class Board:
    """A board seen from above.

    `pieces` maps a cell to a seat number from 0. `style` says what the board is made of:

    - "frame": holes in an upright frame, pieces fall
    - "lines": marks between lines
    - "felt": discs with a black side, seat 0, and a white one
    - "table": cards and chips that lie there
    - "chequered": pieces on light and dark squares; the bottom left one is dark
    - "wood": stones on the crossings of lines (geometry "points"), seat 0 black
    - "cells": stones in six-cornered cells, each row half a cell further right (geometry "hex"); seat 0 joins
      top and bottom, seat 1 left and right
    - "pits": pits with seeds, `counts`, and a store at each end of the rows
    - "points": the 24 points of backgammon, 12 above and 12 below, then the bar (column 12) and the checkers
      borne off (column 13)

    Seeds in pits are nobody's: their seat is that of the pit.
    `kinds` names pieces that are not all alike (king, queen, rook, bishop, knight, pawn; man, crowned).
    `cards` says what is on the pieces that are cards, HIDDEN if they lie face down; `counts` of how many
    pieces a pile consists. A card without a piece is everybody's. `dice` are the dice that lie there.
    `last` is the cells of the last move, `line` the cells that decided the game.
    `top_labels` are those of columns whose top row is numbered differently from the bottom one. `below` is
    the seat that sits below the board; the others sit above.
    `targets` maps each legal action's text to the cell where its piece would land, if it has one.
    """

    rows: int
    columns: int
    pieces: dict[Cell, int]
    style: Style
    geometry: Literal["grid", "points", "hex"] = "grid"
    kinds: dict[Cell, str] = field(default_factory=dict)
    cards: dict[Cell, str] = field(default_factory=dict)
    counts: dict[Cell, int] = field(default_factory=dict)
    dice: tuple[int, ...] = ()
    last: tuple[Cell, ...] = ()
    line: tuple[Cell, ...] = ()
    column_labels: tuple[str, ...] = ()
    row_labels: tuple[str, ...] = ()
    top_labels: tuple[str, ...] = ()
    below: int = 0
    targets: dict[str, Cell] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return plain JSON data: pieces as [row, column, seat], cards [row, column, text], sorted."""
        return {
            "geometry": self.geometry,
            "style": self.style,
            "rows": self.rows,
            "columns": self.columns,
            "pieces": _on_cells(self.pieces),
            "kinds": _on_cells(self.kinds),
            "cards": _on_cells(self.cards),
            "counts": _on_cells(self.counts),
            "dice": list(self.dice),
            "last": [list(cell) for cell in self.last],
            "line": [list(cell) for cell in self.line],
            "column_labels": list(self.column_labels),
            "row_labels": list(self.row_labels),
            "top_labels": list(self.top_labels),
            "below": self.below,
            "targets": {action: list(cell) for action, cell in self.targets.items()},
        }

    def to_text(self, marks: str = "xo■▲") -> str:
        """Draw the board for a terminal, one line a row, the last move in brackets.

        A piece of a kind, a card and a pile are a mark with what is on it: `xq`, `o?`, `x2`. A board without
        labels shows the actions themselves, each in the cell where its piece would land. Rows of six-cornered
        cells are each set half a cell further right, under their labels. Dice have a line of their own.
        """
        named = {} if self.row_labels or self.column_labels else {c: text for text, c in self.targets.items()}
        cells = [(r, c) for r in range(self.rows) for c in range(self.columns)]
        shown = {cell: self._piece_text(cell, marks) or named.get(cell, ".") for cell in cells}
        width = max(map(len, (*shown.values(), *self.column_labels, *self.top_labels))) + 2
        lines = [_label_line(self.top_labels, width)] if self.top_labels else []
        for r in range(self.rows):
            label = self.row_labels[r] if self.row_labels else ""
            row = "".join(
                f"{f'[{shown[r, c]}]' if (r, c) in self.last else shown[r, c]:^{width}}"
                for c in range(self.columns)
            )
            indent = " " * (r * width // 2) if self.geometry == "hex" else ""
            lines.append(f"{indent}{label:>2} {row}")
        if self.column_labels:  # slanted columns begin under the labels at the top
            at = 0 if self.geometry == "hex" else len(lines)
            lines.insert(at, _label_line(self.column_labels, width))
        if self.dice:
            lines.append("dice: " + " ".join(map(str, self.dice)))
        return "\n".join(lines)

    def _piece_text(self, cell: Cell, marks: str) -> str:
        on_it = f"{self.cards.get(cell, '')}{self.counts.get(cell, '')}"
        if cell not in self.pieces:
            return on_it
        kind = self.kinds.get(cell, "")
        letter = LETTERS.get(kind, kind[:1])
        return f"{marks[self.pieces[cell]]}{letter}{on_it}"


def _label_line(labels: tuple[str, ...], width: int) -> str:
    return "   " + "".join(f"{label:^{width}}" for label in labels)


def _on_cells(things: dict[Cell, int] | dict[Cell, str]) -> list[list[object]]:
    return [[row, column, thing] for (row, column), thing in sorted(things.items())]
