"""The conformance check: each kind of bad agent fails the step about its fault, and good ones none."""

import json
import shutil
import sys
from pathlib import Path

import psutil
import pytest
from msgspec import convert
from msgspec.structs import asdict, replace

import games
from agents import child, view
from agents.check import (
    END,
    FIRST,
    GAMES,
    MIDDLE,
    NEW,
    ODD,
    ONCE,
    READY,
    START,
    STDERR,
    STEPS,
    TIME,
    check,
    trial,
)
from agents.conversation import Conversation
from agents.program import Program
from agents.protocol import TimeControl

GAME = games.load("tic_tac_toe")
CALM = TimeControl(20_000, margin_ms=200, ready_ms=20_000)
"""Limits that no slow machine exceeds."""

QUICK = TimeControl(150, margin_ms=50, ready_ms=20_000)
BRISK = TimeControl(1_000, margin_ms=50, ready_ms=1_000)
HASTY = TimeControl(20_000, margin_ms=50, ready_ms=200)
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

BOT = """
import json, os, sys, time

def say(**message):
    print(json.dumps(message), flush=True)

def start(message):
    say(type="ready", match=message["match"])

def move(message):
    answer(message, message["legal"][0])

def answer(message, action, **more):
    say(type="move", match=message["match"], ply=message["ply"], action=action, **more)

def end(message):
    pass

def crash():
    raise ValueError("from bot.py")

# HERE

for line in sys.stdin:
    message = json.loads(line)
    {"match_start": start, "your_move": move, "match_end": end}[message["type"]](message)
"""

LATE = "if message['ply'] > 3: "
"""In the middle of a whole game, and not in its first moves."""


def defines(function: str, body: str) -> str:
    return BOT.replace("# HERE", f"def {function}(message):\n    {body}\n")


def moves(body: str) -> str:
    return defines("move", body)


def starts(body: str) -> str:
    return defines("start", body)


def also(body: str) -> str:
    """Do something at each move, and play on."""
    return BOT.replace(
        "# HERE",
        f"def move(message):\n    {body}\n    answer(message, message['legal'][0])\n",
    )


SECOND_MATCH = "if message['match'] == 3: "
"""The new match after whole games in both seats."""


