"""Programs as agents: driven over stdio, used again for the next match, ended with all they started."""

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

import games
from agents import view
from agents.clock import Clock
from agents.command import Command, CommandAgent
from agents.conversation import ProgramError
from agents.local import play_match
from agents.program import KEPT_STDERR_BYTES, Program
from agents.protocol import MAX_FRAME_BYTES, ClockView, TimeControl
from agents.random_agent import RandomAgent
from games import InputError, Position

GAME = games.load("tic_tac_toe")
CALM = TimeControl(20_000, margin_ms=200, ready_ms=20_000)
PATIENCE_MS = 20_000
BOT = Path(__file__).resolve().parents[2] / "examples" / "stdio_bot.py"


def python(code):
    return Program([sys.executable, "-S", "-c", code])


@pytest.fixture
def command(tmp_path):
    """A command that runs the example with one line changed; its programs are ended after the test."""
    made = []

    def make(old="", new=""):
        text = BOT.read_text(encoding="utf-8")
        assert old in text
        file = tmp_path / "bot.py"
        file.write_text(text.replace(old, new) if old else text, encoding="utf-8")
        made.append(Command(f"{sys.executable} {file}"))
        return made[-1]

    yield make
    for one in made:
        one.end()


def children():
    return {child.pid for child in psutil.Process().children()}


# the program --------------------------------------------------------------------------------------------


def test_lines_go_in_and_come_out():
    program = python("import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)")
    for word in (b"one", b"two"):
        assert program.write(word, PATIENCE_MS)
        line = program.read(PATIENCE_MS)
        assert (line.data, line.whole) == (word.upper(), True)
    assert program.end(PATIENCE_MS), "it ended by itself when its input ended"
    assert program.finished
    assert program.exit_status() == "it ended with exit code 0"
    assert not psutil.pid_exists(program.pid)


def test_a_program_that_does_not_end_is_killed_with_all_that_it_started():
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid, flush=True)\ntime.sleep(600)"
    )
    program = python(code)
    child = psutil.Process(int(program.read(PATIENCE_MS).data))
    assert not program.end(100)
    assert not psutil.pid_exists(program.pid), "no zombie is left"
    psutil.wait_procs([child], timeout=PATIENCE_MS / 1000)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_a_program_that_reads_nothing_blocks_nobody():
    program = python("import time; time.sleep(600)")
    assert not program.write(b"x" * 1_000_000, 200)
    assert not program.end(0)


def test_a_flood_is_neither_kept_nor_waited_for():
    program = python("while True: print('x' * 1000)")
    assert program.read(PATIENCE_MS).data == b"x" * 1000
    assert not program.end(200)
    kept = 0
    while program.read(0) is not None:
        kept += 1
    assert 0 < kept <= 64


def test_a_line_is_cut_at_its_limit():
    program = python(
        f"print('x' * {MAX_FRAME_BYTES}); print('y' * {MAX_FRAME_BYTES + 1}); print('z' * 10_000_000)"
    )
    lines = [program.read(PATIENCE_MS) for _ in range(2)]
    assert [(line.data[:1], len(line.data), line.whole) for line in lines] == [
        (b"x", MAX_FRAME_BYTES, True),
        (b"y", MAX_FRAME_BYTES, False),
    ]
    assert program.read(PATIENCE_MS) is None, "what follows such a line is not listened to"
    program.end()


def test_the_end_of_stderr_is_kept_and_counted():
    program = python("import sys; sys.stderr.write('x' * 1_000_000 + 'the end')")
    program.end(PATIENCE_MS)
    assert program.stderr_bytes == 1_000_007
    assert len(program.stderr) == KEPT_STDERR_BYTES
    assert program.stderr.endswith("xthe end")


@pytest.mark.parametrize(("line", "word"), [("/no/such/program", "No such file"), ("/", "ermission")])
def test_a_program_that_cannot_be_started_is_refused_in_a_sentence(line, word):
    with pytest.raises(InputError, match=f"expected a program that can be run, got '{line}'.*{word}"):
        Program([line])


# as an agent --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", [*games.names(), "connect_four(rows=4,columns=4,k=3)"])
def test_the_example_plays_every_game(game, command):
    others = [RandomAgent(seat) for seat in range(1, games.load(game).players)]
    result = play_match(games.load(game), [command().agent(), *others], CALM)
    assert set(result.causes) <= {"normal", "rule_draw"}, result.detail
    assert result.fault is None


