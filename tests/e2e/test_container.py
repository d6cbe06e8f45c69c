"""The image's entry point by hand: not root, a source tree that cannot be written, a real PostgreSQL."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import FAST, ROOT, Server, environment, wait_for

UID = 10001
SOURCES = ("games", "agents", "server", "migrations", "examples")

MARK = "the copy"


def as_nobody() -> list[str]:
    """The words that run a program as the image's user, without a capability but to read.

    That one stands for the image's own interpreter, which everybody may read: the one that runs the tests may
    lie in a folder of root's. It gives no leave to write.
    """
    if os.getuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("setpriv is not installed: root cannot run the server as another user")
    who = [f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--no-new-privs"]
    read = "-all,+dac_read_search"
    return [setpriv, *who, f"--inh-caps={read}", f"--ambient-caps={read}", f"--bounding-set={read}"]


def words(name: str) -> list[str]:
    """ENTRYPOINT or CMD of the Dockerfile."""
    found = re.search(rf"^{name} (\[.*\])$", (ROOT / "Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    assert found is not None
    return list(json.loads(found[1]))


@pytest.fixture
def image(tmp_path: Path) -> Iterator[Path]:
    """The sources that the image has, none of which can be written."""
    folder = tmp_path / "app"
    for name in SOURCES:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    page = folder / "server" / "pages" / "templates" / "base.html"
    page.write_text(page.read_text("utf-8").replace("</html>", f"<!-- {MARK} -->\n</html>"), "utf-8")
    (folder / ".cache").mkdir()
    for kept in (ROOT / ".cache").glob("*.kernel"):  # as warm as this folder is; others may be at it
        with contextlib.suppress(FileNotFoundError):
            shutil.copy(kept, folder / ".cache")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)


def launch(server: Server, image: Path, data: Path) -> subprocess.Popen[bytes]:
    """Run the entry point as the image does."""
    program, *arguments = [*words("ENTRYPOINT"), *words("CMD")]
    found = Path(sys.executable).parent / program
    settings = {
        "PLYGROUND_HOST": "127.0.0.1",
        "PLYGROUND_PORT": str(server.port),
        "PLYGROUND_DATA_DIR": str(data),
        "PLYGROUND_CACHE_DIR": str(image / ".cache"),
        "PYTHONPATH": str(image),
        "HOME": "/nonexistent",
        "TMPDIR": str(data),
    }
    with (server.folder / "server.log").open("wb") as log:
        return subprocess.Popen(
            [*as_nobody(), str(found), *arguments],
            cwd=image,
            env=environment({**FAST, **settings, **server.settings}),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


@pytest.mark.deep
def test_the_entry_point_runs_read_only_and_without_root(
    image: Path, make_server, postgres_url: str, reachable_tmp_path: Path
) -> None:
    data = reachable_tmp_path / "data"
    data.mkdir()
    if os.getuid() == 0:
        os.chown(data, UID, UID)
    before = sorted(image.rglob("*"))
    server = make_server(PLYGROUND_DATABASE_URL=postgres_url)
    server.process = launch(server, image, data)

    wait_for(server.is_well, f"the server to be well; its log:\n{server.log()}")
    wait_for(lambda: server.items("matches?state=finished"), "the house to finish a match")
    running = server.remember_family()
    assert len(running) >= 2, "the server and the house"
    assert {ids for process in running for ids in process.uids()} == {
        UID if os.getuid() == 0 else os.getuid()
    }
    assert MARK.encode() in server.get("/")[1], "it runs the copy"

    server.signal(signal.SIGTERM)
    assert server.wait() == 0, server.log()
    server.assert_nothing_is_left()
    assert "Traceback" not in server.log()
    assert sorted(image.rglob("*")) == before, "nothing was written beside the sources"


def test_the_user_of_the_image_cannot_write_its_sources(image: Path, tmp_path: Path) -> None:
    """The test above can fail: what it forbids is refused."""
    for folder in tmp_path.parents[:2]:
        folder.chmod(folder.stat().st_mode | 0o011)
    code = f"open({str(image / 'games' / 'new.py')!r}, 'w')"
    answer = subprocess.run(
        [*as_nobody(), sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert answer.returncode == 1
    assert "PermissionError" in answer.stderr
