"""The pages of a running server, in a real browser."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator

import pytest
from harness import Server
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
