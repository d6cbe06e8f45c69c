"""What lies on a board, by style: each piece as its shapes. The pages' `pieces.js` draws the same."""

from dataclasses import dataclass
from math import cos, pi, sin, sqrt

from games.board import HIDDEN
from games.picture.chessmen import CHESSMEN, CROWN
from games.picture.grounds import hexagon
from games.picture.layouts import BAR, PITCH, SIDE
from games.picture.shapes import Shape, circle, number, path, rect, seat_shape, text

MOST = 5
"""Checkers in a pile that are drawn."""
GOLDEN = pi * (3 - sqrt(5))
"""From seed to seed, so that no two lie in a line."""


@dataclass(frozen=True)
class Piece:
    """A piece with what it is and what is on it. `x` and `y` are the middle of its cell."""

    x: float
    y: float
    row: int
    column: int
    seat: int | None
    """None for a card that is everybody's."""
    kind: str | None
    card: str | None
    count: int | None
    alone: bool
    """Whether no other piece is in the same column."""
    rows: int
    """Rows of the board."""


def disc(piece: Piece) -> list[Shape]:
    """Draw a round disc that carries its seat's shape inside."""
    r = 0.27 if piece.seat == 0 else 0.25
    return [circle("body", piece.x, piece.y, 0.39), _seat_path("inner", piece, piece.y, r)]


def shape(piece: Piece) -> list[Shape]:
    """Draw the seat's shape itself, standing in a cell between lines."""
    r = 0.33 if piece.seat == 0 else 0.38
    return [
        _seat_path("shadow", piece, piece.y + 0.03, r),
        _seat_path("body round", piece, piece.y, r),
        _seat_path("inner", piece, piece.y, r * 0.68),
    ]


def turner(piece: Piece) -> list[Shape]:
    """Draw a disc with a black and a white side."""
    x, y = piece.x, piece.y
    return [circle("shadow", x, y + 0.04, 0.42), circle("body", x, y, 0.42), circle("inner", x, y, 0.33)]


def stone(piece: Piece) -> list[Shape]:
    """Draw a stone on a crossing of lines."""
    return [circle("shadow", piece.x, piece.y + 0.04, 0.46), circle("body", piece.x, piece.y, 0.46)]


def hex_stone(piece: Piece) -> list[Shape]:
    """Draw a stone that fills its cell of six corners."""
    inner = _seat_path("inner", piece, piece.y, 0.2 if piece.seat == 0 else 0.24)
    return [path("body", hexagon(piece.x, piece.y, 0.9 * SIDE)), inner]


def chequered(piece: Piece) -> list[Shape]:
    """Draw a piece of chess, a man, or a man that was crowned: two on top of each other."""
    x, y = piece.x, piece.y
    if piece.kind in CHESSMEN:
        place = f"translate({number(x)} {number(y)}) scale(.01)"
        outline, lines = CHESSMEN[piece.kind]
        man = path("chessman", outline, transform=place)
        return [man, path("chess-line", lines, transform=place)] if lines else [man]
    r = 0.29 if piece.seat == 0 else 0.3
    if piece.kind != "crowned":
        return [
            circle("shadow", x, y + 0.04, 0.38),
            circle("body", x, y, 0.38),
            _seat_path("inner", piece, y, r),
        ]
    top = y - 0.05
    return [
        circle("shadow", x, y + 0.1, 0.38),
        circle("body", x, y + 0.05, 0.38),
        circle("body", x, top, 0.38),
        _seat_path("inner", piece, top, r),
        path("crown", CROWN, transform=f"translate({number(x)} {number(top)}) scale(.01)"),
    ]


def lying(piece: Piece) -> list[Shape]:
    """Draw what lies on a table: a card, or a pile with its number. A card of nobody has no shape on it."""
    x, y = piece.x, piece.y
    if piece.card is None:
        count = "" if piece.count is None else str(piece.count)
        return [circle("body", x, y, 0.34), circle("face", x, y, 0.22), text("figure", x, y, count, 0.26)]
    if piece.card == HIDDEN:
        return [_card("body", piece, 0, 0.07), _card("inner", piece, 0.07, 0.04)]
    pip = [] if piece.seat is None else [path("pip", seat_shape(piece.seat, x - 0.18, y - 0.29, 0.065))]
    face = text("figure large", x, y + 0.02, piece.card, 0.3 if len(piece.card) > 1 else 0.42)
    return [_card("body", piece, 0, 0.07), _card("face", piece, 0.03, 0.05), *pip, face]


def _card(names: str, piece: Piece, margin: float, rx: float) -> Shape:
    left, top = piece.x - 0.3 + margin, piece.y - 0.42 + margin
    return rect(names, left, top, 0.6 - 2 * margin, 0.84 - 2 * margin, rx)


def pit(piece: Piece) -> list[Shape]:
    """Draw a pit, or where the rows have an end of one cell a store, with its seeds and their number."""
    x, count = piece.x, piece.count or 0
    y = piece.rows / 2 if piece.alone else piece.y
    wide, high, room = (0.24, piece.rows / 2 - 0.38, 48) if piece.alone else (0.3, 0.3, max(count, 10))
    body = (
        rect("pit", x - 0.4, 0.08, 0.8, piece.rows - 0.16, 0.38) if piece.alone else circle("pit", x, y, 0.42)
    )
    seeds = []
    for i in range(min(count, 48 if piece.alone else 24)):
        r, turn = sqrt((i + 0.5) / room), i * GOLDEN
        seeds.append(circle("seed", x + wide * r * cos(turn), y + high * r * sin(turn), 0.07))
    beside = -0.28 if piece.row == 0 else piece.rows + 0.28
    return [body, *seeds, text("figure", x, beside, str(count), 0.26)]


def pile(piece: Piece) -> list[Shape]:
    """Draw checkers on a point or the bar, piled up towards the middle; those borne off lie as slabs."""
    x, y = piece.x, piece.y
    count = 1 if piece.count is None else piece.count
    towards = 1 if piece.row == 0 else -1
    if piece.column > BAR:
        edge = y - 0.38 if piece.row == 0 else y + 0.12
        return [rect("body", x - 0.4, edge + i * 0.33 * towards, 0.8, 0.27, 0.06) for i in range(count)]
    shown = [y + i * PITCH * towards for i in range(min(count, MOST))]
    checkers = [
        part for high in shown for part in (circle("body", x, high, 0.46), circle("inner", x, high, 0.34))
    ]
    return [*checkers, text("figure", x, shown[-1], str(count), 0.5)] if count > MOST else checkers


def die(x: float, y: float, pips: int) -> list[Shape]:
    """Draw a die with its pips around (x, y)."""
    places = [(0, 0)] if pips % 2 else []
    places += [(-1, -1), (1, 1)] if pips > 1 else []
    places += [(1, -1), (-1, 1)] if pips > 3 else []
    places += [(-1, 0), (1, 0)] if pips == 6 else []
    dots = [circle("die-pip", x + 0.22 * across, y + 0.22 * down, 0.075) for across, down in places]
    return [rect("die", x - 0.4, y - 0.4, 0.8, 0.8, 0.14), *dots]


def _seat_path(names: str, piece: Piece, y: float, r: float) -> Shape:
    return path(names, seat_shape(piece.seat or 0, piece.x, y, r))
