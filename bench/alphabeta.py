"""Alpha-beta on connect four over the same search written in C by hand: the identical tree, node by node.

CPU time of the search alone, medians of interleaved runs. C is compiled with -O3 -march=native, because numba
compiles for the machine it runs on, too.
"""

import ctypes
import math
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import games
from agents.alphabeta import value
from agents.clock import Clock
from agents.scratch import Scratch
from bench.result import Result
from games import State

SOURCE = Path(__file__).with_name("alphabeta_twin.c")
COMPILER = "gcc"
WEIGHTS = (0.1, 0.02, 0.03, 0.01, -0.01)
MOVES = ("", "4 4 3", "1 7 4 4 2 6")
GOAL = 0.60

PLAIN = "alpha-beta on connect four, identical tree, over a C -O3 twin"
FULL = "the same with transposition table, killers and history, over its twin"

Search = Callable[[State, int], tuple[float, int]]
"""Search a state to a depth: its value and the number of nodes."""


def run(*, quick: bool) -> list[Result]:
    """Measure both pairs."""
    if shutil.which(COMPILER) is None:
        return [Result(name, goal=GOAL, missing=COMPILER) for name in (PLAIN, FULL)]
    runs = 2 if quick else 7
    with tempfile.TemporaryDirectory() as folder:
        library = _compiled(Path(folder))
        return [
            _compare(PLAIN, our_plain, _twin(library.plain_search), 8 if quick else 10, runs),
            _compare(FULL, our_full, _twin(library.full_search), 10 if quick else 13, runs),
        ]


def our_plain(state: State, depth: int) -> tuple[float, int]:
    """Alpha-beta alone, to the depth at once."""
    scratch = Scratch(state, WEIGHTS, Clock(0), table=False, killers=False, history=False)
    return _search(scratch, state, depth), int(scratch.memory.nodes)


def our_full(state: State, depth: int) -> tuple[float, int]:
    """Deepen iteratively with all that the agent has."""
    scratch = Scratch(state, WEIGHTS, Clock(0), table=True, killers=True, history=True)
    found = 0.0
    for reached in range(1, depth + 1):
        found = _search(scratch, state, reached)
    return found, int(scratch.memory.nodes)


def _search(scratch: Scratch, state: State, depth: int) -> float:
    root = scratch.native(state)
    return float(value(root, state.to_move(), depth, -math.inf, math.inf, 0, 0, scratch.memory))


def _compiled(folder: Path) -> ctypes.CDLL:
    target = folder / "twin.so"
    exact = "-ffp-contract=off"  # a fused multiply-add rounds otherwise, and the tree is another one
    options = ["-O3", "-march=native", exact, "-shared", "-fPIC", "-o", str(target), str(SOURCE), "-lm"]
    subprocess.run([COMPILER, *options], check=True)  # noqa: S603 - our own file
    return ctypes.CDLL(str(target))


def _twin(function: Any) -> Search:
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    weights = (ctypes.c_double * len(WEIGHTS))(*WEIGHTS)

    def search(state: Any, depth: int) -> tuple[float, int]:
        nodes = ctypes.c_int64()
        found = function(state.me, state.mask, depth, weights, ctypes.byref(nodes))
        return found, nodes.value

    return search


def _compare(name: str, ours: Search, twin: Search, depth: int, runs: int) -> Result:
    states = [games.Position.start(games.load("connect_four"), moves=moves.split()).state for moves in MOVES]
    nodes = 0
    for state in states:  # the first search compiles, or loads what is compiled
        mine, theirs = ours(state, depth), twin(state, depth)
        if mine != theirs:
            raise ValueError(f"{name}: not the identical tree, (value, nodes) {mine} and {theirs}")
        nodes += mine[1]
    pairs = [(_seconds(ours, states, depth), _seconds(twin, states, depth)) for _ in range(runs)]
    speeds = [nodes / median(side) / 1e6 for side in zip(*pairs, strict=True)]
    return Result(
        name,
        tuple(their_s / our_s for our_s, their_s in pairs),
        goal=GOAL,
        detail=f"{speeds[0]:.1f} M nodes/s against {speeds[1]:.1f} M; {nodes / 1e6:.1f} M nodes",
    )


def _seconds(search: Search, states: list[State], depth: int) -> float:
    started = time.process_time()
    for state in states:
        search(state, depth)
    return time.process_time() - started
