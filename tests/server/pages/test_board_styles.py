"""Boards of every style in a real browser: what lies on them, and what lies face down."""

import pytest
from playwright.async_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture
async def page(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    yield reader.page
    assert reader.faults == []


async def test_discs_of_othello_are_black_and_white_and_are_turned(stage, page):
    match = await stage.begin("othello", "ada", "bob")
    await page.goto(stage.url(f"/matches/{match}"))
    await expect(page.locator(".on-felt .body")).to_have_count(4)
    await stage.play(match, "d3")
    await expect(page.locator(".on-felt .piece-1")).to_have_count(4)
    await expect(page.locator(".on-felt .piece-2")).to_have_count(1)
    await expect(page.locator('.on-felt [data-cell="3,3"]')).to_have_class("piece-1 turns")
    await expect(page.locator('.on-felt [data-cell="2,3"]')).to_have_class("piece-1 arrives")
    marks = page.locator(".seat .disc-mark")
    assert {await mark.get_attribute("aria-label") for mark in await marks.all()} == {"black", "white"}
    label = await page.locator(".board svg").first.get_attribute("aria-label")
    assert "row 3: empty, empty, empty, black, empty" in label


async def test_a_move_that_no_event_told_arrives_moving_too(stage, page):
    match = await stage.begin("othello", "ada", "bob")
    await page.goto(stage.url(f"/matches/{match}"))
    await expect(page.locator(".on-felt .body")).to_have_count(4)
    stage.restart_broadcast()
    await stage.cut()
    await stage.play(match, "d3")  # the page is away, and reads the match anew when it is back
    await expect(page.locator('.on-felt [data-cell="3,3"]')).to_have_class("piece-1 turns")
    await expect(page.locator('.on-felt [data-cell="2,3"]')).to_have_class("piece-1 arrives")


async def test_cards_lie_face_down_until_the_match_is_over(stage, page):
    match = await stage.begin("kuhn_poker", "ada", "bob")
    await stage.play(match, "d2", "d0", "b", "b")
    await page.goto(stage.url(f"/matches/{match}"))
    board = page.locator(".board .on-table")
    await expect(board.locator(".figure")).to_have_text(["2", "2"])
    await expect(board.locator(".figure.large")).to_have_count(0)
    assert "seat 1 card face down, seat 1 times 2" in await board.first.get_attribute("aria-label")
    assert "d2" not in await page.content()
    await stage.finish(match, ["win", "loss"], ["normal", "normal"])
    await expect(board.locator(".figure.large")).to_have_text(["0", "2"])
    assert "seat 1 card 2" in await board.first.get_attribute("aria-label")


@pytest.mark.parametrize("width", [360, 1280])
async def test_nothing_overflows(stage, page, width):
    await page.set_viewport_size({"width": width, "height": 740})
    for ladder in ("othello", "kuhn_poker"):
        match = await stage.begin(ladder, "ada", "bob")
        await page.goto(stage.url(f"/matches/{match}"))
        await expect(page.locator(".board svg").first).to_be_visible()
        assert await page.evaluate("document.documentElement.scrollWidth") <= width
