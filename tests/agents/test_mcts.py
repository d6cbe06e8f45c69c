"""Monte Carlo tree search: tactics, repeatability, and games that are not a plain exchange of moves."""

import functools
import json
import math
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

import games
from agents.clock import Clock, now_ms
from agents.local import play_match
from agents.mcts import MOST_PLIES, Mcts, draw_outcome
from agents.protocol import MatchStart, TimeControl
from agents.random_agent import RandomAgent
from games import CHANCE, InputError, Position
from games.kernel.jit import COMPILES
from games.protocol import LISTED, compiled, like, u64, word

ROOT = Path(__file__).resolve().parents[2]

# toy games ------------------------------------------------------------------------------------------


class NoFeatures(NamedTuple):
    nothing: int


@compiled
class CoinRow(NamedTuple):
    """Three players take coins from either end of a row, in an order that the row itself gives.

    Four bits a coin and two bits a turn, from the left; a player may well have two turns in a row.
    """

    coins: word
    number: int
    order: word
    turns: int
    taken: word

    def to_move(self) -> int:
        return int(self.order & u64(3))

    def actions(self) -> Iterator[int]:
        if self.turns > 0:
            yield 0
            if self.number > 1:
                yield 1

    def result(self, a: int) -> "CoinRow":
        last = 4 * (self.number - 1)
        coin = self.coins >> last * a & u64(15)
        rest = self.coins & (u64(1) << last) - u64(1) if a == 1 else self.coins >> 4
        taken = self.taken + (coin << 8 * self.to_move())
        return like(self, rest, self.number - 1, self.order >> 2, self.turns - 1, taken)

    def is_terminal(self) -> bool:
        return self.turns == 0

    def utility(self, p: int) -> float:
        return int(self.taken >> 8 * p & u64(255)) / 10 - 1

    def features(self, p: int) -> NoFeatures:
        return NoFeatures(0)

    def key(self) -> int:
        return self.coins

    def players(self) -> int:
        return 3

    def playout_action(self, rng: int) -> int:
        return LISTED


@compiled
class Gamble(NamedTuple):
    """Keep 0.2, or throw a die that wins 1 with the probability of `percent`, else loses 1.

    The die may also stand on its edge, which would win 100, but never does.
    """

    percent: int
    at: int = 0

    def to_move(self) -> int:
        return CHANCE if self.at == 1 else 0

    def actions(self) -> Iterator[int]:
        if self.at == 0:
            yield 0
            yield 1

    def result(self, a: int) -> "Gamble":
        return like(self, self.percent, a if self.at == 1 else a + 2 if a == 0 else 1)

    def is_terminal(self) -> bool:
        return self.at > 1

    def utility(self, p: int) -> float:
        value = 0.2 if self.at == 2 else 1.0 if self.at == 3 else -1.0 if self.at == 4 else 100.0
        return value if p == 0 else -value

    def features(self, p: int) -> NoFeatures:
        return NoFeatures(0)

    def key(self) -> int:
        return u64(self.at)

    def chance(self) -> Iterator[tuple[int, float]]:
        if self.at == 1:
            yield 5, 0.0
            yield 3, self.percent / 100
            yield 4, 1 - self.percent / 100
            yield 6, 0.0


@compiled
class DoubleTurns(NamedTuple):
    """Take one, two or three stones; taking two moves again. Whoever takes the last stone wins."""

    stones: int
    mover: int

    def to_move(self) -> int:
        return self.mover

    def actions(self) -> Iterator[int]:
        for a in range(1, min(3, self.stones) + 1):  # noqa: UP028 - numba knows no `yield from`
            yield a

    def result(self, a: int) -> "DoubleTurns":
        again = a == 2 and self.stones > a
        return like(self, self.stones - a, self.mover if again else 1 - self.mover)

    def is_terminal(self) -> bool:
        return self.stones == 0

    def utility(self, p: int) -> float:
        return -1.0 if p == self.mover else 1.0

    def features(self, p: int) -> NoFeatures:
        return NoFeatures(0)

    def key(self) -> int:
        return u64(self.stones * 2 + self.mover)


