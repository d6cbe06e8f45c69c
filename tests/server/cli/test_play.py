"""`plyground play`: series of games without a server, and a person at the terminal."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from server.cli.program import program

ROOT = Path(__file__).resolve().parents[3]
HERE = f"{shlex.quote(str(Path(sys.executable).absolute()))} -m server.cli"


async def play(plyground, *arguments, **options):
    """Play and return the JSON that came of it."""
    result = await plyground("play", *arguments, "--json", **options)
    result.assert_done()
    return json.loads(result.out)


async def test_agents_swap_seats_after_every_game(plyground):
    played = await play(
        plyground, "alphabeta", "random", "--game", "tic_tac_toe", "--games", "5", "--seed", "7"
    )
    assert [match["players"] for match in played["matches"]] == [
        ["alphabeta", "random"] if number % 2 == 0 else ["random", "alphabeta"] for number in range(5)
    ]
    first, second = played["agents"]
    assert [seat["games"] for seat in first["seats"]] == [3, 2]
    assert [seat["games"] for seat in second["seats"]] == [2, 3]


async def test_three_agents_move_up_one_seat_after_every_game(plyground):
    arguments = ("random", "mcts", "random", "--game", "connect_four_three", "--games", "3", "--seed", "1")
    played = await play(plyground, *arguments)
    names = ["random #1", "mcts", "random #3"]
    assert [match["players"] for match in played["matches"]] == [
        names,
        names[1:] + names[:1],
        names[2:] + names[:2],
    ]
    assert [agent["agent"] for agent in played["agents"]] == names
    for agent in played["agents"]:
        assert [seat["games"] for seat in agent["seats"]] == [1, 1, 1]
    assert sum(agent["points"] for agent in played["agents"]) == 4.5, "half a point a seat and match"
    assert [match["cause"] for match in played["matches"]] == [["normal"] * 3] * 3


async def test_a_person_plays_with_two_others(plyground):
    result = await plyground(
        "play", "random", "me", "random", "--game", "connect_four_three", "--seed", "1", stdin="5\nq\n"
    )
    result.assert_done()
    first, second, *_ = result.out.splitlines()
    assert (first, second) == ("x random #1   o me   ■ random #3", "you are o")
    assert "■ random #3 played" in result.out
    assert "random #1 and random #3 share first place (me: resignation)" in result.out


async def test_the_counts_are_those_of_the_matches(plyground):
    played = await play(
        plyground, "random", "minimax", "--game", "tic_tac_toe", "--games", "8", "--seed", "1"
    )
    for agent in played["agents"]:
        ends = [match["outcome"][match["players"].index(agent["agent"])] for match in played["matches"]]
        assert (agent["wins"], agent["draws"], agent["losses"]) == tuple(
            map(ends.count, ("win", "draw", "loss"))
        )
        assert agent["points"] == ends.count("win") + ends.count("draw") / 2
        assert agent["causes"] == {"normal": 8}
        assert agent["ms_a_move"] > 0
    assert sum(agent["points"] for agent in played["agents"]) == 8


async def test_a_seed_repeats_the_games(plyground, agent_file):
    agent_file("lots.py", "import random; return random.choice(list(state.actions()))")
    arguments = ("lots.py", "random", "--games", "2", "--seed")
    one, again, other = [
        [match["moves"] for match in (await play(plyground, *arguments, seed))["matches"]]
        for seed in ("1", "1", "2")
    ]
    assert one == again
    assert one != other


async def test_the_game_starts_with_the_given_moves(plyground):
    played = await play(
        plyground, "random", "random", "--moves", "4 4 3", "--game", "connect_four(rows=5,columns=6,k=4)"
    )
    (match,) = played["matches"]
    assert match["moves"][:3] == ["4", "4", "3"]
    assert match["players"] == ["random #1", "random #2"]


async def test_the_table_and_the_progress(plyground):
    result = await plyground("play", "random", "mcts", "--game", "tic_tac_toe", "--games", "3")
    result.assert_done()
    head, _, *rows = [line.split() for line in result.out.splitlines()]
    assert head[:7] == ["agent", "seat", "games", "won", "drawn", "lost", "points"]
    assert [row[:3] for row in (rows[0], rows[3])] == [["random", "all", "3"], ["mcts", "all", "3"]]
    assert [line.partition(":")[0] for line in result.err.splitlines()] == [
        f"game {n} of 3" for n in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("body", "got", "cause"),
    [
        ("return 99", "99 is none of the legal actions", "illegal_action"),
        ("return {0: 3}[state.mask.bit_count()]", "KeyError: 2", "crash"),
        (
            "import time; time.sleep(60 * (state.mask.bit_count() > 1)); return 3",
            "no answer within 50 ms, choose had not returned after",
            "timeout",
        ),
    ],
)
async def test_a_fault_is_reported_and_loses(plyground, agent_file, body, got, cause):
    agent_file("mine.py", body)
    arguments = ("play", "mine.py", "random", "--moves", "4 4", "--games", "3", "--move-ms", "50", "--json")
    result = await plyground(*arguments)
    assert result.code == 1, "a file that failed is exit code 1"
    mine = json.loads(result.out)["agents"][0]
    assert (mine["losses"], mine["causes"]) == (3, {cause: 3})
    assert result.err.count("Repeat it here") == 1, "one report an agent is enough"
    repeat = f'{HERE} play mine.py random --game connect_four --moves "4 4"'
    for line in (got, repeat, "0 1 2 3 4 5 6 (on the board they are written 1 2 3 4 5 6 7)"):
        assert line in result.err


async def test_the_line_of_a_report_repeats_it_when_it_is_pasted(plyground, agent_file, tmp_path):
    """A class that crashes at its third call, second to move, in a folder with a blank."""
    (tmp_path / "my agents").mkdir()
    file = tmp_path / "my agents" / "mine.py"
    file.write_text(
        "class Player:\n    calls = 0\n    def choose(self, state, clock):\n        self.calls += 1\n"
        "        return 1 // (self.calls < 3) and next(iter(state.actions()))\n"
    )
    first = await plyground("play", "random", "my agents/mine.py", "--seed", "3")
    assert first.code == 1
    line = first.err.partition("Repeat it here:\n")[2].splitlines()[0].strip()
    assert " play random 'my agents/mine.py' " in line
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    pasted = subprocess.run(
        line, shell=True, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False, timeout=60
    )
    assert pasted.returncode == 1, pasted.stderr
    block = first.err.partition("\n\n")[0]
    assert "at ply 5, as seat 2" in block
    assert block in pasted.stderr


async def test_a_fault_of_the_house_is_no_fault_of_yours(plyground, agent_file):
    agent_file("mine.py", "return next(iter(state.actions()))")
    result = await plyground("play", "mine.py", "mcts", "--games", "1", "--move-ms", "1")
    assert result.code == 0, result.err


async def test_what_an_agent_prints_does_not_spoil_the_result(plyground, agent_file):
    agent_file("talks.py", "print('thinking'); return next(iter(state.actions()))")
    result = await plyground("play", "talks.py", "random", "--json")
    assert len(json.loads(result.out)["matches"]) == 1
    assert "thinking" in result.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["foo", "random"],
            ["expected an agent, got 'foo'", "available: random, minimax", "me", "a .py file"],
        ),
        (["ab-corners", "random"], ["expected a game that ab-corners plays: othello (--game othello)"]),
        (["random", "nowhere.py"], ["no file nowhere.py", "available: broken.py, empty.py, wide.py"]),
        (["random", "broken.py"], ["without syntax errors", "broken.py:1"]),
        (["random", "empty.py"], ["choose(state, clock)", "empty.py:1"]),
        (["random", "wide.py"], ["wide.py:1"]),
        (
            ["random", "random", "--game", "halma"],
            ["expected a game, got 'halma'", "available: ", "connect_four, "],
        ),
        (["random", "random", "--moves", "4 9"], ["'9'", "available: 1, 2"]),
        (["random"], ["expected 2 agents, one a seat of connect_four, got 1"]),
        (["random", "mcts", "random"], ["expected 2 agents, one a seat of connect_four, got 3"]),
        (["me", "random", "--game", "connect_four_three"], ["expected 3 agents", "got 2"]),
        (["random", "minimax", "mcts", "--game", "connect_four_three"], ["a game that minimax plays"]),
        (["me", "random", "--move-ms", "5"], ["--move-ms"]),
    ],
)
async def test_what_cannot_be_played(plyground, tmp_path, arguments, words):
    for name, text in {
        "broken": "def choose(:\n  (",
        "empty": "x = 1\n",
        "wide": "def choose(a, b, c): ...\n",
    }.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    (await plyground("play", *arguments)).assert_refused("play", *words)


async def test_a_person_plays_to_the_end(plyground):
    columns = "4\n" * 3 + "9\nx\n\n" + "1\n4\n2\n3\n5\n6\n7\n" * 8
    result = await plyground("play", "me", "random", "--seed", "4", stdin=columns)
    result.assert_done()
    assert result.out.count("choose one of 1 2 3 4 5 6 7; q resigns\n") == 3
    assert "[x]" in result.out
    assert result.out.splitlines()[:2] == ["x me   o random", "you are x"]
    assert "normal 1" in result.out


@pytest.mark.parametrize("stdin", ["4\nq\n", "4\n", ""])
async def test_a_person_resigns_by_q_or_the_end_of_input(plyground, stdin):
    result = await plyground("play", "me", "random", stdin=stdin)
    result.assert_done()
    assert "random won (me: resignation)" in result.out


async def test_the_board_is_drawn_once_a_turn(plyground):
    result = await plyground("play", "random", "me", "--seed", "4", stdin="4\n4\n?\nhelp\n\nq\n")
    result.assert_done()
    assert result.out.splitlines()[1] == "you are o"
    assert result.out.count("  1  2  3  4  5  6  7") == 3, (
        "before each of the three moves asked for, and no more"
    )
    assert result.out.count("choose one of 1 2 3 4 5 6 7; q resigns") == 3


async def test_many_legal_moves_are_listed_whole_only_after_a_wrong_one(plyground):
    result = await plyground("play", "me", "random", "--game", "hex", stdin="z9\nb2\nq\n")
    result.assert_done()
    first, second, third = result.out.split(" to move")[1:]
    assert first.startswith(" (a1 b1 c1")
    assert " and 97 more, q resigns): choose one of a1 b1" in first
    assert "k11; q resigns" in first
    assert second.startswith(": ")  # all were listed just now
    assert "k11" not in second + third.partition(")")[0]


async def test_dice_are_told_and_hidden_cards_are_not(plyground):
    result = await plyground("play", "random", "me", "--game", "backgammon", "--seed", "4", stdin="q\n")
    result.assert_done()
    assert result.out.splitlines()[2].strip().startswith("roll")
    result = await plyground("play", "random", "me", "--game", "kuhn_poker", "--seed", "4", stdin="q\n")
    result.assert_done()
    assert not any(f"d{card}" in result.out for card in range(3))


async def test_two_persons_at_one_terminal(plyground):
    played = await play(plyground, "me", "me", "--game", "tic_tac_toe", stdin="0\n3\n1\n4\n2\n")
    (match,) = played["matches"]
    assert match["moves"] == ["0", "3", "1", "4", "2"]
    assert (match["players"], match["outcome"]) == (["me #1", "me #2"], ["win", "loss"])


async def test_every_game_of_a_long_series_is_told(plyground):
    result = await plyground("play", "random", "random", "--game", "tic_tac_toe", "--games", "23")
    result.assert_done()
    assert [line.partition(":")[0] for line in result.err.splitlines()] == [
        f"game {n} of 23" for n in range(1, 24)
    ]


def test_the_program_is_told_as_it_can_be_run_from_here(tmp_path):
    scripts = tmp_path / "here" / ".venv" / "bin"
    scripts.mkdir(parents=True)
    script, other = scripts / "plyground", tmp_path / "plyground"
    for file in (script, other):
        file.touch()
    python, folder = str(scripts / "python"), tmp_path / "here"
    cases = [
        (str(script), str(script), folder, "plyground"),
        (str(script), None, folder, ".venv/bin/plyground"),
        (".venv/bin/plyground", str(other), folder, ".venv/bin/plyground"),
        (str(script), None, scripts, "./plyground"),
        (str(script), str(other), tmp_path / "else where", str(script)),
        (str(ROOT / "server/cli/__main__.py"), str(script), folder, ".venv/bin/python -m server.cli"),
        ("-c", None, tmp_path / "elsewhere", f"{python} -m server.cli"),
    ]
    for started_as, on_path, where, expected in cases:
        assert program(started_as, python, on_path, where) == expected
