"""Colours of a picture, the light ones of the web pages: what their stylesheets give a shape by its names."""

from games.board import Board, Style
from games.picture.shapes import Shape

Paint = dict[str, float | str]
"""SVG attributes; values that are a word of PIECE stand for a piece's own."""

PIECE = ("FILL", "EDGE", "LIT")

SANS = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"
INK, FAINT, BLACK, WHITE, CARD = "#17181a", "#63666d", "#000000", "#ffffff", "#ffffff"
MARK, WOOD, WOOD_LINE = "#f2b705", "#ebe5d6", "#57503f"
FRAME, PIT, STONE_EDGE = "#c9cdd9", "#cdbf9f", "#0d0e0f"
LIT = ("#4a9be6", "#ffa94d", "#56c07f", "#8a3f8f")
DEEP = ("#1f66b4", "#e87a1a", "#2a9654", "#5a1f60")
EDGE = ("#134a86", "#8f3f06", "#17603a", "#3a0f3f")
STONE_LIT, STONE_DEEP = ("#55585e", "#ffffff"), ("#1f2124", "#e6e3db")
STONE_EDGES = (STONE_EDGE, "#6f6c62")

STONES: tuple[Style, ...] = ("felt", "wood", "points")
"""Styles whose pieces are black and white."""

TEXT: Paint = {"font-family": SANS, "text-anchor": "middle", "dominant-baseline": "central"}
LABEL: Paint = {**TEXT, "fill": FAINT, "font-weight": 400}
FIGURE: Paint = {**TEXT, "fill": INK, "font-weight": 650}
WIN: Paint = {"fill": "none", "stroke-linecap": "round", "stroke-linejoin": "round"}
BOARD_EDGE: Paint = {
    "fill": "none",
    "stroke-width": 0.14,
    "stroke-linejoin": "round",
    "stroke-linecap": "round",
}

BY_NAME: dict[str, Paint] = {
    "frame": {"fill": FRAME},
    "hole": {"fill": "#f3f4f9", "stroke": "rgba(23, 24, 26, 0.12)", "stroke-width": 0.02},
    "grid-line": {"stroke": FAINT, "stroke-width": 0.025, "stroke-linecap": "round"},
    "felt-rim": {"fill": "#2c3632"},
    "felt": {"fill": "url(#felt)"},
    "felt-line": {"stroke": "#265541", "stroke-width": 0.03},
    "felt-dot": {"fill": "#265541"},
    "tabletop": {"fill": FRAME},
    "square-light": {"fill": "#eceae3"},
    "square-dark": {"fill": "#9fadb8"},
    "wood": {"fill": WOOD},
    "wood-line": {"stroke": WOOD_LINE, "stroke-width": 0.025},
    "wood-border": {"fill": "none", "stroke": WOOD_LINE, "stroke-width": 0.05},
    "star": {"fill": WOOD_LINE},
    "cell": {"fill": "#fbfbf9", "stroke": "#c6c6be", "stroke-width": 0.03},
    "edge-1": {**BOARD_EDGE, "stroke": DEEP[0]},
    "edge-2": {**BOARD_EDGE, "stroke": DEEP[1]},
    "tray": {"fill": WOOD},
    "owner-1": {"fill": DEEP[0]},
    "owner-2": {"fill": DEEP[1]},
    "points-frame": {"fill": "#3a3f47"},
    "points-inside": {"fill": "#e9e6dd"},
    "points-tray": {"fill": "#9a9b9c"},
    "point-1": {"fill": "#6f8699", "stroke": STONE_EDGE, "stroke-width": 0.03},
    "point-2": {"fill": "#b9a17c", "stroke": STONE_EDGE, "stroke-width": 0.03},
    "shadow": {"fill": BLACK, "opacity": 0.18},
    "body": {"fill": "FILL", "stroke": "EDGE", "stroke-width": 0.045},
    "round": {"stroke-linejoin": "round"},
    "inner": {"fill": "none", "stroke": "EDGE", "stroke-width": 0.035, "opacity": 0.8},
    "face": {"fill": CARD},
    "pip": {"fill": "EDGE"},
    "figure": FIGURE,
    "large": {},
    "chessman": {"fill": "FILL", "stroke": "EDGE", "stroke-width": 3.6, "stroke-linejoin": "round"},
    "chess-line": {"fill": "none", "stroke": "LIT", "stroke-width": 3, "stroke-linecap": "round"},
    "crown": {"fill": CARD, "stroke": "EDGE", "stroke-width": 3.5, "stroke-linejoin": "round"},
    "pit": {"fill": PIT, "stroke": "EDGE", "stroke-width": 0.04},
    "seed": {"fill": "#4c4636", "stroke": WOOD, "stroke-width": 0.015},
    "die": {"fill": WHITE, "stroke": INK, "stroke-width": 0.03},
    "die-pip": {"fill": INK},
    "tint": {"fill": MARK, "opacity": 0.24},
    "strong": {"opacity": 0.5},
    "outline": {"fill": "none", "stroke": MARK, "stroke-width": 0.07},
    "chevron": {"fill": MARK, "stroke": EDGE[1], "stroke-width": 0.02},
    "last-dot": {"fill": MARK, "stroke": INK, "stroke-width": 0.04},
    "win-under": {**WIN, "stroke": WHITE, "stroke-width": 0.17},
    "win-over": {**WIN, "stroke": INK, "stroke-width": 0.08},
    "win-under thin": {"stroke-width": 0.1},
    "win-over thin": {"stroke-width": 0.045},
    "board-label": LABEL,
}
"""Paint of a shape by its names, one after another, then by all of them together."""

