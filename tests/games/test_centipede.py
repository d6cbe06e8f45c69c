"""The centipede game: the table of its payoffs, play by reason, and what is read."""

from itertools import pairwise

import numpy as np
import pytest
from agreement import agrees
from fuzz import check_text, nearly, texts_of
from hypothesis import given

import games
from agents.clock import Clock
from agents.mcts import Mcts
from games import InputError, Position
from games.centipede import Features
from games.perft import layers, perft

GAME = games.load("centipede")
TABLE = {
    4: [(4, 1), (2, 8), (16, 4), (8, 32), (64, 16)],
    6: [(4, 1), (2, 8), (16, 4), (8, 32), (64, 16), (32, 128), (256, 64)],
}
"""Payoffs in dimes for taking at each move, and for passes alone (McKelvey and Palfrey 1992)."""


def of(plies: int) -> games.Game:
    return games.load(f"centipede(plies={plies})")


@pytest.mark.parametrize("plies", TABLE)
def test_payoffs_are_those_of_the_published_games(plies):
    for passes, payoffs in enumerate(TABLE[plies]):
        moves = ["pass"] * passes + ["take"] * (passes < plies)
        position = Position.start(of(plies), moves=moves)
        assert position.is_terminal()
        assert position.utilities() == payoffs
        assert not Position.start(of(plies), moves=moves[:-1]).is_terminal()


def by_reason(state, taken_at):
    """Payoffs of play by backward induction; `taken_at` learns the best action of each state."""
    if state.is_terminal():
        return state.utility(0), state.utility(1)
    values = {action: by_reason(state.result(action), taken_at) for action in state.actions()}
    best = max(value[state.to_move()] for value in values.values())
    (taken_at[state],) = [action for action, value in values.items() if value[state.to_move()] == best]
    return values[taken_at[state]]


@pytest.mark.parametrize("plies", range(2, 13))
def test_the_only_play_by_reason_takes_at_once_everywhere(plies):
    taken_at: dict[object, int] = {}
    assert by_reason(of(plies).initial_state(), taken_at) == (4, 1)
    assert len(taken_at) == plies
    assert set(taken_at.values()) == {1}


@pytest.mark.parametrize("plies", range(2, 13))
def test_both_gain_by_passing_twice_and_nobody_loses_a_chip(plies):
    ends = [
        Position.start(of(plies), moves=["pass"] * passes + ["take"] * (passes < plies)).utilities()
        for passes in range(plies + 1)
    ]
    assert all(min(payoffs) > 0 for payoffs in ends)
    assert all(sum(then) == 2 * sum(before) for before, then in pairwise(ends))
    assert all(
        min(map(float.__sub__, then, before)) > 0 for before, then in zip(ends, ends[2:], strict=False)
    )


def test_tree_search_takes_at_the_last_move():
    state = Position.start(GAME, moves=["pass"] * 5).state
    assert Mcts(200, seed=1).choose(state, Clock(600_000)) == 1


@pytest.mark.parametrize("plies", [2, 6, 7, 12])
def test_there_is_one_path_to_pass_and_one_to_take(plies):
    state = of(plies).initial_state()
    assert [perft(state, depth) for depth in range(plies + 2)] == [1, *[2] * plies, 0]


def test_machine_code_agrees_on_all_positions():
    weights = np.linspace(-0.7, 1.1, len(GAME.feature_names))
    for plies in (5, 6):
        game = of(plies)
        for layer in layers(game.initial_state()):
            for state in layer:
                agrees(Position.start(game, game.format_position(state)), weights)


def test_position_text_tells_the_moves_and_those_left():
    position = Position.start(GAME)
    assert position.text() == "...... x"
    position = position.play("pass").play("pass")
    assert position.text() == "pp.... x"
    assert position.play("take").text() == "ppt... o"
    assert Position.start(GAME, moves=["pass"] * 6).text() == "pppppp x"


@pytest.mark.parametrize(
    "text",
    [
        "...... o",
        "p..... x",
        ".p.... o",
        "t..... x",
        "tp.... x",
        "pt.... o",
        "..... x",
        "....... x",
        "......x",
    ],
)
def test_a_text_that_no_game_reaches_is_refused(text):
    with pytest.raises(InputError, match="6 moves, p for each pass so far") as refusal:
        GAME.parse_position(text)
    assert refusal.value.code == "bad_position"


@given(text=nearly(texts_of("centipede")))
def test_nearly_valid_texts_are_refused_or_read_exactly(text):
    check_text(GAME, text)


@pytest.mark.parametrize("text", ["p", "t", "Take", "pass ", "", "0"])
def test_another_word_is_refused(text):
    with pytest.raises(InputError) as refusal:
        Position.start(GAME).play(text)
    assert refusal.value.available == ("pass", "take")


def test_features_are_the_piles_as_they_lie_and_the_moves_left():
    state = Position.start(GAME, moves=["pass", "pass", "pass"]).state
    assert state.features(1) == Features(own=32, other=8, left=3)
    assert state.features(0) == Features(own=8, other=32, left=3)
    assert state.result(1).features(0) == Features(own=8, other=32, left=0)


def test_board_has_a_pile_before_each_player():
    board = Position.start(GAME, moves=["pass"]).board()
    assert (board.style, board.rows, board.columns) == ("table", 2, 1)
    assert board.pieces == {(1, 0): 0, (0, 0): 1}
    assert board.counts == {(1, 0): 2, (0, 0): 8}
    assert board.last == ((1, 0),)
    assert board.targets == {"take": (0, 0)}
    assert Position.start(GAME, moves=["take"]).board().targets == {}


def test_the_utilities_are_not_zero_sum():
    assert not GAME.zero_sum
    assert not of(4).zero_sum
