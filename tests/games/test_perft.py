"""Counting paths: merged states lose none, finished games count nowhere."""

import pytest

import games
from games import InputError, Position, State
from games.kernel.counting import count_paths, count_turns
from games.kernel.jit import native
from games.perft import COMPILED_PLIES, divide, layers, merged_perft, perft
from games.protocol import takes_turns


def plain_perft(state: State, depth: int) -> int:
    if depth == 0:
        return 1
    actions = (*state.actions(), *(outcome for outcome, _ in state.chance()))
    return sum(plain_perft(state.result(action), depth - 1) for action in actions)


@pytest.mark.parametrize("variant", [*games.names(), "connect_four(rows=3,columns=3,k=3)", "othello(size=4)"])
def test_merging_equal_states_loses_no_path(variant):
    state = games.load(variant).initial_state()
    for depth in range(6):
        paths = plain_perft(state, depth)
        assert perft(state, depth) == merged_perft(state, depth) == paths
        if paths > 5_000:
            break


@pytest.mark.parametrize("variant", [*games.names(), "connect_four(rows=3,columns=3,k=3)", "othello(size=4)"])
def test_machine_code_counts_the_same_paths(variant):
    state = games.load(variant).initial_state()
    count = count_turns if takes_turns(type(state)) else count_paths
    for depth in range(1, COMPILED_PLIES + 2):
        paths = merged_perft(state, depth)
        assert count(native(state), depth) == perft(state, depth) == paths
        if paths > 100_000:
            break


def test_chance_outcomes_are_plies():
    game = games.load("kuhn_poker")
    assert divide(game, game.initial_state(), 3) == {"d0": 4, "d1": 4, "d2": 4}
    assert divide(game, Position.start(game, moves=["d1"]).state, 3) == {"d0": 4, "d2": 4}


def test_from_a_later_position():
    state = Position.start(games.load("connect_four"), None, "44352").state
    assert perft(state, 4) == plain_perft(state, 4)


def test_finished_games_count_nowhere():
    over = Position.start(games.load("tic_tac_toe"), None, "03142").state
    assert perft(over, 0) == 1
    assert perft(over, 1) == 0
    assert perft(games.load("tic_tac_toe").initial_state(), 10) == 0
    assert perft(games.load("tic_tac_toe").initial_state(), 10**9) == 0


def test_divide_splits_by_first_action():
    game = games.load("connect_four")
    state = Position.start(game, None, "111111").state
    parts = divide(game, state, 4)
    assert list(parts) == ["2", "3", "4", "5", "6", "7"]
    assert sum(parts.values()) == perft(state, 4)
    assert parts["4"] == plain_perft(state.result(3), 3)


def test_layers_count_paths():
    first, second, third, *_ = layers(games.load("tic_tac_toe").initial_state())
    assert [layer.total() for layer in (first, second, third)] == [1, 9, 72]


def test_depth_out_of_range_is_refused():
    game = games.load("tic_tac_toe")
    with pytest.raises(InputError, match="a depth of 0 or more, got -1"):
        perft(game.initial_state(), -1)
    with pytest.raises(InputError, match="a depth of 1 or more to divide, got 0"):
        divide(game, game.initial_state(), 0)
