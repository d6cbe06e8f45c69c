"""The pages of a running server, in a real browser."""

import contextlib
import os
import re
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator

import pytest
from harness import QUIET, RawAgent, Server
from playwright.sync_api import Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PATIENCE_MS = 60_000

pytestmark = pytest.mark.browser


@pytest.fixture
def page() -> Iterator[Page]:
    """A page that must not log an error."""
    if CHROMIUM is None:
        sentence = "no Chromium here: `apt-get install chromium` brings it"
        if os.environ.get("CI") == "true":
            pytest.fail(sentence)
        pytest.skip(sentence)
    faults: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: faults.append(str(error)))
        yield page
        browser.close()
    assert faults == []


def test_front_page_moves_by_itself(make_server: Callable[..., Server], page: Page) -> None:
    server = make_server(PLYGROUND_PACE_MS="100", PLYGROUND_HOUSE_REST_S="0").start()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.goto(server.url)
    expect(page.locator(".match-card .body").first).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(".results li").nth(3)).to_be_visible(timeout=PATIENCE_MS)
    for ladder in ("tic_tac_toe", "connect_four", "connect_four_5x6"):
        leader = page.locator(f'[data-ladder="{ladder}"] tbody .number').first
        expect(leader).not_to_have_text("1500?", timeout=PATIENCE_MS)
    assert said == []


def test_page_outlives_a_killed_server(make_server: Callable[..., Server], page: Page) -> None:
    server = make_server(PLYGROUND_PACE_MS="300", PLYGROUND_HOUSE_REST_S="0").start()
    page.goto(server.url)
    expect(page.locator(".match-card .body").first).to_be_visible(timeout=PATIENCE_MS)
    server.signal(signal.SIGKILL)
    server.wait()
    expect(page.locator("#lost")).to_contain_text("Connection lost", timeout=PATIENCE_MS)
    results = page.locator(".results").inner_text() if page.locator(".results").count() else ""
    server.start()
    expect(page.locator("#lost")).to_be_hidden(timeout=PATIENCE_MS)
    expect(page.locator(".match-card .live:not(.quiet)").first).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(".results")).not_to_have_text(results, timeout=PATIENCE_MS)


@pytest.mark.deep
def test_match_page_says_why_a_clock_stands_still(make_server: Callable[..., Server], page: Page) -> None:
    server = make_server(**QUIET, PLYGROUND_GRACE_MS="600000")
    server.open_ladders({"four": "connect_four"}, 600_000)
    server.start()
    both = [RawAgent(server, name, ladders=("four",)) for name in ("ada", "bob")]
    seats = {agent.await_message("match_start")["seat"]: agent for agent in both}
    for agent in both:
        agent.send({"type": "ready", "match": 1})
    seats[0].await_message("your_move")
    page.goto(f"{server.url}/matches/1")
    clocks = [page.locator(f".seat-{number} .clock") for number in (1, 2)]
    said = page.locator(".stand")
    expect(clocks[0]).to_have_class("clock running", timeout=PATIENCE_MS)

    seats[0].close()
    name, token = seats[0].name, seats[0].token
    lost = f"{name} lost its connection; up to 600 s of it are not charged, then its clock runs."
    expect(said).to_have_text(lost, timeout=PATIENCE_MS)
    expect(clocks[0]).to_have_class("clock")
    seats[0] = RawAgent(server, name, token=token, ladders=("four",))
    expect(clocks[0]).to_have_class("clock running", timeout=PATIENCE_MS)
    seats[0].move(seats[0].await_message("your_move"))
    expect(clocks[1]).to_have_class("clock running", timeout=PATIENCE_MS)

    database = sqlite3.connect(server.data_dir / "plyground.db", timeout=60, isolation_level=None)
    with contextlib.closing(database):
        database.execute("BEGIN EXCLUSIVE")
        seats[1].move(seats[1].await_message("your_move"))
        expect(clocks[1]).to_have_text("paused", timeout=PATIENCE_MS)
        expect(said).to_have_text("Paused: the database is away.")
        database.execute("ROLLBACK")
    expect(said).to_have_text(f"{name} to move", timeout=PATIENCE_MS)
    expect(clocks[0]).to_have_class("clock running", timeout=PATIENCE_MS)
    for agent in seats.values():
        agent.close()


def test_the_link_shows_a_token_once_and_leaves_no_trace(
    make_server: Callable[..., Server], page: Page
) -> None:
    server = make_server(**QUIET, PLYGROUND_LOG_LEVEL="debug").start()
    [link] = server.admin_links()
    code = link.partition("#")[2]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(link)
    button = page.get_by_role("button", name="Show my token")
    expect(button).to_be_visible()
    assert page.url == f"{server.url}/admin", "the code has left the address bar"
    assert asked
    assert not [url for url in asked if code in url or "redeem" in url], "nothing is spent before the click"

    button.click()
    expect(page.locator("#token")).to_have_text(re.compile(r"ply_\S{30,}"))
    token = page.locator("#token").inner_text()
    status, tokens = server.ask("GET", "tokens", token=token)
    assert (status, tokens["items"][0]["scope"]) == (200, "admin")
    expect(page.locator("#given .copyable").last.locator("code")).to_contain_text(
        f"PLYGROUND_ADMIN_TOKEN={token} .venv/bin/plyground token issue register --days 7"
    )
    assert token not in server.log()
    assert "http.request" in server.log()
    assert server.log().count(code) == 1, "it was printed, and logged nowhere"

    page.goto("about:blank")
    page.goto(link)
    button.click()
    expect(page.get_by_role("status").first).to_contain_text("This link was used already")
    expect(button).to_be_hidden()


def test_a_link_without_its_code_says_so(make_server: Callable[..., Server], page: Page) -> None:
    server = make_server(**QUIET).start()
    page.goto(f"{server.url}/admin")
    expect(page.get_by_role("status").first).to_contain_text("not complete")
    expect(page.get_by_role("button", name="Show my token")).to_be_hidden()
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
