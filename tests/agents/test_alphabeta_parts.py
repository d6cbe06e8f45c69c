"""The transposition table and the move ordering, each by itself and in plain Python."""

from types import SimpleNamespace

import pytest

import games
from agents.alphabeta import AlphaBeta, value
from agents.clock import Clock
from agents.evaluation import cutoff_value
from agents.ordering import ACTIONS, FIRST, LAST, next_action, push_actions, remember_cutoff
from agents.scratch import Scratch, keep_line
from agents.transposition import (
    EXACT,
    LOWER,
    NO_ACTION,
    SLOTS,
    UPPER,
    best_action,
    cuts_off,
    enter,
    look_up,
)
from games import Position

KEY = 12 + 5 * SLOTS


def entered(value, alpha=-0.5, beta=0.5, depth=4, complete=False):
    entry = SimpleNamespace(key=0, value=0.0, depth=0, action=0, bound=0, complete=0)
    enter(entry, KEY, depth, alpha, beta, value, 3, complete)
    return entry


# the table ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "bound"), [(0.7, LOWER), (0.5, LOWER), (0.2, EXACT), (-0.5, UPPER), (-0.6, UPPER)]
)
def test_what_a_search_proves_depends_on_its_window(value, bound):
    assert entered(value).bound == bound


@pytest.mark.parametrize(
    ("value", "alpha", "beta", "answers"),
    [
        (0.7, 0.0, 0.6, True),  # at least 0.7
        (0.7, 0.8, 0.9, False),
        (-0.7, -0.6, 0.0, True),  # at most -0.7
        (-0.7, -0.9, -0.8, False),
        (0.2, 0.1, 0.3, False),  # exactly 0.2, inside the window: the principal variation is to be walked
        (0.2, 0.2, 0.3, True),
        (0.2, 0.1, 0.2, True),
    ],
)
def test_the_table_answers_only_outside_of_the_window(value, alpha, beta, answers):
    assert cuts_off(entered(value), KEY, 4, alpha, beta) is answers


@pytest.mark.parametrize(
    ("depth", "complete", "answers"),
    [(4, False, True), (3, False, False), (5, False, False), (5, True, True), (3, True, False)],
)
def test_an_entry_of_another_depth_answers_only_if_it_is_a_proof_to_the_end(depth, complete, answers):
    assert cuts_off(entered(0.7, complete=complete), KEY, depth, 0.0, 0.6) is answers


def test_another_position_in_the_slot_and_an_empty_slot_say_nothing():
    memory = Scratch(games.load("tic_tac_toe").initial_state(), (), Clock(1, timer=lambda: 0.0)).memory
    entry = look_up(memory, KEY)
    assert not cuts_off(entry, 0, 0, 1.0, -1.0)
    assert best_action(entry, 0) == NO_ACTION
    enter(entry, KEY, 4, -0.5, 0.5, 0.7, 3, False)
    assert look_up(memory, KEY + SLOTS) is entry
    assert not cuts_off(entry, KEY + SLOTS, 4, 0.0, 0.6)
    assert best_action(entry, KEY + SLOTS) == NO_ACTION
    assert best_action(entry, KEY) == 3


def test_the_newer_entry_replaces_the_older_one():
    entry = entered(0.7, depth=9)
    enter(entry, KEY + SLOTS, 1, -0.5, 0.5, 0.1, 2, True)
    assert not cuts_off(entry, KEY, 9, 0.0, 0.6)
    assert (entry.key, entry.depth, best_action(entry, KEY + SLOTS)) == (KEY + SLOTS, 1, 2)


