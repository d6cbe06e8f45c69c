"""Positions of games with chance and hidden information: what is played, and who is told what."""

import re
from dataclasses import replace
from typing import NamedTuple

import pytest

import games
from games import CHANCE, PUBLIC, InputError, Observation, Position
from games.perft import plies

KUHN = games.load("kuhn_poker")
DEALT = Position.start(KUHN, moves=["d2", "d0"])


def test_chance_is_to_move_and_its_outcomes_are_played_like_actions():
    start = Position.start(KUHN)
    assert (start.to_move(), start.legal()) == (CHANCE, [])
    assert start.outcomes() == [("d0", 1 / 3), ("d1", 1 / 3), ("d2", 1 / 3)]
    assert start.play("d2").outcomes() == [("d0", 0.5), ("d1", 0.5)]
    assert (DEALT.to_move(), DEALT.legal(), DEALT.outcomes()) == (0, ["p", "b"], [])


def test_outcomes_count_as_plies():
    assert DEALT.ply == 2
    assert DEALT.actions == ("d2", "d0")
    assert DEALT.play("b").play("p").ply == 4


def test_a_card_that_is_gone_cannot_be_dealt():
    with pytest.raises(InputError, match="expected a legal action, got 'd2'") as refusal:
        Position.start(KUHN, moves=["d2"]).play("d2")
    assert refusal.value.available == ("d0", "d1")


def test_an_outcome_without_probability_is_refused():
    """Whatever a game's notation reads, what cannot happen is not played."""
    lenient = replace(KUHN, parse_action=lambda _state, text: int(text.removeprefix("d")))
    assert Position.start(lenient).play("d1").ply == 1
    with pytest.raises(InputError, match="expected an outcome that is possible, got 'd1'") as refusal:
        Position.start(lenient, moves=["d1"]).play("d1")
    assert refusal.value.code == "illegal_action"
    assert refusal.value.available == ("d0", "d2")


class Loaded(NamedTuple):
    """A chance node with an outcome that never comes."""

    def to_move(self):
        return CHANCE

    def is_terminal(self):
        return False

    def chance(self):
        yield from ((0, 0.0), (1, 0.75), (2, 0.25))


def test_an_outcome_without_probability_is_not_among_them():
    assert Position(KUHN, Loaded()).outcomes() == [("d1", 0.75), ("d2", 0.25)]
    assert list(plies(Loaded())) == [1, 2]


@pytest.mark.parametrize(
    ("p", "text", "actions"),
    [
        (None, "20/p o", ("d2", "d0", "p")),
        (0, "2?/p o", ("d2", "d?", "p")),
        (1, "?0/p o", ("d?", "d0", "p")),
        (PUBLIC, "??/p o", ("d?", "d?", "p")),
    ],
)
def test_each_is_told_what_they_may_know(p, text, actions):
    position = DEALT.play("p")
    assert position.text(p) == text
    assert position.seen_actions(p) == actions


def test_board_lies_open_or_face_down():
    assert DEALT.board().cards == {(1, 0): "2", (0, 0): "0"}
    assert DEALT.board(0).cards == {(1, 0): "2", (0, 0): "?"}
    assert DEALT.board(1).cards == {(1, 0): "?", (0, 0): "0"}
    assert DEALT.board(PUBLIC).cards == {(1, 0): "?", (0, 0): "?"}


def test_the_player_to_move_observes():
    assert DEALT.observation() == Observation(KUHN, 0, "2?/ x", ["p", "b"])
    assert DEALT.play("b").observation() == Observation(KUHN, 1, "?0/b o", ["p", "b"])


def test_an_observation_of_another_game_is_refused():
    with pytest.raises(InputError, match="expected actions of kuhn_poker, got 'd3'; available: p, b"):
        list(Observation(KUHN, 0, "2?/ x", ["d3"]).actions())


def test_no_error_message_tells_a_card():
    for text in ("x", "d1", "pass"):
        with pytest.raises(InputError) as refusal:
            DEALT.play(text)
        assert not re.search("[02]", str(refusal.value))
    over = DEALT.play("b").play("p")
    with pytest.raises(InputError, match=r"kuhn_poker after 4 plies \(\?\?/bp x\)"):
        over.play("p")


def test_where_nothing_is_hidden_everybody_is_told_everything():
    position = Position.start(games.load("othello"), moves=["d3"])
    for p in (PUBLIC, 0, 1):
        assert position.text(p) == position.text()
        assert position.board(p) == position.board()
        assert position.seen_actions(p) == ("d3",)
    assert position.outcomes() == []
