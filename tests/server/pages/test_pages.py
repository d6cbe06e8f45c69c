"""The pages as a browser fetches them: headers, sizes, faults."""

import re

import pytest
from aiohttp import ClientSession

from server.pages import assets, words
from server.pages.scale import scale_for

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def fetch(stage, path, **headers):
    async with ClientSession() as session, session.get(stage.url(path), headers=headers) as answer:
        return answer, await answer.text()


async def played(stage):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("tic_tac_toe", "ada", "bob")
    await stage.play(match, "0", "3", "1", "4", "2")
    await stage.finish(match, ["win", "loss"], ["normal", "normal"])
    return match


@pytest.mark.parametrize("path", ["/", "/ladders/tic_tac_toe", "/matches/{match}", "/agents/ada"])
async def test_page_is_strict_and_small(stage, path):
    match = await played(stage)
    answer, html = await fetch(stage, path.format(match=match))
    assert answer.status == 200
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
    assert answer.headers["Cache-Control"] == "no-store"
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! type=\"module\" src=)", html)
    linked = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', html))
    bodies = [await fetch(stage, address) for address in sorted(linked)]
    assert all(found.status == 200 for found, _ in bodies)
    scripts = sum(len(asset.body) for name, asset in assets.assets().files.items() if name.endswith(".js"))
    styles = sum(len(text) for found, text in bodies if found.content_type == "text/css")
    assert len(html) + scripts + styles < 100_000


async def test_front_page_without_agents_says_how_to_begin(stage):
    _, html = await fetch(stage, "/")
    assert "Nobody is on this ladder yet" in html
    assert "plyground connect" in html


async def test_static_file_is_kept_by_the_browser(stage):
    address = assets.address("board.js")
    answer, text = await fetch(stage, address)
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.content_type == "text/javascript"
    again, nothing = await fetch(stage, address, **{"If-None-Match": answer.headers["ETag"]})
    assert (again.status, nothing) == (304, "")
    old, same = await fetch(stage, "/static/000000000000/board.js")
    assert (old.headers["Cache-Control"], same) == ("no-cache", text)


@pytest.mark.parametrize(
    "path",
    [
        "/matches/7",
        "/matches/x",
        "/matches/99999999999999999999",
        "/ladders/go",
        "/agents/nobody",
        "/nowhere",
    ],
)
async def test_unknown_thing_is_a_page_for_people(stage, path):
    answer, html = await fetch(stage, path, Accept="text/html")
    assert (answer.status, answer.content_type) == (404, "text/html")
    assert "expected" in html


@pytest.mark.parametrize(
    "path",
    [
        "/static/x/..%2Froutes.py",
        "/static/x/nothing.js",
        "/fragments/standings",
        "/fragments/standings?ladder=go",
        "/fragments/results?ladder=go",
        "/fragments/recent?ladder=go",
        "/fragments/matches/12",
    ],
)
async def test_unknown_part_is_a_problem(stage, path):
    answer, _ = await fetch(stage, path)
    assert (answer.status, answer.content_type) == (404, "application/problem+json")


async def test_replay_holds_the_board_of_every_ply(stage):
    match = await played(stage)
    async with ClientSession() as session, session.get(stage.url(f"/fragments/matches/{match}")) as answer:
        replay = await answer.json()
    assert [len(board["pieces"]) for board in replay["boards"]] == [0, 1, 2, 3, 4, 5]
    assert replay["positions"][0] == "......... x"
    assert replay["view"]["moves"] == ["0", "3", "1", "4", "2"]
    assert [round(change) for change in replay["changes"]] == [80, -80]


async def test_recent_matches_are_of_many_ladders(stage):
    first = await played(stage)
    other = await stage.begin("connect_four", "ada", "bob")
    await stage.finish(other, ["win", "loss"], ["normal", "resignation"])
    async with ClientSession() as session, session.get(stage.url("/fragments/recent")) as answer:
        assert [view["id"] for view in await answer.json()] == [other, first]


class End:
    def __init__(self, outcome, cause):
        self.outcome = outcome
        self.cause = cause


@pytest.mark.parametrize(
    ("seats", "score", "cause"),
    [
        ([End("win", "normal"), End("loss", "normal")], "1–0", "normal end"),
        ([End("win", "normal"), End("loss", "timeout")], "1–0", "timeout"),
        ([End("loss", "illegal_action"), End("win", "normal")], "0–1", "illegal action"),
        ([End("draw", "normal"), End("draw", "normal")], "½–½", "normal end"),
        ([End("void", "infrastructure"), End("void", "infrastructure")], "void", "server fault"),
        ([End(None, None), End(None, None)], "–", "not ended"),
    ],
)
async def test_end_in_words(seats, score, cause):
    assert (words.score(seats), words.cause(seats)) == (score, cause)


@pytest.mark.parametrize("ratings", [[], [1500.0], [1200.0, 1867.3], [1499.9, 1500.1], [-800.0, 3000.0]])
async def test_scale_holds_every_rating(ratings):
    scale = scale_for(ratings)
    assert all(0 <= scale.x(rating) <= 100 for rating in ratings)
    assert 1 <= len(scale.ticks) <= 5
    assert all(0 <= tick.x <= 100 for tick in scale.ticks)
