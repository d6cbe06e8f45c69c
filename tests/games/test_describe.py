"""Answers about positions: right for what can be read, an error object for everything else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from games import Position
from games.describe import describe

ANSWER = ["position", "to_move", "legal", "terminal", "utilities", "key"]


def test_initial_position():
    assert describe({"game": "tic_tac_toe"}) == {
        "position": "......... x",
        "to_move": 0,
        "legal": ["0", "1", "2", "3", "4", "5", "6", "7", "8"],
        "terminal": False,
        "utilities": None,
        "key": f"{games.load('tic_tac_toe').initial_state().key():016x}",
    }


def test_finished_game():
    answer = describe({"game": "tic_tac_toe", "moves": "0 3 1 4 2"})
    assert list(answer) == ANSWER
    assert answer["position"] == "xxxoo.... o"
    assert answer["to_move"] is None
    assert answer["legal"] == []
    assert answer["terminal"] is True
    assert answer["utilities"] == [1.0, -1.0]


def test_chance_is_to_move_as_minus_one_and_its_outcomes_are_moves():
    answer = describe({"game": "kuhn_poker"})
    assert list(answer) == [*ANSWER, "outcomes"]
    assert answer["outcomes"] == [["d0", 1 / 3], ["d1", 1 / 3], ["d2", 1 / 3]]
    assert (answer["to_move"], answer["legal"], answer["terminal"]) == (-1, [], False)
    answer = describe({"game": "kuhn_poker", "moves": "d2 d0 b"})
    assert (answer["position"], answer["to_move"], answer["legal"]) == ("20/b o", 1, ["p", "b"])
    answer = describe({"game": "kuhn_poker", "moves": "d2 d0 b b"})
    assert (answer["to_move"], answer["utilities"]) == (None, [2.0, -2.0])


def test_a_pass_is_a_move():
    moves = "e6 f6 c4 c5 c6 d6 g7 f4 g4 g6 e7 h8 h6 g5 g8 f8"
    assert describe({"game": "othello", "moves": moves})["legal"] == ["pass"]
    assert describe({"game": "othello", "moves": f"{moves} pass"})["terminal"] is False
    assert describe({"game": "othello", "moves": "pass"})["error"]["at_move"] == 0


@pytest.mark.parametrize("moves", ["4 4 3", ["4", "4", "3"], " 4  4 3 "])
def test_moves_as_text_or_list_after_a_position(moves):
    text = Position.start(games.load("connect_four"), None, ["1", "7"]).text()
    answer = describe({"game": "connect_four", "position": text, "moves": moves})
    assert answer["position"] == "......./......./......./......./...o.../x.xx..o o"
    assert answer["to_move"] == 1


def test_variant():
    answer = describe({"game": "connect_four(rows=4,columns=5,k=3)", "position": None, "moves": None})
    assert answer["position"] == "...../...../...../..... x"


def test_key_is_sixteen_hexadecimal_digits():
    key = describe({"game": "connect_four"})["key"]
    assert len(key) == 16
    assert int(key, 16) == games.load("connect_four").initial_state().key()


@pytest.mark.parametrize(
    ("request_", "code", "at_move"),
    [
        (None, "bad_request", None),
        ([], "bad_request", None),
        ("tic_tac_toe", "bad_request", None),
        ({}, "bad_request", None),
        ({"moves": "1"}, "bad_request", None),
        ({"game": "tic_tac_toe", "move": "1"}, "unknown_field", None),
        ({"game": "tic_tac_toe", 1: 2}, "unknown_field", None),
        ({"game": None}, "bad_game", None),
        ({"game": 1}, "bad_game", None),
        ({"game": "tic tac toe"}, "bad_game", None),
        ({"game": "ludo"}, "unknown_game", None),
        ({"game": "connect_four(k=99)"}, "bad_option", None),
        ({"game": "connect_four(depth=9)"}, "unknown_option", None),
        ({"game": "tic_tac_toe", "position": 7}, "bad_position", None),
        ({"game": "tic_tac_toe", "position": ""}, "bad_position", None),
        ({"game": "tic_tac_toe", "position": "xxx...... o"}, "bad_position", None),
        ({"game": "tic_tac_toe", "moves": 7}, "bad_moves", None),
        ({"game": "tic_tac_toe", "moves": {"0": "1"}}, "bad_moves", None),
        ({"game": "tic_tac_toe", "moves": "9"}, "illegal_action", 0),
        ({"game": "tic_tac_toe", "moves": "0 1 0"}, "illegal_action", 2),
        ({"game": "tic_tac_toe", "moves": "0\t1"}, "illegal_action", 0),
        ({"game": "tic_tac_toe", "moves": ["0", 1]}, "illegal_action", 1),
        ({"game": "tic_tac_toe", "moves": ["0", None]}, "illegal_action", 1),
        ({"game": "tic_tac_toe", "moves": ["0", ["1"]]}, "illegal_action", 1),
        ({"game": "tic_tac_toe", "moves": "0 3 1 4 2 8"}, "game_over", 5),
        ({"game": "kuhn_poker", "moves": "d2 d2"}, "illegal_action", 1),
        ({"game": "kuhn_poker", "moves": "p"}, "illegal_action", 0),
        ({"game": "kuhn_poker", "moves": "d2 d1 d0"}, "illegal_action", 2),
    ],
)
def test_what_cannot_be_answered(request_, code, at_move):
    answer = describe(request_)
    assert list(answer) == ["error"]
    assert (answer["error"]["code"], answer["error"]["at_move"]) == (code, at_move)
    assert answer["error"]["message"].startswith("expected ")


def test_long_input_is_cut_in_the_message():
    for request in (
        {"game": "a" * 100_000},
        {"game": f"connect_four({'k' * 100_000}=1)"},
        {"game": f"connect_four(k={'1' * 100_000})"},
        {"game": "connect_four", "position": "x" * 100_000},
        {"game": "connect_four", "position": "./" * 50_000 + " x"},
        {"game": "connect_four", "moves": ["1" * 100_000]},
        {"game": "connect_four", "g" * 100_000: 1},
    ):
        assert len(describe(request)["error"]["message"]) < 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(
    JSON
    | st.fixed_dictionaries(
        {"game": st.sampled_from([*games.names(), "connect_four(rows=4,columns=4,k=3)"]) | JSON},
        optional={
            "position": JSON | st.text("xo./ "),
            "moves": JSON | st.text("0123456789 ") | st.lists(st.text("0123456789", max_size=1)),
        },
    )
)
def test_any_request_gets_an_answer_that_is_json(request):
    answer = describe(request)
    assert json.loads(json.dumps(answer, allow_nan=False)) == answer
    assert list(answer) in (ANSWER, [*ANSWER, "outcomes"], ["error"])
