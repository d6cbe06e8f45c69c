"""Backgammon's rules by hand, spellings of plays and rolls, texts of positions, features and the board."""

import random

import pytest
from fuzz import check_text, nearly, texts_of
from hypothesis import example, given, settings

import games
from games import InputError, Position
from games.backgammon import MOST_PLIES
from games.backgammon_checkers import lone_places, pip_count
from games.backgammon_notation import START
from games.backgammon_state import Features
from games.perft import plies

GAME = games.load("backgammon")
CLOSED = dict.fromkeys(range(1, 7), 2)
"""Two checkers on each point of the home board."""


def at(x: dict[int, int], o: dict[int, int], turn: str) -> Position:
    """Position by each player's own points, 25 for the bar; the rest is borne off."""
    letters = ["-"] * 26
    for place, count in x.items():
        letters[place] = chr(ord("A") + count - 1)
    for place, count in o.items():
        assert letters[25 - place] == "-"
        letters[25 - place] = chr(ord("a") + count - 1)
    return Position.start(GAME, f"{''.join(letters)} {turn}")


def refused(text: str) -> InputError:
    with pytest.raises(InputError) as refusal:
        GAME.parse_position(text)
    assert refusal.value.code == "bad_position"
    return refusal.value


# rules --------------------------------------------------------------------------------------------------


def test_the_higher_die_of_the_opening_roll_begins():
    outcomes = Position.start(GAME).outcomes()
    assert len(outcomes) == 30
    assert {probability for _, probability in outcomes} == {1 / 30}
    assert Position.start(GAME, None, ["roll36:X"]).text() == f"{START} 63 x"
    assert Position.start(GAME, None, ["roll63:O"]).text() == f"{START} 63 o"
    with pytest.raises(InputError):
        Position.start(GAME, None, ["roll33:X"])


def test_later_rolls_are_21_and_doubles_are_rare():
    position = Position.start(GAME, f"{START} - o")
    outcomes = dict(position.outcomes())
    assert len(outcomes) == 21
    assert outcomes["roll66"] == pytest.approx(1 / 36)
    assert outcomes["roll65"] == pytest.approx(1 / 18)
    assert position.play("roll66").text() == f"{START} 6666 o"


def test_two_checkers_block_a_point_and_one_is_hit():
    position = at({24: 1}, {2: 1, 3: 2, 4: 2, 13: 1}, "21 x")
    assert position.legal() == ["0:24/23*+Pass"]
    after = position.play("0:24/23*+Pass")
    assert after.text() == at({23: 1}, {3: 2, 4: 2, 13: 1, 25: 1}, "- o").text()


def test_the_bar_comes_first():
    assert set(at({25: 1, 13: 2}, {6: 2}, "64 x").legal()) == {"0:Bar/21+13/7", "0:Bar/21/15"}
    assert at({25: 2, 13: 2}, {6: 2}, "65 x").legal() == ["0:Bar/20+Pass"]
    assert at({25: 1, 13: 2}, {6: 2, 5: 2}, "65 x").legal() == ["0:Pass"]
    assert at({6: 2, 5: 2}, {25: 1, 13: 2}, "65 o").legal() == ["1:Pass"]


def test_the_higher_die_if_either_but_not_both_can_be_played():
    assert at({24: 1}, {12: 2}, "65 x").legal() == ["0:24/18+Pass"]


def test_the_lower_die_if_the_higher_one_cannot_be_played():
    assert at({24: 1}, {7: 2, 8: 2}, "61 x").legal() == ["0:24/23+Pass"]


def test_both_dice_must_be_played_if_they_can():
    """7/1 is no play: it would leave nothing for the 2."""
    assert set(at({20: 1, 7: 1}, {7: 2}, "62 x").legal()) == {"0:20/14/12", "0:20/14+7/5"}


def test_a_double_is_two_plays_of_two():
    position = at({13: 2, 6: 2}, {24: 2}, "2222 x").play("13/11(2)")
    assert position.text() == at({11: 2, 6: 2}, {24: 2}, "22 x").text()
    assert position.state.mid_turn()
    assert position.play("11/9/7").text() == at({11: 1, 7: 1, 6: 2}, {24: 2}, "- o").text()


def test_a_double_of_which_three_two_or_one_can_be_played():
    three = at({24: 1}, {9: 2}, "2222 x")
    assert three.legal() == ["0:24/22/20"]
    assert three.play("0:24/22/20").legal() == ["0:20/18+Pass"]
    two = at({24: 1}, {7: 2}, "2222 x").play("0:24/22/20")
    assert two.text() == at({20: 1}, {7: 2}, "22 x").text()
    assert two.legal() == ["0:Pass"]
    assert two.play("0:Pass").text() == at({20: 1}, {7: 2}, "- o").text()
    one = at({24: 1}, {5: 2}, "2222 x")
    assert one.legal() == ["0:24/22+Pass"]
    assert one.play("0:24/22+Pass").text() == at({22: 1}, {5: 2}, "- o").text()


