"""Checkers in Portable Draughts Notation: squares, turns, whole games, and what is refused."""

import re

import pytest
from corpus import random_games

import games
from games import InputError, Position
from games.checkers_pdn import fen, from_pdn, number_of, result_text, square_of, to_pdn, turns_of

GAME = games.load("checkers")
DYKE = """
1. 9-14 22-17 2. 11-15 25-22 3. 15-19 {Forms the Double Corner Dyke} 23x16 4. 12x19 24x15 5. 10x19 17x10
6. 6x15 21-17 7. 5-9 29-25 8. 8-12 25-21 9. 7-10 17-13 10. 1-6 27-24 11. 4-8 32-27 12. 9-14 27-23
13. 3-7 23x16 14. 12x19 22-17 15. 7-11 26-23 16. 19x26 30x23 17. 8-12 24-20 18. 15-18 23-19 19. 11-15 20-16
20. 15x24 28x19 21. 2-7 31-26 22. 18-23 26-22 23. 23-27 16-11 24. 7x23 22-18 1/2-1/2
"""
"""Jordan against Tesheliet, an example of the PDN 3.0 standard."""
CHAINS = "......../......../.+.+..../......../.+.+..../8......./......../........ o - 1"


def test_squares_are_numbered_from_the_first_movers_right():
    """Black's single corner is 4 and double corner 1 and 5; White's are 29, and 28 and 32."""
    known = {1: "g1", 4: "a1", 5: "h2", 11: "c3", 15: "d4", 18: "e5", 22: "f6", 28: "a7", 29: "h8", 32: "b8"}
    assert {number: square_of(number) for number in known} == known
    assert [number_of(square_of(number)) for number in range(1, 33)] == list(range(1, 33))


def test_an_opening_and_a_jump():
    assert from_pdn("1. 11-15 22-18 2. 15x22").actions == ("c3d4", "f6e5", "d4f6")
    assert turns_of(("c3d4", "f6e5", "d4f6")) == ["11-15", "22-18", "15x22"]


def test_the_seven_first_moves_are_those_of_every_book():
    first = sorted(turns_of([text])[0] for text in Position.start(GAME).legal())
    assert first == ["10-14", "10-15", "11-15", "11-16", "12-16", "9-13", "9-14"]


def test_a_published_game_is_read_and_written_with_all_squares_of_its_chains():
    record = from_pdn(DYKE)
    assert record.result == "1/2-1/2"
    told = re.findall(r"\d+[-x]\d+(?![-/])", DYKE)
    assert turns_of(record.actions) == ["7x16x23" if turn == "7x23" else turn for turn in told]
    assert len(told) == 48


def test_a_game_as_it_is_written():
    text = to_pdn(["c3d4", "f6e5", "d4f6"], {"Black": 'Ann "A"', "White": "B\\ob\n", "Clock": "3+2"}, None)
    assert text == (
        '[Event "?"]\n[Site "?"]\n[Date "?"]\n[Round "?"]\n[Black "Ann \\"A\\""]\n[White "B\\\\ob "]\n'
        '[Clock "3+2"]\n[Result "*"]\n[GameType "21"]\n\n1. 11-15 22-18 2. 15x22 *\n'
    )
    assert from_pdn(text).tags["Black"] == 'Ann "A"'
    assert from_pdn(text).tags["White"] == "B\\ob "


def test_the_first_movers_points_stand_first():
    assert [result_text(u) for u in ((1.0, -1.0), (-1.0, 1.0), (0.0, 0.0), None)] == [
        "1-0",
        "0-1",
        "1/2-1/2",
        "*",
    ]


def test_random_games_are_written_and_read_back():
    chains = 0
    for played in random_games("checkers"):
        end = played[-1]
        text = to_pdn(end.actions, {"Event": "random"}, end.utilities())
        record = from_pdn(text)
        assert record.actions == end.actions
        assert record.result == record.tags["Result"] == result_text(end.utilities())
        assert max(map(len, text.splitlines())) <= 79
        assert to_pdn(record.actions, record.tags, end.utilities()) == text
        chains += any(turn.count("x") > 1 for turn in turns_of(end.actions))
    assert chains > 5


