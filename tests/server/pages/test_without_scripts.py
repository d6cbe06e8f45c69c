"""Pages in a browser that runs no scripts, which is also the first moment of all others: nothing is false."""

import pytest
import pytest_asyncio
from playwright.async_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(loop_scope="module")
async def page(stage, browser):
    for name in ("ada", "bob", "cy"):
        await stage.agent(name)
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, java_script_enabled=False)
    yield await context.new_page()
    await context.close()


async def test_front_page_links_to_all_that_runs(stage, page):
    running = [await stage.begin(ladder, "ada", "bob") for ladder in ("othello", "connect_four")]
    await stage.queue("chess", "ada", "bob")
    await page.goto(stage.url())
    await expect(page.locator("h1")).to_have_text("2 matches running")
    links = page.locator("#matches a")
    assert [await link.get_attribute("href") for link in await links.all()] == [
        f"/matches/{number}" for number in running
    ]
    await expect(page.locator("#matches")).not_to_contain_text("No match")
    await page.goto(stage.url("/ladders/othello"))
    await expect(page.locator("#matches a")).to_have_count(1)
    await page.goto(stage.url("/ladders/chess"))
    await expect(page.locator("#matches")).to_contain_text("No match runs at the moment")


async def test_list_of_what_runs_goes_when_nothing_runs_any_more(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    await stage.begin("othello", "ada", "bob")
    await reader.page.route("**/overview.js", lambda route: route.abort())
    await reader.page.goto(stage.url())
    await expect(reader.page.locator("#matches li")).to_have_count(1)
    await reader.page.unroute("**/overview.js")
    stage.restart_broadcast()
    await reader.page.goto(stage.url())
    await expect(reader.page.locator("#matches")).to_contain_text("No match runs at the moment")
    await expect(reader.page.locator("#matches li")).to_have_count(0)


async def test_match_shows_its_moves_its_board_and_its_end(stage, page):
    match = await stage.begin("connect_four", "ada", "bob")
    await stage.play(match, "4", "4", "5")
    await page.goto(stage.url(f"/matches/{match}"))
    await expect(page.locator(".stand")).to_have_text("It runs; 3 plies so far.")
    await stage.finish(match, ["win", "loss"], ["normal", "resignation"])
    await page.goto(stage.url(f"/matches/{match}"))
    await expect(page.locator(".stand")).to_have_text("ada won · resignation")
    await expect(page.locator(".moves .move")).to_have_text(["4", "4", "5"])
    await expect(page.locator('.board [fill^="url(#disc"]')).to_have_count(3)
    await expect(page.locator(".seat .name")).to_have_text(["bob", "ada"])
    await expect(page.locator(".seat .clock")).to_have_text(["0", "1"])
    await expect(page.locator(".controls")).to_be_hidden()
    assert await page.locator('[data-part="position"]').text_content()


@pytest.mark.parametrize("ladder", ["kuhn_poker", "leduc_poker"])
async def test_cards_stay_hidden_until_the_match_is_over(stage, page, ladder):
    match = await stage.begin(ladder, "ada", "bob")
    await stage.play(match, "d2", "d0")
    await page.goto(stage.url(f"/matches/{match}"))
    assert "d2" not in await page.locator("main").inner_html()
    await expect(page.locator(".moves .move")).to_have_text(["d?", "d?"])