@compiled
class Arms(NamedTuple):
    """One choice among a few arms with a known utility each, in tenths; a single one if `number` is 1."""

    number: int
    chosen: int = -1

    def to_move(self) -> int:
        return 1

    def actions(self) -> Iterator[int]:
        if self.chosen < 0:
            for a in range(self.number):  # noqa: UP028
                yield a

    def result(self, a: int) -> "Arms":
        return like(self, self.number, a)

    def is_terminal(self) -> bool:
        return self.chosen >= 0

    def utility(self, p: int) -> float:
        value = (self.chosen * 3 % 7) / 10 + self.chosen / 100
        return value if p == 1 else -value

    def features(self, p: int) -> NoFeatures:
        return NoFeatures(0)

    def key(self) -> int:
        return u64(self.chosen)


@compiled
class Treadmill(NamedTuple):
    """Two can walk for ever; stepping off at once wins."""

    steps: int
    off: int = 0

    def to_move(self) -> int:
        return self.steps & 1

    def actions(self) -> Iterator[int]:
        if self.off == 0:
            yield 0
            if self.steps == 0:
                yield 1

    def result(self, a: int) -> "Treadmill":
        return like(self, self.steps + 1, a)

    def is_terminal(self) -> bool:
        return self.off == 1

    def utility(self, p: int) -> float:
        return 1.0 if p == 0 else -1.0

    def features(self, p: int) -> NoFeatures:
        return NoFeatures(0)

    def key(self) -> int:
        return u64(self.steps)


def coin_row(coins, order):
    """Return the row with these coins; `order` says who takes the first, the second ..."""
    row = sum(coin << 4 * i for i, coin in enumerate(coins))
    turns = sum(int(seat) << 2 * i for i, seat in enumerate(order))
    return CoinRow(row, len(coins), turns, len(order), 0)


def max_n(state):
    """Everybody maximises their own utility: the vector of utilities, with ties to the first action."""
    if state.is_terminal():
        return tuple(state.utility(p) for p in range(state.players()))
    return max((max_n(state.result(a)) for a in state.actions()), key=lambda u: u[state.to_move()])


def choose(state, playouts=400, seed=1, **limits):
    agent = Mcts(playouts, seed=seed, **limits)
    return agent.choose(state, Clock(600_000)), agent.info


def in_plain_python(state, playouts=400, seed=1):
    """The same search as the sources stand: compiled code cannot read this timer."""
    agent = Mcts(playouts, seed=seed)
    return agent.choose(state, Clock(600_000, timer=lambda: 0.0)), agent.info


def after(moves, variant="connect_four"):
    return Position.start(games.load(variant), moves=moves.split()).state


# tactics --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("variant", "moves", "action"),
    [
        ("connect_four", "4 1 4 1 4 2", 3),
        ("connect_four", "2 1 3 1 4 7", 4),
        ("connect_four_three", "1 9 9 2 9 8 3 8 9", 3),
        ("connect_four_three", "9 1 8 9 1 8 9 1 7 8", 0),
        ("tic_tac_toe", "0 3 1 4", 2),
    ],
)
def test_a_win_in_one_is_played(variant, moves, action, seed):
    chosen, info = choose(after(moves, variant), seed=seed)
    assert chosen == action
    assert info.value == 1.0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("variant", "moves", "action"),
    [
        ("connect_four", "4 1 4 1 4", 3),
        ("tic_tac_toe", "0 4 1", 2),
        ("connect_four_three", "9 1 9 8 2 8 9 3 7", 3),
    ],
)
def test_a_loss_in_one_is_blocked(variant, moves, action, seed):
    chosen, info = choose(after(moves, variant), playouts=800, seed=seed)
    assert chosen == action
    assert info.pv[0] == action


@functools.cache
def solved(state):
    """Value of a tic-tac-toe position for the player to move."""
    if state.is_terminal():
        return state.utility(state.to_move())
    return max(-solved(state.result(a)) for a in state.actions())