PROGRAMS = {
    "crash at import": (
        BOT.replace("# HERE", "crash()"),
        START,
        "exit code 1 before it had answered",
        "ValueError: from bot.py",
    ),
    "exit at once": ("", START, "exit code 0 before it had answered", ""),
    "crash at match_start": (starts("crash()"), START, "exit code 1", "ValueError: from bot.py"),
    "exit after its first answer": (moves("sys.exit(3)"), FIRST, "it ended with exit code 3", ""),
    "killed": (moves("os.kill(os.getpid(), 9)"), FIRST, "it was ended by signal SIGKILL", ""),
    "crash in mid-game": (
        moves(f"{LATE}crash()\n    answer(message, message['legal'][0])"),
        GAMES,
        "exit code 1",
        "ValueError: from bot.py",
    ),
    "exit in mid-game": (
        moves(f"{LATE}sys.exit()\n    answer(message, message['legal'][0])"),
        GAMES,
        "exit code 0",
        "",
    ),
    "garbage for ready": (starts("print('hello', flush=True)"), READY, "hello (JSON is malformed", ""),
    "no ready, but a move": (
        starts("say(type='move', match=1, ply=0, action='0')"),
        READY,
        '"type":"move"',
        "",
    ),
    "ready for another match": (starts("say(type='ready', match=77)"), READY, '"match":77', ""),
    "ready for no match": (starts("say(type='ready')"), READY, "missing required field", ""),
    "garbage": (moves("print('column four', flush=True)"), FIRST, "column four (JSON is malformed", ""),
    "an empty line": (moves("print(flush=True)"), FIRST, "an empty line", ""),
    "bytes that are no text": (
        moves("sys.stdout.buffer.write(bytes([255, 254, 10])); sys.stdout.flush()"),
        FIRST,
        "(JSON is malformed",
        "",
    ),
    "JSON that is no message": (
        moves("print('[1, 2]', flush=True)"),
        FIRST,
        "expected an object, got a list",
        "",
    ),
    "a message of no such type": (moves("say(type='bet', match=1)"), FIRST, "'bet'", ""),
    "an unknown field": (moves("answer(message, '0', why='because')"), FIRST, "why", ""),
    "NaN": (moves("answer(message, float('nan'))"), FIRST, "NaN is no JSON", ""),
    "NaN in its info": (
        moves("answer(message, '0', info={'value': float('nan')})"),
        FIRST,
        "NaN is no JSON",
        "",
    ),
    "Infinity": (moves("answer(message, float('inf'))"), FIRST, "Infinity is no JSON", ""),
    "minus Infinity": (moves("answer(message, float('-inf'))"), FIRST, "-Infinity is no JSON", ""),
    "a bool": (moves("answer(message, True)"), FIRST, "expected text, got true or false at action", ""),
    "a float": (moves("answer(message, 3.0)"), FIRST, "expected text, got a number at action", ""),
    "a number": (moves("answer(message, 3)"), FIRST, "expected text, got a whole number at action", ""),
    "None": (moves("answer(message, None)"), FIRST, "expected text, got nothing at action", ""),
    "an illegal action": (moves("answer(message, '99')"), FIRST, "'99'", ""),
    "an illegal action in mid-game": (moves("answer(message, '0')"), GAMES, "'0'", ""),
    "another ply": (moves("say(type='move', match=1, ply=7, action='0')"), FIRST, '"ply":7', ""),
    "another match": (moves("say(type='move', match=9, ply=0, action='0')"), FIRST, '"match":9', ""),
    "a resignation that tells a crash": (
        moves("say(type='resign', match=message['match'], reason='crash')"),
        FIRST,
        "crash",
        "",
    ),
    "a fault told": (
        moves("say(type='error', code='broken', message='no book', got='no book')"),
        FIRST,
        "no book",
        "",
    ),
    "a line that is too long": (
        moves("answer(message, '0', info={'x': 'y' * 100_000})"),
        FIRST,
        "one that is longer",
        "",
    ),
    "a huge line without an end": (
        moves("sys.stdout.write('x' * 1_000_000); sys.stdout.flush(); time.sleep(600)"),
        FIRST,
        "one that is longer",
        "",
    ),
    "too much info": (
        moves("answer(message, '0', info={'x': 'y' * 5_000})"),
        FIRST,
        "info of 5008 bytes",
        "",
    ),
    "an answer twice": (
        moves("answer(message, message['legal'][0]); answer(message, message['legal'][0])"),
        ONCE,
        "a second answer",
        "",
    ),
    "ready twice": (
        starts("say(type='ready', match=message['match']); say(type='ready', match=message['match'])"),
        ONCE,
        "a second answer",
        "",
    ),
    "an answer to match_end": (
        defines("end", "say(type='ready', match=message['match'])"),
        ONCE,
        "a second answer",
        "",
    ),
    "chatter before the answer": (
        moves("print('well...', flush=True); answer(message, message['legal'][0])"),
        ONCE,
        "another one: well...",
        "",
    ),
    "JSON of several lines": (
        moves("print(json.dumps({'type': 'move', 'match': message['match']}, indent=2), flush=True)"),
        ONCE,
        "another one: {;",
        "",
    ),
    "chatter on stdout": (
        moves("answer(message, message['legal'][0]); print('I like that', flush=True)"),
        ONCE,
        "I like that",
        "",
    ),
    "a flood on stdout": (
        starts("say(type='ready', match=message['match'])\n    while True: print('x' * 80)"),
        ONCE,
        "xxx",
        "",
    ),
    "a flood on stderr": (also("sys.stderr.write('x' * 200_000)"), STDERR, "bytes", "xxx"),
    "a crash in a new match": (
        starts(f"{SECOND_MATCH}crash()\n    say(type='ready', match=message['match'])"),
        NEW,
        "exit code 1",
        "from bot.py",
    ),
    "the end after one match": (defines("end", "sys.exit()"), NEW, "exit code 0", ""),
    "state kept from the last match": (
        BOT.replace(
            "# HERE",
            "free = list('012345678')\n"
            "def move(message):\n"
            "    for cell in message['last_actions']: free.remove(cell)\n"
            "    answer(message, free.pop(0))",
        ),
        NEW,
        "exit code 1",
        "ValueError",
    ),
    "a history ignored": (
        BOT.replace(
            "# HERE",
            "def start(message):\n"
            "    global free\n"
            "    free = list('012345678'); say(type='ready', match=message['match'])\n"
            "def move(message):\n"
            "    for cell in message['last_actions']: free.remove(cell)\n"
            "    answer(message, free.pop(0))",
        ),
        MIDDLE,
        "",
        "",
    ),
    "odd positions unknown": (
        moves("answer(message, message['legal'][0] if len(message['legal']) != 1 else '')"),
        ODD,
        "''",
        "",
    ),
    "no end when its input ends": (BOT + "\ntime.sleep(600)", END, "killed", ""),
}

