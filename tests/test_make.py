"""`make` on other machines: what it says when something is missing, and that it works when nothing is."""

import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from harness import ROOT, environment, free_port, wait_for

TOOLS = ("sh", "cat", "cksum", "dirname", "flock", "make", "mkdir", "rm")
SAYS_NO_VENV = '#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\nexec {python} "$@"\n'
TOO_OLD = "#!/bin/sh\nexit 1\n"

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files of a clone, in a folder with a space in its name."""
    folder = tmp_path / "a clone"
    ignored = shutil.ignore_patterns(
        ".git", ".venv", ".cache", "data", "__pycache__", "*.egg-info", ".*_cache", ".hypothesis"
    )
    shutil.copytree(ROOT, folder, ignore=ignored)
    return folder


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A folder for PATH with the tools that make needs, and no Python."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        if found is not None:
            (folder / tool).symlink_to(found)
    return folder


def make(clone: Path, path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments],
        cwd=clone,
        env={"PATH": str(path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    (folder / name).chmod(0o755)


def test_no_python_is_said(clone: Path, bare_path: Path) -> None:
    answer = make(clone, bare_path, "serve")
    assert answer.returncode == 2
    assert "expected Python 3.11 to 3.14 on the PATH, got none" in answer.stderr


def test_a_python_too_old_is_passed_over(clone: Path, bare_path: Path) -> None:
    program(bare_path, "python3", TOO_OLD)
    assert "got none" in make(clone, bare_path, "test").stderr


def test_a_python_without_venv_names_the_package(clone: Path, bare_path: Path) -> None:
    program(bare_path, "python3", SAYS_NO_VENV.format(python=sys.executable))
    answer = make(clone, bare_path, "serve")
    assert answer.returncode == 2
    assert "apt-get install python3-venv" in answer.stderr


def test_a_failed_installation_is_said_and_made_anew(clone: Path, bare_path: Path) -> None:
    real = SAYS_NO_VENV.replace("exit 1", "exit 0").format(python=sys.executable)
    program(bare_path, "python3", real)
    (clone / "pyproject.toml").write_text("no project", encoding="utf-8")
    answer = make(clone, bare_path, "serve")
    assert answer.returncode == 2
    assert "the installation failed" in answer.stderr
    assert not (clone / ".venv" / ".installed").exists()
    assert (clone / ".venv" / ".installing").exists(), "the next make sees that this one was not finished"


def test_help_names_the_two_commands(clone: Path, bare_path: Path) -> None:
    answer = make(clone, bare_path)
    assert answer.returncode == 0
    assert "make serve" in answer.stdout
    assert "make test" in answer.stdout


@pytest.mark.deep
def test_the_first_command_in_a_bare_clone(clone: Path) -> None:
    """`make serve` from nothing: environment, installation, server; Ctrl-C leaves nothing."""
    url = f"http://127.0.0.1:{free_port()}"
    with (clone / "make.log").open("wb") as log:
        process = subprocess.Popen(
            ["make", "serve"],
            cwd=clone,
            env=environment({"PLYGROUND_PORT": url.rpartition(":")[2]}),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_for(lambda: answers(process, url), "the server", timeout_s=420)
        os.killpg(process.pid, signal.SIGINT)
        process.wait(30)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    said = (clone / "make.log").read_text(encoding="utf-8")
    assert "== making .venv with Python 3." in said
    assert "Traceback" not in said
    wait_for(lambda: not group_lives(process.pid), "every process of make to end", timeout_s=5)

    again = subprocess.run(
        ["sh", ".ci/venv.sh", "run"], cwd=clone, capture_output=True, text=True, check=False
    )
    assert (again.returncode, again.stdout) == (0, ""), "a second time there is nothing to do"


def answers(process: subprocess.Popen[bytes], url: str) -> bool:
    assert process.poll() is None, "make ended"
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