@pytest.mark.parametrize(("moves", "complete"), [("4", False), ("4 0 2 6 3 5 1 7", True)])
def test_an_answer_of_the_table_rests_on_the_horizon_if_its_entry_does(moves, complete):
    """Else the node above would pass for a proof to the end, and answer for deeper searches."""
    state = Position.start(games.load("tic_tac_toe"), moves=moves.split()).state
    scratch = Scratch(state, (0.0,) * 4, Clock(1, timer=lambda: 0.0), table=True)
    search, memory = scratch.function(value), scratch.memory
    search(state, state.to_move(), 3, -2.0, 2.0, 0, 0, memory)
    nodes, horizon = memory.nodes, memory.horizon
    assert (horizon == 0) == complete
    search(state, state.to_move(), 3, 1.5, 2.0, 0, 0, memory)
    assert (memory.nodes - nodes, memory.table_hits) == (1, 1)
    assert (memory.horizon == horizon) == complete


# the order ----------------------------------------------------------------------------------------------


def plain_memory(**switches):
    state = games.load("connect_four").initial_state()
    return Scratch(state, (0.0,) * 5, Clock(1, timer=lambda: 0.0), **switches).memory


def order(memory, state, ply=0, best=NO_ACTION):
    end = push_actions(state, memory, 10, ply, 0, best)
    return [next_action(memory, turn, end) for turn in range(10, end)]


def test_first_the_tables_then_killers_then_history_then_the_game():
    memory = plain_memory(killers=True, history=True)
    state = games.load("connect_four").initial_state()
    assert order(memory, state) == [0, 1, 2, 3, 4, 5, 6]
    for action in (2, 5, 5, 6, 1):  # the last two, 1 and 6, are the killers of ply 4
        remember_cutoff(memory, 4, 0, 3, action)
    assert order(memory, state, ply=4, best=3) == [3, 1, 6, 5, 2, 0, 4]
    assert order(memory, state, ply=2) == [5, 1, 2, 6, 0, 3, 4]  # history alone: 5 cut off twice


def test_only_legal_actions_are_in_the_order_whatever_is_remembered():
    memory = plain_memory(killers=True, history=True)
    full = Position.start(games.load("connect_four"), None, "333333").state
    remember_cutoff(memory, 0, 0, 9, 2)
    assert order(memory, full, best=2) == [0, 1, 3, 4, 5, 6]


@pytest.mark.parametrize("part", ["killers", "history"])
def test_a_part_that_is_off_learns_nothing(part):
    memory = plain_memory(**{part: False}, **{"history" if part == "killers" else "killers": True})
    remember_cutoff(memory, 1, 1, 5, 3)
    assert not any(getattr(memory, part).values())


def test_history_has_room_for_every_action_of_both_players_and_never_outranks_a_killer():
    memory = plain_memory(killers=True, history=True)
    for mover in (0, 1):
        for _ in range(2_000):
            remember_cutoff(memory, 0, mover, 511, LAST)
    assert memory.history[ACTIONS + LAST] == memory.history[LAST] < FIRST - 2
    assert max(memory.history) == 2 * ACTIONS - 1


# lines --------------------------------------------------------------------------------------------------


def test_a_line_is_an_action_and_the_line_below_it():
    state = games.load("connect_four").initial_state()
    scratch = Scratch(state, (0.0,) * 5, Clock(1, timer=lambda: 0.0))
    for ply, action in ((3, 0), (2, 6), (1, 4)):
        keep_line(scratch.memory, ply, action)
    assert scratch.line(1) == [4, 6, 0]
    keep_line(scratch.memory, 2, 5)
    assert scratch.line(1) == [4, 6, 0]
    assert scratch.line(2) == [5, 0]


def test_the_principal_variation_is_whole_with_the_table_too():
    state = games.load("connect_four").initial_state()
    weights = (0.1, 0.02, 0.03, 0.01, -0.01)
    agent = AlphaBeta(9, weights, seed=3)
    agent.choose(state, Clock(600_000))
    assert agent.info.table_hits > 0
    assert len(agent.info.pv) == 9
    leaf = state
    for action in agent.info.pv:
        assert action in leaf.actions()
        leaf = leaf.result(action)
    assert agent.info.value == cutoff_value(leaf, state.to_move(), weights)
