"""`plyground connect`: from a file to the standings, and a clear word for whatever goes wrong."""

import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harness import PATIENCE_S, QUIET, ROOT, RawAgent, Server, environment, free_port, run_plyground, wait_for

EXAMPLE = ROOT / "examples" / "my_agent.py"
FIRST_MATCH_S = 60
ONE_MATCH = ("--matches", "1")


def write(folder: Path, source: str, name: str = "agent.py") -> str:
    file = folder / name
    file.write_text(source, encoding="utf-8")
    return str(file)


def connect(
    server: Server, file: str | Path, name: str, *more: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    arguments = ("connect", str(file), "--ladder", "tic_tac_toe", "--name", name)
    return server.plyground(*arguments, *more, **variables)


def assert_one_sentence(answer: subprocess.CompletedProcess[str], *words: str) -> None:
    """Exit code 2 and one sentence on stderr with these words in it."""
    assert answer.returncode == 2, answer.stdout + answer.stderr
    lines = answer.stderr.strip().splitlines()
    assert len(lines) == 1, answer.stderr
    assert all(line.startswith("trying ") for line in answer.stdout.splitlines()), answer.stdout
    for word in words:
        assert word in lines[0]


def test_the_example_plays_a_rated_match_within_a_minute(house_server: Server) -> None:
    arguments = ("connect", str(EXAMPLE), "--ladder", "connect_four", "--name", "ada", *ONE_MATCH)
    answer = house_server.plyground(*arguments, timeout_s=FIRST_MATCH_S)
    assert answer.returncode == 0, answer.stderr
    row = house_server.standings("connect_four")["ada"]
    assert row["games"] >= 1
    assert row["games"] == row["wins"] + row["draws"] + row["losses"]
    assert row["version"] == 1
    assert "ada" in answer.stdout

    again = house_server.plyground(*arguments, timeout_s=FIRST_MATCH_S)
    assert again.returncode == 0, again.stderr
    after = house_server.standings("connect_four")
    assert after["ada"]["games"] > row["games"]
    assert after["ada"]["version"] == 1
    assert [name for name in after if name.startswith("ada")] == ["ada"]


def test_the_token_is_kept_for_its_owner_alone(house_server: Server) -> None:
    assert connect(house_server, EXAMPLE, "keeper", *ONE_MATCH).returncode == 0
    kept = [path for path in (house_server.folder / "config").rglob("*") if path.is_file()]
    assert kept
    for file in kept:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    tokens = {token for file in kept for token in re.findall(r"ply_[\w-]+", file.read_text("utf-8"))}
    assert tokens
    assert not [token for token in tokens if token in house_server.log()]


def test_a_changed_file_is_a_new_version(house_server: Server, tmp_path: Path) -> None:
    source = EXAMPLE.read_text(encoding="utf-8")
    for text in (source, source + "\n# better\n"):
        answer = connect(house_server, write(tmp_path, text), "grace", *ONE_MATCH)
        assert answer.returncode == 0, answer.stderr
    assert house_server.standings("tic_tac_toe")["grace"]["version"] == 2
    numbers = [version["number"] for version in house_server.api("agents/grace/versions")["items"]]
    assert numbers == [2, 1]


def test_ctrl_c_leaves_and_the_match_is_finished(house_server: Server) -> None:
    who = ("--ladder", "connect_four", "--name", "leaver", "--server", house_server.url)
    process = subprocess.Popen(
        [sys.executable, "-m", "server.cli", "connect", str(EXAMPLE), *who],
        cwd=house_server.folder,
        env={**environment({}), "XDG_CONFIG_HOME": str(house_server.folder / "config")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        wait_for(lambda: house_server.get("/api/v1/agents/leaver")[0] == 200, "the agent to register")
        wait_for(lambda: house_server.items("matches?agent=leaver"), "a match")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    assert b"Traceback" not in errors
    matches = house_server.items("matches?agent=leaver&state=finished")
    own = [player for match in matches for player in match["players"] if player["agent"] == "leaver"]
    assert own
    assert {player["cause"] for player in own} == {"normal"}


# what is refused before any match -------------------------------------------------------------------------

CHOOSE = "def choose(state, clock):\n    return next(iter(state.actions()))\n"

BAD_FILES = {
    "syntax error": ("def choose(state, clock)\n    return 1\n", "agent.py:1"),
    "no function": ("def chose(state, clock):\n    return 1\n", "choose"),
    "wrong arguments": ("\ndef choose(state):\n    return 1\n", "agent.py:2"),
    "an import that fails": ("import sys\nimport no_such_module\n" + CHOOSE, "agent.py:2"),
    "an error while it loads": ("x = 1\ny = x / 0\n" + CHOOSE, "agent.py:2"),
    "a crash at the first move": ("def choose(state, clock):\n    return state.nothing\n", "agent.py:2"),
    "no action": ("def choose(state, clock):\n    return None\n", "agent.py:"),
    "an illegal action": ("def choose(state, clock):\n    return 99\n", "agent.py:"),
    "a float": ("def choose(state, clock):\n    return 1.0\n", "agent.py:"),
    "a bool": ("def choose(state, clock):\n    return True\n", "agent.py:"),
}


@pytest.mark.parametrize(("source", "words"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_that_cannot_play_is_refused(
    house_server: Server, tmp_path: Path, source: str, words: str
) -> None:
    assert_one_sentence(connect(house_server, write(tmp_path, source), "nobody"), words)
    assert house_server.get("/api/v1/agents/nobody")[0] == 404, "refused before it is registered"


@pytest.mark.parametrize("path", ["no/such/file.py", ".", "notes.txt"])
def test_a_path_that_is_no_agent_is_refused(house_server: Server, path: str) -> None:
    (house_server.folder / "notes.txt").write_text("no agent", encoding="utf-8")
    assert_one_sentence(connect(house_server, path, "nobody"))


def test_a_ladder_that_is_not_there_is_refused(house_server: Server) -> None:
    answer = house_server.plyground("connect", str(EXAMPLE), "--ladder", "halma", "--name", "nobody")
    assert_one_sentence(answer, "halma", "connect_four_5x6")


def test_a_taken_name_is_refused(house_server: Server, tmp_path: Path) -> None:
    house_server.register("first-come")
    answer = connect(
        house_server, EXAMPLE, "First-Come", PLYGROUND_CONFIG_DIR=str(tmp_path / "another person")
    )
    assert_one_sentence(answer, "first-come")


def test_a_house_agents_name_is_taken(house_server: Server) -> None:
    wait_for(lambda: "minimax" in house_server.standings("tic_tac_toe"), "the house agents")
    assert_one_sentence(connect(house_server, EXAMPLE, "minimax"), "minimax")


@pytest.mark.parametrize("name", ["", "a/b", "x" * 33, "<b>", "-x", "a\u202eb"])
def test_a_bad_name_is_refused(house_server: Server, name: str) -> None:
    assert_one_sentence(connect(house_server, EXAMPLE, name))


def test_a_name_that_could_be_mended_comes_with_one_to_try(house_server: Server) -> None:
    assert_one_sentence(connect(house_server, EXAMPLE, "Ada  L"), "; try 'Ada L'")


def test_a_refused_invitation_is_told_as_such(house_server: Server) -> None:
    answer = connect(house_server, EXAMPLE, "nobody", "--invitation", "ply_bogus")
    assert_one_sentence(answer, "the invitation was refused")


def test_a_bad_token_is_refused(house_server: Server) -> None:
    answer = connect(house_server, EXAMPLE, "nobody", "--token", "ply_wrong-token")
    assert_one_sentence(answer)
    assert "wrong-token" not in answer.stderr


def test_a_dead_server_is_refused(house_server: Server) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    assert_one_sentence(connect(house_server, EXAMPLE, "nobody", "--server", nowhere), nowhere)


def test_a_token_never_goes_over_plain_http_to_another_machine(tmp_path: Path) -> None:
    far = ("--server", "http://plyground.invalid", "--token", "ply_secret")
    answer = run_plyground(
        *("connect", str(EXAMPLE), "--ladder", "connect_four", "--name", "ada", *far),
        folder=tmp_path,
        environ=environment({}),
    )
    assert answer.returncode == 2
    assert "ply_secret" not in answer.stderr


# what goes wrong in a match ---------------------------------------------------------------------------------

LATE_CRASH = """
def choose(state, clock):
    actions = list(state.actions())
    if len(actions) < 7:
        return secret_weapon(actions)
    return actions[0]


def secret_weapon(actions):
    return actions[100]
"""

LATE_CHEAT = """
def choose(state, clock):
    actions = list(state.actions())
    return actions[0] if len(actions) > 6 else 99
"""


def play_line(answer: subprocess.CompletedProcess[str]) -> str:
    """The line of a report that repeats the fault without a server."""
    lines = [line.strip() for line in answer.stderr.splitlines()]
    return lines[lines.index("Repeat it here:") + 1]


def test_a_crash_in_a_match_is_explained(house_server: Server, tmp_path: Path) -> None:
    file = write(tmp_path, LATE_CRASH)
    answer = connect(house_server, file, "crasher", *ONE_MATCH)
    assert answer.returncode == 1
    for word in ("ply", "legal", "IndexError", f'"{file}", line 5', "secret_weapon"):
        assert word in answer.stderr
    played = play_line(answer).partition(" play ")[2].split()
    assert played[:2] in ([file, "random"], ["random", file])
    assert house_server.standings("tic_tac_toe")["crasher"]["losses"] >= 1


def test_an_illegal_action_in_a_match_is_explained(house_server: Server, tmp_path: Path) -> None:
    file = write(tmp_path, LATE_CHEAT)
    answer = connect(house_server, file, "cheat", *ONE_MATCH)
    assert answer.returncode == 1
    for word in ("ply", "legal", "99", "--moves"):
        assert word in answer.stderr
    ends = house_server.items("matches?agent=cheat&state=finished")
    own = [player for match in ends for player in match["players"] if player["agent"] == "cheat"]
    assert {player["cause"] for player in own} == {"illegal_action"}


def test_what_the_report_says_repeats_the_fault(house_server: Server, tmp_path: Path) -> None:
    file = write(tmp_path, LATE_CRASH)
    answer = connect(house_server, file, "repeater", *ONE_MATCH)
    repeated = subprocess.run(
        play_line(answer),
        shell=True,
        cwd=house_server.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert repeated.returncode == 1, repeated.stderr
    assert "secret_weapon" in repeated.stdout + repeated.stderr


# while the server restarts ----------------------------------------------------------------------------------

STOPPING = "not connected (the server says: expected a server that goes on, got one that stops within"


@pytest.fixture
def stopping(make_server: Callable[..., Server], raw_agent: Callable[..., RawAgent]) -> Server:
    """A server that is about to stop, and waits for a match to end."""
    server = make_server(**QUIET, PLYGROUND_DRAIN_S="600")
    server.open_ladders({"tic_tac_toe": "tic_tac_toe"}, 60_000)
    server.start()
    for agent in [raw_agent(server, name, ladders=("tic_tac_toe",)) for name in ("first", "second")]:
        agent.await_message("match_start")
    server.signal(signal.SIGTERM)
    wait_for(lambda: server.get("/healthz")[0] == 503, "the server to drain")
    return server


@pytest.fixture
def begun(stopping: Server) -> Iterator[subprocess.Popen[bytes]]:
    """`connect`, begun meanwhile and told to come again."""
    who = ("--ladder", "tic_tac_toe", "--name", "early", *ONE_MATCH, "--server", stopping.url)
    with (stopping.folder / "early.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "server.cli", "connect", str(EXAMPLE), *who],
            cwd=stopping.folder,
            env={**environment({}), "XDG_CONFIG_HOME": str(stopping.folder / "config")},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(lambda: STOPPING in said(stopping), "the refusal")
        yield process
    finally:
        process.kill()
        process.wait(PATIENCE_S)


def said(server: Server) -> str:
    """What `connect` has printed so far."""
    return (server.folder / "early.log").read_text(encoding="utf-8")


def test_who_comes_while_the_server_restarts_plays_when_it_is_back(
    stopping: Server, begun: subprocess.Popen[bytes], steady_agent: Callable[..., object]
) -> None:
    stopping.signal(signal.SIGTERM)  # at once
    stopping.wait()
    wait_for(lambda: "not connected (Connection refused)" in said(stopping), "a try without an answer")
    stopping.start()
    steady_agent(stopping, "rival", "tic_tac_toe")
    assert begun.wait(PATIENCE_S) == 0, said(stopping)
    assert "left: 1 match played" in said(stopping)


def test_who_waits_for_a_restart_can_leave(stopping: Server, begun: subprocess.Popen[bytes]) -> None:
    begun.send_signal(signal.SIGINT)
    assert begun.wait(PATIENCE_S) == 0, said(stopping)
    assert said(stopping).endswith("left: 0 matches played, 0 won 0 drawn 0 lost\n")
