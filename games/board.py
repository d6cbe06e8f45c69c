"""How a position looks, as data: terminal, SVG and browser draw any game from this alone."""

from dataclasses import dataclass, field
from typing import Literal

Cell = tuple[int, int]
"""(row, column), both from 0; row 0 is the top row."""

HIDDEN = "?"
"""Stands for a card that lies face down."""


@dataclass(frozen=True)
class Board:
    """A board seen from above.

    `pieces` maps a cell to a seat number from 0 (seat 0 is the first mover). `style` says what the grid
    is made of: "frame" (holes in an upright frame, pieces fall), "lines" (marks between lines), "felt" (discs
    with a black side, seat 0, and a white one), "table" (cards and chips that lie there).
    `cards` says what is on the pieces that are cards, HIDDEN if they lie face down; `counts` of how many
    pieces a pile consists.
    `last` is the cells of the last move, `line` the cells that decided the game.
    `targets` maps each legal action's text to the cell where its piece would land, if it has one.
    """

    rows: int
    columns: int
    pieces: dict[Cell, int]
    style: Literal["frame", "lines", "felt", "table"]
    geometry: Literal["grid"] = "grid"
    cards: dict[Cell, str] = field(default_factory=dict)
    counts: dict[Cell, int] = field(default_factory=dict)
    last: tuple[Cell, ...] = ()
    line: tuple[Cell, ...] = ()
    column_labels: tuple[str, ...] = ()
    row_labels: tuple[str, ...] = ()
    targets: dict[str, Cell] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return plain JSON data: pieces as [row, column, seat], cards [row, column, text], sorted."""
        return {
            "geometry": self.geometry,
            "style": self.style,
            "rows": self.rows,
            "columns": self.columns,
            "pieces": [[r, c, seat] for (r, c), seat in sorted(self.pieces.items())],
            "cards": [[r, c, text] for (r, c), text in sorted(self.cards.items())],
            "counts": [[r, c, count] for (r, c), count in sorted(self.counts.items())],
            "last": [list(cell) for cell in self.last],
            "line": [list(cell) for cell in self.line],
            "column_labels": list(self.column_labels),
            "row_labels": list(self.row_labels),
            "targets": {action: list(cell) for action, cell in self.targets.items()},
        }

    def to_text(self, marks: str = "xo■▲") -> str:
        """Draw the board for a terminal, one line a row, the last move in brackets.

        A card and a pile are a mark with what is on it: `x2`, `o?`. A board without labels shows the actions
        themselves, each in the cell where its piece would land.
        """
        named = {} if self.row_labels or self.column_labels else {c: text for text, c in self.targets.items()}
        cells = [(r, c) for r in range(self.rows) for c in range(self.columns)]
        shown = {cell: self._piece_text(cell, marks) or named.get(cell, ".") for cell in cells}
        width = max(map(len, (*shown.values(), *self.column_labels))) + 2
        lines = []
        for r in range(self.rows):
            label = self.row_labels[r] if self.row_labels else ""
            row = "".join(
                f"{f'[{shown[r, c]}]' if (r, c) in self.last else shown[r, c]:^{width}}"
                for c in range(self.columns)
            )
            lines.append(f"{label:>2} {row}")
        if self.column_labels:
            lines.append("   " + "".join(f"{label:^{width}}" for label in self.column_labels))
        return "\n".join(lines)

    def _piece_text(self, cell: Cell, marks: str) -> str:
        if cell not in self.pieces:
            return ""
        return f"{marks[self.pieces[cell]]}{self.cards.get(cell, '')}{self.counts.get(cell, '')}"
