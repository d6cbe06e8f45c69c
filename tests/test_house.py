"""The rules of the house: sizes, no print, no silent except, clock and chance as arguments, import law."""

import ast
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("games", "agents", "server", "migrations")
PURE = ("games", "server/core", "agents")
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
SCREEN_LINES = 50
MAX_METHODS = 20

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def walk(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}"


def functions(paths: list[Path]) -> dict[str, int]:
    """Length in lines of each function, by place and name."""
    return {
        f"{place(path, node)} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path in paths
        for node in walk(path)
        if isinstance(node, Function)
    }


def imported(path: Path) -> Iterator[tuple[ast.AST, str]]:
    """Every module that a file imports, by its full name."""
    for node in walk(path):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node, node.module


def test_the_rules_look_at_every_package() -> None:
    for package in PACKAGES:
        assert sources(package), f"no source in {package}/"


def test_a_file_stays_readable_in_one_sitting() -> None:
    lengths = {str(p.relative_to(ROOT)): p.read_text("utf-8").count("\n") for p in sources(*PACKAGES)}
    assert {name: n for name, n in lengths.items() if n > MAX_FILE_LINES} == {}


def test_a_function_fits_a_screen() -> None:
    lengths = functions(sources(*PACKAGES, "examples", "tests"))
    assert {name: n for name, n in lengths.items() if n > MAX_FUNCTION_LINES} == {}
    over_a_screen = [name for name, n in lengths.items() if n > SCREEN_LINES]
    assert len(over_a_screen) <= 0.05 * len(lengths), over_a_screen


def test_a_class_has_few_methods() -> None:
    counts = {
        f"{place(path, node)} {node.name}": sum(isinstance(item, Function) for item in node.body)
        for path in sources(*PACKAGES)
        for node in walk(path)
        if isinstance(node, ast.ClassDef)
    }
    assert {name: n for name, n in counts.items() if n > MAX_METHODS} == {}


def test_no_module_is_called_utils() -> None:
    attics = [p for p in sources(*PACKAGES) if p.stem in {"utils", "util", "helpers", "misc", "common"}]
    assert attics == []


def test_library_code_does_not_print() -> None:
    prints = [
        place(path, node)
        for path in sources(*PACKAGES)
        for node in walk(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert prints == []


def test_no_error_is_swallowed_in_silence() -> None:
    silent = [
        place(path, node)
        for path in sources(*PACKAGES, "examples")
        for node in walk(path)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (len(node.body) == 1 and isinstance(node.body[0], ast.Pass)))
    ]
    assert silent == []


def test_games_import_the_standard_library_only() -> None:
    allowed = sys.stdlib_module_names | {
        "games",
        "numpy",
        "numba",
        "llvmlite",
    }  # numba speaks LLVM by llvmlite
    strangers = [
        f"{place(path, node)} {name}"
        for path in sources("games")
        for node, name in imported(path)
        if name.split(".")[0] not in allowed
    ]
    assert strangers == []


def test_only_the_clock_reads_the_clock() -> None:
    readers = [
        f"{place(path, node)} {name}"
        for path in sources(*PURE)
        for node, name in imported(path)
        if name.split(".")[0] == "time" and path != ROOT / "agents" / "clock.py"
    ]
    dates = [
        place(path, node)
        for path in sources(*PURE)
        for node in walk(path)
        if isinstance(node, ast.Attribute) and node.attr in {"now", "utcnow", "today"}
    ]
    assert readers + dates == []


def test_chance_is_an_argument() -> None:
    """In pure code `random.Random` may be named, but the module's own hidden generator may not be used."""
    draws = [
        place(path, node)
        for path in sources(*PURE)
        for node in walk(path)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) != ("random", "Random")
        and node.value.id in {"random", "secrets", "uuid"}
    ]
    assert draws == []


# the import law -------------------------------------------------------------------------------------

VIOLATIONS = {
    "games": ("games/board.py", "import agents.protocol"),
    "agents": ("agents/protocol.py", "import server.core.outcome"),
    "core": ("server/core/elo.py", "import agents.protocol"),
    "server": ("server/db/__init__.py", "import agents"),
    "layers": ("server/core/elo.py", "import server.db"),
    "migrations": ("migrations/__init__.py", "import server.core.elo"),
    "no-migrations": ("server/db/__init__.py", "import migrations"),
    "pure": ("server/core/elo.py", "import asyncio"),
    "no-cycles": ("games/errors.py", "import games.game"),
}


def contracts() -> list[dict[str, object]]:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    return list(tool["importlinter"]["contracts"])


def lint(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", program, "--no-cache", *arguments]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=300, check=False)


def test_the_import_law_holds() -> None:
    answer = lint(ROOT)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert f"{len(contracts())} kept, 0 broken" in answer.stdout


def test_every_contract_has_a_violation_below() -> None:
    assert {contract["id"] for contract in contracts()} == set(VIOLATIONS)


@pytest.mark.parametrize("contract", VIOLATIONS)
def test_each_contract_can_refuse(contract: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    file, line = VIOLATIONS[contract]
    with (tmp_path / file).open("a", encoding="utf-8") as source:
        source.write(f"\n{line}\n")

    answer = lint(tmp_path, "--contract", contract)

    assert answer.returncode == 1, answer.stdout + answer.stderr
    assert "0 kept, 1 broken" in answer.stdout


def test_a_stranger_in_the_server_has_to_be_given_a_layer(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "server" / "stranger.py").write_text("", encoding="utf-8")

    answer = lint(tmp_path, "--contract", "layers")

    assert answer.returncode == 1
    assert "stranger" in answer.stdout
