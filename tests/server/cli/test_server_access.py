"""Commands that talk to a server: addresses, dead and strange servers, standings."""

import json
import socket

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from games import InputError
from server.cli.api import server_url

COMMANDS = {
    "standings": ["standings"],
    "watch": ["watch"],
    "connect": ["connect", "mine.py", "--ladder", "small", "--name", "ada"],
}


def row(rank, agent, **fields):
    counts = {"games": 4, "wins": 2, "draws": 1, "losses": 1}
    names = {"rank": rank, "agent": agent, "version": 1, "owner": None}
    return {**names, "rating": 1612.4, "elo": 1612.4, "provisional": True, **counts, **fields}


@pytest.fixture
def dead_url():
    """An address where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        (" localhost:80 ", "http://localhost:80"),
        ("https://play.example/sub/", "https://play.example/sub"),
        ("[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_addresses(text, url):
    assert server_url(text) == url


@pytest.mark.parametrize(
    "text", ["", "ftp://x", "http://", "http://x:99999", "http://u:p@x", "http://x?y", "http://[x"]
)
def test_what_is_no_address(text):
    with pytest.raises(InputError, match=r"http://host:port"):
        server_url(text)


@pytest.mark.parametrize("command", COMMANDS)
async def test_a_dead_server(plyground, agent_file, dead_url, command):
    agent_file("mine.py", "return 0")
    result = await plyground(*COMMANDS[command], "--server", dead_url)
    words = (f"expected a Plyground server at {dead_url}, got connection refused", "make serve", "--server")
    result.assert_refused(command, *words)


@pytest.mark.parametrize("command", ["standings", "connect"])
@pytest.mark.parametrize("body", ["<html>", "[" * 100_000, "3", '{"items": 3}', '{"items": [3]}'])
async def test_a_server_of_another_kind(plyground, agent_file, command, body):
    async def answer(_request):
        return web.Response(text=body)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    agent_file("mine.py", "return 0")
    async with TestServer(app) as server:
        url = str(server.make_url("")).rstrip("/")
        result = await plyground(*COMMANDS[command], "--server", url)
    result.assert_refused(command, f"expected a Plyground server at {url}")


async def test_a_hostile_refusal_is_made_harmless(plyground):
    async def refuse(_request):
        return web.json_response({"code": "no", "detail": "\x1b[2Jgo\naway\u202e!"}, status=400)

    app = web.Application()
    app.router.add_get("/{path:.*}", refuse)
    async with TestServer(app) as server:
        result = await plyground("standings", PLYGROUND_SERVER=str(server.make_url("")))
    assert (result.code, result.err) == (2, "plyground standings: ?[2Jgo away?!\n")


async def test_standings_of_a_ladder(plyground, scripted):
    scripted.standings = [
        row(1, "ada"),
        row(2, "[bold]\x1bbob", provisional=False),
        row(3, "=eve", owner="kim"),
    ]
    result = await plyground("standings", "small", "--server", scripted.url)
    result.assert_done()
    title, head, _, *rows = result.out.splitlines()
    assert title.strip() == "small"
    assert head.split() == ["rank", "agent", "version", "owner", "rating", "games", "won", "drawn", "lost"]
    assert rows[0].split() == ["1", "ada", "v1", "-", "1612?", "4", "2", "1", "1"]
    assert "[bold]?bob" in rows[1]
    assert " 1612 " in rows[1]
    assert "kim" in rows[2]


async def test_standings_as_json_are_a_bare_array_of_all_pages(plyground, scripted):
    scripted.standings = [row(number, f"agent{number}") for number in range(1, 6)]
    one = await plyground("standings", "small", "--json", "--server", scripted.url)
    assert json.loads(one.out) == scripted.standings
    every = json.loads((await plyground("standings", "--json", "--server", scripted.url)).out)
    assert {(entry["ladder"], entry["agent"]) for entry in every} == {
        (ladder, f"agent{number}") for ladder in ("tic_tac_toe", "small") for number in range(1, 6)
    }


@pytest.mark.parametrize("command", ["standings halma", "watch --ladder halma"])
async def test_an_unknown_ladder(plyground, scripted, command):
    result = await plyground(*command.split(), "--server", scripted.url)
    result.assert_refused(command.split()[0], "'halma'", "available: tic_tac_toe, small")


@pytest.mark.parametrize("command", ["standings", "connect"])
async def test_a_proxy_that_wants_https_is_told_by_its_address(plyground, scripted, agent_file, command):
    agent_file("mine.py", "return 0")
    location = {"Location": "https://play.example/api/v1/ladders"}
    scripted.refusals["/api/v1/ladders"] = [web.Response(status=301, headers=location)]
    result = await plyground(*COMMANDS[command], "--server", scripted.url)
    sends = "got one that sends to 'https://play.example'; give that address if it is the one you mean"
    result.assert_refused(command, f"expected a Plyground server at {scripted.url}, {sends}")
