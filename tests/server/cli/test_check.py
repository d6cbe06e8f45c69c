"""`plyground check`, and programs over stdio under `play` and `connect`."""

import json
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from agents.check import STEPS

ROOT = Path(__file__).resolve().parents[3]
BOT = ROOT / "examples" / "stdio_bot.py"
FIRST = "return next(iter(state.actions()))"
SMALL = ("--game", "connect_four(rows=4,columns=4,k=3)")


@pytest.fixture
def bot(tmp_path):
    """Write the example with a line changed, and return the command that runs it."""

    def write(old="", new=""):
        text = BOT.read_text(encoding="utf-8")
        assert old in text
        (tmp_path / "bot.py").write_text(text.replace(old, new) if old else text, encoding="utf-8")
        return f"{shlex.quote(sys.executable)} bot.py"

    return write


async def test_a_good_file_passes_every_step(plyground, agent_file):
    agent_file("mine.py", FIRST)
    result = await plyground("check", "mine.py", *SMALL)
    result.assert_done()
    first, *steps, last = result.out.splitlines()
    assert first == f"checked on {SMALL[1]}; --game chooses another"
    assert [line.split()[:2] for line in steps] == [[str(number), "ok"] for number in STEPS]
    assert last == f"{len(STEPS)} of {len(STEPS)} steps passed, 0 failed"
    assert result.err == ""


async def test_a_good_program_passes_every_step(plyground, bot):
    result = await plyground("check", "--command", bot(), *SMALL)
    result.assert_done()
    assert result.out.endswith(f"{len(STEPS)} of {len(STEPS)} steps passed, 0 failed\n")


async def test_a_crash_is_shown_with_its_step_file_and_line(plyground, agent_file):
    agent_file("mine.py", "return 1 // 0")
    result = await plyground("check", "mine.py", "--game", "tic_tac_toe")
    assert result.code == 1
    _, *lines = result.out.splitlines()
    assert lines[2] == " 3 FAILED its first move is legal"
    assert lines[3] == "     expected  one of the legal actions 0 1 2 3 4 5 6 7 8"
    assert lines[4] == "     got       ZeroDivisionError: integer division or modulo by zero"
    assert lines[5].startswith("     where     mine.py:2, match 1, seat 1, ply 0 of tic_tac_toe (")
    assert lines[6] == "     Traceback (most recent call last):"
    assert " 4 -      it answers in time: not tried, since step 3 failed" in lines
    assert lines[-1] == f"2 of {len(STEPS)} steps passed, 1 failed"


@pytest.mark.parametrize(
    ("body", "game", "actions", "advice"),
    [
        (
            "return 7",
            "connect_four",
            "0 1 2 3 4 5 6 (on the board they are written 1 2 3 4 5 6 7)",
            "",
        ),
        (
            "return state.result(0)",
            "kuhn_poker",
            "0 1 (on the board they are written p b)",
            '; in kuhn_poker choose gets an observation, no state: docs/agents.md, "Hidden information"',
        ),
    ],
)
async def test_legal_actions_are_listed_as_choose_returns_them(
    plyground, agent_file, body, game, actions, advice
):
    agent_file("mine.py", body)
    result = await plyground("check", "mine.py", "--game", game)
    assert f"     expected  one of the legal actions {actions}{advice}\n" in result.out


async def test_the_stderr_of_a_program_is_shown(plyground, bot):
    line = bot("import sys", "import sys\n\nsys.stderr.write('no \x1b[31mbook\\n')\nsys.exit(4)")
    result = await plyground("check", "--command", line)
    assert result.code == 1
    _, *lines = result.out.splitlines()
    assert lines[0] == " 1 FAILED it starts"
    assert lines[2] == "     got       no line: it ended with exit code 4 before it had answered anything"
    assert lines[4:6] == ["     It wrote to stderr:", "     no ?[31mbook"]


async def test_json_has_every_step(plyground, bot):
    result = await plyground("check", "--command", bot('"type": "move"', '"type": "moves"'), *SMALL, "--json")
    assert result.code == 1
    told = json.loads(result.out)
    assert (told["game"], told["passed"]) == (SMALL[1], False)
    assert [step["step"] for step in told["steps"]] == list(STEPS)
    assert [step["result"] for step in told["steps"]] == ["passed"] * 2 + ["failed"] + ["skipped"] * 8
    failed = told["steps"][2]
    assert failed["expected"].startswith('{"type":"move","match":1,"ply":0,"action":"1"}')
    assert "'moves'" in failed["got"]


