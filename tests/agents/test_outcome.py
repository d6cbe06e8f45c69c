"""How matches without a server end: the very outcomes, causes and scores that a server gives."""

import sys
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from agents import outcome
from agents.check import check
from agents.conversation import Conversation
from agents.local import play_match
from agents.program import Program
from agents.protocol import TimeControl
from agents.random_agent import RandomAgent
from games import Position
from server.core import outcome as core

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "stdio_bot.py"
CONTROL = TimeControl(20_000, margin_ms=200, ready_ms=20_000)


class Ended:
    """Stands for a position whose game is over."""

    def __init__(self, utilities, *, rule_draw):
        self.utilities = lambda: tuple(utilities)
        self.rule_draw = lambda: rule_draw


@given(st.lists(st.integers(-2, 2).map(float), min_size=2, max_size=5), st.booleans())
def test_a_game_played_out_ends_as_on_the_server(utilities, rule_draw):
    expected = core.by_utilities(utilities, rule_draw=rule_draw)
    outcomes, causes = outcome.by_rules(Ended(utilities, rule_draw=rule_draw))
    assert (outcomes, causes) == (expected.outcomes, expected.causes)
    assert outcome.scores(outcomes, utilities) == list(expected.scores)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_forfeit_ends_as_on_the_server(seats):
    for seat in range(seats):
        expected = core.forfeit(seats, seat, core.Cause.CRASH, "")
        outcomes, causes = outcome.loss_of(seat, "crash", seats)
        assert (outcomes, causes) == (expected.outcomes, expected.causes)
        assert outcome.scores(outcomes, [None] * seats) == list(expected.scores)


def test_a_void_match_has_no_scores():
    assert outcome.scores(["void", "void"], [1.0, 0.0]) == [None, None]


def test_three_play_a_match(share_out, scripted):
    def takes(number):
        return scripted(lambda state, _clock: min(number, max(state.actions())))

    result = play_match(share_out, [takes(2), takes(1), takes(1)], CONTROL)
    assert [move.seat for move in result.moves] == [0, 1, 2, 0, 1]
    assert (result.utilities, result.outcomes) == ((4, 2, 1), ("win", "loss", "loss"))
    assert result.scores == (1.0, 0.5, 0.0)
    drawn = play_match(share_out, [takes(0)] * 3, CONTROL)
    assert (drawn.outcomes, drawn.causes) == (("draw",) * 3, ("rule_draw",) * 3)


def test_an_illegal_action_among_three_is_last_and_the_others_are_equal(share_out, scripted):
    agents = [RandomAgent(1), scripted(lambda _state, _clock: 9), RandomAgent(2)]
    result = play_match(share_out, agents, CONTROL)
    assert result.outcomes == ("draw", "loss", "draw")
    assert result.causes == ("normal", "illegal_action", "normal")
    assert result.scores == (0.75, 0.0, 0.75)
    assert result.utilities == ()
    assert Position.start(share_out, moves=result.position.actions).ply == 1


def test_an_agent_is_checked_in_each_of_three_seats(share_out):
    line = [sys.executable, str(EXAMPLE)]
    report = check(lambda: Conversation(Program(line)), share_out, CONTROL)
    assert report.passed, [step for step in report.steps if step.result == "failed"]
    told = " ".join(step.got for step in report.steps)
    assert all(f"seat {seat}" in told for seat in (1, 2, 3))