def test_bearing_off_with_all_at_home():
    assert set(at({7: 1, 1: 1}, {6: 1}, "21 x").legal()) == {"0:7/5/4", "0:7/5+1/Off", "0:7/6/4"}
    assert set(at({6: 1, 4: 1}, {6: 1}, "64 x").legal()) == {"0:6/Off+4/Off", "0:6/2+4/Off"}


def test_a_die_too_high_bears_off_from_the_highest_point_only():
    assert at({4: 1, 2: 2}, {6: 1}, "65 x").legal() == ["0:4/Off+2/Off"]
    assert set(at({6: 1, 2: 1}, {6: 1}, "51 x").legal()) == {"0:6/1+2/1", "0:6/1/Off", "0:6/5/Off"}


@pytest.mark.parametrize(
    ("loser", "points"),
    [
        ({1: 14}, 1),
        ({1: 15}, 2),
        ({18: 1, 1: 14}, 2),
        ({19: 1, 1: 14}, 3),
        ({24: 2, 1: 13}, 3),
        ({25: 1, 1: 14}, 3),
        ({25: 1, 1: 13}, 1),
    ],
)
def test_single_gammon_and_backgammon(loser, points):
    place = 2 if 24 in loser else 1
    won = at({place: 1}, loser, "65 x").play(f"{place}/Off")
    assert won.is_terminal()
    assert won.utilities() == (points, -points)
    assert won.legal() == []
    assert not won.rule_draw()
    assert at(loser, {place: 1}, "65 o").play(f"1:{place}/Off+Pass").utilities() == (-points, points)


def test_the_first_half_of_a_double_can_end_the_game():
    won = at({1: 2}, {6: 1}, "6666 x").play("1/Off(2)")
    assert won.is_terminal()
    assert won.text() == at({}, {6: 1}, "- o").text()


def test_a_game_that_does_not_end_is_drawn():
    """Both pass for as long as nobody rolls what is needed; the state itself knows no number of plies."""
    stuck = at({25: 1}, CLOSED | {13: 3}, "- x")
    text = stuck.text()
    position = Position.start(GAME, text)
    keys = (0,) * (MOST_PLIES - 2)
    position = Position(GAME, position.state, ("roll65",) * (MOST_PLIES - 3), keys)
    assert not position.play("roll65").is_terminal()
    assert not position.play("roll65").play("0:Pass").is_terminal()
    drawn = position.play("roll65").play("0:Pass").play("roll21")
    assert drawn.is_terminal()
    assert drawn.rule_draw()
    assert drawn.utilities() == (0, 0)
    assert drawn.text() == text.replace("- x", "= o")
    assert drawn.legal() == drawn.outcomes() == []
    assert drawn.board().last == ()


# spellings ----------------------------------------------------------------------------------------------

OPENED = Position.start(GAME, None, ["roll36:X"])


@pytest.mark.parametrize(
    ("text", "play"),
    [
        ("13/10 24/18", "0:24/18+13/10"),
        ("24/18 13/10", "0:24/18+13/10"),
        ("24/18+13/10", "0:24/18+13/10"),
        ("0:13/10+24/18", "0:24/18+13/10"),
        ("24/21/15", "0:24/21/15"),
        ("24/21 21/15", "0:24/21/15"),
        ("21/15 24/21", "0:24/21/15"),
        ("24/15", "0:24/18/15"),
        ("13/10/4", "0:13/10/4"),
    ],
)
def test_other_spellings_of_a_play(text, play):
    assert OPENED.play(text).actions[-1] == play


@pytest.mark.parametrize(
    ("position", "text", "play"),
    [
        (at({25: 2, 6: 2}, {5: 1, 3: 1}, "53 x"), "25/20* bar/22*", "0:Bar/22*+Bar/20*"),
        (at({25: 2, 6: 2}, {5: 1, 3: 1}, "53 x"), "Bar/20 BAR/22", "0:Bar/22*+Bar/20*"),
        (at({25: 1, 6: 2}, {5: 1}, "53 x"), "bar/20*/17", "0:Bar/20*/17"),
        (at({25: 1, 6: 2}, {6: 2}, "63 x"), "bar/22 22/16", "0:Bar/22/16"),
        (at({3: 1, 1: 3}, {6: 1}, "21 x"), "3/off", "0:3/1/Off"),
        (at({3: 1, 1: 3}, {6: 1}, "31 x"), "3/0 1/0", "0:3/Off+1/Off"),
        (at({1: 4}, {6: 1}, "3333 x"), "1/off 1/off", "0:1/Off(2)"),
        (at({1: 4}, {6: 1}, "3333 x"), "0:1/Off(2)", "0:1/Off(2)"),
        (at({24: 1}, {5: 2}, "2222 x"), "24/22", "0:24/22+Pass"),
        (at({24: 1}, {5: 2}, "2222 x"), "pass 24/22", "0:24/22+Pass"),
        (at({25: 1}, CLOSED, "21 x"), "pass", "0:Pass"),
        (at({25: 1}, CLOSED, "21 x"), "Pass+Pass", "0:Pass"),
    ],
)
def test_spellings_of_bar_off_double_and_pass(position, text, play):
    assert position.play(text).actions[-1] == play