async def test_an_agent_slower_than_its_limit_fails(plyground, agent_file):
    agent_file("mine.py", f"import time; time.sleep(0.5); {FIRST}")
    result = await plyground("check", "mine.py", *SMALL, "--move-ms", "250")
    assert result.code == 1
    assert " 4 FAILED it answers in time" in result.out
    assert "expected  an answer within 250 ms" in result.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["an agent's FILE or --command", "got neither"]),
        (["mine.py", "--command", "true"], ["got both"]),
        (["nowhere.py"], ["no file nowhere.py"]),
        (["--command", " "], ["a command line", "got nothing"]),
        (["--command", "a 'b"], ["No closing quotation"]),
        (["mine.py", "--game", "halma"], ["halma", "available: "]),
        (["mine.py", "--move-ms", "0"], ["a whole number from 1"]),
    ],
)
async def test_bad_usage_is_refused_in_one_sentence(plyground, agent_file, arguments, words):
    agent_file("mine.py", FIRST)
    (await plyground("check", *arguments)).assert_refused("check", *words)


async def test_a_program_that_is_not_there_fails_the_first_step(plyground):
    result = await plyground("check", "--command", "no-such-program --fast")
    assert result.code == 1
    assert "got       'no-such-program': No such file or directory" in result.out


# play and connect ---------------------------------------------------------------------------------------


async def test_a_program_plays_without_a_server(plyground, bot):
    result = await plyground("play", f"command:{bot()}", "random", *SMALL, "--games", "2", "--json")
    result.assert_done()
    assert json.loads(result.out)["agents"][0]["causes"] == {"normal": 2}


async def test_the_fault_of_a_program_comes_with_a_line_that_repeats_it(plyground, bot):
    line = bot('"action": random.choice(message["legal"])', '"action": "centre"')
    result = await plyground("play", f"command:{line}", "random", "--game", "tic_tac_toe")
    assert result.code == 1
    assert "'centre' is none of the legal actions" in result.err
    repeat = result.err.split("Repeat it here:\n  ")[1].splitlines()[0]
    assert shlex.split(repeat)[-4:] == [f"command:{line}", "random", "--game", "tic_tac_toe"]


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("match_start", "it ended with exit code 4 before it had answered anything"),
        ("your_move", "it ended with exit code 4 in place of an answer"),
    ],
)
async def test_the_end_of_a_program_is_told_in_one_sentence(plyground, bot, when, said):
    asked = '    if message["type"] == "match_start":\n'
    line = bot(asked, f'    if message["type"] == "{when}":\n        sys.exit(4)\n{asked}')
    result = await plyground("play", f"command:{line}", "random", *SMALL)
    assert result.code == 1
    assert f"  got       {said}\n" in result.err


async def connect(plyground, scripted, line, *arguments):
    ladder = ("--ladder", "small", "--name", "ada")
    return await plyground("connect", "--command", line, *ladder, *arguments, "--server", scripted.url)


async def test_a_program_plays_on_a_ladder(plyground, scripted, bot):
    result = await connect(plyground, scripted, bot(), "--matches", "2", "--concurrency", "2")
    result.assert_done()
    assert result.out.splitlines()[0] == f"trying {bot()} on small ..."
    assert result.out.splitlines()[-1].startswith("left: 2 matches played")
    assert result.err == ""
    assert scripted.hellos[0].fingerprint


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('message["legal"]', '["9"]', ["one of the legal actions 1 2 3 4", "got '9'", "bot.py"]),
        ("import sys", "import sys\nraise ValueError('no book')", ["exit code 1", "ValueError: no book"]),
    ],
)
async def test_a_bad_program_is_refused_before_any_match(plyground, scripted, bot, old, new, words):
    result = await connect(plyground, scripted, bot(old, new))
    result.assert_refused("connect", *words)
    assert scripted.hellos == []


async def test_a_program_that_fails_in_a_match_ends_the_run(plyground, scripted, bot):
    line = bot(
        '    elif message["type"]',
        '    elif message.get("ply", 0) > 3:\n        sys.exit(9)\n    elif message["type"]',
    )
    result = await connect(plyground, scripted, line)
    assert result.code == 1
    assert "it ended with exit code 9" in result.err


async def test_connect_takes_a_file_or_a_program(plyground, scripted, agent_file):
    agent_file("mine.py", FIRST)
    ladder = ("--ladder", "small", "--name", "ada", "--server", scripted.url)
    (await plyground("connect", *ladder)).assert_refused("connect", "got neither")
    (await plyground("connect", "mine.py", "--command", "true", *ladder)).assert_refused(
        "connect", "got both"
    )


async def test_the_example_in_javascript_passes(plyground):
    if shutil.which("node") is None:
        pytest.skip("node is not installed: the JavaScript example is not run")
    example = shlex.quote(str(ROOT / "examples" / "stdio_bot.js"))
    (await plyground("check", "--command", f"node {example}", "--game", "tic_tac_toe")).assert_done()
