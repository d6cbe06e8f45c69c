"""Loading a person's file: what works, and one sentence with file and line for what does not."""

import dataclasses
import hashlib
import random
import re
import runpy
from pathlib import Path

import pytest
from msgspec.structs import asdict, replace

import games
from agents import student, view
from agents.clock import Clock
from agents.local import play_match
from agents.protocol import TimeControl
from agents.random_agent import RandomAgent
from games import InputError

GAME = games.load("connect_four")
EXAMPLE = Path(__file__).parents[2] / "examples" / "my_agent.py"
CONTROLS = [
    TimeControl(400, margin_ms=200, ready_ms=20_000),
    TimeControl(60_000, ready_ms=20_000, strikes=3),
    TimeControl(0, bank_ms=300_000, increment_ms=2_000, ready_ms=20_000),
    TimeControl(10_000, bank_ms=300_000, ready_ms=20_000),
    TimeControl(0, bank_ms=60_000, byoyomi_ms=5_000, periods=3, strikes=1, ready_ms=20_000),
    TimeControl(0, byoyomi_ms=5_000, periods=3, ready_ms=20_000),
    TimeControl(0, ready_ms=20_000),
    TimeControl(0, nodes=1_000, ready_ms=20_000),
]
"""Of every kind that a ladder can have."""


