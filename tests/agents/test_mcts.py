"""Monte Carlo tree search: tactics, repeatability, and games that are not a plain exchange of moves."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

import games
from agents.clock import Clock
from agents.local import play_match
from agents.mcts import Mcts
from agents.random_agent import RandomAgent
from games import CHANCE, Position


class Row(NamedTuple):
    """Three players take coins from either end of a row, in an order that the row itself gives.

    `order` lists who moves, one digit a turn; a player may well have two turns in a row.
    """

    coins: tuple[int, ...]
    order: str
    taken: tuple[int, int, int] = (0, 0, 0)

    def to_move(self) -> int:
        return int(self.order[0]) if self.order else 0

    def actions(self) -> Iterator[int]:
        yield 0
        if len(self.coins) > 1:
            yield 1

    def result(self, a: int) -> "Row":
        coin, rest = (self.coins[0], self.coins[1:]) if a == 0 else (self.coins[-1], self.coins[:-1])
        mover = self.to_move()
        taken = tuple(had + coin * (p == mover) for p, had in enumerate(self.taken))
        return Row(rest, self.order[1:], taken)

    def is_terminal(self) -> bool:
        return not self.order

    def utility(self, p: int) -> float:
        return self.taken[p] / 10 - 1


def max_n(state):
    """Everybody maximises their own utility: the vector of utilities, with ties to the first action."""
    if state.is_terminal():
        return tuple(state.utility(p) for p in range(3))
    return max((max_n(state.result(a)) for a in state.actions()), key=lambda u: u[state.to_move()])


class Gamble(NamedTuple):
    """Keep 0.2, or throw a die that wins 1 with the probability of `chance_percent`, else loses 1."""

    chance_percent: int
    at: str = "choice"

    def to_move(self) -> int:
        return CHANCE if self.at == "die" else 0

    def actions(self) -> Iterator[int]:
        yield from (0, 1)

    def result(self, a: int) -> "Gamble":
        if self.at == "die":
            return Gamble(self.chance_percent, "won" if a else "lost")
        return Gamble(self.chance_percent, "die" if a else "kept")

    def is_terminal(self) -> bool:
        return self.at not in ("choice", "die")

    def utility(self, p: int) -> float:
        return {"won": 1.0, "lost": -1.0, "kept": 0.2}[self.at]

    def chance(self) -> Iterator[tuple[int, float]]:
        yield 1, self.chance_percent / 100
        yield 0, 1 - self.chance_percent / 100


def choose(state, playouts=400, seed=1):
    agent = Mcts(playouts, seed=seed)
    return agent.choose(state, Clock(600_000)), agent.info


def after(moves, variant="connect_four"):
    return Position.start(games.load(variant), moves=moves.split()).state


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("variant", "moves", "action"),
    [
        ("connect_four", "4 1 4 1 4 2", 3),
        ("connect_four", "2 1 3 1 4 7", 4),
        ("tic_tac_toe", "0 3 1 4", 2),
    ],
)
def test_a_win_in_one_is_played(variant, moves, action, seed):
    assert choose(after(moves, variant), seed=seed)[0] == action


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("variant", "moves", "action"),
    [("connect_four", "4 1 4 1 4", 3), ("tic_tac_toe", "0 4 1", 2)],
)
def test_a_loss_in_one_is_blocked(variant, moves, action, seed):
    assert choose(after(moves, variant), playouts=800, seed=seed)[0] == action


def test_a_seed_repeats_a_search_exactly():
    state = after("4 4 3")
    one, same, other = (choose(state, seed=seed) for seed in (7, 7, 8))
    assert one == same
    assert one[1].visits != other[1].visits


def test_every_playout_is_counted():
    state = after("4")
    _, info = choose(state, playouts=300)
    assert info.playouts == 300
    assert sum(info.visits.values()) == 300
    assert set(info.visits) == set(state.actions())
    assert -1 <= info.value <= 1
    assert info.nodes <= 301


@pytest.mark.parametrize(
    ("coins", "order"),
    [
        ((1, 9, 2, 3, 1, 5), "012012"),
        ((1, 9, 2), "002"),
        ((2, 8, 1, 7, 3), "00121"),
        ((5, 1, 1, 9, 4, 2), "210021"),
        ((3, 7, 1, 6), "1102"),
    ],
)
def test_three_players_each_for_themselves(coins, order):
    state = Row(coins, order)
    mover = state.to_move()
    best = max_n(state)[mover]
    chosen, _ = choose(state, playouts=3_000)
    assert max_n(state.result(chosen))[mover] == pytest.approx(best)


def test_a_player_who_moves_twice_in_a_row(pile):
    def value(state, p):
        if state.is_terminal():
            return state.utility(p)
        mover = state.to_move()
        best = max(value(state.result(a), mover) for a in state.actions())
        return best if mover == p else -best

    decided = 0
    for stones in range(2, 10):
        state = pile(stones, 0)
        values = {a: value(state.result(a), 0) for a in state.actions()}
        if len(set(values.values())) > 1:
            decided += 1
            assert values[choose(state, playouts=1_500)[0]] == max(values.values())
    assert decided >= 3


@pytest.mark.parametrize(("chance_percent", "throws"), [(90, 1), (30, 0)])
def test_chance_is_averaged_not_chosen(chance_percent, throws):
    assert choose(Gamble(chance_percent), playouts=1_000)[0] == throws


def test_more_playouts_beat_random_play():
    game = games.load("connect_four")
    scores = [play_match(game, [Mcts(100, seed=s), RandomAgent(s)]).scores[0] for s in range(6)]
    assert sum(scores) >= 5


def test_the_clock_ends_the_search(ticking_timer):
    state = after("4")
    agent = Mcts(None, seed=1)
    clock = Clock(1_000, timer=ticking_timer)
    assert agent.choose(state, clock) in state.actions()
    assert agent.info.playouts > 0
    assert 0 < clock.left_ms() <= 150


def test_a_clock_that_has_run_out_still_gets_a_legal_answer(timer):
    state = after("4")
    clock = Clock(100, timer=timer)
    timer.advance(1_000)
    assert Mcts(None, seed=1).choose(state, clock) in state.actions()
