"""`plyground warm`, with a folder of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import games

ROOT = Path(games.__file__).parents[1]

FIRST_MOVE = """
import sys
from agents import roster
from agents.clock import Clock
from games import CHANCE, load
from games.kernel.cache import KernelCache
from games.perft import compiled_perft

stored = []
save = KernelCache.save_overload
def note(self, sig, data):
    stored.append(self._function.__name__)
    save(self, sig, data)
KernelCache.save_overload = note
for variant in sys.argv[1:]:
    game = load(variant)
    state = game.initial_state()
    compiled_perft(state, 2)
    while state.to_move() == CHANCE:
        state = state.result(next(iter(state.chance()))[0])
    for agent in roster.entries():
        if agent.plays(game) and not game.hidden:
            roster.build(agent, game, 1).choose(state, Clock(60_000))
print(stored)
"""


def python(folder: Path, *arguments: str, **variables: str) -> str:
    answer = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "PLYGROUND_CACHE_DIR": str(folder), **variables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.mark.deep
def test_after_warm_no_house_agent_compiles_anything(tmp_path):
    (tmp_path / "old.kernel").write_text("what an older version has left")
    rows = json.loads(python(tmp_path, "-m", "server.cli", "warm", "--json"))
    variants = [row["game"] for row in rows]
    assert set(games.names()) < set(variants)
    assert "connect_four(rows=5,columns=6,k=4)" in variants
    assert not (tmp_path / "old.kernel").exists()
    files = sorted(path.name for path in tmp_path.iterdir())
    assert python(tmp_path, "-c", FIRST_MOVE, *variants).strip() == "[]"
    assert sorted(path.name for path in tmp_path.iterdir()) == files


def test_a_process_that_compiles_nothing_leaves_compiled_code_alone(tmp_path):
    kept = tmp_path / "kept.kernel"
    kept.write_text("compiled by another process")
    assert "plain Python" in python(tmp_path, "-m", "server.cli", "warm", NUMBA_DISABLE_JIT="1")
    assert kept.exists()