def test_a_game_from_another_position_and_one_that_ends_amid_jumps():
    start = GAME.parse_position(CHAINS)
    text = to_pdn(["a3c5"], None, None, start)
    assert '[SetUp "1"]\n[FEN "B:W15,16,23,24:BK12"]' in text
    assert text.endswith("\n\n1. 12x19 *\n")
    assert from_pdn(text, start).actions == ("a3c5",)
    amid = start.result(GAME.parse_action(start, "a3c5"))
    assert to_pdn(["c5a7"], None, None, amid).endswith("\n\n1. 19x28 *\n")


def test_a_game_that_begins_elsewhere_than_it_says_is_refused():
    start = GAME.parse_position(CHAINS)
    text = to_pdn(["a3c5"], None, None, start)
    with pytest.raises(InputError, match="the start that was given, got 'B:W15,16,23,24:BK12'"):
        from_pdn(text)
    assert from_pdn(text.replace("W15,16,23,24:BK12", "BK12:W24,16,15,23."), start).actions == ("a3c5",)


def test_a_game_that_white_begins():
    start = GAME.parse_position(
        "......../......../.+....../......../......../....o.../......../........ + - 2"
    )
    assert fen(start) == "W:W24:B10"
    text = to_pdn(["b6a5", "e3d4", "a5b4"], None, None, start)
    assert text.endswith("\n\n1... 24-20 2. 10-15 20-16 *\n")
    assert from_pdn(text, start).actions == ("b6a5", "e3d4", "a5b4")


def test_a_shortened_chain_has_to_be_the_only_one():
    start = GAME.parse_position(CHAINS)
    assert from_pdn("12x28", start).actions == ("a3c5", "c5a7")
    assert from_pdn("12x19x26", start).actions == ("a3c5", "c5e7")
    round_trip = GAME.parse_position(
        "......../......../......../......../.+.+..../......../.+.+..../..8..... o - 1"
    )
    with pytest.raises(InputError, match="3x3, which may be 2 different ones"):
        from_pdn("3x3", round_trip)
    assert from_pdn("3x10x19x12x3", round_trip).actions == ("c1e3", "e3c5", "c5a3", "a3c1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1. 11-17", "expected a legal turn, got 11-17 in checkers after 0 plies"),
        ("1. 11x15", "a legal turn, got 11x15"),
        ("1. 11-15 22-18 2. 15-22", "a legal turn, got 15-22"),
        ("1. 11-15 22-18 2. 8-11", "available: 15x22"),
        ("1. 33-28", "a legal turn, got 33-28"),
        ("1. 11-15 11-16", "a legal turn, got 11-16 in checkers after 1 plies"),
        ("2. 11-15", "expected the number 1, got 2 in turn 1"),
        ("1. 11-15 22-18 3. 15x22", "expected the number 2, got 3 in turn 3"),
        ("1. 11-15 1-0 22-18", "the end after the result, got '22-18'"),
        ("1. c3d4", "a number, a turn or a result, got 'c3d4'"),
        ("1. 11-15x18", "a number, a turn or a result"),
        ("1. 11-15 {unfinished", "a number, a turn or a result"),
        ("1. 11-15 (1. 11-16)", "a number, a turn or a result"),
        ('[Result "1-0"]\n1. 11-15 0-1', "the result 1-0 of the tag, got 0-1"),
        ('[Result "2-0"]\n1. 11-15', "expected a result, got '2-0' in the tag Result"),
        ('[Event "half\n1. 11-15', "a number, a turn or a result"),
    ],
)
def test_unusable_text_says_why(text, message):
    with pytest.raises(InputError) as refusal:
        from_pdn(text)
    assert message in str(refusal.value)
    assert len(str(refusal.value)) < 600


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("", "*"),
        ('[Result "0-1"]', "0-1"),
        ('[Result "0-1"]\n*', "0-1"),
        ('[Result "*"]\n1-0', "1-0"),
        ("1-0 {White resigns}", "1-0"),
    ],
)
def test_results(text, result):
    assert from_pdn(text).result == result
