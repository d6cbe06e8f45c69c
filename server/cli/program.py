"""What people type to run this very program from where they are."""

import os
import shlex
import shutil
import sys
from pathlib import Path

PROGRAM = "plyground"


def program_here() -> str:
    """Return how this program is run from the current folder, quoted for the shell."""
    return program(sys.argv[0], sys.executable, shutil.which(PROGRAM), Path.cwd())


def program(started_as: str, python: str, on_path: str | None, folder: Path) -> str:
    """Return the bare name if the shell finds this program by it, else its path, else Python's with -m."""
    script = folder / started_as
    if script.name != PROGRAM or not script.is_file():
        return f"{_path(Path(python), folder)} -m server.cli"
    if on_path is not None and Path(on_path).samefile(script):
        return PROGRAM
    return _path(script, folder)


def _path(file: Path, folder: Path) -> str:
    """Write a path for the shell as seen from a folder: relative inside it, absolute elsewhere."""
    absolute = Path(os.path.abspath(folder / file))  # noqa: PTH100 - links stay: .venv may be one
    if not absolute.is_relative_to(folder):
        return shlex.quote(str(absolute))
    inside = str(absolute.relative_to(folder))
    return shlex.quote(inside if "/" in inside else f"./{inside}")
