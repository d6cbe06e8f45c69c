"""How an agent's answer is read, what its info becomes, and what its clock says."""

import json

import msgspec
import pytest

import games
from agents.agent import Agent, info_json, read_choice
from agents.clock import Clock
from agents.protocol import MAX_INFO_BYTES
from agents.search_info import SearchInfo
from games import Position

GAME = games.load("connect_four")
START = GAME.initial_state()
FULL_COLUMN = Position.start(GAME, moves=["4", "4", "4", "4", "4", "4"]).state


class Int32:
    """An integer that is not Python's, as numpy's are."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


@pytest.mark.parametrize("chosen", [3, "4", Int32(3), " 4 ".strip()])
def test_an_action_may_be_an_integer_or_its_text(chosen):
    choice = read_choice(GAME, START, chosen)
    assert (choice.text, choice.action, choice.problem) == ("4", 3, None)


@pytest.mark.parametrize("chosen", [None, True, False, 3.0, [3], b"4", object, float("nan")])
def test_nothing_else_is_an_action(chosen):
    choice = read_choice(GAME, START, chosen)
    assert choice.action is None
    assert "not an action" in choice.problem
    assert choice.text not in Position.start(GAME).legal()


def test_no_move_is_written_as_none():
    assert read_choice(GAME, START, None).text == "None"


@pytest.mark.parametrize("chosen", [-1, 7, 99, 2**70, -(2**70), "9", "", "four", "x" * 5_000, "4\x00"])
def test_an_illegal_action_keeps_its_text_and_is_never_taken_for_a_legal_one(chosen):
    choice = read_choice(GAME, START, chosen)
    assert choice.action is None
    assert choice.problem
    assert choice.text not in Position.start(GAME).legal()
    assert len(choice.text) <= 100


def test_a_full_column_is_illegal_under_the_name_it_has_on_the_wire():
    choice = read_choice(GAME, FULL_COLUMN, 3)
    assert (choice.text, choice.action) == ("4", None)


@pytest.mark.parametrize("action", range(-5, 20))
def test_the_numbers_of_actions_and_their_texts_are_not_confused(action):
    """Column 7 of the wire is action 6; the action 7 must not become it."""
    choice = read_choice(GAME, START, action)
    assert (choice.action == action) == (0 <= action < 7)


def told(info):
    agent = Agent()
    agent.info = info
    return info_json(agent, GAME, START)


def test_info_is_json_of_at_most_four_kilobytes():
    assert told({"depth": 3, "mood": "calm"}) == {"depth": 3, "mood": "calm"}
    assert told({"x": "y" * (MAX_INFO_BYTES - 8)}) is not None
    assert told({"x": "y" * (MAX_INFO_BYTES - 7)}) is None


@pytest.mark.parametrize("info", [None, 5, "text", [1], {"f": object()}, {("a", "b"): 1}, {"s": "\ud800"}])
def test_info_that_is_no_json_object_is_left_out(info):
    assert told(info) is None


def test_info_that_contains_itself_is_left_out():
    endless = {}
    endless["me"] = endless
    assert told(endless) is None


def test_info_that_fails_to_be_read_is_left_out():
    class Moody(Agent):
        @property
        def info(self):
            raise RuntimeError("not today")

    assert info_json(Moody(), GAME, START) is None


def test_search_info_is_written_in_the_games_notation():
    info = SearchInfo("alphabeta", depth=2, nodes=49, value=-0.0, pv=[3, 3], visits={0: 1, 6: 9})
    data = told(info)
    assert data["pv"] == ["4", "4"]
    assert data["visits"] == {"7": 9, "1": 1}
    assert data["branching_factor"] == 7.0
    assert str(data["value"]) == "0.0"
    json.dumps(data)


def test_the_clock_counts_down_and_never_below_zero(timer):
    clock = Clock(1_000, bank_ms=60_000, increment_ms=500, timer=timer)
    assert clock.left_ms() == 1_000
    timer.advance(400)
    assert (clock.left_ms(), clock.elapsed_ms()) == (600, 400)
    timer.advance(5_000)
    assert clock.left_ms() == 0
    assert (clock.move_ms, clock.bank_ms, clock.increment_ms) == (1_000, 60_000, 500)


def test_a_clock_can_have_started_before_it_was_made(timer):
    timer.advance(300)
    assert Clock(1_000, timer=timer, started_ms=timer.ms - 250).left_ms() == 750


def test_an_agent_that_cannot_choose_says_so():
    with pytest.raises(NotImplementedError):
        Agent().choose(START, Clock(1_000))


def test_search_info_survives_the_wire():
    data = told(SearchInfo("mcts", visits={a: a for a in range(7)}, playouts=21, value=0.123456))
    assert msgspec.json.decode(msgspec.json.encode(data)) == data
