"""`plyground connect`: from a file to matches, and every way in which it can be refused."""

import asyncio
import io
import json
import os
import shlex
import signal
import stat
import sys
import threading
from pathlib import Path

import pytest
from aiohttp import web

from agents.matches import Played
from agents.protocol import Error, MatchEnd, MatchStart, TimeControl
from server.cli.connect import _until_interrupted
from server.cli.events import Reporter

from .conftest import problem

PATIENCE_S = 60
HERE = f"{shlex.quote(str(Path(sys.executable).absolute()))} -m server.cli"
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
    assert lines[0] == "trying mine.py on tic_tac_toe ..."
    assert lines[1] == f"connected as ada v1 to {scripted.url}"
    assert lines[2] == f"match 1 vs rival?[31m (seat 1) on tic_tac_toe started  {scripted.url}/matches/1"
    assert lines[3] == "match 1 finished: won (normal); tic_tac_toe: 1512? Elo, 3 won 0 drawn 1 lost"
    assert lines[4].startswith("match 2 vs")
    assert lines[5].startswith("match 2 finished: won")
    assert lines[6:] == ["left: 2 matches played, 2 won 0 drawn 0 lost"]
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


async def test_an_invitation_registers_where_nobody_else_may(connect, scripted, agent_file):
    scripted.invitation = "ply_spring"
    agent_file("mine.py", FIRST)
    arguments = ("mine.py", "--ladder", "small", "--name", "ada", "--matches", "1")
    (await connect(*arguments)).assert_refused(
        "connect", "expected an invitation", "give it with --invitation"
    )
    assert scripted.taken == set()
    (await connect(*arguments, "--invitation", "ply_spring")).assert_done()
    scripted.taken.clear()
    (await connect(*arguments)).assert_done()  # the agent is registered now: it needs none any more
    scripted.tokens.clear()
    (await connect(*arguments, PLYGROUND_INVITATION="ply_spring")).assert_done()


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
            ["expected a token of this server, got another; the token came from --token"],
        ),
        (
            ["illegal.py", "--ladder", "small"],
            [
                "expected one of the legal actions 0, 1, 2, 3, got 99",
                "illegal.py:1 (on the board they are written 1 2 3 4)",
            ],
        ),
        (["crash.py", "--ladder", "small"], ["crash.py:2", "ValueError: no"]),
        (["second.py", "--ladder", "small"], ["second.py:2", "ZeroDivisionError"]),
        (
            ["good.py", "--ladder", "small"],
            [
                "expected a name nobody has, got 'ada'; if it is yours, give its token with --token",
                "an admin can issue a new one: plyground token issue play --agent ada",
            ],
        ),
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
        ("return 0 // (state.mask.bit_count() < 4)", "ZeroDivisionError", "crash"),
    ],
)
async def test_a_fault_in_a_match_is_reported(connect, agent_file, body, got, ending):
    agent_file("mine.py", body)
    result = await connect("mine.py", "--ladder", "small", "--name", "ada")
    assert result.code == 1
    assert f"match 1 finished: lost ({ending})" in result.out
    assert "100" not in result.out + result.err, "the report says it, in the agent's own values"
    game = "--game 'connect_four(rows=4,columns=4,k=3)'"
    assert f'{HERE} play mine.py random {game} --moves "1 1 1 1"' in result.err
    for line in (got, "at ply 4"):
        assert line in result.err


async def test_ctrl_c_leaves_politely(launch, scripted, agent_file):
    agent_file("mine.py", f"import time; time.sleep(0.05); {FIRST}")
    arguments = ("connect", "mine.py", "--ladder", "small", "--name", "ada", "--server", scripted.url)
    process = await launch(*arguments)
    while b"started" not in await process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(PATIENCE_S):
        out, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")
    assert b"leaving after 1 running" in out
    assert b"finished: won" in out
    assert out.splitlines()[-1].startswith(b"left: ")
    assert b" match" in out.splitlines()[-1]


