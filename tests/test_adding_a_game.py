"""docs/adding-a-game.md does what it says: its file alone adds a game to a copy of this project."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "adding-a-game.md").read_text("utf-8")
PARTS = ("games", "agents", "server", "migrations", "tests", "pyproject.toml")


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A copy of the project with the page's file in it."""
    folder = tmp_path_factory.mktemp("project")
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__", "data"))
        else:
            shutil.copy(source, folder)
    [code] = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    (folder / "games" / "nim.py").write_text(code, "utf-8")
    return folder


def run(copy: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(copy), "PLYGROUND_CACHE_DIR": str(copy / "cache"), **more}
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=copy,
        env=environ,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def plyground(copy: Path, *words: str) -> str:
    done = run(copy, "server.cli", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_game_is_listed(copy):
    found = {game["name"]: game for game in json.loads(plyground(copy, "games", "--json"))}
    assert found["nim"]["initial_position"] == "3 4 5 x"
    assert found["nim"]["features"] == ["balance"]


def test_the_page_counts_right(copy):
    [depth, count] = re.findall(r"perft nim (\d+) +# (\d+) ways", PAGE)[0]
    assert plyground(copy, "perft", "nim", depth) == f"{count}\n"


def test_it_is_played_by_those_who_search(copy):
    told = plyground(copy, "play", "random", "mcts", "--game", "nim", "--json")
    assert json.loads(told)["game"] == "nim"


def test_it_keeps_what_every_game_must(copy):
    golden = run(copy, "pytest", "-q", "tests/games/test_golden.py", "-k", "nim", PLYGROUND_WRITE_GOLDEN="1")
    assert "1 passed" in golden.stdout, golden.stdout + golden.stderr
    done = run(
        copy, "pytest", "-q", "tests/games/test_conformance.py", "tests/games/test_golden.py", "-k", "nim"
    )
    assert done.returncode == 0, done.stdout
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) > 20


def test_nothing_else_had_to_change(copy):
    """The page names one file, and the copy differs from the project by that one."""
    ours = {path.relative_to(ROOT) for part in PARTS[:4] for path in (ROOT / part).rglob("*.py")}
    theirs = {path.relative_to(copy) for part in PARTS[:4] for path in (copy / part).rglob("*.py")}
    assert theirs - ours == {Path("games/nim.py")}