@pytest.mark.parametrize("seat", [0, 1])
def test_perfect_play_of_tic_tac_toe_wins_nothing_against_it(seat):
    rng = random.Random(5)
    for seed in range(10):
        agent = Mcts(2_000, seed=seed)
        state = games.load("tic_tac_toe").initial_state()
        while not state.is_terminal():
            if state.to_move() == seat:
                action = agent.choose(state, Clock(600_000))
            else:
                best = [a for a in state.actions() if -solved(state.result(a)) == solved(state)]
                action = rng.choice(best)
            state = state.result(action)
        assert state.utility(seat) == 0


def test_more_playouts_beat_random_play():
    game = games.load("connect_four")
    scores = [play_match(game, [Mcts(100, seed=s), RandomAgent(s)]).scores[0] for s in range(6)]
    assert sum(scores) >= 5


@pytest.mark.parametrize("seat", range(3))
def test_it_beats_two_who_play_at_random(seat):
    game = games.load("connect_four_three")
    wins = 0
    for seed in range(4):
        agents = [RandomAgent(10 * seed + other) for other in range(3)]
        agents[seat] = Mcts(200, seed=seed)
        wins += play_match(game, agents).outcomes[seat] == "win"
    assert wins >= 3


def test_what_one_player_gains_another_need_not_lose():
    """With one move left of centipede to take is 128 chips and to pass 64, though both together have more."""
    state = after("pass pass pass pass pass", "centipede")
    chosen, info = choose(state)
    assert chosen == 1
    assert info.value == 128.0


# UCB1 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exploration", [0.0, 0.3, 1.4, 10.0])
def test_actions_are_tried_as_ucb1_says(exploration):
    values = [Arms(6, a).utility(1) for a in range(6)]
    visits = [1] * 6
    for done in range(6, 500):

        def ucb1(a, done=done):
            return values[a] + exploration * math.sqrt(math.log(done) / visits[a])

        visits[max(range(6), key=ucb1)] += 1
    chosen, info = choose(Arms(6), playouts=500, exploration=exploration)
    assert info.visits == dict(enumerate(visits))
    assert chosen == visits.index(max(visits))


def test_the_action_tried_first_is_drawn():
    first = {choose(Arms(6), playouts=1, seed=seed)[0] for seed in range(60)}
    assert first == set(range(6))


# what it reports ------------------------------------------------------------------------------------


def test_a_seed_repeats_a_search_exactly():
    state = after("4 4 3")
    one, same, other = (choose(state, seed=seed) for seed in (7, 7, 8))
    assert one == same
    assert one[1].visits != other[1].visits


def test_a_second_search_in_the_same_memory_is_as_good_as_in_fresh_memory():
    agent, fresh = Mcts(300, seed=7), Mcts(300, seed=7)
    agent.choose(after("4 4 3"), Clock(600_000))
    fresh.choose(after(""), Clock(600_000))
    again = agent.choose(after("4 4"), Clock(600_000)), agent.info
    fresh._run = None
    assert again == (fresh.choose(after("4 4"), Clock(600_000)), fresh.info)


def test_every_playout_is_counted():
    state = after("4")
    _, info = choose(state, playouts=300)
    assert info.playouts == 300
    assert sum(info.visits.values()) == 300
    assert list(info.visits) == list(state.actions())
    assert -1 <= info.value <= 1
    assert info.nodes == 301, "every playout adds a node, in a game that goes on"
    assert info.depth == len(info.pv) <= info.seldepth


def test_the_principal_variation_can_be_played():
    state = after("4 4 3")
    _, info = choose(state, playouts=2_000)
    assert len(info.pv) > 2
    for action in info.pv:
        assert action in state.actions()
        state = state.result(action)


@pytest.mark.parametrize("state", [Arms(1), Arms(6)], ids=["one action", "six"])
def test_one_playout_is_enough_for_an_answer(state):
    chosen, info = choose(state, playouts=1)
    assert chosen in state.actions()
    assert info.visits == {chosen: 1}
    assert info.value == state.result(chosen).utility(1)


def test_a_single_action_is_the_answer():
    assert choose(Arms(1), playouts=50)[0] == 0


# other kinds of games -------------------------------------------------------------------------------

ROWS = [
    ((1, 9, 2, 3, 1, 5), "012012"),
    ((1, 9, 2), "002"),
    ((2, 8, 1, 7, 3), "00121"),
    ((5, 1, 1, 9, 4, 2), "210021"),
    ((3, 7, 1, 6), "1102"),
]


