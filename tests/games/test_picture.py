"""Boards as SVG pictures: well-formed and complete. tests/server/pages compares them with the browser's."""

import re
from xml.etree import ElementTree as ET

import pytest
from every_style import EVERY_STYLE

import games
from games import Board, Position
from games.board import Style
from games.picture import LOOKS, svg
from games.picture.chessmen import CHESSMEN
from games.picture.grounds import star_points
from games.picture.paint import BY_NAME

NAMESPACE = "{http://www.w3.org/2000/svg}"


def parsed(board: Board, **how: object) -> ET.Element:
    return ET.fromstring(svg(board, **how))


def texts(picture: ET.Element) -> list[str]:
    return [element.text or "" for element in picture.iter(f"{NAMESPACE}text")]


def filled(picture: ET.Element, fill: str) -> list[ET.Element]:
    return [element for element in picture.iter() if element.get("fill") == fill]


def test_every_style_has_looks_and_a_board_here():
    styles = set(Style.__args__)
    assert set(LOOKS) == styles
    assert {board.style for board in EVERY_STYLE.values()} == styles


@pytest.mark.parametrize("name", EVERY_STYLE)
def test_a_picture_needs_nothing_else(name):
    """No class, no style sheet, no variable, no word of a paint table that was not replaced."""
    text = svg(EVERY_STYLE[name])
    picture = ET.fromstring(text)
    assert picture.tag == f"{NAMESPACE}svg"
    for word in ("class=", "style=", "var(", "FILL", "EDGE", "LIT", '"nan', '"inf', " nan", " inf"):
        assert word not in text
    defined = {element.get("id") for element in picture.iter() if element.get("id")}
    assert defined == set(re.findall(r"url\(#([\w-]+)\)", text))
    leaves = [element for element in picture if element.tag != f"{NAMESPACE}defs"]
    assert all(element.get("fill") or element.get("stroke") for element in leaves)


@pytest.mark.parametrize("name", EVERY_STYLE)
def test_nothing_lies_outside_the_box(name):
    picture = parsed(EVERY_STYLE[name])
    left, top, width, height = map(float, picture.attrib["viewBox"].split())
    for element in picture.iter():
        x, y = element.get("cx", element.get("x")), element.get("cy", element.get("y"))
        if x is not None and y is not None and "Gradient" not in element.tag:
            assert left <= float(x) <= left + width
            assert top <= float(y) <= top + height
    assert max(float(picture.attrib["width"]), float(picture.attrib["height"])) == 400


@pytest.mark.parametrize("name", games.names())
def test_every_game_can_be_drawn_in_its_typical_position(name):
    game = games.load(name)
    board = Position.start(game, moves=list(game.typical)).board()
    picture = parsed(board, title=f"{game.title} & <friends>", size=300)
    assert picture.findtext(f"{NAMESPACE}title") == f"{game.title} & <friends>"
    assert len(picture) > len(board.pieces)


def test_what_is_written_on_pieces_and_beside_them():
    assert texts(parsed(EVERY_STYLE["table"])) == ["3", "Q♥", "13", "7", "card", "chips"]
    assert texts(parsed(EVERY_STYLE["lines"])) == ["2", "3"]
    points = texts(parsed(EVERY_STYLE["points"]))
    assert points[:2] == ["7", "8"]
    assert points[2:] == list(EVERY_STYLE["points"].column_labels)
    pits = texts(parsed(EVERY_STYLE["pits"]))
    assert pits[:14] == [str(count) for _, count in sorted(EVERY_STYLE["pits"].counts.items())]


def test_chess_has_a_piece_of_its_kind_on_each_square():
    board = EVERY_STYLE["chess"]
    outlines = [element.get("d") for element in parsed(board).iter(f"{NAMESPACE}path")]
    for kind, (outline, _) in CHESSMEN.items():
        assert outlines.count(outline) == sum(there == kind for there in board.kinds.values()) > 0
    assert len({outline for outline, _ in CHESSMEN.values()}) == 6


def test_seeds_checkers_and_pips_are_counted_out():
    pits = EVERY_STYLE["pits"]
    assert (
        len(filled(parsed(pits), BY_NAME["seed"]["fill"]))
        == sum(min(count, 24) for count in pits.counts.values() if count < 25) + 24 + 30
    )
    picture = parsed(EVERY_STYLE["points"])
    black = [element for element in filled(picture, "url(#stone-1)") if element.tag == f"{NAMESPACE}circle"]
    assert len(black) == 3 + 1 + 5 + 1 + 5 + 2  # five of the seven are seen
    slabs = [element for element in filled(picture, "url(#stone-1)") if element.tag == f"{NAMESPACE}rect"]
    assert len(slabs) == 4
    assert len([e for e in filled(picture, BY_NAME["die-pip"]["fill"]) if "circle" in e.tag]) == 6 + 2


@pytest.mark.parametrize(
    ("size", "number", "some"),
    [(5, 1, (2, 2)), (6, 0, None), (7, 5, (2, 4)), (9, 5, (2, 6)), (13, 5, (3, 9)), (19, 9, (3, 9))],
)
def test_star_points(size, number, some):
    points = star_points(size, size)
    assert len(points) == len(set(points)) == number
    assert some is None or some in points


def test_the_edges_of_six_cornered_cells_belong_to_seats():
    """Seat 0 joins top and bottom, seat 1 left and right."""
    picture = parsed(EVERY_STYLE["cells of 5"])
    edges = {
        seat: [e.get("d", "") for e in picture.iter() if e.get("stroke") == BY_NAME[f"edge-{seat}"]["stroke"]]
        for seat in (1, 2)
    }
    starts = {seat: [re.findall(r"-?[\d.]+", d)[:2] for d in paths] for seat, paths in edges.items()}
    assert [len(paths) for paths in edges.values()] == [2, 2]
    assert starts[1][0] == starts[2][0]  # the top left corner
    heights = [[float(y) for y in re.findall(r" (-?[\d.]+)", d)] for d in edges[1]]
    assert max(heights[0]) < min(heights[1])  # top above bottom