@pytest.fixture
def write(tmp_path):
    def write(text, name="my_agent.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


FUNCTION = """
def choose(state, clock):
    return next(iter(state.actions()))
"""

CLASS = """
class Player:
    def __init__(self):
        self.moves = 0

    def match_start(self, start):
        self.seat = start.seat

    def choose(self, state, clock):
        self.moves += 1
        self.info = {"moves": self.moves, "seat": self.seat}
        return next(iter(state.actions()))
"""

SUBCLASS = """
from agents.agent import Agent

class Player(Agent):
    def choose(self, state, clock):
        return next(iter(state.actions()))
"""


@pytest.mark.parametrize("text", [FUNCTION, SUBCLASS, CLASS.replace("self.seat}", "0}")])
def test_a_function_or_a_class_is_an_agent(write, text):
    path = write(text)
    loaded = student.load(path)
    student.trial(loaded, GAME)
    assert loaded.make().choose(GAME.initial_state(), Clock(1_000)) == 0
    assert loaded.fingerprint == hashlib.sha256(path.read_bytes()).hexdigest()


def test_every_match_gets_an_object_of_its_own_with_its_info(write):
    loaded = student.load(write(CLASS))
    results = [play_match(GAME, [loaded.make(), RandomAgent(1)]) for _ in range(2)]
    for result in results:
        assert result.moves[0].info == {"moves": 1, "seat": 0}


def test_a_file_can_import_its_neighbours(write):
    write("COLUMN = 2", name="neighbour_of_mine.py")
    loaded = student.load(write("from neighbour_of_mine import COLUMN\ndef choose(s, c): return COLUMN"))
    assert loaded.make().choose(None, None) == 2


def test_a_changed_file_is_loaded_anew(write):
    first = student.load(write("def choose(state, clock): return 1"))
    second = student.load(write("def choose(state, clock): return 22 - 20"))
    assert first.fingerprint != second.fingerprint
    assert second.make().choose(None, None) == 2


REFUSED = {
    "syntax error": ("import os\ndef choose(state, clock)\n    return 3\n", 2, "SyntaxError"),
    "indentation": ("def choose(state, clock):\nreturn 3\n", 2, "IndentationError"),
    "import error": ("\n\nimport no_such_module_at_all\n", 3, "no_such_module_at_all"),
    "error on import": ("x = 1\ny = x / 0\ndef choose(s, c): return 0\n", 2, "ZeroDivisionError"),
    "error in a call on import": ("def f():\n    raise ValueError('no')\n\nf()\n", 2, "ValueError: no"),
    "exit on import": ("import sys\nsys.exit('done')\n", 2, "SystemExit"),
    "nothing": ("", 1, "neither"),
    "other names": ("def chose(state, clock): return 3\n", 1, "only chose"),
    "no function": ("\nchoose = 3\n", 1, "choose = 3"),
    "too few arguments": ("\n\ndef choose(state):\n    return 3\n", 3, "choose(state)"),
    "too many arguments": (
        "def choose(state, clock, depth):\n    return 3\n",
        1,
        "choose(state, clock, depth)",
    ),
    "async": ("\nasync def choose(state, clock):\n    return 3\n", 2, "async"),
    "generator": ("\ndef choose(state, clock):\n    yield 3\n", 2, "yields"),
    "method without self": ("class A:\n    def choose(state, clock):\n        return 3\n", 2, "A.choose"),
    "two classes": (
        "class A:\n    def choose(self, s, c): ...\nclass B:\n    def choose(self, s, c): ...\n",
        3,
        "2 classes (A, B)",
    ),
    "constructor with arguments": (
        "class A:\n    def __init__(self, depth): ...\n    def choose(self, s, c): ...\n",
        1,
        "depth",
    ),
    "constructor that fails": (
        "class A:\n    def __init__(self):\n        open('/no/such/book')\n    def choose(self, s, c): ...\n",
        3,
        "FileNotFoundError",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_fault_is_one_sentence_with_file_and_line(write, case):
    text, line, named = REFUSED[case]
    path = write(text)
    with pytest.raises(InputError) as refused:
        student.load(path)
    sentence = str(refused.value)
    assert f"{path}:{line}" in sentence
    assert named in sentence
    assert sentence.startswith("expected ")
    assert "\n" not in sentence


def test_a_file_that_is_not_there_is_refused_with_its_neighbours(write):
    path = write(FUNCTION)
    with pytest.raises(InputError) as refused:
        student.load(path.with_name("myagent.py"))
    assert refused.value.code == "no_such_file"
    assert refused.value.available == ("my_agent.py",)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="the folder"):
        student.load(tmp_path)


def test_another_kind_of_file_is_refused(write):
    with pytest.raises(InputError, match=r"ends in \.py"):
        student.load(write(FUNCTION, name="agent.txt"))


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "agent.py"
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError) as refused:
        student.load(path)
    assert f"{path}:1" in str(refused.value)


FAILS = {
    "crash": ("def choose(state, clock):\n    return helper()\n\ndef helper():\n    return 1 // 0\n", 5),
    "second seat only": (
        "def choose(state, clock):\n    if state.to_move():\n        raise ValueError('x')\n    return 3\n",
        3,
    ),
    "illegal": ("\ndef choose(state, clock):\n    return 77\n", 2),
    "text of an illegal action": ("def choose(state, clock):\n    return 'four'\n", 1),
    "no return": ("def choose(state, clock):\n    3\n", 1),
    "exit": ("def choose(state, clock):\n    exit()\n", 2),
}


@pytest.mark.parametrize("case", FAILS)
def test_a_trial_finds_what_would_lose_every_match(write, case):
    text, line = FAILS[case]
    path = write(text)
    loaded = student.load(path)
    with pytest.raises(InputError) as refused:
        student.trial(loaded, GAME)
    assert refused.value.code == "trial_failed"
    assert re.search(rf"{re.escape(str(path))}:{line}\b", str(refused.value))
    assert "connect_four" in str(refused.value)


ILLEGAL = {
    "a number": ("return 7", "0, 1, 2, 3, 4, 5, 6", "7", " (on the board they are written 1 2 3 4 5 6 7)"),
    "nothing": (
        "pass",
        "0, 1, 2, 3, 4, 5, 6",
        "None, a NoneType",
        " (on the board they are written 1 2 3 4 5 6 7)",
    ),
    "a text": ("return '8'", "'1', '2', '3', '4', '5', '6', '7'", "'8'", ""),
    "a huge number": ("return 10**5000", "0, 1, 2", "an int that cannot be shown", " (on the board"),
}


@pytest.mark.parametrize("case", ILLEGAL)
def test_an_illegal_action_is_told_in_the_agents_own_values(write, case):
    body, legal, got, note = ILLEGAL[case]
    path = write(f"def choose(s, c): {body}")
    with pytest.raises(InputError) as refused:
        student.trial(student.load(path), GAME)
    sentence = str(refused.value)
    assert sentence.startswith(f"expected one of the legal actions {legal}")
    assert f", got {got} in {path}:1{note}" in sentence


@pytest.mark.parametrize(
    ("position", "asked"),
    [("xx.oo.... x", 2), ("xoxxo..xo o", 2), ("xoxxooox. x", 1)],
    ids=["the first action wins", "the last but one", "every action ends the game"],
)
def test_a_trial_asks_only_where_something_is_to_be_answered(write, tmp_path, position, asked):
    game = games.load("tic_tac_toe")
    state = game.parse_position(position)
    told = tmp_path / "asked"
    path = write(f"""
def choose(s, c):
    with open({str(told)!r}, "a") as f:
        f.write("x")
    return next(iter(s.actions()))
""")
    student.trial(student.load(path), dataclasses.replace(game, start=lambda: state))
    assert told.read_text("utf-8") == "x" * asked


def test_actions_written_as_they_are_chosen_are_told_once(write):
    path = write("def choose(s, c): return 9")
    with pytest.raises(InputError) as refused:
        student.trial(student.load(path), games.load("tic_tac_toe"))
    assert "0, 1, 2, 3, 4, 5, 6, 7, 8, got 9 in" in str(refused.value)
    assert "on the board" not in str(refused.value)


HANGS = {
    "import": ("import threading\nx = 1\nthreading.Event().wait(30)\ndef choose(s, c): return 0\n", 3),
    "constructor": (
        "import time\nclass A:\n def __init__(self):\n  time.sleep(30)\n def choose(self, s, c): ...\n",
        4,
    ),
}


@pytest.mark.parametrize("case", HANGS)
def test_a_file_that_never_finishes_importing_is_refused_with_the_line_where_it_hangs(write, case):
    text, line = HANGS[case]
    path = write(text)
    with pytest.raises(InputError, match=r"got one that has not finished after 2\d\d ms") as refused:
        student.load(path, patience_ms=200)
    assert str(refused.value).endswith(f" in {path}:{line}")


def test_a_trial_does_not_wait_for_ever_and_tells_the_line(write):
    path = write("import time\ndef choose(state, clock):\n    think()\n\ndef think():\n    time.sleep(30)\n")
    loaded = student.load(path)
    quick = TimeControl(50, margin_ms=10)
    with pytest.raises(
        InputError, match=r"choose has not returned after \d+ ms, the limit is 50 ms"
    ) as refused:
        student.trial(loaded, GAME, quick, patience_ms=100)
    assert f"{path}:6" in str(refused.value)


def test_a_choose_slower_than_the_ladders_limit_is_refused(write):
    path = write("import time\n\ndef choose(state, clock):\n    time.sleep(0.3)\n    return 3\n")
    loaded = student.load(path)
    student.trial(loaded, GAME, TimeControl(60_000))
    with pytest.raises(InputError, match=r"choose took 3\d\d ms, the limit is 150 ms") as refused:
        student.trial(loaded, GAME, TimeControl(150, margin_ms=10))
    assert f"{path}:3" in str(refused.value)


@pytest.mark.parametrize(
    ("control", "limit"),
    [
        (TimeControl(0, bank_ms=60_000, increment_ms=1_000), None),
        (TimeControl(0, nodes=1_000), None),
        (TimeControl(0, bank_ms=150, increment_ms=1_000), "150 ms"),
        (TimeControl(0, byoyomi_ms=50, periods=3), "150 ms"),
    ],
)
def test_a_trial_has_the_limit_of_a_first_move(write, control, limit):
    loaded = student.load(
        write("import time\n\ndef choose(state, clock):\n    time.sleep(0.3)\n    return 3\n")
    )
    if limit is None:
        student.trial(loaded, GAME, control)
    else:
        with pytest.raises(InputError, match=rf"choose took \d+ ms, the limit is {limit}"):
            student.trial(loaded, GAME, control)


@pytest.mark.parametrize("control", CONTROLS, ids=str)
def test_a_trial_shows_the_clock_of_the_ladder_with_at_most_a_second_for_the_move(write, control):
    path = write(
        "import pathlib\n\n"
        "def choose(state, clock):\n"
        "    shown = [clock.move_ms, clock.bank_ms, clock.increment_ms, clock.byoyomi_ms]\n"
        "    shown += [clock.periods, clock.strikes, round(clock.share_ms())]\n"
        "    with pathlib.Path(__file__).with_name('seen.txt').open('a') as file: print(*shown, file=file)\n"
        "    return 3\n"
    )
    student.trial(student.load(path), GAME, control)
    first = view.first_clock(control)
    clock = Clock(**asdict(replace(first, move_ms=min(1_000, first.move_ms))))
    shown = [list(map(int, line.split())) for line in path.with_name("seen.txt").read_text().splitlines()]
    assert (
        shown
        == [
            [
                *(clock.move_ms, clock.bank_ms, clock.increment_ms, clock.byoyomi_ms),
                *(clock.periods, clock.strikes, round(clock.share_ms())),
            ]
        ]
        * 2
    )
    assert 0 < clock.share_ms() <= 1_000, "one that can be used, and is over soon"


@pytest.mark.parametrize("where", ["match_start(self, start)", "__init__(self)"])
def test_a_set_up_slower_than_the_ladders_start_up_allowance_is_refused(write, where):
    path = write(
        f"import time\n\nclass Player:\n    def {where}:\n        time.sleep(0.3)\n"
        "    def choose(self, state, clock): return 3\n"
    )
    loaded = student.load(path)
    student.trial(loaded, GAME, TimeControl(5_000, margin_ms=200, ready_ms=20_000))
    with pytest.raises(InputError, match=r"match_start took \d+ ms, the limit is 150 ms") as refused:
        student.trial(loaded, GAME, TimeControl(5_000, margin_ms=200, ready_ms=150))
    assert str(path) in str(refused.value)


def test_a_set_up_that_never_returns_is_told_with_its_own_limit(write):
    path = write("import time\n\ndef match_start(start):\n    time.sleep(30)\n\ndef choose(s, c): return 3\n")
    limits = TimeControl(50, margin_ms=10, ready_ms=70)
    with pytest.raises(
        InputError, match=r"match_start has not returned after \d+ ms, the limit is 70 ms"
    ) as refused:
        student.trial(student.load(path), GAME, limits, patience_ms=100)
    assert f"{path}:4" in str(refused.value)


def test_an_agent_is_set_up_before_it_is_tried(write):
    student.trial(student.load(write(CLASS)), GAME)


def test_a_report_begins_with_the_agents_own_lines(write):
    path = write("def choose(state, clock):\n    return helper()\n\ndef helper():\n    return 1 // 0\n")
    loaded = student.load(path)
    control = TimeControl(5_000, margin_ms=200, ready_ms=5_000)
    result = play_match(
        GAME, [RandomAgent(4), loaded.make()], control, moves=["4", "4"], names=["random", str(path)]
    )
    lines = result.fault.traceback.splitlines()
    assert lines[0].startswith("Traceback")
    assert f'"{path}", line 2' in lines[1]
    assert "ZeroDivisionError" in lines[-1]
    assert str(Path("agents") / "local.py") not in result.fault.traceback
    moves = " ".join(result.position.actions)
    assert result.fault.command() == f'plyground play random {path} --game connect_four --moves "{moves}"'
    assert result.fault.text().endswith(result.fault.command())
    assert "legal     0 1 2 3 4 5 6 (on the board they are written 1 2 3 4 5 6 7)" in result.fault.text()


def test_a_file_whose_name_begins_like_an_option_is_told_as_a_path():
    agent = student.ObjectAgent(type("P", (), {"choose": lambda self, s, c: None})())
    fault = play_match(GAME, [agent, RandomAgent(1)], names=["-x.py", "random"]).fault
    assert fault.command("./plyground") == "./plyground play ./-x.py random --game connect_four"


def test_a_game_with_options_is_quoted_for_the_shell():
    game = games.load("connect_four(rows=5,columns=6,k=4)")
    agent = student.ObjectAgent(type("P", (), {"choose": lambda self, s, c: None})())
    fault = play_match(game, [agent, RandomAgent(1)], names=["my agent.py", "random"]).fault
    assert fault.command() == (
        "plyground play 'my agent.py' random --game 'connect_four(rows=5,columns=6,k=4)'"
    )


@pytest.mark.parametrize("variant", ["tic_tac_toe", "connect_four", "connect_four(rows=5,columns=6,k=4)"])
def test_the_example_plays_every_ladder_and_beats_random(variant):
    game = games.load(variant)
    loaded = student.load(EXAMPLE)
    student.trial(loaded, game)
    random.seed(1)  # the example draws from the module's own generator
    results = [play_match(game, [loaded.make(), RandomAgent(seed)]) for seed in range(20)]
    assert all("crash" not in result.causes for result in results)
    assert sum(result.scores[0] for result in results) >= 13


def test_the_example_is_as_short_as_promised():
    code = re.sub(r'""".*?"""', "", EXAMPLE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert 5 <= sum(bool(line.strip()) for line in code.splitlines()) <= 14
    assert callable(runpy.run_path(str(EXAMPLE))["choose"])
