"""Random games: our compiled rules beside OpenSpiel's in C++ driven from Python, plies a CPU second.

Both choose uniformly among all legal actions; `playout_action` draws as the searches do, which leaves own
eyes alone in Go.
"""

import importlib
import random
import time
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import games
from bench.result import Result, rate
from games.kernel.jit import native, njit
from games.protocol import CHANCE, LISTED, draw, u64

RUNS = 5
LEAST_S = 0.5
GOAL = 5.0
LEGAL = np.zeros(1 << 10, np.int64)


@dataclass(frozen=True)
class Contest:
    """A game without chance, and the peer's name for it."""

    game: str
    peer: str


CONTESTS = (
    Contest("go", "go(board_size=9)"),
    Contest("go(size=19)", "go(board_size=19)"),
    Contest("hex", "hex(board_size=11)"),
    Contest("chess", "chess"),
    Contest("breakthrough", "breakthrough"),
)


def run(*, quick: bool) -> list[Result]:
    """Measure each game twice; without OpenSpiel say so."""
    try:
        pyspiel = importlib.import_module("pyspiel")
    except ImportError:
        return [Result(_name(contest, False), goal=GOAL, missing="open_spiel") for contest in CONTESTS]
    return [_measured(contest, pyspiel, drawn, quick) for contest in CONTESTS for drawn in (False, True)]


def _name(contest: Contest, drawn: bool) -> str:
    how = "by playout_action" if drawn else "uniform"
    return f"Random games of {contest.game}, {how}, over OpenSpiel's from Python"


def _measured(contest: Contest, pyspiel: ModuleType, drawn: bool, quick: bool) -> Result:
    state = native(games.load(contest.game).initial_state())
    peer_game = pyspiel.load_game(contest.peer)
    least_s = LEAST_S / 10 if quick else LEAST_S
    played(state, 1, drawn, LEGAL)  # compiles it
    ours, theirs = [], []
    for seed in range(2 if quick else RUNS):
        ours.append(_plies_a_second(lambda number: int(played(state, number, drawn, LEGAL)), seed, least_s))
        theirs.append(_plies_a_second(lambda number: _open_spiel(peer_game, number), seed, least_s))
    return Result(
        _name(contest, drawn),
        figures=tuple(own / other for own, other in zip(ours, theirs, strict=True)),
        goal=GOAL,
        detail=f"{rate(ours)} plies/s against {rate(theirs)}",
    )


def _plies_a_second(play: Any, seed: int, least_s: float) -> float:
    """Play games for so much CPU time."""
    plies, number, begun = 0, seed * 1_000_000, time.process_time()
    while True:
        number += 1
        plies += play(number)
        taken = time.process_time() - begun
        if taken > least_s:
            return plies / taken


@njit
def played(state: Any, seed: int, drawn: bool, legal: Any) -> int:
    """Play a random game of a native state to its end; return its plies. `legal` has room for all actions."""
    plies = 0
    random_bits = u64(seed)
    while state.to_move() != CHANCE:
        random_bits = u64(random_bits * u64(6364136223846793005) + u64(1442695040888963407))
        action = state.playout_action(random_bits) if drawn else LISTED
        if action == LISTED:
            number = 0
            for listed in state.actions():
                legal[number] = listed
                number += 1
            if number == 0:
                break
            action = legal[draw(random_bits, 0, number)]
        state = state.result(int(action))
        plies += 1
    return plies


def _open_spiel(game: Any, seed: int) -> int:
    rng, plies, state = random.Random(seed), 0, game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))
        plies += 1
    return plies
