"""Boards in the terminal: from the wire's JSON, and drawn in two colours where there are colours."""

from typing import Any

import msgspec
from rich.text import Text

from agents.plain import plain
from games.board import Board
from games.errors import InputError
from server.cli.terminal import clean_lines

MARKS = "xo■▲"
STYLES = ("bold bright_blue", "bold yellow", "bold green", "bold magenta")
MAX_SIDE = 64
MAX_CARD = 8
MAX_DICE = 6


class _Wire(msgspec.Struct):
    """The part of a Board's JSON that a terminal shows."""

    rows: int
    columns: int
    pieces: list[tuple[int, int, int]]
    geometry: str = "grid"
    kinds: list[tuple[int, int, str]] = []
    cards: list[tuple[int, int, str]] = []
    counts: list[tuple[int, int, int]] = []
    dice: list[int] = []
    last: list[tuple[int, int]] = []
    column_labels: list[str] = []
    row_labels: list[str] = []
    top_labels: list[str] = []
    targets: dict[str, tuple[int, int]] = {}


def from_json(data: dict[str, Any]) -> Board:
    """Read a board as a server sends it. Raises InputError for one that cannot be drawn."""
    try:
        wire = msgspec.convert(data, _Wire)
    except msgspec.ValidationError as error:
        raise InputError(
            "bad_board", expected="a board", got=f"one that cannot be read ({plain(error)})"
        ) from None
    labels = len(wire.row_labels) in (0, wire.rows) and all(
        len(texts) in (0, wire.columns) for texts in (wire.column_labels, wire.top_labels)
    )
    words = all(len(text) <= MAX_CARD for _, _, text in (*wire.cards, *wire.kinds))
    dice = len(wire.dice) <= MAX_DICE and all(0 < number <= MAX_DICE for number in wire.dice)
    sides = 0 < wire.rows <= MAX_SIDE and 0 < wire.columns <= MAX_SIDE
    if not (labels and words and dice and sides) or any(
        not 0 <= seat < len(MARKS) for _, _, seat in wire.pieces
    ):
        raise InputError("bad_board", expected="a board", got="one that cannot be drawn")
    return Board(
        wire.rows,
        wire.columns,
        {(row, column): seat for row, column, seat in wire.pieces},
        "lines",
        "hex" if wire.geometry == "hex" else "grid",
        kinds={(row, column): kind for row, column, kind in wire.kinds},
        cards={(row, column): text for row, column, text in wire.cards},
        counts={(row, column): count for row, column, count in wire.counts},
        dice=tuple(wire.dice),
        last=tuple(wire.last),
        column_labels=tuple(wire.column_labels),
        row_labels=tuple(wire.row_labels),
        top_labels=tuple(wire.top_labels),
        targets=wire.targets,
    )


def drawn(board: Board) -> Text:
    """Draw a board, each seat's marks in its colour."""
    text = Text(clean_lines(board.to_text(MARKS)))
    for mark, style in zip(MARKS, STYLES, strict=True):
        text.highlight_regex(rf"(?<=[ \[]){mark}\S{{0,{MAX_CARD}}}?(?=[ \]])", style)
    return text


def mark(seat: int) -> Text:
    """Return a seat's mark in its colour."""
    return Text(MARKS[seat % len(MARKS)], STYLES[seat % len(STYLES)])