SLOW = {
    "a new match ignored": (
        HASTY,
        starts("if message['match'] != 3: say(type='ready', match=message['match'])"),
        NEW,
        "nothing within",
    ),
    "never an answer": (QUICK, moves("time.sleep(600)"), TIME, "nothing within"),
    "an answer too late": (
        QUICK,
        moves("time.sleep(0.4); answer(message, message['legal'][0])"),
        TIME,
        "one after",
    ),
    "no flush": (
        QUICK,
        moves(
            "where = {'match': message['match'], 'ply': message['ply']}\n"
            "    sys.stdout.write(json.dumps({'type': 'move', **where, 'action': '0'}) + chr(10))"
        ),
        TIME,
        "it must flush its output after each line",
    ),
    "no end of the line": (
        QUICK,
        moves("sys.stdout.write('0'); sys.stdout.flush()"),
        TIME,
        "a line without an end: 0",
    ),
    "ready too late": (
        BRISK,
        starts("time.sleep(1.3); say(type='ready', match=message['match'])"),
        READY,
        "ready after",
    ),
    "never ready": (HASTY, starts("time.sleep(600)"), READY, "nothing within"),
    "never an answer at all": (HASTY, "import time; time.sleep(600)", READY, "it must flush its output"),
}


@pytest.fixture
def program(tmp_path):
    """Write a bot, and return what starts it. No process may be left at the end."""
    started = []

    def write(text):
        file = tmp_path / "bot.py"
        file.write_text(text, encoding="utf-8")

        def start():
            running = Program([sys.executable, "-S", str(file)], {"PYTHONUNBUFFERED": ""})
            started.append(running.pid)
            return Conversation(running)

        return start

    yield write
    assert started
    assert [pid for pid in started if psutil.pid_exists(pid)] == [], "a process was left, or a zombie"


def assert_fails(report, number, *words, trace=""):
    """This step fails first, and says so in a sentence."""
    failed = [step for step in report.steps if step.result == "failed"]
    assert failed, "every step passed"
    step = failed[0]
    assert step.number == number, failed
    assert step.expected
    for word in words:
        assert word in step.got, step
    assert trace in step.trace
    assert not report.passed


def test_every_step_has_a_bad_agent_that_fails_it():
    assert {step for _, step, _, _ in PROGRAMS.values()} | {step for _, _, step, _ in SLOW.values()} == set(
        STEPS
    )


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_bad_program_fails_its_step(kind, program):
    text, number, got, trace = PROGRAMS[kind]
    assert_fails(check(program(text), GAME, CALM), number, got, trace=trace)


@pytest.mark.parametrize("kind", SLOW)
def test_a_slow_program_fails_its_step(kind, program):
    limits, text, number, got = SLOW[kind]
    assert_fails(check(program(text), GAME, limits, load_ms=0 if number == READY else 20_000), number, got)


# agents' files ------------------------------------------------------------------------------------------


def chooses(body):
    return f"import os, signal, sys, threading, time\n\n\ndef choose(state, clock):\n    {body}\n"


FIRST_LEGAL = "return next(iter(state.actions()))"
PLAYS = chooses(FIRST_LEGAL)

