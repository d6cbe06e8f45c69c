"""One search, run in many ways: compiled and plain, with and without its parts, within every limit."""

import json
import math
import os
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

import pytest

import games
from agents.alphabeta import AlphaBeta
from agents.clock import Clock
from agents.minimax import Minimax
from agents.ordering import PLIES
from games import InputError, Observation, Position
from games.kernel.jit import COMPILES
from games.protocol import compiled, like, mix, u64

ROOT = Path(__file__).resolve().parents[2]
OFF = {"table": False, "killers": False, "history": False}
SWITCHES = [{}, OFF, *({part: False} for part in OFF), *({**OFF, part: True} for part in OFF)]
needs_numba = pytest.mark.skipif(not COMPILES, reason="plain Python has no compiled search")


def long():
    """A clock that begins to run now, and not when this file is read."""
    return Clock(600_000)


def weights_of(game):
    return [0.03 * (i + 1) * (-1) ** i for i in range(len(game.feature_names))]


def some_states(variant, count, longest, seed):
    """Positions that are not over, after up to `longest` random moves."""
    rng, game, found = random.Random(seed), games.load(variant), []
    while len(found) < count:
        position = Position.start(game)
        for _ in range(rng.randint(0, longest)):
            if not position.is_terminal():
                position = position.play(rng.choice(position.legal()))
        if not position.is_terminal():
            found.append(position)
    return found


# compiled and plain -------------------------------------------------------------------------------------

CASES = [
    ("tic_tac_toe", 6, 4),
    ("connect_four", 4, 20),
    ("connect_four(rows=5,columns=6)", 4, 12),
    ("othello", 3, 40),
]


def searched():
    """All that can be compared of some searches, as JSON."""
    found = []
    for variant, depth, longest in CASES:
        game = games.load(variant)
        for position in some_states(variant, 3, longest, seed=depth):
            for switches in ({}, OFF):
                agent = AlphaBeta(depth, weights_of(game), seed=4, **switches)
                chosen, info = agent.choose(position.state, long()), agent.info
                found.append(
                    [chosen, info.depth, info.seldepth, info.value, info.nodes, info.cutoffs, info.pv]
                )
                found[-1] += [info.table_hits, info.first_move_cutoffs, info.complete]
                values = agent.values(position.state, depth - 1)
                found.append([list(values.items()), agent.info.nodes])
            plain = Minimax(3, weights_of(game), seed=4)
            found.append([list(plain.values(position.state).items()), plain.info.nodes, plain.info.pv])
    return json.loads(json.dumps(found))


@needs_numba
def test_plain_python_searches_the_same_tree_as_compiled_code():
    program = "import json, test_alphabeta_search as t; print(json.dumps(t.searched()))"
    path = os.pathsep.join([str(ROOT), str(Path(__file__).parent)])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert searched() == json.loads(done.stdout)


def test_a_clock_that_is_not_the_machines_is_read_nevertheless(ticking_timer):
    """Compiled code could not: it would search for a minute of the machine's time."""
    agent = AlphaBeta(weights=[0.0] * 5, time_ms=60, seed=1)
    agent.choose(games.load("connect_four").initial_state(), Clock(60_000, timer=ticking_timer))
    assert 1 <= agent.info.depth < 10


# the parts change no value ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "depth", "longest"), [("tic_tac_toe", 9, 5), ("connect_four", 7, 30), ("othello", 5, 56)]
)
def test_no_part_changes_the_value_of_the_root_or_of_any_move(variant, depth, longest):
    game = games.load(variant)
    for position in some_states(variant, 6, longest, seed=8):
        found = []
        for switches in SWITCHES:
            agent = AlphaBeta(depth, weights_of(game), seed=1, **switches)
            agent.choose(position.state, long())
            found.append((agent.info.depth, agent.info.value, agent.values(position.state, depth)))
        assert all(one == found[0] for one in found), position.text()