def test_one_program_plays_match_after_match_and_two_play_at_once(command):
    program, before = command(), children()
    for seat in (0, 1, 0):
        agents = [program.agent(), RandomAgent(1)]
        result = play_match(GAME, agents if seat == 0 else agents[::-1], CALM)
        assert result.causes == ("normal", "normal"), result.detail
    assert len(children() - before) == 1, "the idle program is taken again"
    play_match(GAME, [program.agent(), program.agent()], CALM)
    assert len(children() - before) == 2
    program.end()
    assert children() == before


def test_a_python_program_need_not_flush(command):
    result = play_match(GAME, [command(", flush=True", "").agent(), RandomAgent(1)], CALM)
    assert result.causes == ("normal", "normal"), result.detail


def test_a_resignation_is_one(command):
    agent = command('"type": "move"', '"type": "resign"').agent()
    result = play_match(GAME, [agent, RandomAgent(1)], CALM)
    # A resignation names neither ply nor action: the example's other fields are unknown to it.
    assert result.causes[0] == "crash"
    assert "unknown field" in result.fault.got


FAULTS = {
    "crash": (
        "import sys",
        "import sys; raise ValueError('no book')",
        "it ended with exit code 1 before it had answered anything",
        "ValueError: no book",
    ),
    "garbage": ('"type": "move"', '"kind": "move"', "missing required field", ""),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_is_told_in_a_sentence_with_what_was_written_to_stderr(kind, command):
    old, new, got, trace = FAULTS[kind]
    result = play_match(GAME, [RandomAgent(1), command(old, new).agent()], CALM)
    assert result.causes == ("normal", "crash")
    assert got in result.fault.got
    assert trace in result.fault.traceback
    assert "agents/command.py" not in result.fault.traceback, "it is the author's, not ours"


def test_a_program_that_thinks_too_long_loses_on_time_and_is_ended(command):
    before = children()
    program = command("where = {", "__import__('time').sleep(600)\n        where = {")
    result = play_match(
        GAME, [program.agent(), RandomAgent(1)], TimeControl(200, margin_ms=50, ready_ms=20_000)
    )
    assert result.causes == ("timeout", "normal")
    program.end()
    deadline = time.monotonic() + 20
    while children() - before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert children() == before


@pytest.mark.parametrize(("strikes", "kept"), [(0, False), (20, True)])
def test_a_program_that_is_late_is_waited_for_while_its_match_has_strikes(command, strikes, kept):
    """The answer that comes in the end is none any more, but the program is there for the next request."""
    program = command("where = {", "__import__('time').sleep(2)\n        where = {")
    agent = program.agent()
    start = Position.start(GAME)
    agent.match_start(view.match_start(1, "here", start, 0, ["a", "b"], TimeControl(200, ready_ms=20_000)))
    agent.asked(view.your_move(1, start, [], ClockView(200)))
    clock = Clock(200, strikes=strikes)
    if kept:
        assert agent.choose(start.state, clock) in start.legal()
    else:
        with pytest.raises(ProgramError, match="got nothing within"):
            agent.choose(start.state, clock)
    program.end()


def test_what_it_says_about_its_move_is_kept(command):
    agent = command('"action": ', '"info": {"depth": 7}, "action": ').agent()
    result = play_match(GAME, [agent, RandomAgent(1)], CALM)
    assert result.moves[0].info == {"depth": 7}


def test_a_changed_file_is_another_version(command):
    first, again, changed = command(), command(), command("import sys", "import sys  # better")
    assert first.line == changed.line
    assert Command(first.line).fingerprint() == changed.fingerprint()
    file = Path(first.line.split()[1])
    before = changed.fingerprint()
    file.write_text("print()")
    assert changed.fingerprint() != before
    assert Command(f"{again.line} --depth 3").fingerprint() != again.fingerprint()


def test_code_on_the_command_line_may_be_longer_than_any_file_name():
    long, longer = (Command(f"python3 -c '{'pass;' * times}'") for times in (1_000, 1_001))
    assert long.fingerprint() != longer.fingerprint()


@pytest.mark.parametrize(
    ("line", "got"), [("", "nothing"), ("  ", "nothing"), ("node 'bot.js", "No closing quotation")]
)
def test_what_is_no_command_line_is_refused(line, got):
    with pytest.raises(InputError, match=f"expected a command line, got .*{got}"):
        Command(line)


def test_an_agent_asked_before_its_match_is_our_mistake():
    with pytest.raises(AssertionError):
        CommandAgent(Command("true")).choose(GAME.initial_state(), None)


def test_a_program_gets_the_environment(monkeypatch):
    monkeypatch.setenv("PLYGROUND_TEST", "seen")
    program = python("import os; print(os.environ['PLYGROUND_TEST'])")
    assert program.read(PATIENCE_MS).data == b"seen"
    program.end()
    assert os.environ["PLYGROUND_TEST"] == "seen"
