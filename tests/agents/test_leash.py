"""Programs as agents that will not end: whatever becomes of whoever runs them, nothing of them is left."""

import os
import shlex
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import psutil
import pytest

import games
from agents.command import Command
from agents.local import play_match
from agents.program import Program
from agents.protocol import TimeControl
from agents.random_agent import RandomAgent

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0
CALM = TimeControl(20_000, margin_ms=200, ready_ms=20_000)

STUBBORN = """
import json, os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:              # a child in its process group
    if os.fork() == 0:          # and one in a session of its own, whose parent ends
        os.setsid()
        if os.fork():
            os._exit(0)
    while True:
        time.sleep(600)
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "match_start":
        print(json.dumps({"type": "ready", "match": told["match"]}), flush=True)
    elif told["type"] == "your_move":
        time.sleep(0.2)         # a match lasts long enough to be looked at
        move = {"type": "move", "match": told["match"], "ply": told["ply"], "action": told["legal"][0]}
        print(json.dumps(move), flush=True)
while True:                     # the end of its input is nothing to it
    time.sleep(600)
"""

SESSIONS = 3
"""Those of the leash, of the stubborn program with its child, and of the one that went its own way."""

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process may leave its group")


@pytest.fixture
def mark():
    """A word on the command line of every process of a test; what still has it at the end is killed."""
    word = f"mark-{uuid.uuid4().hex}"
    yield word
    for process in marked(word):
        process.kill()


@pytest.fixture
def stubborn(tmp_path, mark):
    file = tmp_path / "stubborn.py"
    file.write_text(STUBBORN, encoding="utf-8")
    return f"{shlex.quote(sys.executable)} -S {shlex.quote(str(file))} {mark}"


def marked(word):
    """Processes with the word among their arguments."""
    return [one for one in psutil.process_iter(["cmdline"]) if word in " ".join(one.info["cmdline"] or ())]


def forked(word, runner=None):
    """The marked processes beside the runner, once the program has started all of its own."""
    found = [one for one in marked(word) if one.pid != runner]
    return found if len({os.getsid(one.pid) for one in found}) >= SESSIONS else []


def wait_for(what, why):
    end = time.monotonic() + PATIENCE_S
    while not (answer := what()):
        assert time.monotonic() < end, f"waited in vain: {why}"
        time.sleep(0.02)
    return answer


def assert_nothing_is_left(processes):
    """Wait until none of the processes is left, not even as a zombie of ours."""
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE_S / 2)
    left = [one for one in alive if not is_of_init(one)]
    assert left == [], f"still there: {left}"


def is_of_init(process):
    """Whether it is a zombie that the first process of this machine has not looked after yet."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE and process.ppid() == 1
    except psutil.NoSuchProcess:
        return True


@linux
def test_PB20_a_stubborn_program_and_all_that_it_started_end_with_the_match(stubborn, mark):
    command = Command(stubborn)
    agents = [command.agent(), RandomAgent(1)]
    result = play_match(games.load("tic_tac_toe"), agents, CALM, names=["stubborn", "random"])
    running = wait_for(lambda: forked(mark), "the program to fork")
    command.end()

    assert result.causes == ("normal", "normal")
    assert_nothing_is_left(running)
    assert marked(mark) == []
    assert not [one for one in psutil.Process().children() if one.status() == psutil.STATUS_ZOMBIE]


@linux
@pytest.mark.parametrize("what", ["play", "check"])
def test_PB20_nothing_is_left_when_the_runner_has_ended(stubborn, mark, what):
    who = {"play": (f"command:{stubborn}", "random", "--games", "1"), "check": ("--command", stubborn)}[what]
    line = [sys.executable, "-m", "server.cli", what, *who, "--game", "tic_tac_toe"]
    seen = {}
    with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as runner:
        while runner.poll() is None:
            seen |= {one.pid: one for one in marked(mark) if one.pid != runner.pid}
            time.sleep(0.02)
    assert len(seen) >= 1 + SESSIONS
    assert_nothing_is_left(seen.values())
    assert marked(mark) == []


@linux
def test_PB20_a_stubborn_program_and_all_that_it_started_end_when_the_runner_is_killed(
    stubborn, mark, tmp_path
):
    line = ["play", f"command:{stubborn}", "random", "--game", "tic_tac_toe", "--games", "100000"]
    with (tmp_path / "log").open("wb") as log:
        runner = subprocess.Popen(
            [sys.executable, "-m", "server.cli", *line], cwd=ROOT, stdout=log, stderr=log
        )
    try:
        wait_for(lambda: b"game 1 of" in (tmp_path / "log").read_bytes(), "a match to end")
        running = wait_for(lambda: forked(mark, runner.pid), "the program to fork")
    finally:
        runner.send_signal(signal.SIGKILL)
        runner.wait(PATIENCE_S)

    assert_nothing_is_left(running)
    assert marked(mark) == []


def test_what_a_program_leaves_behind_when_it_ends_is_ended(mark):
    code = "import subprocess; subprocess.Popen(['sleep', '600']); print('done', flush=True)"
    program = Program([sys.executable, "-S", "-c", code, mark])
    assert program.read(PATIENCE_S * 1000).data == b"done"
    assert program.read(PATIENCE_S * 1000) is None, "its output ends, though a child had it too"
    assert program.end(PATIENCE_S * 1000)
    assert program.exit_status() == "it ended with exit code 0"


@linux
def test_a_program_ends_with_its_leash(mark):
    program = Program([sys.executable, "-S", "-c", "import time; time.sleep(600)", mark])
    running = marked(mark)
    psutil.Process(program.pid).parent().kill()
    assert_nothing_is_left(running)
    program.end(0)


def test_a_program_has_its_streams_and_no_other_file_of_ours(mark):
    code = "import os; print(sorted(int(n) for n in os.listdir('/dev/fd')), flush=True)"
    program = Program([sys.executable, "-S", "-c", code, mark])
    opened = eval(program.read(PATIENCE_S * 1000).data)
    assert opened[:3] == [0, 1, 2]
    assert len(opened) == 4, "and the folder that it reads"
    program.end()


def test_a_program_takes_the_signals_that_its_leash_ignores(mark):
    program = Program(
        [sys.executable, "-S", "-c", "import time; print(1, flush=True); time.sleep(600)", mark]
    )
    program.read(PATIENCE_S * 1000)
    os.kill(program.pid, signal.SIGTERM)
    assert program.exit_status() == "it was ended by signal SIGTERM"
    program.end()
