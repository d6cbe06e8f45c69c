"""Minimax and alpha-beta against each other and against the simplest possible oracle."""

import functools
import random

import pytest

import games
from agents.alphabeta import AlphaBeta
from agents.clock import Clock
from agents.evaluation import cutoff_value, squashed
from agents.local import play_match
from agents.minimax import Minimax
from agents.random_agent import RandomAgent
from games import InputError, Position

CONNECT_FOUR_WEIGHTS = (0.1, 0.02, 0.03, 0.01, -0.01)
TIC_TAC_TOE_WEIGHTS = (0.3, 0.1, 0.2, 0.1)


def oracle(state, p, depth, weights):
    """Negamax without any window, ordering or counting."""
    if state.is_terminal():
        return state.utility(p)
    if depth == 0:
        return cutoff_value(state, p, weights)
    mover = state.to_move()
    best = max(oracle(state.result(a), mover, depth - 1, weights) for a in state.actions())
    return best if mover == p else -best


def oracle_values(state, depth, weights):
    return {a: oracle(state.result(a), state.to_move(), depth - 1, weights) for a in state.actions()}


def random_states(variant, count, longest, seed):
    """Positions that are not over, after up to `longest` random moves."""
    rng = random.Random(seed)
    found = []
    while len(found) < count:
        state = games.load(variant).initial_state()
        for _ in range(rng.randint(0, longest)):
            if not state.is_terminal():
                state = state.result(rng.choice(list(state.actions())))
        if not state.is_terminal():
            found.append(state)
    return found


@functools.cache
def reachable_tic_tac_toe():
    """Every position of tic-tac-toe that is not over, and can come about."""
    seen = {}
    waiting = [games.load("tic_tac_toe").initial_state()]
    while waiting:
        state = waiting.pop()
        if state not in seen and not state.is_terminal():
            seen[state] = True
            waiting.extend(state.result(a) for a in state.actions())
    return tuple(seen)


def test_minimax_and_alphabeta_agree_on_tic_tac_toe_to_the_end():
    states = [s for s in reachable_tic_tac_toe() if len(list(s.actions())) <= 6]
    for state in random.Random(1).sample(states, 120):
        expected = oracle_values(state, 9, (0,) * 4)
        assert Minimax().values(state) == expected
        assert AlphaBeta().values(state, 9) == expected


@pytest.mark.parametrize("variant", ["connect_four", "connect_four(rows=5,columns=6,k=4)"])
def test_every_value_equals_the_oracles_on_connect_four(variant):
    for state in random_states(variant, count=6, longest=30, seed=2):
        expected = oracle_values(state, 4, CONNECT_FOUR_WEIGHTS)
        assert Minimax(4, CONNECT_FOUR_WEIGHTS).values(state) == expected
        assert AlphaBeta(4, CONNECT_FOUR_WEIGHTS).values(state, 4) == expected


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_chosen_action_has_the_best_value_and_says_so(depth):
    for seed, state in enumerate(random_states("connect_four", count=8, longest=24, seed=3 + depth)):
        agent = AlphaBeta(depth, CONNECT_FOUR_WEIGHTS, seed=seed)
        chosen = agent.choose(state, Clock(60_000))
        reached = agent.info.depth
        values = oracle_values(state, reached, CONNECT_FOUR_WEIGHTS)
        assert agent.info.value == max(values.values())
        if agent.info.value > -1:
            assert values[chosen] == max(values.values())


def test_the_principal_variation_leads_to_the_value():
    for state in random_states("connect_four", count=8, longest=20, seed=11):
        agent = AlphaBeta(4, CONNECT_FOUR_WEIGHTS, seed=1)
        agent.choose(state, Clock(60_000))
        leaf = state
        for action in agent.info.pv:
            assert action in leaf.actions()
            leaf = leaf.result(action)
        mover = state.to_move()
        value = leaf.utility(mover) if leaf.is_terminal() else cutoff_value(leaf, mover, CONNECT_FOUR_WEIGHTS)
        assert agent.info.value == value


def test_alphabeta_visits_fewer_nodes_than_minimax():
    for state in random_states("connect_four", count=5, longest=10, seed=4):
        full, pruned = Minimax(4), AlphaBeta(4, seed=1)
        full.choose(state, Clock(60_000))
        pruned.choose(state, Clock(60_000))
        if pruned.info.depth == 4:
            assert pruned.info.nodes < full.info.nodes / 2
            assert pruned.info.cutoffs > 0


@pytest.mark.parametrize("depth", [3, 6, 12])
def test_a_player_who_moves_twice_in_a_row_is_no_trouble(pile, depth):
    for stones in range(1, 13):
        state = pile(stones, 0)
        expected = oracle_values(state, depth, ())
        assert Minimax(depth).values(state) == expected
        assert AlphaBeta().values(state, depth) == expected
        agent = AlphaBeta(depth, seed=3)
        agent.choose(state, Clock(60_000))
        assert agent.info.value == max(oracle_values(state, agent.info.depth, ()).values())


def test_the_pile_is_won_by_moving_twice(pile):
    # 6 stones: take two (again), two (again), two. Each other way loses or takes longer.
    agent = AlphaBeta(seed=1)
    state, mover = pile(6, 0), 0
    while not state.is_terminal():
        assert state.to_move() == mover
        state = state.result(agent.choose(state, Clock(60_000)))
    assert state.utility(0) == 1


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("player", [lambda: AlphaBeta(seed=1), lambda: AlphaBeta(9, seed=2)])
def test_perfect_play_never_loses_tic_tac_toe(seat, player):
    game = games.load("tic_tac_toe")
    for seed in range(5):
        agents = [RandomAgent(seed), RandomAgent(seed)]
        agents[seat] = player()
        assert play_match(game, agents).outcomes[seat] != "loss"