def test_a_run_without_its_middle_is_refused_where_it_may_hit_or_not():
    position = at({24: 1, 6: 2}, {4: 1, 13: 1}, "32 x")
    assert {"0:24/21*/19", "0:24/22/19"} <= set(position.legal())
    with pytest.raises(InputError):
        position.play("24/19")
    assert position.play("24/21/19").actions[-1] == "0:24/21*/19"
    assert position.play("24/22/19").actions[-1] == "0:24/22/19"


@pytest.mark.parametrize(
    "text",
    [
        "1:24/18+13/10",
        "0:24/18*+13/10",
        "24/18+13/10+Pass",
        "24/18",
        "24/18+24/18",
        "24/18(2)",
        "24/18+13/10+6/3",
        "24/18++13/10",
        "24/18  13/10",
        "24/18, 13/10",
        "24/18 13/10 ",
        "24/018 13/10",
        "24-18 13-10",
        "24/18 13/\u0661\u0660",
        "0:0:24/18+13/10",
        ":24/18+13/10",
        "Pass",
        "24/15/24",
        "24/15(2)",
        "18/24 10/13",
        "off/24 13/10",
        "26/20 13/10",
        "24/18 13/10" + " 13/10" * 20,
    ],
)
def test_what_is_no_play_is_refused(text):
    with pytest.raises(InputError) as refusal:
        OPENED.play(text)
    assert refusal.value.code == "illegal_action"
    assert set(refusal.value.available) == set(OPENED.legal())


def test_the_dice_of_a_roll_in_either_order():
    position = Position.start(GAME, f"{START} - x")
    assert position.play("roll36") == position.play("roll63")
    assert position.play("roll36").actions == ("roll63",)
    opening = Position.start(GAME)
    assert opening.play("roll63:X") == opening.play("roll36:X") == OPENED
    for text in ("roll3", "roll336", "roll37", "roll63:x", "roll36:X ", "63", "roll 36"):
        with pytest.raises(InputError):
            position.play(text)
        with pytest.raises(InputError):
            opening.play(text)


def test_two_that_hit_one_blot_have_one_star():
    position = at({8: 1, 7: 1}, {20: 1, 6: 1}, "32 x")
    assert "0:8/5*+7/5" in position.legal()
    assert "0:8/5*(2)" not in position.legal()
    assert position.play("0:8/5*+7/5").text() == at({5: 2}, {25: 1, 6: 1}, "- o").text()
    double = at({8: 2}, {20: 1, 6: 1}, "3333 x")
    assert double.play("8/5*(2)").text() == at({5: 2}, {25: 1, 6: 1}, "33 x").text()


# texts of positions -------------------------------------------------------------------------------------


@given(nearly(texts_of("backgammon")))
@settings(max_examples=400, deadline=None)
@example(f"{START} = o")
@example(f"{START} 33 o")
def test_texts_that_are_nearly_positions(text):
    check_text(GAME, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{START} 36 x", "higher one first"),
        (f"{START} 333 x", "letters"),
        (f"{START} 3343 x", "letters"),
        (f"{START} 70 x", "letters"),
        (f"{START} - X", "letters"),
        (f"{START} 63 *", "x or o to move"),
        (f"{START} = *", "x or o to move"),
        (f"{START}- - x", "letters"),
        ("Ab----E-C---eE---c-e----B- - x", "letters"),
        ("-b----E-C---eE---c-e----Bb - x", "letters"),
        ("-b----F-C---eE---c-e----B- - x", "at most 15"),
        ("-b----E-C---eE---c-e----A- - *", "x or o to move"),
        ("-b----E-C---eE---c-e----P- - x", "letters"),
    ],
)
def test_other_position_texts_are_refused(text, words):
    assert words in str(refused(text))


def test_positions_that_no_game_reaches_are_refused():
    won = at({1: 1}, {6: 1}, "65 x").play("1/Off").text()
    assert won.endswith(" - o")
    for turn in ("- x", "65 o", "65 x", "= o", "= x", "66 o"):
        refused(won.replace("- o", turn))
    closed = at(CLOSED, CLOSED | {25: 1}, "- o").text()
    refused(f"{closed[:25]}A - o")


