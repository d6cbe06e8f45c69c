"""House agents under a budget of nodes: strength without a clock."""

import random

import pytest

import games
from agents import house, protocol, roster
from agents.clock import Clock
from agents.minimax import Minimax
from agents.random_agent import RandomAgent

CONNECT_FOUR = games.load("connect_four")
SEARCHES = ["minimax", "ab-centre", "mcts"]
BUDGETS = [1, 8, 100, 1_500, 4_000]


def calm():
    """A clock that begins to run now, and not when this file is read."""
    return Clock(600_000)


def entry(name):
    return next(agent for agent in roster.entries() if agent.name == name)


def positions(number=6):
    """Positions of connect four with a player to move, as chance would have it."""
    draw = random.Random(5)
    found = []
    while len(found) < number:
        state = CONNECT_FOUR.initial_state()
        for _ in range(draw.randrange(0, 16)):
            if not state.is_terminal():
                state = state.result(draw.choice(list(state.actions())))
        if not state.is_terminal():
            found.append(state)
    return found


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", SEARCHES)
def test_a_budget_is_kept_and_used(name, budget):
    for state in positions():
        agent = roster.build(entry(name), CONNECT_FOUR, seed=1, nodes=budget)
        assert agent.choose(state, calm()) in state.actions()
        looked_at = agent.info.playouts if name == "mcts" else agent.info.nodes
        assert looked_at <= budget
        assert looked_at == budget or agent.info.complete or abs(agent.info.value) == 1.0, "it stopped early"


@pytest.mark.parametrize("name", SEARCHES)
def test_a_budget_stands_in_place_of_the_agents_own_limits(name):
    state = CONNECT_FOUR.initial_state()
    own = roster.build(entry(name), CONNECT_FOUR, seed=1)
    own.choose(state, calm())
    more = roster.build(entry(name), CONNECT_FOUR, seed=1, nodes=20_000)
    more.choose(state, calm())
    assert max(more.info.nodes, more.info.playouts) == 20_000 > max(own.info.nodes, own.info.playouts)


@pytest.mark.parametrize("name", SEARCHES)
def test_seed_and_budget_decide_the_move_however_busy_the_machine_is(name, timer, ticking_timer):
    """On a busy machine every look at the clock finds it much later: here by nothing, and by 10 ms."""
    for state in positions():
        chosen = {
            roster.build(entry(name), CONNECT_FOUR, seed=7, nodes=600).choose(state, clock)
            for clock in (calm(), Clock(600_000, timer=timer), Clock(600_000, timer=ticking_timer))
        }
        assert len(chosen) == 1


def test_two_weights_under_one_budget_differ_by_their_weights_alone():
    one, other = (
        vars(roster.build(entry(name), CONNECT_FOUR, seed=1, nodes=500)) for name in ("ab-centre", "ab-lines")
    )
    assert {key for key in one if key != "_rng" and one[key] != other[key]} == {"weights"}
    assert one["nodes"] == 500
    assert one["depth"] is None


def test_who_does_not_search_plays_as_it_is():
    assert isinstance(roster.build(entry("random"), CONNECT_FOUR, nodes=10), RandomAgent)
    kuhn = games.load("kuhn_poker")
    assert vars(roster.build(entry("equilibrium"), kuhn, nodes=10))["_table"]


@pytest.mark.parametrize(("budget", "depth"), [(3_262, 4), (3_261, 3)])
def test_minimax_under_a_budget_plays_what_it_plays_at_the_depth_it_finishes(budget, depth):
    """From the start there are 7, 7 + 49, ... nodes to depth 1, 2, ...: 3262 for the first four together."""
    state = CONNECT_FOUR.initial_state()
    agent = Minimax(nodes=budget)
    found = agent.values(state, calm())
    assert (agent.info.depth, agent.info.nodes) == (depth, budget)
    assert found == Minimax(depth).values(state)


def test_the_house_takes_the_budget_from_the_match(monkeypatch):
    built = []
    monkeypatch.setattr(house.roster, "build", lambda agent, game, nodes: built.append((agent.name, nodes)))
    client = house._client("http://127.0.0.1:1", "t", entry("mcts"), ["connect_four"], None)
    control = protocol.TimeControl(0, nodes=2_000)
    start = protocol.MatchStart(7, "connect_four", "by nodes", 0, [], control, "", [])
    client._around.make_agent(start)
    assert built == [("mcts", 2_000)]