BY_STYLE: dict[Style, dict[str, Paint]] = {
    "table": {"last-dot": {"stroke-width": 0.02}},
    "chequered": {"board-label": {"fill": "#33373d", "font-weight": 650}},
    "wood": {"board-label": {"fill": WOOD_LINE}},
    "pits": {"figure": {"fill": WOOD_LINE}},
}
"""What is different on boards of a style."""

OPEN: Paint = {"FILL": CARD, "EDGE": FAINT, "LIT": FAINT}
"""Paint of a card that is everybody's."""


def paint_of(shape: Shape, board: Board, seat: int | None = None, *, piece: bool = False) -> Paint:
    """Return the attributes that colour a shape of a board, or of one of its pieces."""
    names = [*shape.names.split(), shape.names]
    found: Paint = {}
    for table in (BY_NAME, BY_STYLE.get(board.style, {})):
        for name in dict.fromkeys(names):
            found |= table.get(name, {})
    if not piece:
        return found
    own = _own(board, seat, shape.names)
    if board.style in STONES and seat is not None:
        found |= _on_stones(board.style, seat).get(shape.names, {})
    return {name: own.get(str(value), value) for name, value in found.items()}


def _own(board: Board, seat: int | None, names: str) -> Paint:
    """Return what FILL, EDGE and LIT are for a piece."""
    if seat is None:
        return OPEN
    if names in ("chessman", "chess-line"):
        white, black = (WHITE, INK, INK), ("#2a2c30", STONE_EDGE, "#d9dadb")
        return dict(zip(PIECE, (white, black)[seat], strict=True))
    if board.style in STONES:
        return {"FILL": f"url(#stone-{seat + 1})", "EDGE": STONE_EDGES[seat], "LIT": STONE_LIT[seat]}
    return {"FILL": f"url(#disc-{seat + 1})", "EDGE": EDGE[seat], "LIT": LIT[seat]}


def _on_stones(style: Style, seat: int) -> dict[str, Paint]:
    """Return the paint of what is drawn on a black or a white stone."""
    inner: Paint = {"stroke": STONE_LIT[0]} if seat == 0 else {"opacity": 0.22}
    figure: Paint = {"fill": STONE_LIT[1] if seat == 0 else STONE_DEEP[0]}
    return {"inner": inner} | ({"figure": figure} if style == "points" else {})


GRADIENTS = {
    **{f"disc-{i + 1}": (LIT[i], DEEP[i]) for i in range(len(LIT))},
    **{f"stone-{i + 1}": (STONE_LIT[i], STONE_DEEP[i]) for i in range(len(STONE_LIT))},
    "felt": ("#4a9472", "#3b7c5d"),
}
"""First and last colour, by name."""


def gradient(name: str) -> str:
    """Return the SVG definition of a gradient."""
    lit, deep = GRADIENTS[name]
    if name == "felt":
        stops = f'<stop stop-color="{lit}" offset="0"/><stop stop-color="{deep}" offset="1"/>'
        return f'<linearGradient id="{name}" x2="1" y2="1">{stops}</linearGradient>'
    stops = f'<stop stop-color="{lit}" offset="0"/><stop stop-color="{deep}" offset=".8"/>'
    return f'<radialGradient id="{name}" cx=".36" cy=".3" r=".85">{stops}</radialGradient>'
