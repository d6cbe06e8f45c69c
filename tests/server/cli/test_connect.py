"""`plyground connect`: from a file to matches, and every way in which it can be refused."""

import asyncio
import json
import signal
import stat

import pytest

FIRST = "return next(iter(state.actions()))"


@pytest.fixture
def connect(plyground, scripted):
    """Connect an agent to the scripted server."""

    async def run(*arguments, **variables):
        return await plyground("connect", *arguments, "--server", scripted.url, **variables)

    return run


async def test_a_first_run_registers_plays_and_reports(connect, scripted, agent_file, tmp_path):
    agent_file("mine.py", FIRST)
    result = await connect("mine.py", "--ladder", "tic_tac_toe", "--name", "ada", "--matches", "2")
    result.assert_done()
    lines = result.out.splitlines()
    assert lines[0] == f"connected as ada v1 to {scripted.url}"
    assert lines[1] == f"match 1 vs rival?[31m (seat 1) on tic_tac_toe started  {scripted.url}/matches/1"
    assert lines[2] == "match 1 finished: won (normal); 1512? Elo, 3 won 0 drawn 1 lost"
    assert lines[3].startswith("match 2 vs")
    assert lines[4].startswith("match 2 finished: won")
    kept = tmp_path / "config" / "tokens.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert json.loads(kept.read_text())[scripted.url] == {"ada": "ply_ada"}


async def test_a_second_run_is_the_same_agent(connect, scripted, agent_file):
    agent_file("mine.py", FIRST)
    for _ in range(2):
        (await connect("mine.py", "--ladder", "small", "--name", "ada", "--matches", "1")).assert_done()
    first, second = scripted.hellos
    assert first.fingerprint == second.fingerprint
    agent_file("mine.py", f"{FIRST}  # better")
    (await connect("mine.py", "--ladder", "small", "--name", "ada", "--matches", "1")).assert_done()
    assert scripted.hellos[2].fingerprint != first.fingerprint


async def test_several_ladders_and_matches_at_once(connect, scripted, agent_file):
    agent_file("mine.py", FIRST)
    ladders = ("--ladder", "small", "--ladder", "tic_tac_toe")
    (
        await connect("mine.py", *ladders, "--name", "ada", "--matches", "1", "--concurrency", "3")
    ).assert_done()
    (hello,) = scripted.hellos
    assert (hello.ladders, hello.concurrency) == (["small", "tic_tac_toe"], 3)


async def test_a_token_kept_from_another_life_of_the_server_is_replaced(connect, scripted, agent_file):
    agent_file("mine.py", FIRST)
    (await connect("mine.py", "--ladder", "small", "--name", "ada", "--matches", "1")).assert_done()
    scripted.tokens.clear()
    scripted.taken.clear()
    (await connect("mine.py", "--ladder", "small", "--name", "ada", "--matches", "1")).assert_done()


async def test_a_token_that_cannot_be_kept_is_shown(connect, agent_file):
    agent_file("mine.py", FIRST)
    arguments = ("mine.py", "--ladder", "small", "--name", "ada", "--matches", "1")
    result = await connect(*arguments, PLYGROUND_CONFIG_DIR="/proc/plyground")
    result.assert_done()
    assert "the next run needs --token ply_ada" in result.err


async def test_tokens_that_cannot_be_read(connect, scripted, agent_file, tmp_path):
    agent_file("mine.py", FIRST)
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "tokens.json").write_text("{")
    result = await connect("mine.py", "--ladder", "small", "--name", "ada")
    result.assert_refused("connect", "expected tokens as JSON", "tokens.json")
    assert scripted.taken == set(), "nothing is registered that could not be kept"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.py", "--ladder", "small"], ["no file nowhere.py"]),
        ([".", "--ladder", "small"], ["the folder ."]),
        (["good.txt", "--ladder", "small"], ["ends in .py", "good.txt"]),
        (["nothing.py", "--ladder", "small"], ["choose(state, clock)", "nothing.py:1"]),
        (["wrong.py", "--ladder", "small"], ["without syntax errors", "wrong.py:2"]),
        (["good.py", "--ladder", "halma"], ["'halma'", "available: tic_tac_toe, small"]),
        (
            ["good.py", "--ladder", "small", "--token", "ply_x"],
            ["expected a token of this server, got another"],
        ),
        (
            ["illegal.py", "--ladder", "small"],
            ["illegal.py:1", "99 is none of the legal actions", "available: 1, 2"],
        ),
        (["crash.py", "--ladder", "small"], ["crash.py:2", "ValueError: no"]),
        (["second.py", "--ladder", "small"], ["second.py:2", "ZeroDivisionError"]),
        (["good.py", "--ladder", "small"], ["expected a name nobody has, got 'ada'"]),
        (["good.py"], ["missing option '--ladder'"]),
    ],
)
async def test_one_sentence_before_any_match(connect, scripted, agent_file, tmp_path, arguments, words):
    agent_file("good.py", FIRST)
    agent_file("good.txt", FIRST)
    agent_file("illegal.py", "return 99")
    agent_file("crash.py", "raise ValueError('no')")
    agent_file("second.py", "return 1 // (1 - state.to_move()) - 1")
    agent_file("wrong.py", "return )")
    (tmp_path / "nothing.py").write_text("def chose(state, clock): ...\n")
    scripted.taken = {"ada"}
    (await connect(*arguments, "--name", "ada")).assert_refused("connect", *words)
    assert scripted.matches == 0


@pytest.mark.parametrize(
    ("body", "got", "ending"),
    [
        (
            "return 99 if state.mask.bit_count() > 3 else 0",
            "99 is none of the legal actions",
            "illegal_action",
        ),
        ("return 0 // (state.mask.bit_count() < 4)", "ZeroDivisionError", "resignation"),
    ],
)
async def test_a_fault_in_a_match_is_reported(connect, agent_file, body, got, ending):
    agent_file("mine.py", body)
    result = await connect("mine.py", "--ladder", "small", "--name", "ada")
    assert result.code == 1
    assert f"match 1 finished: lost ({ending})" in result.out
    repeat = 'plyground play mine.py random --game "connect_four(rows=4,columns=4,k=3)" --moves "1 1 1 1"'
    assert (
        repeat.replace('"connect_four(rows=4,columns=4,k=3)"', "'connect_four(rows=4,columns=4,k=3)'")
        in result.err
    )
    for line in (got, "at ply 4"):
        assert line in result.err


async def test_ctrl_c_leaves_politely(launch, scripted, agent_file):
    agent_file("mine.py", f"import time; time.sleep(0.05); {FIRST}")
    arguments = ("connect", "mine.py", "--ladder", "small", "--name", "ada", "--server", scripted.url)
    process = await launch(*arguments)
    while b"started" not in await process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(30):
        out, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert b"leaving after 1 running" in out
    assert b"finished: won" in out


async def test_ctrl_c_twice_leaves_at_once(launch, scripted, agent_file):
    agent_file("mine.py", f"import time; time.sleep(30 * (state.mask.bit_count() > 1)); {FIRST}")
    process = await launch(
        "connect", "mine.py", "--ladder", "small", "--name", "ada", "--server", scripted.url
    )
    while b"started" not in await process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    assert b"leaving" in await process.stdout.readline()
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(30):
        out, _ = await process.communicate()
    assert process.returncode == 0
    assert b"finished" not in out