def test_each_part_saves_nodes_and_the_table_says_so():
    state, nodes = games.load("connect_four").initial_state(), {}
    for switches in SWITCHES:
        agent = AlphaBeta(8, (0.1, 0.02, 0.03, 0.01, -0.01), seed=1, **switches)
        agent.choose(state, long())
        assert (agent.info.table_hits > 0) == switches.get("table", True)
        nodes[tuple(part for part in OFF if switches.get(part, True))] = agent.info.nodes
    for part in OFF:
        assert nodes[part,] < 0.8 * nodes[()]
    assert 4 * nodes[tuple(OFF)] < nodes[()]


SOLVED = {
    "65154746446147": 9,
    "567336766157613624": 9,
    "271366617214563221": 9,
    "2257642236576372274541": 4,
    "25771263222725744151651551": 5,
    "274471256475276644726621237654": 2,
}
"""Won connect-four positions and their scores: 22 less the stones of the winner at the end."""


@pytest.mark.parametrize("columns", SOLVED)
def test_the_fastest_win_is_found_and_played_to_the_end_against_the_longest_resistance(columns):
    """Distances counted from the root would lead astray where the table meets a position at another ply."""
    position = Position.start(games.load("connect_four"), None, columns)
    plies = 2 * (22 - SOLVED[columns] - len(columns) // 2) - 1
    for left in range(plies, 0, -1):
        agent = AlphaBeta(seed=left)
        action = agent.choose(position.state, long())
        assert (agent.info.depth, agent.info.value) == (left, 1 if left % 2 else -1)
        position = position.play(position.game.format_action(position.state, action))
    assert position.is_terminal()


class Steps(NamedTuple):
    """How far it is."""

    steps: int


@compiled
class Walk(NamedTuple):
    """Walk on by 0, 1 or 2 steps; two move again. Positions come up again at other plies, and for ever.

    It is over after 7 steps, and whoever set the last wins 3, as in a backgammon.
    """

    steps: int
    mover: int

    goal = 7  # type: ignore[misc]

    def to_move(self):
        return self.mover

    def actions(self):
        if self.steps < self.goal:
            for step in range(3):  # noqa: UP028 - numba knows no `yield from`
                yield step

    def result(self, a):
        steps = min(self.steps + a, self.goal)
        again = a == 2 and steps < self.goal
        return like(self, steps, self.mover if again else 1 - self.mover)

    def is_terminal(self):
        return self.steps >= self.goal

    def utility(self, p):
        return -3.0 if p == self.mover else 3.0

    def features(self, p):
        return Steps(self.steps if p == self.mover else -self.steps)

    def key(self):
        return mix(u64(2 * self.steps + self.mover))


@pytest.mark.parametrize("depth", range(1, 11))
@pytest.mark.parametrize("switches", SWITCHES)
def test_positions_that_come_up_again_and_utilities_beyond_one(depth, switches):
    for steps in range(7):
        state, weights = Walk(steps, steps % 2), (0.1,)
        expected = Minimax(depth, weights).values(state)
        agent = AlphaBeta(depth, weights, seed=1, **switches)
        assert agent.values(state, depth) == expected
        agent.choose(state, long())
        assert agent.info.value == max(Minimax(agent.info.depth, weights).values(state).values())


def test_a_small_win_now_does_not_hide_behind_a_loss():
    """All is lost here, but not equally: 3 points against 1 decide what is played."""
    expected = Minimax(8, (0.1,)).values(Walk(4, 0))
    agent = AlphaBeta(8, (0.1,), seed=1)
    chosen = agent.choose(Walk(4, 0), long())
    assert expected[chosen] == max(expected.values())


# limits -------------------------------------------------------------------------------------------------


def in_a_thread(work):
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("make", [lambda: AlphaBeta(seed=1, nodes=3_000_000), Minimax])
def test_the_deepest_search_overflows_no_stack_in_a_thread_either(make):
    """Waiting alone would go on for ever in this game; a search ends at the last ply it may have."""
    single = Wait(0)
    agent = make()

    chosen = in_a_thread(lambda: agent.choose(single, long()))

    assert chosen == 0
    assert agent.info.seldepth in {PLIES - 1, PLIES}
    assert not agent.info.complete


def test_no_depth_asked_for_goes_beyond_the_last_ply():
    agent = AlphaBeta()
    assert in_a_thread(lambda: agent.values(Wait(0), 3_000)) == {0: 0.0}
    assert agent.info.seldepth == PLIES - 1


@compiled
class Wait(NamedTuple):
    """Nothing can be done but to wait."""

    mover: int

    def to_move(self):
        return self.mover

    def actions(self):
        yield 0

    def result(self, a):
        return like(self, 1 - self.mover + a)

    def is_terminal(self):
        return self.mover < 0

    def utility(self, p):
        return 0.0 * p

    def features(self, p):
        return Steps(p)

    def key(self):
        return mix(u64(self.mover))


@needs_numba
def test_the_clock_ends_a_compiled_search_in_mid_iteration():
    agent = AlphaBeta(weights=[0.1] * 5, time_ms=30, seed=1)
    state = games.load("connect_four").initial_state()
    assert agent.choose(state, Clock(60_000)) in state.actions()
    assert 1 <= agent.info.depth < 40
    assert agent.info.nodes > 1024
    assert not agent.info.complete


@pytest.mark.parametrize("nodes", [1, 50, 1_000, 40_000])
def test_a_budget_of_nodes_is_kept_by_compiled_code(nodes):
    state = games.load("othello").initial_state()
    runs = []
    for _ in range(2):
        agent = AlphaBeta(weights=[0.1] * len(state.features(0)), nodes=nodes, seed=6)
        runs.append((agent.choose(state, long()), agent.info.depth, agent.info.nodes, agent.info.pv))
    assert runs[0] == runs[1]
    assert runs[0][2] <= nodes + 1


@pytest.mark.parametrize("variant", ["tic_tac_toe", "connect_four", "othello"])
def test_the_seed_decides_among_equals(variant):
    state = games.load(variant).initial_state()
    found = [AlphaBeta(2, seed=seed).choose(state, long()) for seed in range(12) for _ in range(2)]
    assert found[::2] == found[1::2]
    assert len(set(found)) > 1


# games that it would play wrong -------------------------------------------------------------------------


@pytest.mark.parametrize("make", [AlphaBeta, Minimax])
def test_chance_and_hidden_information_are_refused(make):
    kuhn = games.load("kuhn_poker")
    dealt = kuhn.initial_state().result(0).result(1)
    seen = Observation(kuhn, 0, "d0", ["p", "b"])
    for state in (kuhn.initial_state(), dealt, seen):
        with pytest.raises(InputError, match="two players without chance or hidden information") as refused:
            make(2).choose(state, long())
        assert refused.value.code == "not_played"


@pytest.mark.parametrize("make", [AlphaBeta, Minimax])
def test_a_third_player_is_refused(make, pile):
    class Three(pile):
        def players(self):
            return 3

    with pytest.raises(InputError, match="3 players"):
        make(2).choose(Three(5, 0), long())


@pytest.mark.parametrize("weight", [math.nan, math.inf, -1e101])
@pytest.mark.parametrize("make", [AlphaBeta, Minimax])
def test_weights_that_are_no_sensible_numbers_are_refused(make, weight):
    with pytest.raises(InputError, match="weights of at most"):
        make(1, (weight, 0, 0, 0, 0)).choose(games.load("connect_four").initial_state(), long())


# info ---------------------------------------------------------------------------------------------------


def test_info_tells_what_the_search_did():
    game = games.load("connect_four")
    agent = AlphaBeta(7, (0.1, 0.02, 0.03, 0.01, -0.01), seed=1)
    agent.choose(game.initial_state(), long())
    told = agent.info.to_json(game, game.initial_state())
    assert told["depth"] == told["seldepth"] == len(told["pv"]) == len(told["ms_by_depth"]) == 7
    assert told["table_hits"] > 0
    assert 0.5 < told["first_move_cutoffs"] <= 1
    assert 1 < told["branching_factor"] < 7
