"""games, agents, perft and inspect: what needs neither agents' matches nor a server."""

import json

import pytest

import games
from agents import roster


async def test_games_lists_every_game_with_its_options(plyground):
    result = await plyground("games", "--json")
    result.assert_done()
    listed = {game["name"]: game for game in json.loads(result.out)}
    assert list(listed) == games.names()
    rows = next(option for option in listed["connect_four"]["options"] if option["name"] == "rows")
    assert (rows["default"], rows["low"] <= 5 <= rows["high"]) == (6, True)
    table = await plyground("games")
    assert all(name in table.out for name in games.names())


async def test_agents_lists_the_roster(plyground):
    result = await plyground("agents", "--json", "--game", "connect_four")
    result.assert_done()
    listed = json.loads(result.out)
    assert [agent["name"] for agent in listed] == roster.names(games.load("connect_four"))
    connect_four = games.load("connect_four")
    on_ladders = {agent.name for agent in roster.load() if agent.plays(connect_four)}
    assert {agent["name"] for agent in listed if agent["on_ladders"]} == on_ladders
    table = await plyground("agents")
    assert all(agent.about in table.out for agent in roster.entries())


async def test_agents_name_the_games_that_they_can_play(plyground):
    listed = json.loads((await plyground("agents", "--json")).out)
    of = {agent["name"]: agent["game"] for agent in listed}
    assert of["random"] == "any"
    assert of["minimax"] == (
        "breakthrough, checkers, chess, connect_four, go, hex, kalah, othello, tic_tac_toe"
    )
    assert "breakthrough and 8 more" in (await plyground("agents")).out
    assert of["ab-corners"] == "othello"
    assert of["equilibrium"] == "kuhn_poker"


async def test_agents_of_an_unknown_game(plyground):
    result = await plyground("agents", "--game", "halma")
    result.assert_refused("agents", "expected a game, got 'halma'", "available: backgammon, breakthrough")


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("tic_tac_toe", "9"), "127872\n"),
        (("tic_tac_toe", "0"), "1\n"),
        (("tic_tac_toe", "10"), "0\n"),
        (("connect_four", "4"), "2401\n"),
        (("connect_four(rows=5,columns=6,k=4)", "2"), "36\n"),
        (("tic_tac_toe", "1", "--position", "xxxo.ox.o o"), "0\n"),
        (("tic_tac_toe", "2", "--position", "xoxoxo... x", "--divide"), None),
    ],
)
async def test_perft_prints_the_count_and_nothing_else(plyground, arguments, printed):
    result = await plyground("perft", *arguments)
    result.assert_done()
    assert result.err == ""
    if printed is not None:
        assert result.out == printed


async def test_perft_divided_by_first_action(plyground):
    result = await plyground("perft", "tic_tac_toe", "2", "--divide")
    *parts, total = result.out.splitlines()
    assert parts == [f"{cell} 8" for cell in range(9)]
    assert total == "72"
    data = json.loads((await plyground("perft", "tic_tac_toe", "2", "--divide", "--json")).out)
    assert data == {"count": 72, "divide": {str(cell): 8 for cell in range(9)}}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("halma", "3"), ["expected a game, got 'halma'", "available"]),
        (("connect_four(rows=99)", "3"), ["rows", "99"]),
        (("tic_tac_toe", "3", "--position", "xx"), ["'xx'"]),
        (("tic_tac_toe", "0", "--divide"), ["depth of 1 or more"]),
        (("tic_tac_toe", str(2**63)), ["a whole number from 0 to 1000"]),
    ],
)
async def test_perft_of_what_cannot_be_counted(plyground, arguments, words):
    (await plyground("perft", *arguments)).assert_refused("perft", *words)


async def test_inspect_answers_each_line_with_one_line(plyground):
    lines = [
        b'{"game": "tic_tac_toe", "moves": "0 4"}',
        b"{not json",
        b"",
        b"[1, 2]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"game": "tic_tac_toe", "moves": ["0", "0"]}',
        b'{"game": "halma"}',
        b'{"game": "tic_tac_toe", "position": "xxxoo.... o"}',
    ]
    result = await plyground("inspect", stdin=b"\n".join(lines) + b"\n")
    result.assert_done()
    answers = [json.loads(line) for line in result.out.splitlines()]
    assert len(answers) == len(lines)
    codes = [answer.get("error", {}).get("code") for answer in answers]
    assert codes[0] is None
    assert answers[0]["legal"] == ["1", "2", "3", "5", "6", "7", "8"]
    assert codes[1] == codes[2] == codes[4] == codes[5] == "bad_json"
    assert codes[3] == "bad_request"
    assert answers[6]["error"]["at_move"] == 1
    assert codes[7] == "unknown_game"
    assert (answers[8]["terminal"], answers[8]["utilities"]) == (True, [1, -1])


async def test_inspect_answers_before_the_next_line_comes(launch):
    process = await launch("inspect")
    for _ in range(2):
        process.stdin.write(b'{"game": "connect_four"}\n')
        assert json.loads(await process.stdout.readline())["to_move"] == 0
    process.stdin.close()
    assert await process.wait() == 0
