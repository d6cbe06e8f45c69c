"""The cache of compiled code: right, or not used. Every test runs processes of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import games

PATHS = 54_720 + 1_440
"""Games of tic-tac-toe of six plies, and those over after five."""

SOURCES = Path(games.__file__).parent

PROGRAM = '''
"""A search outside the games' folder."""

import sys

from games.kernel.jit import native, njit
from games.tic_tac_toe import start


@njit
def count(s, depth):
    if depth == 0 or s.is_terminal():
        return 1
    n = 0
    for a in s.actions():
        n += count(s.result(a), depth - 1)
    return n


def main():
    print(count(native(start()), 6), count._cache.loaded, count._cache.stored)
'''


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with a copy of games/ and a search of its own."""
    shutil.copytree(SOURCES, tmp_path / "games", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "search.py").write_text(PROGRAM)
    return tmp_path


def run(folder: Path, code: str = "import search; search.main()", **variables: str) -> list[int]:
    """Run a program there; return the numbers it prints: paths, loaded, stored."""
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"PLYGROUND_CACHE_DIR": str(folder / "kernels"), **os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return [int(number) for number in answer.stdout.split()]


def test_second_process_compiles_nothing(copy):
    assert run(copy) == [PATHS, 0, 1]
    assert run(copy) == [PATHS, 1, 0]


def test_trap_2_changed_rules_are_noticed(copy):
    before = run(copy)
    rules = copy / "games" / "tic_tac_toe.py"
    text = rules.read_text()
    diagonal = "    u64(0b100_010_001),\n"
    assert diagonal in text
    stat = rules.stat()
    rules.write_text(text.replace(diagonal, ""))
    os.utime(rules, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # time stamps prove nothing
    after = run(copy)
    assert after[0] != before[0]
    assert after[1:] == [0, 1]


def test_changed_search_is_noticed(copy):
    run(copy)
    (copy / "search.py").write_text(PROGRAM.replace("return 1", "return 2"))
    assert run(copy) == [2 * PATHS, 0, 1]


def test_damaged_file_is_compiled_anew(copy):
    run(copy)
    [file] = (copy / "kernels").iterdir()
    whole = file.read_bytes()
    for damaged in (b"", b"\x80garbage", whole[: len(whole) // 2], whole[:-1] + bytes([whole[-1] ^ 1])):
        file.write_bytes(damaged)
        assert run(copy) == [PATHS, 0, 1]
    assert run(copy) == [PATHS, 1, 0]


def test_missing_folder_that_cannot_be_made_is_no_error(copy):
    (copy / "file").write_text("")
    assert run(copy, PLYGROUND_CACHE_DIR=str(copy / "file" / "kernels")) == [PATHS, 0, 0]


AS_NOBODY = """
import os, sys
import search
from games.kernel.jit import njit
njit(lambda x: x + 1)(1)  # numba imports some of itself at the first compilation
if os.geteuid() == 0:
    os.seteuid(65534)  # root writes wherever it likes
search.main()
"""


def test_trap_2_warm_read_only_folder_is_used_and_empty_one_is_no_error(copy, reachable_tmp_path):
    run(copy)
    kernels = copy / "kernels"
    kernels.chmod(0o555)
    try:
        assert run(copy, AS_NOBODY) == [PATHS, 1, 0]
        [file] = kernels.iterdir()
        kernels.chmod(0o755)
        file.unlink()
        kernels.chmod(0o555)
        assert run(copy, AS_NOBODY) == [PATHS, 0, 0]
        assert list(kernels.iterdir()) == []
    finally:
        kernels.chmod(0o755)


def test_trap_4_game_that_is_gone_breaks_no_other(copy):
    other = (copy / "games" / "tic_tac_toe.py").read_text().replace("TicTacToe", "OtherGame")
    (copy / "other.py").write_text(other)
    both = (
        "import search, other\nfrom games.kernel.jit import native\nsearch.count(native(other.start()), 2)\n"
    )
    assert run(copy, both + "search.main()") == [PATHS, 0, 2]
    (copy / "other.py").unlink()
    assert run(copy) == [PATHS, 1, 0]


def test_trap_5_code_warmed_for_a_common_cpu_is_used_on_any(copy):
    common = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""}
    if "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this CPU is no x86-64-v3")
    assert run(copy, **common) == [PATHS, 0, 1]
    assert run(copy, **common) == [PATHS, 1, 0]
    assert run(copy)[1:] == [0, 1]  # the host's own name is another key


def test_trap_6_class_of_the_program_itself_is_not_stored(copy):
    program = (copy / "games" / "tic_tac_toe.py").read_text().replace("TicTacToe", "MainGame")
    program += "\nimport search\nfrom games.kernel.jit import native\n"
    program += (
        "print(search.count(native(start()), 6), search.count._cache.loaded, search.count._cache.stored)\n"
    )
    assert run(copy, program) == [PATHS, 0, 0]
    assert run(copy, program) == [PATHS, 0, 0]


def test_variant_made_in_another_process_is_found(copy):
    program = (
        "import games, search\nfrom games.kernel.jit import native\n"
        "state = games.load('connect_four(rows=4,columns=5,k=4)').initial_state()\n"
        "print(search.count(native(state), 5), search.count._cache.loaded, search.count._cache.stored)\n"
    )
    assert run(copy, program) == [5**4 * 5 - 5, 0, 1]  # a full column is no action
    assert run(copy, program) == [5**4 * 5 - 5, 1, 0]


def test_class_of_a_variant_is_made_when_asked_for_by_name(copy):
    program = "import pickle\nfrom games.connect_four import board_class\n"
    store = program + "open('class', 'wb').write(pickle.dumps(board_class(4, 5, 4)))"
    run(copy, store)
    read = (
        "import pickle; cls = pickle.loads(open('class', 'rb').read()); print(cls.rows, cls.columns, cls.k)"
    )
    assert run(copy, read) == [4, 5, 4]


RACE = '''
"""A game whose classes are not all where their name says, and a search that returns a state."""

