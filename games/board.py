"""How a position looks, as data: terminal, SVG and browser draw any game from this alone."""

from dataclasses import dataclass, field
from typing import Literal

Cell = tuple[int, int]
"""(row, column), both from 0; row 0 is the top row."""


@dataclass(frozen=True)
class Board:
    """A board seen from above.

    `pieces` maps a cell to a seat number from 0 (seat 0 is the first mover). `style` says what the grid
    is made of: "frame" (holes in an upright frame, pieces fall), "lines" (marks between lines).
    `last` is the cells of the last move, `line` the cells that decided the game.
    `targets` maps each legal action's text to the cell where its piece would land.
    """

    rows: int
    columns: int
    pieces: dict[Cell, int]
    style: Literal["frame", "lines"]
    geometry: Literal["grid"] = "grid"
    last: tuple[Cell, ...] = ()
    line: tuple[Cell, ...] = ()
    column_labels: tuple[str, ...] = ()
    row_labels: tuple[str, ...] = ()
    targets: dict[str, Cell] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return plain JSON data: pieces as [row, column, seat], sorted."""
        return {
            "geometry": self.geometry,
            "style": self.style,
            "rows": self.rows,
            "columns": self.columns,
            "pieces": [[r, c, seat] for (r, c), seat in sorted(self.pieces.items())],
            "last": [list(cell) for cell in self.last],
            "line": [list(cell) for cell in self.line],
            "column_labels": list(self.column_labels),
            "row_labels": list(self.row_labels),
            "targets": {action: list(cell) for action, cell in self.targets.items()},
        }

    def to_text(self, marks: str = "xo■▲") -> str:
        """Draw the board for a terminal, one line a row, the last move in brackets.

        A board without labels shows the actions themselves, each in the cell where its piece would land.
        """
        named = {} if self.row_labels or self.column_labels else {c: text for text, c in self.targets.items()}
        lines = []
        for r in range(self.rows):
            cells = []
            for c in range(self.columns):
                seat = self.pieces.get((r, c))
                mark = named.get((r, c), ".") if seat is None else marks[seat]
                cells.append(f"[{mark}]" if (r, c) in self.last else f"{mark:^3}")
            label = self.row_labels[r] if self.row_labels else ""
            lines.append(f"{label:>2} " + "".join(cells))
        if self.column_labels:
            lines.append("   " + "".join(f" {label} " for label in self.column_labels))
        return "\n".join(lines)