FILES = {
    "a syntax error": ("import os\ndef choose(state, clock)\n    return 3\n", START, "SyntaxError", ":2"),
    "a crash at import": ("x = 1\ny = x / 0\n" + PLAYS, START, "ZeroDivisionError", ":2"),
    "no choose": ("def chose(state, clock): return 3\n", START, "only chose", ":1"),
    "an exit at import": ("import os\nos._exit(7)\n", START, "exit code 7", ""),
    "a crash at match_start": (
        PLAYS + "\ndef match_start(start):\n    start.book\n",
        READY,
        "AttributeError",
        ":8",
    ),
    "None": (chooses("pass"), FIRST, "None is a NoneType, not an action", ":4"),
    "a bool": (chooses("return True"), FIRST, "True is a bool, not an action", ":4"),
    "a float": (chooses("return 3.0"), FIRST, "3.0 is a float, not an action", ":4"),
    "NaN": (chooses("return float('nan')"), FIRST, "nan is a float, not an action", ":4"),
    "Infinity": (chooses("return float('inf')"), FIRST, "inf is a float, not an action", ":4"),
    "two answers": (chooses("return [3, 4]"), FIRST, "[3, 4] is a list, not an action", ":4"),
    "garbage": (
        chooses("return 'in the middle'"),
        FIRST,
        "'in the middle' is none of the legal actions",
        ":4",
    ),
    "a huge number": (chooses("return 10 ** 5000"), FIRST, "none of the legal actions", ":4"),
    "an illegal action": (chooses("return 99"), FIRST, "99 is none of the legal actions", ":4"),
    "a crash": (
        chooses("return helper()\n\n\ndef helper():\n    return 1 // 0"),
        FIRST,
        "ZeroDivisionError",
        ":9",
    ),
    "no end of recursion": (chooses("return choose(state, clock)"), FIRST, "RecursionError", ":5"),
    "an exit": (chooses("sys.exit()"), FIRST, "SystemExit", ":5"),
    "a hard exit": (chooses("os._exit(3)"), FIRST, "it ended with exit code 3", ""),
    "a segmentation fault": (chooses("signal.raise_signal(signal.SIGSEGV)"), FIRST, "SIGSEGV", ""),
    "questions at the keyboard": (chooses("return int(input('action? '))"), FIRST, "EOFError", ":5"),
    "a crash in mid-game": (
        chooses(f"if len(list(state.actions())) < 6: 1 // 0\n    {FIRST_LEGAL}"),
        GAMES,
        "ZeroDivisionError",
        ":5",
    ),
    "a crash at match_end": (
        PLAYS + "\ndef match_end(end):\n    end.elo\n",
        GAMES,
        "match_end raised AttributeError",
        ":8",
    ),
    "state kept from the last match": (
        chooses("return free.pop(0)\n\n\nfree = [a for a in range(9)]").replace(
            "return", "[free.remove(a) for a in [*free] if a not in state.actions()]\n    return"
        ),
        NEW,
        "IndexError",
        ":6",
    ),
    "a flood of prints": (chooses(f"print('x' * 100_000)\n    {FIRST_LEGAL}"), STDERR, "bytes", ""),
}

SLOW_FILES = {
    "sleeps for ever": (QUICK, chooses("time.sleep(600)"), TIME, "choose had not returned after", ":5"),
    "computes for ever": (QUICK, chooses("while True: pass"), TIME, "choose had not returned after", ":5"),
    "is late": (BRISK, chooses(f"time.sleep(1.3)\n    {FIRST_LEGAL}"), TIME, "one after 1.", ""),
    "is never ready": (
        HASTY,
        PLAYS + "\ndef match_start(start):\n    time.sleep(600)\n",
        READY,
        "match_start had not returned",
        ":8",
    ),
}


@pytest.fixture
def file(tmp_path):
    """Write an agent's file, and return what starts it. No process may be left at the end."""
    started = []

    def write(text, load_ms=20_000, name="bot.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")

        def start():
            running = Program(*child.command_of(str(path), load_ms))
            started.append(running.pid)
            return Conversation(running)

        return start

    yield write
    assert [pid for pid in started if psutil.pid_exists(pid)] == [], "a process was left, or a zombie"


@pytest.mark.parametrize("kind", FILES)
def test_a_bad_file_fails_its_step(kind, file):
    text, number, got, line = FILES[kind]
    report = check(file(text), GAME, CALM)
    assert_fails(report, number, got)
    step = report.steps[number - 1]
    assert not line or f"bot.py{line}" in step.where
    assert "agents/seat.py" not in step.trace, "the traceback begins with the agent's own lines"


@pytest.mark.parametrize("kind", SLOW_FILES)
def test_a_slow_file_fails_its_step_with_the_line_where_it_is(kind, file):
    limits, text, number, got, line = SLOW_FILES[kind]
    report = check(file(text), GAME, limits, load_ms=20_000)
    assert_fails(report, number, got)
    assert not line or f"bot.py{line}" in report.steps[number - 1].where


def test_a_file_that_never_finishes_importing_is_told_with_the_line(file):
    report = check(file("import time\ntime.sleep(600)\n" + PLAYS, load_ms=300), GAME, CALM)
    assert_fails(report, START, "one that has not finished after")
    assert report.steps[0].where.endswith("bot.py:2")


@pytest.mark.parametrize(
    "text", [PLAYS, PLAYS.replace("    return", "    os.write(1, b'hello\\n')\n    print(state)\n    return")]
)
def test_a_good_file_passes_whatever_it_prints(text, file):
    report = check(file(text), GAME, CALM)
    assert report.passed, report
    assert [step.result for step in report.steps] == ["passed"] * len(STEPS)