async def test_ctrl_c_twice_leaves_at_once(launch, scripted, agent_file):
    scripted.move_ms = 600_000
    agent_file("mine.py", f"import time; time.sleep(600 * (state.mask.bit_count() > 1)); {FIRST}")
    process = await launch(
        "connect", "mine.py", "--ladder", "small", "--name", "ada", "--server", scripted.url
    )
    while b"started" not in await process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    assert b"leaving" in await process.stdout.readline()
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(PATIENCE_S):
        out, _ = await process.communicate()
    assert process.returncode == 0
    assert b"finished" not in out
    assert out.splitlines()[-1] == b"left: 0 matches played, 0 won 0 drawn 0 lost"


async def test_a_token_of_the_environment_is_named_as_such(connect, agent_file):
    agent_file("mine.py", FIRST)
    result = await connect("mine.py", "--ladder", "small", "--name", "ada", PLYGROUND_TOKEN="ply_x")
    result.assert_refused("connect", "got another; the token came from PLYGROUND_TOKEN")


async def test_a_kept_token_of_nobody_here_is_named_and_stays(connect, scripted, agent_file, tmp_path):
    agent_file("mine.py", FIRST)
    (await connect("mine.py", "--ladder", "small", "--name", "ada", "--matches", "1")).assert_done()
    kept = tmp_path / "config" / "tokens.json"
    before = kept.read_text()
    scripted.tokens["ada"] = "ply_of_another_life"
    result = await connect("mine.py", "--ladder", "small", "--name", "ada")
    result.assert_refused("connect", f"the token kept in {kept} is not its token", "--token")
    assert kept.read_text() == before, "that server may come back"


async def test_an_agent_that_connects_elsewhere_stops_here_with_one_sentence(connect, scripted, agent_file):
    agent_file("mine.py", FIRST)
    scripted.replace_at = 2
    result = await connect("mine.py", "--ladder", "small", "--name", "ada")
    assert result.code == 2
    sentence = "another terminal or process connected as 'ada' and took over; this one stops"
    assert result.err == f"plyground connect: {sentence}\n"


# time -------------------------------------------------------------------------------------------------


async def test_a_choose_slower_than_the_ladder_allows_is_refused(connect, scripted, agent_file):
    agent_file("slow.py", f"import time; time.sleep(0.5); {FIRST}")
    scripted.move_ms = 100
    result = await connect("slow.py", "--ladder", "small", "--name", "ada")
    result.assert_refused("connect", "choose took 5", " ms, the limit is 100 ms in slow.py:1")
    assert result.out == "trying slow.py on small ...\n"


@pytest.mark.parametrize(
    "text",
    ["import time\ntime.sleep(60)\n", "import time\ndef choose(state, clock): time.sleep(60)\n"],
    ids=["import", "choose"],
)
async def test_ctrl_c_ends_a_trial_at_once(launch, interrupt, scripted, tmp_path, text):
    (tmp_path / "mine.py").write_text(text)
    process = await launch(
        "connect", "mine.py", "--ladder", "small", "--name", "ada", "--server", scripted.url
    )
    assert await process.stdout.readline() == b"trying mine.py on small ...\n"
    await asyncio.sleep(0.3)
    err = await interrupt(process)
    assert (process.returncode, err) == (130, b"")


async def test_a_match_lost_on_time_is_explained_and_three_in_a_row_end_it(connect, scripted, agent_file):
    agent_file("mine.py", f"import time; time.sleep(0.7 * (state.mask.bit_count() > 3)); {FIRST}")
    scripted.move_ms = 300
    result = await connect("mine.py", "--ladder", "small", "--name", "ada")
    assert result.code == 1
    assert result.out.count("finished: lost (timeout)") == 3
    assert result.err.count("Repeat it here:") == 3
    for words in ("at ply 4", "no answer within 300 ms, choose ", '--moves "1 1 1 1" --move-ms 300'):
        assert result.err.count(words) == 3
    assert result.err.splitlines()[-1].startswith("3 matches in a row were lost on time")
    assert "clock.left_ms()" in result.err