@pytest.mark.parametrize(("coins", "order"), ROWS)
def test_three_players_each_for_themselves(coins, order):
    state = coin_row(coins, order)
    mover = state.to_move()
    best = max_n(state)[mover]
    chosen, _ = choose(state, playouts=3_000)
    assert max_n(state.result(chosen))[mover] == pytest.approx(best)


@pytest.mark.parametrize("mover", [0, 1, 2])
def test_the_value_is_the_utility_of_the_player_to_move(mover):
    state = coin_row((mover + 3, 15), f"{mover}{(mover + 1) % 3}")
    after_left = state.result(0)
    _, info = choose(after_left, playouts=10)
    assert info.value == pytest.approx(0.5)
    _, info = choose(coin_row((mover + 3,), str(mover)), playouts=10)
    assert info.value == pytest.approx((mover + 3) / 10 - 1)


def exact(state, p):
    """Value of a game of two for player `p`, by minimax."""
    if state.is_terminal():
        return state.utility(p)
    mover = state.to_move()
    best = max(exact(state.result(a), mover) for a in state.actions())
    return best if mover == p else -best


@pytest.mark.parametrize("mover", [0, 1])
def test_a_player_who_moves_twice_in_a_row(mover):
    decided = 0
    for stones in range(2, 12):
        state = DoubleTurns(stones, mover)
        values = {a: exact(state.result(a), mover) for a in state.actions()}
        if len(set(values.values())) > 1:
            decided += 1
            assert values[choose(state, playouts=2_000)[0]] == max(values.values())
    assert decided >= 3


@pytest.mark.parametrize(("percent", "throws"), [(90, 1), (30, 0)])
def test_chance_is_averaged_not_chosen(percent, throws):
    assert choose(Gamble(percent), playouts=1_000)[0] == throws


@pytest.mark.parametrize("most_nodes", [1_000, 2], ids=["in the tree", "in playouts"])
@pytest.mark.parametrize("percent", [70, 95, 100])
def test_outcomes_are_drawn_by_their_probabilities(percent, most_nodes):
    _, info = choose(Gamble(percent), playouts=20_000, most_nodes=most_nodes)
    assert info.pv == [1], "the variation ends where chance moves"
    assert info.value == pytest.approx(2 * percent / 100 - 1, abs=0.03)


def test_an_outcome_of_no_probability_is_never_drawn_however_the_others_add_up():
    class Weather:
        def chance(self):
            yield from ((10, 0.0), (11, 0.4), (12, 0.1), (13, 0.4), (14, 0.0))

    memory = SimpleNamespace(random=1)
    drawn = Counter(draw_outcome(Weather(), memory) for _ in range(10_000))
    shares = {outcome: number / 10_000 for outcome, number in drawn.items()}
    assert shares == pytest.approx({(1, 11): 0.4, (2, 12): 0.1, (3, 13): 0.5}, abs=0.02)


def test_a_game_without_end_is_given_up_as_nothing():
    chosen, info = choose(Treadmill(0), playouts=40)
    assert chosen == 1
    _, info = choose(Treadmill(2), playouts=3)
    assert info.value == 0.0


@pytest.mark.skipif(not COMPILES, reason="takes minutes in plain Python")
def test_the_tree_is_never_deeper_than_a_playout():
    _, info = choose(Treadmill(2), playouts=MOST_PLIES + 50)
    assert info.seldepth == MOST_PLIES


# plain Python ---------------------------------------------------------------------------------------

STATES = {
    "connect_four": after("4 4 3"),
    "connect_four, small": after("2 3", "connect_four(rows=4,columns=5,k=3)"),
    "tic_tac_toe": after("4", "tic_tac_toe"),
    "othello": after("", "othello"),
    "othello, small": after("", "othello(size=4)"),
    "coins": coin_row(*ROWS[0]),
    "double turns": DoubleTurns(9, 1),
    "gamble": Gamble(60),
    "arms": Arms(6),
}