from typing import NamedTuple

from games.kernel.jit import native, njit
from games.protocol import compiled, like, variant


def made():
    @compiled
    class Race(NamedTuple):
        """Whoever makes the last step wins."""

        steps: int

        length = 3

        def to_move(self):
            return self.steps % 2

        def actions(self):
            yield 1

        def result(self, a):
            return like(self, self.steps + a)

        def is_terminal(self):
            return self.steps == self.length

        def utility(self, p):
            return 1.0 if p == self.to_move() else -1.0

        def features(self, p):
            return ()

        def key(self):
            return self.steps

    return Race


@njit
def step(s):
    return s.result(1)


@njit
def count(s):
    return 0 if s.is_terminal() else 1 + count(s.result(1))


def length(cls):
    print(count(native(cls(0))), count._cache.loaded, count._cache.stored)


def main(cls):
    print(int(type(step(native(cls(0)))) is cls), step._cache.loaded, step._cache.stored)
'''

RACE_BY_NAME = RACE + "\n\nRace = made()\nRace.__qualname__ = 'Race'\n"


@pytest.mark.parametrize(
    ("game", "cls", "stored"),
    [
        (RACE_BY_NAME, "race.Race", 1),
        (RACE_BY_NAME, "race.variant(race.Race, 'Race_5', length=5)", 1),
        (RACE, "race.made()", 0),
    ],
    ids=["a class", "a variant that its module does not make", "a class made in a function"],
)
def test_state_from_stored_code_is_of_the_class_that_went_in(copy, game, cls, stored):
    (copy / "race.py").write_text(game)
    program = f"import race; race.main({cls})"
    assert run(copy, program) == [1, 0, stored]
    assert run(copy, program) == [1, stored, 0]


def test_other_constants_under_one_name_are_other_code(copy):
    (copy / "race.py").write_text(RACE_BY_NAME)
    program = "import race; race.length(race.variant(race.Race, 'Long', length={}))"
    assert run(copy, program.format(5)) == [5, 0, 1]
    assert run(copy, program.format(6)) == [6, 0, 1]
    assert run(copy, program.format(5)) == [5, 1, 0]