async def test_the_trial_leaves_nothing_in_the_files_globals(connect, agent_file):
    count = "choose.calls = getattr(choose, 'calls', 0) + 1; print('call', choose.calls)"
    agent_file("mine.py", f"{count}; {FIRST}")
    result = await connect("mine.py", "--ladder", "small", "--name", "ada", "--matches", "1")
    assert result.code == 0
    assert result.err.splitlines().count("call 1") == 2  # one in the trial, one in the match


# a server that says to come again -----------------------------------------------------------------------

AWAY = "the database cannot be reached"
STOPPING = "expected a server that goes on, got one that stops within 1 s; come again after its next start"


async def test_a_server_that_says_to_come_again_is_told_and_tried_again(connect, scripted, agent_file):
    agent_file("mine.py", FIRST)
    limit = "expected at most 10 in 60 s, got one more; the next is possible in 1 s"
    scripted.refusals = {
        "/api/v1/ladders": [
            problem(503, "database_unavailable", AWAY),
            web.Response(status=503, text="not yet", headers={"Retry-After": "0"}),
        ],
        "/api/v1/agents": [problem(429, "too_many_requests", limit, **{"Retry-After": "1"})],
    }
    scripted.farewells = [Error("server_stopping", STOPPING), Error("database_unavailable", AWAY)]
    result = await connect("mine.py", "--ladder", "small", "--name", "ada", "--matches", "1")
    result.assert_done()
    waits = [line for line in result.out.splitlines() if line.startswith("not connected (")]
    words = (AWAY, f"status 503 from {scripted.url}", limit, STOPPING, AWAY)
    for line, why in zip(waits, words, strict=True):
        assert line.startswith(f"not connected (the server says: {why}); next try in ")
    assert result.out.splitlines()[-1].startswith("left: 1 match played")


@pytest.mark.parametrize("where", ["ladders", "registration", "socket"])
async def test_ctrl_c_ends_each_wait_at_once(launch, interrupt, scripted, agent_file, where):
    agent_file("mine.py", FIRST)
    later = problem(503, "busy", "come again", **{"Retry-After": "3600"})
    if where == "socket":
        scripted.farewells = [Error("server_full", "come again", retry_after_s=3_600.0)]
    else:
        scripted.refusals[f"/api/v1/{'ladders' if where == 'ladders' else 'agents'}"] = [later]
    arguments = ("connect", "mine.py", "--ladder", "small", "--name", "ada", "--server", scripted.url)
    process = await launch(*arguments)
    async with asyncio.timeout(PATIENCE_S):
        while not (await process.stdout.readline()).startswith(b"not connected (the server says: come again"):
            pass
    err = await interrupt(process)
    assert (process.returncode, err) == (0 if where == "socket" else 130, b"")
    assert scripted.matches == 0


class Stuck:
    """A client that waits for a server which does not answer, and cannot be stopped meanwhile."""

    def __init__(self):
        self.begun, self.free = threading.Event(), threading.Event()
        self.returned = threading.Event()
        self.stopped = False
        self.played = Played(matches=3)

    def run(self):
        self.begun.set()
        self.free.wait(PATIENCE_S)
        self.returned.set()

    def stop(self):
        self.stopped = True


def test_ctrl_c_does_not_wait_for_a_server_that_is_silent(monkeypatch):
    stuck, asked = Stuck(), []
    monkeypatch.setattr("server.cli.events.api.get", lambda *of: asked.append(of))
    start = MatchStart(12, "connect_four", "four", 0, [], TimeControl(5_000), "", [])

    def press():
        assert stuck.begun.wait(PATIENCE_S)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    with Reporter("http://127.0.0.1:1", io.StringIO()) as reporter:
        played = _until_interrupted(stuck, reporter)
        reporter.match_end(start, MatchEnd(12, ["win", "loss"], ["normal"] * 2, [1.0, 0.0], "/record"))
    assert (played.matches, stuck.stopped) == (3, True)
    assert not stuck.returned.is_set()
    assert asked == [], "nor is a rating looked up any more"
    stuck.free.set()
    assert stuck.returned.wait(PATIENCE_S)