def test_minimax_never_loses_tic_tac_toe_as_second():
    game = games.load("tic_tac_toe")
    for seed in range(3):
        moves = [str(random.Random(seed).randrange(9))]
        result = play_match(game, [RandomAgent(seed), Minimax(seed=seed)], moves=moves)
        assert result.outcomes[1] != "loss"


def test_a_win_in_one_is_played_at_once():
    state = Position.start(games.load("connect_four"), moves=["4", "1", "4", "1", "4", "2"]).state
    for seed in range(5):
        assert AlphaBeta(5, seed=seed).choose(state, Clock(60_000)) == 3
        assert Minimax(3, seed=seed).choose(state, Clock(60_000)) == 3


@pytest.mark.parametrize(
    "moves",
    [
        "1 4 3 5 5 7 6 6 6 4 7 1 5 1 4 4 2",
        "2 3 1 6 4 6 7 6 7 3 6 5 2 1 5 4 3 7 2",
        "7 4 3 3 3 1 4 7 7 6 3 3 5 5 5 3 4",
        "2 5 2 5 4 3 6 2 1 2 2 4 7 5 4 2",
    ],
)
def test_a_lost_game_is_held_as_long_as_can_be(moves):
    """Lost in four plies whatever is played, but some replies lose in two."""
    state = Position.start(games.load("connect_four"), moves=moves.split()).state
    soon = oracle_values(state, 2, (0,) * 5)
    assert max(oracle_values(state, 4, (0,) * 5).values()) == -1
    assert min(soon.values()) == -1
    for seed in range(5):
        agent = AlphaBeta(6, seed=seed)
        assert soon[agent.choose(state, Clock(60_000))] > -1
        assert agent.info.value == -1


def test_weights_change_the_play():
    state = games.load("connect_four").initial_state()
    centre = AlphaBeta(1, (0, 0, 1, 0, 0), seed=1).choose(state, Clock(60_000))
    edges = {AlphaBeta(1, (0, 0, 0, 0, 1), seed=seed).choose(state, Clock(60_000)) for seed in range(8)}
    assert centre == 3
    assert edges == {0, 6}


@pytest.mark.parametrize("weights", [(), (1.0,), (1.0,) * 6])
@pytest.mark.parametrize("algorithm", [AlphaBeta, Minimax])
def test_a_wrong_number_of_weights_is_refused_at_the_door(weights, algorithm):
    with pytest.raises(InputError) as refused:
        algorithm(2, weights).choose(games.load("connect_four").initial_state(), Clock(60_000))
    assert refused.value.code == "bad_weights"
    assert "expected 5 weights" in str(refused.value)
    assert "threes" in str(refused.value)


@pytest.mark.parametrize("value", [0.0, 0.5, -2.0, 1e3, -1e12, 1e300])
def test_no_evaluation_looks_like_a_game_won(value):
    assert -1 < squashed(value) < 1
    assert (squashed(value) > 0) == (value > 0)
    assert squashed(value) <= squashed(value + abs(value) + 1)


def test_huge_weights_do_not_hide_a_win():
    state = Position.start(games.load("connect_four"), moves=["4", "1", "4", "1", "4", "2"]).state
    agent = AlphaBeta(3, (1e12, 1e12, -1e12, 1e12, 1e12), seed=1)
    assert agent.choose(state, Clock(60_000)) == 3


def test_deepening_stops_at_the_clock(ticking_timer):
    """Every look at this clock costs 10 ms, so that time, not depth, ends the search."""
    state = games.load("connect_four").initial_state()
    clock = Clock(1_000, timer=ticking_timer)
    agent = AlphaBeta(weights=CONNECT_FOUR_WEIGHTS, seed=1)

    assert agent.choose(state, clock) in state.actions()

    assert agent.info.depth >= 3
    assert 0 < clock.left_ms() <= 150
    assert not agent.info.complete


def test_less_time_means_less_depth(ticking_timer):
    state = games.load("connect_four").initial_state()

    def depth(move_ms):
        agent = AlphaBeta(weights=CONNECT_FOUR_WEIGHTS, seed=1)
        agent.choose(state, Clock(move_ms, timer=ticking_timer))
        return agent.info.depth

    assert depth(100) < depth(1_500)


def test_its_own_time_limit_comes_first(ticking_timer):
    clock = Clock(60_000, timer=ticking_timer)
    AlphaBeta(time_ms=200, seed=1).choose(games.load("connect_four").initial_state(), clock)
    assert 200 <= clock.elapsed_ms() < 400


def test_a_clock_that_has_run_out_still_gets_a_legal_answer(timer):
    state = games.load("connect_four").initial_state()
    clock = Clock(100, timer=timer)
    timer.advance(5_000)
    assert AlphaBeta(seed=1).choose(state, clock) in state.actions()
    assert Minimax(4, seed=1).choose(state, clock) in state.actions()


def test_minimax_stops_at_the_clock_too(ticking_timer):
    state = games.load("connect_four").initial_state()
    clock = Clock(500, timer=ticking_timer)
    assert Minimax(8, seed=1).choose(state, clock) in state.actions()
    assert clock.elapsed_ms() <= 500


def test_a_node_budget_is_kept_and_makes_play_repeatable():
    state = games.load("connect_four").initial_state()

    def play():
        agent = AlphaBeta(weights=CONNECT_FOUR_WEIGHTS, nodes=700, seed=5)
        return agent.choose(state, Clock(600_000)), agent.info.depth, agent.info.nodes

    first = play()
    assert first == play()
    assert first[2] <= 701
    assert first[1] >= 2