@pytest.mark.parametrize(
    ("x", "o", "reached"),
    [
        ({18: 2}, {6: 2}, True),
        ({12: 1}, {6: 2}, True),
        ({13: 1}, {5: 2}, True),
        ({19: 2, 25: 1}, {3: 2}, True),
        ({1: 2}, {3: 2}, True),
        ({24: 2}, {6: 2}, False),
        ({18: 1}, {6: 2}, False),
        ({18: 2}, {1: 2}, False),
        ({13: 1}, {6: 2}, False),
        ({19: 1, 18: 1, 25: 1}, {3: 2}, False),
        ({1: 15}, {18: 2}, False),
        ({1: 14}, {3: 2}, True),
        ({1: 14}, dict.fromkeys(range(13, 19), 2), False),
    ],
)
def test_half_a_double_comes_after_two_moves_of_it(x, o, reached):
    """Two checkers, or one twice, came by the die from a place where the opponent does not stand."""
    if reached:
        assert at(x, o, "66 x").state.mid_turn()
    else:
        refused(at(x, o, "- x").text().replace("- x", "66 x"))


# features and the board ---------------------------------------------------------------------------------


def test_features_by_hand():
    start = GAME.initial_state()
    assert pip_count(start.me) == 167
    assert start.features(0) == start.features(1) == Features(0, 0, 0, 0, 0, 0, 0)
    x = {25: 1, 8: 2, 7: 2, 6: 3, 5: 2, 3: 1, 1: 2}
    o = {23: 1, 21: 2, 10: 3, 9: 2, 7: 1, 4: 4}
    pips = (25 + 16 + 14 + 18 + 10 + 3 + 2) - (23 + 42 + 30 + 18 + 7 + 16)
    expected = Features(pips, off=2 - 2, bar=1, blots=1 - 2, points=5 - 4, home=3 - 1, prime=4 - 2)
    assert at(x, o, "- x").state.features(0) == expected
    assert at(x, o, "65 o").state.features(0) == expected


def test_a_blot_that_no_opponent_has_to_pass_is_none():
    past = at({2: 1, 3: 2}, {6: 5}, "- x").state
    assert past.features(0).blots == 0
    before = at({2: 1, 3: 2}, {24: 2, 6: 3}, "- x").state
    assert before.features(0).blots == 1
    assert before.features(1).blots == -1
    assert at({2: 1, 3: 2}, {25: 1}, "- x").state.features(0).blots == 1


def test_features_are_what_counting_says():
    rng = random.Random(5)
    position = Position.start(GAME)
    while not position.is_terminal():
        state = position.state
        x, o = (state.me, state.other) if state.mover == 0 else (state.other, state.me)
        assert state.features(0).pips == pip_count(x) - pip_count(o)
        play = rng.choice(list(plies(state)))
        position = position.play(GAME.format_action(state, play))
    assert lone_places(position.state.other) == 0


def test_board_has_points_a_bar_and_checkers_off():
    board = OPENED.board()
    assert (board.style, board.rows, board.columns, board.dice) == ("points", 2, 14, (6, 3))
    assert board.counts == {
        (0, 11): 2,
        (0, 0): 5,
        (1, 4): 3,
        (1, 6): 5,
        (1, 11): 2,
        (1, 0): 5,
        (0, 4): 3,
        (0, 6): 5,
    }
    assert {cell for cell, seat in board.pieces.items() if seat == 0} == {(0, 11), (0, 0), (1, 4), (1, 6)}
    assert board.targets["0:24/18+13/10"] == (1, 2)
    assert board.targets["0:24/18/15"] == (0, 2)
    after = OPENED.play("0:24/18/15").board()
    assert after.last == ((0, 11), (0, 5), (0, 2))
    assert after.dice == ()
    assert OPENED.play("0:24/18/15").play("roll55").board().dice == (5, 5, 5, 5)


def test_board_of_the_bar_and_of_checkers_off():
    position = at({25: 2, 1: 12}, {25: 1, 2: 13}, "65 x")
    board = position.board()
    assert board.counts[0, 12] == 2
    assert board.pieces[0, 12] == 0
    assert (board.pieces[1, 12], board.pieces[0, 13], board.pieces[1, 13]) == (1, 1, 0)
    hit = at({24: 1}, {2: 1, 3: 2, 4: 2, 13: 1}, "21 x").play("24/23")
    assert hit.board().pieces[1, 12] == 1
    half = at({13: 2, 6: 2}, {24: 2}, "2222 x").play("13/11(2)").board()
    assert (half.dice, half.last) == ((2, 2), ((0, 0), (1, 1)))
    assert at({2: 1, 6: 2}, {6: 2}, "21 x").board().targets["0:6/5+2/Off"] == (1, 13)
