"""Lists of moves: who made each, in what the server writes and in what the script makes of it."""

import re

import pytest
from aiohttp import ClientSession
from playwright.async_api import expect

from server.pages.turns import rounds_of, takes_turns

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("movers", "seats", "rounds"),
    [
        ([], 2, []),
        ([0, 1, 0], 2, [[(0, [1]), (1, [2])], [(0, [3])]]),
        ([0, 1, 2, 0], 3, [[(0, [1]), (1, [2]), (2, [3])], [(0, [4])]]),
        ([0, 0, 1, 1, 0], 2, [[(0, [1, 2]), (1, [3, 4])], [(0, [5])]]),
        ([1, 1, 0], 2, [[(1, [1, 2])], [(0, [3])]]),
        ([None, 1, None, 0], 2, [[(None, [1]), (1, [2])], [(None, [3]), (0, [4])]]),
        (
            [None, None, 0, 1, None, 0],
            2,
            [[(None, [1, 2]), (0, [3]), (1, [4])], [(None, [5]), (0, [6])]],
        ),
        ([0, None, 0, 1], 2, [[(0, [1]), (None, [2]), (0, [3]), (1, [4])]]),
    ],
)
async def test_plies_are_grouped_by_who_made_them(movers, seats, rounds):
    found = [[(turn.mover, turn.plies) for turn in one.turns] for one in rounds_of(movers, seats)]
    assert found == rounds


async def test_only_seats_that_move_strictly_in_turns_take_turns():
    assert takes_turns([0, 1, 2, 0], 3)
    assert not takes_turns([0, 1, 1], 2)
    assert not takes_turns([None, 0, 1], 2)


PLAYED = [
    ("kalah", ["3", "1", "8"], [["ada: 3 1", "bob: 8"]]),
    ("kuhn_poker", ["d2", "d0", "b", "b"], [["chance: d? d?", "ada: b", "bob: b"]]),
    ("connect_four", ["4", "4", "5"], [["ada: 4", "bob: 4"], ["ada: 5"]]),
    ("connect_four_three", ["4", "4", "5", "6"], [["ada: 4", "bob: 4", "cy: 5"], ["ada: 6"]]),
]

LISTED = """(rounds) => rounds.map((one) => [...one.querySelectorAll(".by")].map((turn) => {
  const moves = [...turn.querySelectorAll(".move")].map((one) => one.textContent);
  return `${turn.querySelector("svg").getAttribute("aria-label")}: ${moves.join(" ")}`;
}))"""


async def begun(stage, ladder):
    for name in ("ada", "bob", "cy"):
        await stage.agent(name)
    return await stage.begin(ladder, *("ada", "bob", "cy")[: 3 if ladder == "connect_four_three" else 2])


@pytest.mark.parametrize(("ladder", "actions", "rounds"), PLAYED)
async def test_the_server_lists_who_made_each_move(stage, ladder, actions, rounds):
    match = await begun(stage, ladder)
    await stage.play(match, *actions)
    async with ClientSession() as session, session.get(stage.url(f"/matches/{match}")) as answer:
        html = await answer.text()
    listed = re.findall(r'<li class="turn">(.+?)</li>', html)
    turns = [re.findall(r'aria-label="(\w+)">.+?</svg>(.+?)</span></span>', one) for one in listed]
    told = [[f"{who}: {re.sub('(<[^>]+>)+', ' ', moves).strip()}" for who, moves in one] for one in turns]
    assert told == rounds
    assert "in-rows" in html or ladder.startswith("connect_four")


@pytest.mark.browser
@pytest.mark.parametrize(("ladder", "actions", "rounds"), PLAYED)
async def test_the_page_lists_who_made_each_move_live_and_read_again(stage, reader, ladder, actions, rounds):
    match = await begun(stage, ladder)
    page = reader.page
    await page.goto(stage.url(f"/matches/{match}"))
    await expect(page.locator('.seat-1 .clock, [data-part="status"]').first).to_be_visible()
    await expect(page.locator('[data-part="ply"]')).to_have_text("ply 0")
    await stage.play(match, *actions)
    for _ in ("live", "read again"):
        await expect(page.locator("button.move")).to_have_count(len(actions))
        assert await page.locator(".moves .turn").evaluate_all(LISTED) == rounds
        in_rows = "in-rows" in (await page.locator(".moves").get_attribute("class"))
        assert in_rows != ladder.startswith("connect_four")
        await page.reload()
    last = page.locator("button.move").last
    who, _, action = rounds[-1][-1].partition(": ")
    await expect(last).to_have_attribute("aria-label", f"ply {len(actions)}, {who}: {action.split()[-1]}")
    assert reader.faults == []
