"""Starting in odd places, refusing in one sentence, and stopping without a trace."""

import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from harness import FAST, QUIET, Server, wait_for

MakeServer = Callable[..., Server]
STOP_S = 5.0


def assert_refused(server: Server, *words: str) -> None:
    """The server ends with exit code 2 and one sentence that holds these words."""
    server.launch()
    assert server.wait() == 2, server.log()
    sentences = [line for line in server.log().splitlines() if not line.startswith("timestamp=")]
    assert len(sentences) == 1, server.log()
    assert sentences[0].startswith("plyground serve: ")
    for word in words:
        assert word in sentences[0]


def test_a_busy_port_is_refused(make_server: MakeServer) -> None:
    server = make_server(**QUIET)
    with socket.socket() as other:
        other.bind(("127.0.0.1", server.port))
        other.listen()
        assert_refused(server, str(server.port), "take another port: PLYGROUND_PORT=9000 make serve")


def test_a_server_for_other_machines_tells_them_its_name(make_server: MakeServer) -> None:
    server = make_server(**QUIET, PLYGROUND_HOST="0.0.0.0").start()
    server.admin_links()
    other = f"http://{socket.gethostname()}:{server.port}"
    assert f"Plyground listens on {server.url}, for other machines on {other} (" in server.log()


def test_a_folder_that_cannot_be_written_is_refused(make_server: MakeServer, tmp_path: Path) -> None:
    file = tmp_path / "a file, no folder"
    file.write_text("", encoding="utf-8")
    assert_refused(make_server(PLYGROUND_DATA_DIR=str(file / "data")), "PLYGROUND_DATA_DIR", str(file))


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PLYGROUND_PORT", "eighty"),
        ("PLYGROUND_PORT", "70000"),
        ("PLYGROUND_HOUSE", "perhaps"),
        ("PLYGROUND_LOG_LEVEL", "loud"),
        ("PLYGROUND_COLOUR", "blue"),
        ("PLYGROUND_CONFIG", "no/such/file.toml"),
        ("PLYGROUND_DATABASE_URL", "mysql://nobody@nowhere/nothing"),
        ("PLYGROUND_DATABASE_URL", "postgresql://nobody:hush@127.0.0.1:1/nothing"),
        ("PLYGROUND_HOST", "no.such.host.invalid"),
    ],
)
def test_a_bad_setting_is_refused(make_server: MakeServer, variable: str, value: str) -> None:
    server = make_server(**{**QUIET, variable: value})
    assert_refused(server)
    assert "hush" not in server.log(), "a password in an address is no one's to read"


def test_a_bad_ladder_in_the_file_is_refused(make_server: MakeServer, tmp_path: Path) -> None:
    config = tmp_path / "plyground.toml"
    config.write_text('[[ladders]]\nname = "draughts"\ngame = "no_such_game"\n', encoding="utf-8")
    assert_refused(make_server(PLYGROUND_CONFIG=str(config)), "no_such_game")


def test_a_data_folder_serves_one_server_at_a_time(make_server: MakeServer) -> None:
    first = make_server(**QUIET).start()
    second = make_server(**QUIET, PLYGROUND_DATA_DIR=str(first.data_dir))
    assert_refused(second, str(first.data_dir))
    assert first.is_well()


def test_a_missing_folder_is_made(make_server: MakeServer, tmp_path: Path) -> None:
    server = make_server(**QUIET, PLYGROUND_DATA_DIR=str(tmp_path / "a" / "b c" / "d"))
    server.start()
    server.stop()
    server.doctor()


def only_an_empty_folder(data: Path) -> None:
    data.mkdir()


def an_empty_database_file(data: Path) -> None:
    data.mkdir()
    (data / "plyground.db").write_bytes(b"")


def left_over_files(data: Path) -> None:
    data.mkdir()
    (data / "server.lock").write_text("", encoding="utf-8")
    (data / "plyground.db").write_bytes(b"")
    (data / "plyground.db-wal").write_bytes(b"")
    (data / "plyground.db-shm").write_bytes(b"")


@pytest.mark.parametrize("prepare", [only_an_empty_folder, an_empty_database_file, left_over_files])
def test_a_half_made_folder_starts(make_server: MakeServer, prepare: Callable[[Path], None]) -> None:
    server = make_server(**QUIET)
    prepare(server.data_dir)
    server.start()
    assert server.api("ladders")["items"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_everything_within_five_seconds(make_server: MakeServer, number: int) -> None:
    """Ctrl-C does; SIGTERM does beside the time that it leaves to the matches."""
    server = make_server(**FAST, PLYGROUND_DRAIN_S="600" if number == signal.SIGINT else "0").start()
    wait_for(lambda: server.items("matches?state=running"), "a running match")
    family = server.remember_family()
    assert len(family) >= 2, "the house agents have a process of their own"
    asked = time.monotonic()
    server.signal(number, whole_group=number == signal.SIGINT)
    code = server.wait()
    server.assert_nothing_is_left()
    assert time.monotonic() - asked < STOP_S, "the promise of the documentation, not a speed"
    assert code in (0, 128 + number, -number)
    assert "Traceback" not in server.log()
    server.doctor()


def test_ctrl_c_twice_is_no_worse(make_server: MakeServer) -> None:
    server = make_server(**FAST).start()
    wait_for(lambda: server.items("matches?state=running"), "a running match")
    server.signal(signal.SIGINT, whole_group=True)
    time.sleep(0.1)
    if server.process is not None and server.process.poll() is None:
        os.killpg(server.process.pid, signal.SIGINT)
    server.wait()
    server.assert_nothing_is_left()
    server.doctor()


def test_a_killed_server_leaves_no_house_process(make_server: MakeServer) -> None:
    server = make_server(**FAST).start()
    wait_for(lambda: server.items("matches?state=running"), "a running match")
    server.signal(signal.SIGKILL)
    server.wait()
    server.assert_nothing_is_left()


def test_a_killed_house_process_is_started_again(make_server: MakeServer) -> None:
    server = make_server(**FAST).start()
    wait_for(lambda: server.items("matches?state=running"), "a running match")
    killed = server.remember_family()[1:]
    for process in killed:
        process.kill()
    psutil.wait_procs(killed, timeout=10)
    seen = {match["id"] for match in server.items("matches")}
    wait_for(
        lambda: any(m["id"] not in seen for m in server.items("matches?state=finished")),
        "a new match between house agents",
        timeout_s=120,
    )
    server.doctor()
