"""Kuhn poker: small enough to check every deal and every betting."""

import contextlib
from itertools import permutations, product

import pytest

import games
from games import CHANCE, InputError, Position
from games.perft import layers, perft

GAME = games.load("kuhn_poker")
BETTINGS = ("", "p", "b", "pb", "pp", "bp", "bb", "pbp", "pbb")
DEALS = list(permutations(range(3), 2))
FINISHED = ("pp", "bp", "bb", "pbp", "pbb")


def after(first: int, second: int, betting: str) -> Position:
    return Position.start(GAME, moves=[f"d{first}", f"d{second}", *betting])


@pytest.mark.parametrize(("first", "second"), DEALS)
def test_chips_won_after_every_betting(first, second):
    better = 1.0 if first > second else -1.0
    won = {"pp": better, "bp": 1.0, "pbp": -1.0, "bb": 2 * better, "pbb": 2 * better}
    for betting in FINISHED:
        position = after(first, second, betting)
        assert position.is_terminal()
        assert position.utilities() == (won[betting], -won[betting])
        assert position.legal() == []


@pytest.mark.parametrize("betting", ["", "p", "b", "pb"])
def test_players_take_turns_until_a_bet_is_answered(betting):
    position = after(2, 0, betting)
    assert not position.is_terminal()
    assert position.to_move() == len(betting) % 2
    assert position.legal() == ["p", "b"]


def test_size_of_the_tree():
    assert [perft(GAME.initial_state(), depth) for depth in range(7)] == [1, 3, 6, 12, 24, 12, 0]
    states = [state for layer in layers(GAME.initial_state()) for state in layer]
    assert len(states) == 1 + 3 + 6 * len(BETTINGS)
    assert sum(state.is_terminal() for state in states) == 6 * len(FINISHED)
    assert len({state.key() for state in states}) == len(states)


def test_deals_are_equally_likely():
    state, chances = GAME.initial_state(), {}
    for first, p_first in state.chance():
        for second, p_second in state.result(first).chance():
            chances[first, second] = p_first * p_second
    assert chances == pytest.approx(dict.fromkeys(DEALS, 1 / 6))


def test_each_player_has_six_information_sets():
    sets: tuple[set[int], set[int]] = (set(), set())
    for layer in layers(GAME.initial_state()):
        for state in layer:
            if not state.is_terminal() and state.to_move() != CHANCE:
                sets[state.to_move()].add(state.information(state.to_move()))
    assert [len(found) for found in sets] == [6, 6]


def test_a_player_cannot_tell_the_other_cards_apart():
    for betting in BETTINGS:
        assert after(1, 0, betting).state.information(0) == after(1, 2, betting).state.information(0)
        assert after(0, 1, betting).state.information(1) == after(2, 1, betting).state.information(1)
        assert after(0, 1, betting).state.information(0) != after(1, 0, betting).state.information(0)


def test_exactly_the_reachable_positions_are_accepted():
    reachable = {GAME.format_position(state) for layer in layers(GAME.initial_state()) for state in layer}
    assert {"--/ *", "1-/ *", "12/ x", "20/pb x", "01/pbb o"} <= reachable
    accepted = set()
    for first, second, betting, side in product("-012?", "-012?", (*BETTINGS, "pbbp", "x"), "xo*"):
        text = f"{first}{second}/{betting} {side}"
        with contextlib.suppress(InputError):
            assert GAME.format_position(GAME.parse_position(text)) == text
            accepted.add(text)
    assert accepted == reachable
    with pytest.raises(InputError, match="two different cards of 0, 1 and 2") as refused:
        GAME.parse_position("11/ x")
    assert refused.value.code == "bad_position"


def test_board_shows_cards_chips_and_the_last_move():
    """Player 0 sits below; the first column is the card, the second the chips."""
    bet = after(2, 0, "pb").board()
    assert bet.pieces == {(1, 0): 0, (1, 1): 0, (0, 0): 1, (0, 1): 1}
    assert bet.cards == {(1, 0): "2", (0, 0): "0"}
    assert bet.counts == {(1, 1): 1, (0, 1): 2}
    assert bet.last == ((0, 1),)
    assert after(2, 0, "pbb").board().counts == {(0, 1): 2, (1, 1): 2}
    assert after(2, 0, "p").board().last == ()
    assert Position.start(GAME, moves=["d2"]).board().last == ((1, 0),)
    assert after(2, 0, "").board().last == ((0, 0),)
    assert Position.start(GAME).board().cards == {}


def test_board_in_a_terminal():
    lines = after(2, 0, "b").board(0).to_text().splitlines()
    assert [line.split() for line in lines] == [["o?", "o1"], ["x2", "[x2]"], ["card", "chips"]]
