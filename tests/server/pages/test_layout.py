"""Where things stand on the pages, and how large: menus, plates, labels, marks."""

import pytest
from playwright.async_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


async def begun(stage, ladder):
    names = ("ada", "bob", "cy")[: 3 if ladder == "connect_four_three" else 2]
    for name in names:
        await stage.agent(name)
    return await stage.begin(ladder, *names)


@pytest.mark.parametrize("width", [360, 800, 960, 1280])
async def test_every_ladder_can_be_seen_in_the_menu(stage, reader, width):
    page = reader.page
    await page.set_viewport_size({"width": width, "height": 900})
    await page.goto(stage.url("/ladders/chess"))
    menu = page.get_by_role("navigation")
    if width <= 900:
        await page.keyboard.press("Tab")
        await menu.locator("summary").focus()
        await page.keyboard.press("Enter")
    for ladder in stage.settings.ladders:
        link = menu.get_by_role("link", name=ladder.title, exact=True)
        await expect(link).to_be_in_viewport(ratio=1)
    assert await page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("ladder", ["chess", "go", "backgammon", "checkers"])
async def test_a_mark_stands_apart_from_its_name(stage, reader, ladder):
    match = await begun(stage, ladder)
    await reader.page.goto(stage.url(f"/matches/{match}"))
    cell = reader.page.locator(".times td.agent").first
    mark, name = await cell.locator("svg").bounding_box(), await cell.locator("bdi").bounding_box()
    assert name["x"] - mark["x"] - mark["width"] >= 6


@pytest.mark.parametrize(
    "ladder", ["breakthrough", "checkers", "chess", "kalah", "kuhn_poker", "leduc_poker", "centipede"]
)
@pytest.mark.parametrize("path", ["/", "/matches/{}"])
async def test_names_stand_on_the_side_of_their_pieces(stage, reader, ladder, path):
    match = await begun(stage, ladder)
    if ladder in {"kuhn_poker", "leduc_poker"}:
        await stage.play(match, "d2", "d0")
    await reader.page.goto(stage.url(path.format(match)))
    shown = reader.page.locator(f'[data-match="{match}"]')
    await expect(shown.locator(".board .piece-1").first).to_be_visible()
    middle = "(all) => all.map((one) => one.getBoundingClientRect().y).reduce((a, b) => a + b) / all.length"
    pieces = [await shown.locator(f".board .piece-{seat}").evaluate_all(middle) for seat in (1, 2)]
    plates = [await shown.locator(f".seat.seat-{seat}").evaluate_all(middle) for seat in (1, 2)]
    assert (pieces[0] < pieces[1]) == (plates[0] < plates[1])


@pytest.mark.parametrize("ladder", ["hex", "kalah", "backgammon", "go", "chess", "connect_four_three"])
async def test_labels_can_be_read_on_a_phone(stage, reader, ladder):
    await reader.page.set_viewport_size({"width": 360, "height": 740})
    match = await begun(stage, ladder)
    await reader.page.goto(stage.url(f"/matches/{match}"))
    labels = reader.page.locator(".board .board-label")
    await expect(labels.first).to_be_visible()
    size = "(all) => all.map((one) => parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().a)"
    assert min(await labels.evaluate_all(size)) >= 9
    inside = """(all) => all.every((one) => {
      const [own, board] = [one, one.ownerSVGElement].map((element) => element.getBoundingClientRect());
      return own.left >= board.left - 1 && own.right <= board.right + 1 && own.bottom <= board.bottom + 2;
    })"""
    assert await labels.evaluate_all(inside)


async def test_every_point_of_backgammon_has_its_number(stage, reader):
    match = await begun(stage, "backgammon")
    await reader.page.goto(stage.url(f"/matches/{match}"))
    labels = reader.page.locator(".board .board-label")
    await expect(labels).to_have_count(26)
    told = {await label.text_content(): await label.bounding_box() for label in await labels.all()}
    for point in range(1, 13):
        upper, lower = told[str(25 - point)], told[str(point)]
        assert abs(upper["x"] + upper["width"] / 2 - lower["x"] - lower["width"] / 2) < 1
        assert upper["y"] < lower["y"]


async def test_a_result_of_three_stands_in_one_line(stage, reader):
    names = ("ab-centre", "mcts-quick", "ab-lines")
    for name in names:
        await stage.agent(name)
    match = await stage.begin("connect_four_three", *names)
    await stage.finish(match, ["loss", "win", "loss"], ["normal"] * 3, utilities=[0.0, 2.0, -2.0])
    await reader.page.goto(stage.url())
    placed = reader.page.locator(".result.of-many .placed")
    await expect(placed).to_have_count(3)
    assert len({(await one.bounding_box())["y"] for one in await placed.all()}) == 1
    cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"
    assert await placed.locator(".name").evaluate_all(cut) == []
