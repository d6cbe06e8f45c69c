"""Boards in the terminal: every game's board survives the wire, and marks have their seat's colour."""

import json

import pytest
from every_style import EVERY_STYLE

import games
from games import PUBLIC, InputError, Position
from server.cli import boards

KUHN = Position.start(games.load("kuhn_poker"), moves=["d2", "d0", "p", "b"])


def coloured(text) -> dict[str, str]:
    """Style by the text that bears it."""
    return {text.plain[span.start : span.end]: span.style for span in text.spans}


@pytest.mark.parametrize("name", games.names())
def test_a_board_is_drawn_the_same_after_the_wire(name):
    position = Position.start(games.load(name))
    for _ in range(6):
        if position.is_terminal():
            break
        for p in (None, PUBLIC, 0, 1):
            board = position.board(p)
            again = boards.from_json(json.loads(json.dumps(board.to_json())))
            assert boards.drawn(again).plain == board.to_text(boards.MARKS)
        position = position.play((position.legal() or [text for text, _ in position.outcomes()])[0])


@pytest.mark.parametrize("name", EVERY_STYLE)
def test_a_board_of_every_style_is_drawn_the_same_after_the_wire(name):
    board = EVERY_STYLE[name]
    again = boards.from_json(json.loads(json.dumps(board.to_json())))
    assert boards.drawn(again).plain == board.to_text(boards.MARKS)


def test_pieces_of_a_kind_are_told_apart_and_coloured():
    drawn = boards.drawn(EVERY_STYLE["chess"])
    assert drawn.plain.splitlines()[0].split() == ["8", "or", ".", ".", "oq", "[.]", "or", "[ok]", "."]
    assert {coloured(drawn)[text] for text in ("xk", "xp", "xn")} == {boards.STYLES[0]}
    assert {coloured(drawn)[text] for text in ("ok", "op", "on")} == {boards.STYLES[1]}
    assert boards.drawn(EVERY_STYLE["points"]).plain.endswith("dice: 6 2")


def test_cards_and_chips_have_the_colour_of_their_player():
    drawn = boards.drawn(KUHN.board())
    assert {text: style for text, style in coloured(drawn).items() if text[0] in "xo"} == {
        "x2": boards.STYLES[0],
        "x1": boards.STYLES[0],
        "o0": boards.STYLES[1],
        "o2": boards.STYLES[1],
    }


def test_a_card_face_down_is_drawn_as_such():
    assert "o?" in boards.drawn(KUHN.board(0)).plain
    assert "o0" not in boards.drawn(KUHN.board(0)).plain


@pytest.mark.parametrize(
    "odd",
    [
        {"cards": [[0, 0, "x" * 9]]},
        {"cards": [[0, 0]]},
        {"counts": [[0, 0, "2"]]},
        {"dice": [7]},
        {"dice": [1] * 7},
        {"kinds": [[0, 0, "x" * 9]]},
    ],
)
def test_a_board_that_cannot_be_drawn_is_refused(odd):
    with pytest.raises(InputError, match="expected a board"):
        boards.from_json({**KUHN.board().to_json(), **odd})
