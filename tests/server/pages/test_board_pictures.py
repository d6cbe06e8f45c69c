"""Boards of every style as the browser and games.picture draw them: the same shapes in the same colours."""

import re

import pytest
import pytest_asyncio
from every_style import EVERY_STYLE

import games
from games import Board, Position
from games.picture import svg
from server.pages.assets import address

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

CLOSE = 0.0002
"""Pictures write four places."""

GEOMETRY = (
    "x",
    "y",
    "width",
    "height",
    "rx",
    "cx",
    "cy",
    "r",
    "x1",
    "y1",
    "x2",
    "y2",
    "d",
    "transform",
    "font-size",
)

DRAW = """async ([script, board]) => {
  const { BoardView, boardInWords } = await import(script);
  const host = document.createElement("div");
  host.className = "board";
  document.querySelector("main").replaceChildren(host);
  new BoardView(host, { labels: true }).draw(board, { label: boardInWords(board) });
  return host.firstChild.getAttribute("aria-label");
}"""

LOOK = """([root, names]) => {
  const painted = ["fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "opacity"];
  const written = ["font-weight", "text-anchor", "dominant-baseline", "font-family"];
  const picture = document.querySelector(root);
  const leaves = [...picture.querySelectorAll("rect, circle, line, path, text")];
  const looks = (leaf) => {
    const style = getComputedStyle(leaf);
    const paint = {};
    for (const name of painted) paint[name] = style.getPropertyValue(name);
    if (leaf.tagName === "text") for (const name of written) paint[name] = style.getPropertyValue(name);
    if (paint.stroke === "none") for (const name of painted.slice(2, 5)) delete paint[name];
    if (leaf.tagName === "line") delete paint.fill;
    const there = names.filter((name) => leaf.hasAttribute(name));
    const shape = Object.fromEntries(there.map((name) => [name, leaf.getAttribute(name)]));
    return { tag: leaf.tagName, text: leaf.textContent, shape, paint };
  };
  const stops = {};
  for (const gradient of document.querySelectorAll("radialGradient, linearGradient")) {
    const told = (stop) => [getComputedStyle(stop).stopColor, Number(stop.getAttribute("offset"))];
    stops[gradient.id] = [...gradient.children].map(told);
  }
  return { box: picture.getAttribute("viewBox"), leaves: leaves.map(looks), stops };
}"""


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?", text)]


def letters(text: str) -> str:
    return re.sub(r"[-\d.,\s]|e-", "", text)


def same_shape(ours: dict[str, str], theirs: dict[str, str]) -> bool:
    """Whether two elements are in the same place; paths number by number."""
    return set(ours) == set(theirs) and all(
        letters(ours[name]) == letters(theirs[name])
        and numbers(ours[name]) == pytest.approx(numbers(theirs[name]), abs=CLOSE)
        for name in ours
    )


@pytest_asyncio.fixture(loop_scope="module")
async def drawn(stage, reader, browser):
    """Draws a board both ways, and answers how each looks to the browser, and in which words."""
    await reader.page.goto(stage.url("/ladders/othello"))
    picture = await (await browser.new_context(color_scheme="light")).new_page()

    async def draw(board: Board):
        script = stage.url(address("board.js"))
        words = await reader.page.evaluate(DRAW, [script, board.to_json()])
        await picture.set_content(svg(board))
        page = await reader.page.evaluate(LOOK, [".board svg", GEOMETRY])
        return page, await picture.evaluate(LOOK, ["svg", GEOMETRY]), words

    yield draw
    await picture.context.close()
    assert reader.faults == []


def check_alike(page, picture) -> None:
    assert numbers(page["box"]) == pytest.approx(numbers(picture["box"]), abs=CLOSE)
    for ours, theirs in zip(page["leaves"], picture["leaves"], strict=True):
        assert (ours["tag"], ours["text"], ours["paint"]) == (theirs["tag"], theirs["text"], theirs["paint"])
        assert same_shape(ours["shape"], theirs["shape"]), (ours, theirs)
    assert picture["stops"].items() <= page["stops"].items()


@pytest.mark.parametrize("name", EVERY_STYLE)
async def test_the_page_and_the_picture_are_alike(drawn, name):
    page, picture, _ = await drawn(EVERY_STYLE[name])
    assert len(page["leaves"]) > len(EVERY_STYLE[name].pieces)
    check_alike(page, picture)


@pytest.mark.parametrize("name", games.names())
async def test_every_game_is_drawn_alike(drawn, name):
    game = games.load(name)
    for position in (Position.start(game), Position.start(game, moves=list(game.typical))):
        page, picture, _ = await drawn(position.board())
        check_alike(page, picture)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("chess", "row 8: a black rook, d black queen, f black rook, g black king; row 7: a black pawn"),
        ("checkers", "row 8: all empty; row 7: a seat 2 man, c seat 2 crowned; row 6: b seat 2 man"),
        ("breakthrough", "row 3: empty, empty, empty, seat 2, empty, empty"),
        ("wood of 9", "row 9: all empty; row 8: E black; row 7: C black, D white"),
        ("cells of 5", "row 1: d seat 1; row 2: c seat 2, d seat 1"),
        ("pits", "row 1: seat 2 times 7, seat 2 times 0"),
        ("points", "upper points: white times 5, empty, empty, empty, black times 3"),
        ("points", "black times 2, bar white times 2, borne off black times 4; dice 6 and 2"),
        ("table", "row 1: seat 2 card face down, seat 2 times 3; row 2: open card 7, empty"),
        ("frame of three", "row 3: empty, empty, empty, seat 3"),
    ],
)
async def test_a_board_in_words(drawn, name, words):
    assert words in (await drawn(EVERY_STYLE[name]))[2]


async def test_seats_are_marked_as_the_pieces_are(stage, reader):
    await reader.page.goto(stage.url("/ladders/othello"))
    look = """async ([script, boards]) => {
      const { sidesOf } = await import(script);
      return boards.map(sidesOf);
    }"""
    names = ["chess", "checkers", "wood of 9", "points", "felt", "cells of 5", "pits"]
    boards = [EVERY_STYLE[name].to_json() for name in names]
    sides = await reader.page.evaluate(look, [stage.url(address("sides.js")), boards])
    stones = ["black", "white"]
    assert sides == [["white", "black"], None, stones, stones, stones, None, None]