@pytest.mark.skipif(not COMPILES, reason="numba is missing or switched off")
@pytest.mark.parametrize("name", STATES)
def test_plain_python_grows_the_same_tree_as_compiled_code(name):
    state = STATES[name]
    playouts = 60 if name == "othello" else 400
    for seed in (1, 2):
        assert in_plain_python(state, playouts, seed) == choose(state, playouts, seed)


PROGRAM = """
import json, sys, games
from agents.clock import Clock
from agents.mcts import Mcts
from games.kernel.jit import COMPILES
agent = Mcts(200, seed=3)
state = games.load(sys.argv[1]).initial_state()
chosen = agent.choose(state, Clock(600_000))
print(json.dumps([COMPILES, chosen, list(agent.info.visits.items()), agent.info.value, agent.info.pv]))
"""


@pytest.mark.parametrize("variant", ["connect_four", "tic_tac_toe"])
def test_the_same_search_with_compilation_switched_off(variant):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, variant],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    compiles, chosen, visits, value, pv = json.loads(run.stdout)
    action, info = choose(after("", variant), playouts=200, seed=3)
    assert not compiles
    assert (chosen, visits, value, pv) == (
        action,
        [list(pair) for pair in info.visits.items()],
        info.value,
        info.pv,
    )


def test_a_state_that_compiled_code_does_not_know_is_searched_in_plain_python(pile):
    decided = 0
    for stones in range(2, 9):
        values = {a: exact(pile(stones, 0).result(a), 0) for a in pile(stones, 0).actions()}
        if len(set(values.values())) > 1:
            decided += 1
            assert values[choose(pile(stones, 0), playouts=1_000)[0]] == max(values.values())
    assert decided >= 2


# limits ---------------------------------------------------------------------------------------------


def test_a_time_limit_ends_a_search_without_another():
    clock = Clock(3_600_000)
    agent = Mcts(None, time_ms=100, seed=1)
    assert agent.choose(after("4"), clock) in after("4").actions()
    assert agent.info.playouts > 0
    assert clock.elapsed_ms() < 60_000, "far from the hour of the match's clock"


def test_the_limit_of_the_move_ends_a_search(ticking_timer):
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
    assert Mcts(None, seed=1).choose(state, Clock(100, started_ms=now_ms() - 1_000)) in state.actions()


@pytest.mark.parametrize("search", ["compiled", "plain"])
def test_a_full_memory_ends_the_growth_not_the_search(search):
    state = after("4 1 4 1 4 2")
    agent = Mcts(500, seed=1, most_nodes=50)
    clock = Clock(600_000) if search == "compiled" else Clock(600_000, timer=lambda: 0.0)
    assert agent.choose(state, clock) == 3
    assert agent.info.playouts == 500
    assert agent.info.nodes < 50 + 7


# refusals -------------------------------------------------------------------------------------------


def refused(code, state):
    with pytest.raises(InputError) as caught:
        choose(state)
    assert caught.value.code == code
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_game_that_is_over_is_refused():
    assert "terminal" in refused("no_choice", after("0 3 1 4 2", "tic_tac_toe"))


def test_a_state_where_chance_moves_is_refused():
    assert "chance" in refused("no_choice", Gamble(50, 1))


def test_hidden_information_is_refused():
    position = Position.start(games.load("kuhn_poker"), moves=["d0", "d1"])
    assert "hidden information" in refused("not_played", position.state)
    assert "hidden information" in refused("not_played", position.observation())


def test_a_state_without_an_action_that_is_not_over_is_refused(pile):
    class Stuck(pile):
        def actions(self):
            yield from ()

    with pytest.raises(ValueError, match="expected a legal action"):
        choose(Stuck(3, 0))


def test_a_match_can_be_prepared_for():
    agent, other = Mcts(100, seed=1), Mcts(100, seed=1)
    control = TimeControl(5_000, margin_ms=200, ready_ms=10_000)
    for one in (agent, other):
        one.match_start(MatchStart(1, "tic_tac_toe", "tic_tac_toe", 0, [], control, "", []))
    state = games.load("tic_tac_toe").initial_state()
    clock = Clock(600_000)
    assert (agent.choose(state, clock), agent.info) == (other.choose(state, clock), other.info)