@pytest.mark.parametrize("name", ["agents.py", "games.py", "msgspec.py"])
def test_a_file_named_as_a_module_of_ours_is_checked_all_the_same(name, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert check(file(PLAYS, name=name), GAME, CALM).passed


def test_a_file_sees_no_more_than_its_seat_may_know(file):
    seen = "assert state.text.count('?') == 1, state.text"
    report = check(file(chooses(f"{seen}\n    {FIRST_LEGAL}")), games.load("kuhn_poker"), CALM)
    assert report.passed, report


# good programs ------------------------------------------------------------------------------------------

RESIGNS = moves(
    "if message['ply'] > 2: say(type='resign', match=message['match'])\n"
    "    else: answer(message, message['legal'][-1])"
)


@pytest.mark.parametrize(
    "text", [BOT, RESIGNS, also("sys.stderr.write('x' * 1_000)")], ids=["plays", "resigns", "chats"]
)
@pytest.mark.parametrize("game", ["tic_tac_toe", "connect_four(rows=4,columns=4,k=3)", "kuhn_poker"])
def test_a_good_program_passes_every_game(game, text, program):
    report = check(program(text), games.load(game), CALM)
    assert report.passed, report


def test_a_program_in_javascript_passes():
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the JavaScript example is not run")
    report = check(
        lambda: Conversation(Program([node, str(EXAMPLES / "stdio_bot.js")])), GAME, CALM, load_ms=20_000
    )
    assert report.passed, report


# the trial of connect -----------------------------------------------------------------------------------

CONTROLS = [
    TimeControl(400, margin_ms=19_000, ready_ms=20_000),
    TimeControl(0, bank_ms=300_000, increment_ms=2_000, margin_ms=200, ready_ms=20_000),
    TimeControl(0, byoyomi_ms=5_000, periods=3, strikes=2, margin_ms=200, ready_ms=20_000),
    TimeControl(0, margin_ms=200, ready_ms=20_000),
    TimeControl(0, nodes=1_000, margin_ms=200, ready_ms=20_000),
]
"""Of every kind that a ladder can have."""


@pytest.mark.parametrize("control", CONTROLS, ids=str)
def test_a_trial_shows_a_program_the_times_of_the_ladder(control, program, tmp_path):
    """Its match has the ladder's own times; for the move it is shown at most a second."""
    seen = tmp_path / "seen.txt"
    note = f"print(line.strip(), file=open({str(seen)!r}, 'a'))"
    text = BOT.replace('    {"match_start"', f'    {note}\n    {{"match_start"')
    assert trial(program(text), GAME, control) is None
    messages = [json.loads(line) for line in seen.read_text().splitlines()]
    starts = [message["time_control"] for message in messages if message["type"] == "match_start"]
    clocks = [message["clock"] for message in messages if message["type"] == "your_move"]
    assert [convert(start, TimeControl) for start in starts] == [control] * GAME.players
    first = view.first_clock(control)
    assert clocks == [asdict(replace(first, move_ms=min(1_000, first.move_ms)))] * GAME.players


@pytest.mark.parametrize(
    ("control", "within"),
    [
        (TimeControl(200, margin_ms=50, ready_ms=20_000), "200 ms"),
        (TimeControl(0, bank_ms=200, increment_ms=9_000, margin_ms=50, ready_ms=20_000), "200 ms"),
        (TimeControl(0, byoyomi_ms=100, periods=2, margin_ms=50, ready_ms=20_000), "200 ms"),
        (TimeControl(1_200, margin_ms=50, ready_ms=20_000), "1.2 s"),
    ],
    ids=["a move", "a bank", "periods", "longer than what is shown"],
)
def test_a_trial_tells_the_limit_that_was_missed(control, within, program):
    late = defines("move", "time.sleep(1.4); answer(message, message['legal'][0])")
    failed = trial(program(late), GAME, control)
    assert failed is not None
    assert (failed.number, failed.expected) == (TIME, f"an answer within {within}")


def test_a_trial_allows_no_more_for_the_set_up_than_the_ladder(program):
    text = defines("start", "time.sleep(1); say(type='ready', match=message['match'])")
    assert trial(program(text), GAME, TimeControl(20_000, ready_ms=20_000)) is None
    failed = trial(program(text), GAME, TimeControl(20_000, ready_ms=500))
    assert failed is not None
    assert (failed.number, failed.expected) == (READY, "ready within 500 ms")
