"""The first move of a fresh process: alpha-beta at depth 4, its code compiled before and kept on disk.

A process is measured from its start to its answer, with all imports, as a student's first move has it, and
beside it the same process with an empty cache, which compiles.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench.result import Result

ROOT = Path(__file__).parents[1]
GAMES = ("connect_four", "othello")
PROGRAM = """
import sys
import games
from agents.alphabeta import AlphaBeta
from agents.clock import Clock
print(AlphaBeta(4, seed=1).choose(games.load(sys.argv[1]).initial_state(), Clock(600_000)))
"""


def run(*, quick: bool) -> list[Result]:
    """Measure CPU time warm over cold, a row a game."""
    with tempfile.TemporaryDirectory() as warm:
        return [_compare(game, 2 if quick else 7, warm) for game in GAMES]


def _compare(game: str, runs: int, warm: str) -> Result:
    _cpu_ms(game, warm)  # fills the cache
    warm_ms, cold_ms = [], []
    for _ in range(runs):
        warm_ms.append(_cpu_ms(game, warm))
        with tempfile.TemporaryDirectory() as empty:
            cold_ms.append(_cpu_ms(game, empty))
    return Result(
        f"first move of a fresh process, {game}, CPU time from the warm cache over a cold one",
        tuple(quick_ms / slow_ms for quick_ms, slow_ms in zip(warm_ms, cold_ms, strict=True)),
        at_most=True,
        detail=f"{median(warm_ms):.0f} ms with imports against {median(cold_ms):.0f} ms",
    )


def _cpu_ms(game: str, cache: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM, game],
        cwd=ROOT,
        env={**os.environ, "PLYGROUND_CACHE_DIR": cache},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000
