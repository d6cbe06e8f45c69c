"""Our UCT against OpenSpiel's in C++: simulations per second of CPU time, from the same positions.

Both play one random game a simulation, with the same constant of UCB1, and prove nothing (`solve=False`).
"""

import importlib
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import games
from agents.clock import Clock
from agents.mcts import Mcts
from bench.result import Result
from games import Game, State

EXPLORATION = 1.4
RUNS = 7
PEER_MEGABYTES = 1_000
LONG_MS = 3_600_000


@dataclass(frozen=True)
class Contest:
    """A game, the plies after which its positions are taken, the simulations from each, and the goal."""

    game: str
    plies: tuple[int, ...]
    simulations: int
    goal: float


CONTESTS = (
    Contest("connect_four", (0, 6, 12), 10_000, 15.0),
    Contest("othello", (0, 10, 20), 2_000, 50.0),
    Contest("tic_tac_toe", (0, 1, 2), 10_000, 2.5),
)


def run(*, quick: bool) -> list[Result]:
    """Measure each game; without OpenSpiel say so."""
    try:
        pyspiel = importlib.import_module("pyspiel")
    except ImportError:
        return [Result(_name(contest), goal=contest.goal, missing="open_spiel") for contest in CONTESTS]
    return [_measured(contest, pyspiel, quick) for contest in CONTESTS]


def _name(contest: Contest) -> str:
    return f"UCT on {contest.game}, over OpenSpiel's C++ MCTSBot"


def _measured(contest: Contest, pyspiel: ModuleType, quick: bool) -> Result:
    simulations = contest.simulations // 10 if quick else contest.simulations
    game, peer_game = games.load(contest.game), pyspiel.load_game(contest.game)
    positions = [_position(game, peer_game, plies) for plies in contest.plies]
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    bot = pyspiel.MCTSBot(peer_game, evaluator, EXPLORATION, simulations, PEER_MEGABYTES, False, 1, False)
    agent = Mcts(simulations, exploration=EXPLORATION, seed=1)
    agent.choose(positions[0][0], Clock(LONG_MS))  # compiles it
    ours, theirs = [], []
    for _ in range(2 if quick else RUNS):
        ours.append(_cpu_s(lambda state, _: agent.choose(state, Clock(LONG_MS)), positions))
        theirs.append(_cpu_s(lambda _, state: bot.step(state), positions))
    done = simulations * len(positions)
    return Result(
        _name(contest),
        figures=tuple(peer / own for own, peer in zip(ours, theirs, strict=True)),
        goal=contest.goal,
        detail=f"{_rate(done, ours)} simulations/s against {_rate(done, theirs)}",
    )


def _position(game: Game, peer_game: Any, plies: int) -> tuple[State, Any]:
    """Play some random actions in both. Raises ValueError where they differ in what is legal."""
    rng = random.Random(plies)
    state, peer_state = game.initial_state(), peer_game.new_initial_state()
    for _ in range(plies):
        actions = list(state.actions())
        if actions != sorted(peer_state.legal_actions()):
            raise ValueError(
                f"{game.name}: expected {actions}, got {peer_state.legal_actions()} in {peer_state}"
            )
        action = rng.choice([a for a in actions if not state.result(a).is_terminal()])
        state = state.result(action)
        peer_state.apply_action(action)
    return state, peer_state


def _cpu_s(search: Callable[[State, Any], object], positions: list[tuple[State, Any]]) -> float:
    begun = time.process_time()
    for state, peer_state in positions:
        search(state, peer_state)
    return time.process_time() - begun


def _rate(done: int, cpu_s: list[float]) -> str:
    rate = done / statistics.median(cpu_s)
    return f"{rate / 1e6:.2f} M" if rate >= 1e6 else f"{rate / 1e3:.1f} k"
