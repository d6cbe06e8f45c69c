"""A full disk: matches pause and go on when there is room again, or count for nobody and are replayed."""

import contextlib
import os
import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeAlias

import psutil
import pytest
from harness import QUIET, Server, wait_for
from witness import (
    IMPATIENT,
    assert_nobody_lost_by_it,
    await_news,
    await_silence,
    await_voids,
    finish_all,
    health,
    in_play,
    voids,
    witnesses,
)

MakeServer = Callable[..., Server]
FullDisk: TypeAlias = Callable[[Server], AbstractContextManager[None]]

LADDERS = {"tic_tac_toe": "tic_tac_toe", "connect_four": "connect_four"}
MOVE_MS = 2_000
FULL_S = 3.0
TINY = "4m"


@contextlib.contextmanager
def forbidden_to_grow(server: Server) -> Iterator[None]:
    """No file of the server can grow any more, its log neither."""
    assert server.process is not None
    process = psutil.Process(server.process.pid)
    before = process.rlimit(resource.RLIMIT_FSIZE)
    process.rlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        yield
    finally:
        process.rlimit(resource.RLIMIT_FSIZE, before)


@contextlib.contextmanager
def filled(server: Server) -> Iterator[None]:
    """Another program has taken all the room that there was on the disk."""
    ballast = server.data_dir / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (65_536, 4_096, 512, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * size)
    try:
        yield
    finally:
        ballast.unlink()


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes, where we may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={TINY}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("we may not mount a disk here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def assert_says_so(server: Server) -> None:
    """The server stays up, answers what it can read, and says that it cannot write."""
    unwell = (503, "unavailable", "unavailable")
    wait_for(lambda: health(server) == unwell, "the health check to tell")
    assert server.get("/api/v1/ladders")[0] == 200
    status, told = server.ask("POST", "agents", {"name": "latecomer"})
    assert (status, told["code"]) == (503, "database_unavailable")


def play_through(server: Server, full: FullDisk) -> None:
    server.open_ladders(LADDERS, MOVE_MS)
    server.start()
    with witnesses(server, tuple(LADDERS)) as everybody:
        caught = in_play(server)
        with full(server):
            assert_says_so(server)
            # On a full disk what has room already can be written again, so it need not become silent there.
            heard = await_silence(everybody) if full is forbidden_to_grow else [w.heard() for w in everybody]
            time.sleep(FULL_S)
            if full is forbidden_to_grow:
                assert [witness.heard() for witness in everybody] == heard, "told what is not written down"
        await_news(everybody, heard)
        wait_for(lambda: health(server)[0] == 200, "the server to be well again")
        assert {server.match(number)["state"] for number in caught} <= {"running", "finished"}
        finish_all(server, everybody)
    assert_nobody_lost_by_it(server, everybody, MOVE_MS)
    assert voids(server) == []
    server.stop()
    server.doctor()
    assert "Traceback" not in server.log()


def test_play_pauses_while_no_file_can_grow(make_server: MakeServer) -> None:
    play_through(make_server(**QUIET), forbidden_to_grow)


def test_play_pauses_while_the_disk_is_full(make_server: MakeServer, tiny_disk: Path) -> None:
    play_through(make_server(**QUIET, PLYGROUND_DATA_DIR=str(tiny_disk / "data")), filled)


def test_a_match_that_waits_too_long_for_the_disk_is_void_and_replayed(
    make_server: MakeServer, tiny_disk: Path
) -> None:
    server = make_server(**QUIET, PLYGROUND_DATA_DIR=str(tiny_disk / "data"))
    server.program = IMPATIENT
    server.open_ladders(LADDERS, MOVE_MS)
    server.start()
    with witnesses(server, tuple(LADDERS)) as everybody:
        with filled(server):
            assert_says_so(server)
            time.sleep(FULL_S)
        await_voids(server, r"(disk full|the disk could not be written) for \d+ s; counts for nobody")
        finish_all(server, everybody)
    assert_nobody_lost_by_it(server, everybody, MOVE_MS)
    server.stop()
    server.doctor()
