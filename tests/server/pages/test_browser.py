"""The pages in a real browser: they move by themselves, survive a lost connection, and trust no name."""

from urllib.parse import quote

import pytest
from msgspec.structs import replace
from playwright.async_api import Page, expect
from sqlalchemy.exc import OperationalError

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

HOSTILE = "<img src=x onerror=document.title='owned'>"


def card(page: Page, match_id: int):
    return page.locator(f'[data-match="{match_id}"]')


async def test_board_changes_by_itself(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    await reader.page.goto(stage.url())
    shown = card(reader.page, match)
    await expect(reader.page.locator("#running")).to_have_text("1 match running")
    await expect(shown.locator(".body")).to_have_count(0)
    await stage.play(match, "4", "4")
    await expect(shown.locator(".body")).to_have_count(2)
    await expect(shown.locator(".live")).to_have_text("ply 2")
    await expect(shown.locator(".seat-1 .clock")).to_have_class("clock running")
    label = await shown.locator(".board svg").get_attribute("aria-label")
    assert label.startswith("Connect four after 2 plies, last move 4: row 1: all empty")
    assert label.endswith("row 6: empty, empty, empty, seat 1, empty, empty, empty")
    assert reader.faults == []


async def test_standings_and_results_follow_a_finish(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("tic_tac_toe", "ada", "bob")
    await reader.page.goto(stage.url())
    table = reader.page.locator('[data-ladder="tic_tac_toe"] tbody')
    await expect(table).to_contain_text("1500?")
    await stage.play(match, "0", "3", "1", "4", "2")
    await stage.finish(match, ["win", "loss"], ["normal", "normal"])
    await expect(table.locator("tr").first).to_contain_text("ada")
    await expect(table.locator("tr").first).to_contain_text("1580?")
    await expect(reader.page.locator(".results")).to_contain_text("1–0")
    await expect(card(reader.page, match).locator(".note")).to_have_text("ada won · normal end")
    await expect(card(reader.page, match).locator(".win-over")).to_have_count(1)
    assert reader.faults == []


THREE = ("ada", "bob", "cy")


@pytest.fixture
async def three(stage, share_out):
    """A running match of three."""
    await stage.open_ladder(share_out.name, share_out.title)
    for name in THREE:
        await stage.agent(name)
    return await stage.begin(share_out.name, *THREE)


async def test_three_seats_stand_around_the_board_and_end_with_their_places(stage, reader, three):
    await reader.page.goto(stage.url(f"/matches/{three}"))
    await expect(reader.page.locator(".seat .name")).to_have_text(["cy", "bob", "ada"])
    await expect(reader.page.locator(".times td.agent")).to_have_text(list(THREE))
    await expect(reader.page.locator(".stand")).to_have_text("ada to move")
    await stage.play(three, "2", "2")
    await expect(reader.page.locator(".stand")).to_have_text("cy to move")
    await expect(reader.page.locator(".seat-3 .clock")).to_have_class("clock running")
    await stage.play(three, "1", "0", "2")
    await stage.finish(three, ["loss", "win", "loss"], ["normal"] * 3, utilities=[2.0, 4.0, 1.0])
    await expect(reader.page.locator(".stand")).to_have_text("bob won · normal end")
    await expect(reader.page.locator('[data-part="detail"]')).to_have_text("Utility: ada 2, bob 4, cy 1")
    await expect(reader.page.locator(".seat .clock")).to_have_text(["3rd", "1st", "2nd"])
    await expect(reader.page.locator(".turn")).to_have_count(2)
    assert reader.faults == []


@pytest.mark.parametrize(
    ("outcomes", "causes", "utilities", "note", "places"),
    [
        (
            "draw draw loss",
            "normal normal timeout",
            (),
            "ada, bob share first place · timeout of cy",
            "3rd 1st 1st",
        ),
        (
            "loss draw draw",
            "normal normal normal",
            (1, 3, 3),
            "bob, cy share first place · normal end",
            "1st 1st 3rd",
        ),
        ("draw draw draw", "rule_draw rule_draw rule_draw", (0, 0, 0), "Draw · drawn by rule", "1st 1st 1st"),
    ],
)
async def test_ends_of_three_in_words(stage, reader, three, outcomes, causes, utilities, note, places):
    await reader.page.goto(stage.url())
    shown = card(reader.page, three)
    await expect(shown.locator(".note")).to_have_text("ada to move")
    await stage.finish(three, outcomes.split(), causes.split(), utilities=[float(u) for u in utilities])
    await expect(shown.locator(".note")).to_have_text(note)
    await expect(shown.locator(".seat .clock")).to_have_text(places.split())
    assert reader.faults == []


@pytest.mark.parametrize("width", [360, 1280])
async def test_nothing_of_three_seats_overflows(stage, reader, three, width):
    await stage.finish(three, ["loss", "win", "loss"], ["normal"] * 3, utilities=[2.0, 4.0, 1.0])
    await reader.page.set_viewport_size({"width": width, "height": 740})
    for path in ("/", "/ladders/share_out", f"/matches/{three}", "/agents/bob"):
        await reader.page.goto(stage.url(path))
        await expect(reader.page.get_by_text("bob").first).to_be_attached()
        wide = "document.documentElement.scrollWidth"
        assert await reader.page.evaluate(wide) <= width


@pytest.mark.parametrize(
    "path", ["/", "/ladders/connect_four", "/matches/{match}", f"/agents/{quote(HOSTILE)}"]
)
async def test_hostile_name_is_text_everywhere(stage, reader, path):
    await stage.agent("ada")
    await stage.agent("evil", shown_as=HOSTILE)
    first = await stage.begin("connect_four", "ada", "evil")
    await stage.play(first, "1")
    await stage.finish(first, ["loss", "win"], ["timeout", "normal"], f"{HOSTILE} waited")
    running = await stage.begin("connect_four", "evil", "ada")
    await reader.page.goto(stage.url(path.format(match=running)))
    await expect(reader.page.get_by_text(HOSTILE).first).to_be_attached()
    await expect(reader.page.locator("img")).to_have_count(0)
    assert await reader.page.title() != "owned"
    assert reader.faults == []


@pytest.mark.parametrize("path", ["/", "/ladders/connect_four", "/matches/{match}", "/agents/ada"])
@pytest.mark.parametrize("width", [360, 390, 1280])
async def test_nothing_overflows(stage, reader, path, width):
    await stage.agent("ada")
    await stage.agent("w" * 32)
    ended = await stage.begin("connect_four", "ada", "w" * 32)
    await stage.finish(ended, ["win", "loss"], ["normal", "no_show"])
    match = await stage.begin("connect_four", "w" * 32, "ada")
    await stage.play(match, *"4444441122")
    await reader.page.set_viewport_size({"width": width, "height": 740})
    await reader.page.goto(stage.url(path.format(match=match)))
    await reader.page.wait_for_load_state("networkidle")
    wide = await reader.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
    assert reader.faults == []


async def test_lost_connection_says_so_and_catches_up(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    await stage.play(match, "4")
    page = reader.page
    await page.goto(stage.url(f"/matches/{match}"))
    await expect(page.locator(".match .body")).to_have_count(1)
    await expect(page.locator("#lost")).to_be_hidden()
    port = await stage.close()
    await expect(page.locator("#lost")).to_contain_text("Connection lost")
    await expect(page.locator("#lost")).to_contain_text("You see ply 1.")
    await expect(page.locator("#lost")).to_contain_text("Trying")
    await stage.play(match, "4", "5")
    await stage.open(port)
    await page.get_by_role("button", name="Try now").click()
    await expect(page.locator(".match .body")).to_have_count(3)
    await expect(page.locator("#lost")).to_be_hidden()
    await expect(page.locator(".moves .move")).to_have_text(["4", "4", "5"])


async def test_reconnects_by_itself(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    await reader.page.goto(stage.url())
    await expect(card(reader.page, match)).to_be_visible()
    await stage.cut()
    await expect(reader.page.locator("#lost")).to_be_visible()
    await stage.play(match, "1", "2")
    await expect(card(reader.page, match).locator(".body")).to_have_count(2)
    await expect(reader.page.locator("#lost")).to_be_hidden()
    assert reader.faults == []


async def test_match_that_ended_unseen_is_shown_as_ended(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("tic_tac_toe", "ada", "bob")
    await reader.page.goto(stage.url())
    await expect(card(reader.page, match)).to_be_visible()
    stage.restart_broadcast()
    await stage.cut()
    await stage.finish(match, ["loss", "win"], ["crash", "normal"])
    await expect(card(reader.page, match).locator(".note")).to_have_text("bob won · crash of ada")
    await expect(reader.page.locator("#running")).to_have_text("0 matches running")


async def test_stepping_through_a_match(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("tic_tac_toe", "ada", "bob")
    await stage.play(match, "4", "0", "8")
    page = reader.page
    await page.goto(stage.url(f"/matches/{match}"))
    pieces = page.locator(".match .body")
    await expect(pieces).to_have_count(3)
    await page.keyboard.press("ArrowLeft")
    await expect(pieces).to_have_count(2)
    await page.keyboard.press("Home")
    await expect(pieces).to_have_count(0)
    await expect(page.locator('[data-part="position"]')).to_have_text("......... x")
    await stage.play(match, "1")
    await expect(page.locator(".moves .move")).to_have_count(4)
    await expect(pieces).to_have_count(0)  # who looks back is left there
    await page.keyboard.press("End")
    await expect(pieces).to_have_count(4)
    await page.locator(".moves .move").first.click()
    await expect(pieces).to_have_count(1)
    await expect(page).to_have_url(stage.url(f"/matches/{match}#1"))
    assert reader.faults == []


async def test_illegal_action_is_explained(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    await stage.play(match, "4")
    await reader.page.goto(stage.url(f"/matches/{match}"))
    await stage.finish(match, ["win", "loss"], ["normal", "illegal_action"], "bob sent '9'; expected 1 to 7")
    await expect(reader.page.locator(".stand")).to_have_text("ada won · illegal action of bob")
    await expect(reader.page.get_by_text("bob sent '9'; expected 1 to 7")).to_be_visible()
    await expect(reader.page.locator(".seat-1 .rating")).to_have_text("1500? +80")
    assert reader.faults == []


TIMED = {"elapsed_ms": 180, "charged_ms": 20, "round_trip_ms": 160.2, "limit_ms": 5_000}


def times_of(reader, seat):
    return reader.page.locator(".times tbody tr").nth(seat).locator("td")


async def test_PB04_the_match_page_shows_the_measured_time_of_each_seat_with_its_limit(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    await reader.page.goto(stage.url(f"/matches/{match}"))
    await expect(times_of(reader, 1)).to_have_text(["bob", "5 s a move", "–", "–"])
    await stage.play(match, "4", **TIMED)
    await stage.play(match, "3", **{**TIMED, "elapsed_ms": 1_180})
    await expect(times_of(reader, 0)).to_have_text(["ada", "5 s a move", "180 of 5,000 ms", "160 ms"])
    await expect(times_of(reader, 1)).to_have_text(["bob", "5 s a move", "1,180 of 5,000 ms", "1,160 ms"])
    await expect(reader.page.locator('[data-part="of"]')).to_have_text("live · 1,180 ms")
    await reader.page.keyboard.press("ArrowLeft")
    await expect(reader.page.locator('[data-part="of"]')).to_have_text("of 2 · 180 ms")
    await reader.page.reload()
    await expect(times_of(reader, 0)).to_have_text(["ada", "5 s a move", "180 of 5,000 ms", "160 ms"])
    assert reader.faults == []


async def test_bank_periods_and_strikes_are_counted_down(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    times = {"move_ms": 0, "bank_ms": 60_000, "increment_ms": 500, "byoyomi_ms": 5_000, "periods": 3}
    match = await stage.begin("connect_four", "ada", "bob", **times, strikes=2)
    await reader.page.goto(stage.url(f"/matches/{match}"))
    await expect(reader.page.locator(".head .facts")).to_contain_text("60 s + 0.5 s, then 3 × 5 s, 2 strikes")
    await expect(times_of(reader, 0).nth(1)).to_have_text("60 s + 3 × 5 s, 2 strikes")
    await stage.play(match, "4", elapsed_ms=20_250, charged_ms=20_250, limit_ms=75_000)
    await expect(times_of(reader, 0).nth(1)).to_have_text("40.2 s + 3 × 5 s, 2 strikes")
    late = {"elapsed_ms": 75_200, "charged_ms": 75_200, "limit_ms": 75_000, "timed_out": True}
    await stage.play(match, "3", **late)
    await expect(times_of(reader, 1).nth(1)).to_have_text("0.5 s + 1 × 5 s, 1 strike")
    await expect(times_of(reader, 1).nth(2)).to_have_text("75,200 of 75,000 ms, too late")
    assert reader.faults == []


async def test_end_is_judged_by_the_clock(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    await stage.play(match, "4", **TIMED)
    await reader.page.goto(stage.url(f"/matches/{match}"))
    verdict = reader.page.locator('[data-part="verdict"]')
    await expect(verdict).to_be_hidden()
    request = {**TIMED, "elapsed_ms": 5_360, "charged_ms": 5_200, "refunded_ms": 160, "ply": 1, "seat": 1}
    request = {**request, "received": False, "at": stage.now().isoformat()}
    await stage.finish(match, ["win", "loss"], ["normal", "timeout"], "no answer", request)
    await expect(verdict).to_have_text(
        "Seat 2 (bob) lost on time at ply 1: no answer came, 5,200 ms of 5,000 ms and a margin of "
        "200 ms were used up; 160 ms of the way there and back were refunded, the server was not late."
    )
    told = await verdict.text_content()
    await reader.page.reload()
    await expect(verdict).to_have_text(told)
    assert reader.faults == []


def open_request(ply, seat, at, **changes):
    """A request as it is kept when the match ends with it."""
    timing = {"elapsed_ms": 5_360, "charged_ms": 5_200, "refunded_ms": 160, "limit_ms": 5_000}
    return {**timing, "ply": ply, "seat": seat, "received": False, "at": at.isoformat(), **changes}


@pytest.mark.parametrize(
    ("cause", "changes", "measured", "how"),
    [
        ("timeout", {}, "5,360 of 5,000 ms", "no answer"),
        ("timeout", {"received": True, "elapsed_ms": 5_900}, "5,900 of 5,000 ms", "too late"),
        ("disconnect", {}, "5,360 of 5,000 ms", "no answer"),
        ("illegal_action", {"received": True, "elapsed_ms": 180}, "180 of 5,000 ms", "illegal action"),
        ("resignation", {"received": True, "elapsed_ms": 180}, "180 of 5,000 ms", "resignation"),
    ],
)
async def test_request_that_ended_a_match_is_shown_as_no_move(stage, reader, cause, changes, measured, how):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    await stage.play(match, "4", "3", "4", **TIMED)
    await reader.page.goto(stage.url(f"/matches/{match}"))
    await expect(reader.page.locator(".moves .move")).to_have_count(3)
    await expect(reader.page.locator(".unmade")).to_have_count(0)
    request = open_request(3, 1, stage.now(), **changes)
    await stage.finish(match, ["win", "loss"], ["normal", cause], None, request)
    for _ in ("seen live", "read again"):
        of_ada, of_bob, unmade = (times_of(reader, row) for row in range(3))
        await expect(unmade).to_have_text(["ply 3, not a move", f"{how}, {measured}", "160 ms"])
        await expect(of_ada.nth(2)).to_have_text("180 of 5,000 ms")
        await expect(of_bob.nth(2)).to_have_text("180 of 5,000 ms")
        await expect(reader.page.locator(".moves .move")).to_have_text(["4", "3", "4"])
        listed = ["143", "24", f"ply 3: {how}, {measured}; not a move"]
        await expect(reader.page.locator(".moves li")).to_have_text(listed)
        await reader.page.reload()
    assert reader.faults == []


async def test_request_that_was_open_when_a_match_became_void_is_shown_too(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    await reader.page.goto(stage.url(f"/matches/{match}"))
    request = open_request(0, 0, stage.now(), elapsed_ms=1_234, refunded_ms=0)
    await stage.void(match, "overload; counts for nobody", request=request)
    await expect(times_of(reader, 1)).to_have_text(
        ["ply 0, not a move", "still open, 1,234 of 5,000 ms", "0 ms"]
    )
    listed = ["ply 0: still open, 1,234 of 5,000 ms; not a move"]
    await expect(reader.page.locator(".moves li")).to_have_text(listed)
    assert reader.faults == []


def clock_of(reader, seat):
    return reader.page.locator(f".seat-{seat + 1} .clock")


async def away(stage, match, seat, **changes):
    """Show a match whose seat has lost its connection."""
    players = (await stage.view(match)).players
    players = [replace(player, connected=player.seat != seat) for player in players]
    await stage.show(match, players=players, **changes)


@pytest.mark.parametrize(("path", "said"), [("/matches/{match}", ".stand"), ("/", ".note")])
async def test_clock_of_an_absent_agent_stands_while_its_time_away_is_forgiven(stage, reader, path, said):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob", move_ms=600_000)
    await reader.page.clock.install()
    await reader.page.goto(stage.url(path.format(match=match)))
    sentence, clock = reader.page.locator(said), clock_of(reader, 0)
    await expect(clock).to_have_class("clock running")
    await away(stage, match, 0, still_ms=60_000)
    lost = "ada lost its connection;"
    await expect(sentence).to_have_text(f"{lost} up to 60 s of it are not charged, then its clock runs.")
    await expect(clock).to_have_class("clock")
    await expect(clock).to_have_text("10:00")
    await reader.page.clock.fast_forward(62_000)
    await expect(sentence).to_have_text(f"{lost} its clock runs.")
    await expect(clock).to_have_class("clock running")
    await expect(clock).not_to_have_text("10:00")
    await away(stage, match, 1)
    await expect(sentence).to_have_text("bob lost the connection; ada to move")
    await expect(clock).to_have_class("clock running")
    assert reader.faults == []


async def test_clock_of_an_agent_that_is_away_for_long_is_not_at_its_end(stage, reader):
    """Its time would be up by now, if the time away were charged."""
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    await reader.page.clock.install()
    await reader.page.goto(stage.url(f"/matches/{match}"))
    await expect(clock_of(reader, 0)).to_have_class("clock running")
    await away(stage, match, 0, still_ms=60_000)
    await expect(clock_of(reader, 0)).to_have_text("5.0")
    await reader.page.clock.run_for(20_000)
    await expect(clock_of(reader, 0)).to_have_text("5.0")
    assert reader.faults == []


async def test_clock_that_is_overdue_says_that_the_server_may_give_time_back(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob", move_ms=300)
    await reader.page.goto(stage.url(f"/matches/{match}"))
    await expect(clock_of(reader, 0)).to_have_text("…")
    await expect(clock_of(reader, 0)).to_have_class("clock")
    await expect(reader.page.locator(".stand")).to_have_text(
        "The time of ada is up, unless the server gives some back."
    )
    await stage.play(match, "4")
    await expect(reader.page.locator(".stand")).to_have_text("bob to move")
    assert reader.faults == []


@pytest.mark.parametrize(("path", "said"), [("/matches/{match}", ".stand"), ("/", ".note")])
async def test_clock_stands_while_the_database_is_away(stage, reader, path, said):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob", move_ms=600_000)
    await reader.page.goto(stage.url(path.format(match=match)))
    clock = clock_of(reader, 0)
    await expect(clock).to_have_class("clock running")
    stage.db.absence.unread(OperationalError(None, None, OSError("disk")))
    await expect(clock).to_have_text("paused", timeout=60_000)
    await expect(clock).to_have_class("clock")
    await expect(reader.page.locator(said)).to_have_text("Paused: the database is away.")
    away = "The database is away. Matches pause until it is back, and it costs nobody time."
    await expect(reader.page.locator("#notice")).to_have_text(away)
    await reader.page.reload()
    await expect(clock).to_have_text("paused")
    await stage.play(match, "4")
    await expect(clock_of(reader, 1)).to_have_class("clock running")
    await expect(reader.page.locator(said)).to_have_text("bob to move")
    await expect(reader.page.locator("#notice")).to_be_hidden()
    assert [fault for fault in reader.faults if "503" not in fault] == []


async def test_old_answer_does_not_undo_an_end(stage, reader):
    """The page asks for the record twice; the answer from before the end comes last."""
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    asked = []

    async def delay_second(route):
        asked.append(route)
        answer = await route.fetch()
        if len(asked) == 2:
            await stage.finish(match, ["win", "loss"], ["normal", "crash"])
            await expect(reader.page.locator(".stand")).to_have_text("ada won · crash of bob")
        await route.fulfill(response=answer)

    await reader.page.route(f"**/fragments/matches/{match}", delay_second)
    await reader.page.goto(stage.url(f"/matches/{match}"))
    await expect(reader.page.locator(".stand")).to_have_text("ada won · crash of bob")
    await reader.page.wait_for_load_state("networkidle")
    await expect(reader.page.locator(".stand")).to_have_text("ada won · crash of bob")
    assert len(asked) == 3
    assert reader.faults == []


async def test_void_match_counts_for_nobody(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    await reader.page.goto(stage.url())
    await expect(card(reader.page, match)).to_be_visible()
    await stage.void(match, "the server was restarted; counts for nobody")
    await expect(card(reader.page, match)).to_contain_text("counts for nobody")
    await expect(reader.page.locator(".results")).to_have_count(0)
    assert reader.faults == []


async def test_void_match_leads_to_its_replay(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    await reader.page.goto(stage.url(f"/matches/{match}"))
    await expect(reader.page.locator(".stand")).to_have_text("ada to move")
    again = await stage.void(match, "the server was restarted; counts for nobody", replay=True)
    for _ in ("seen live", "read again"):
        await expect(reader.page.locator(".stand")).to_have_text("Void · counts for nobody")
        await expect(reader.page.locator('[data-part="detail"]')).to_have_text("the server was restarted")
        link = reader.page.locator('[data-part="replay"] a')
        await expect(link).to_have_text(f"match {again}")
        assert (await link.get_attribute("href")) == f"/matches/{again}"
        await reader.page.reload()
    await link.click()
    await expect(reader.page.locator(".stand")).to_have_text(
        "It starts when all its agents have a hand free."
    )
    await expect(reader.page.get_by_text("which was void")).to_be_visible()
    assert reader.faults == []


async def test_void_match_says_who_did_not_come(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    await stage.void(match, "not ready within 10000 ms", ["normal", "no_show"])
    await reader.page.goto(stage.url(f"/matches/{match}"))
    detail = reader.page.locator('[data-part="detail"]')
    await expect(detail).to_have_text("no show of bob, not ready within 10000 ms")
    await expect(reader.page.locator('[data-part="replay"]')).to_be_hidden()


async def test_queued_match_begins_by_itself(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.queue("connect_four", "ada", "bob")
    page = reader.page
    await page.goto(stage.url(f"/matches/{match}"))
    await expect(page.locator('[data-part="status"]')).to_have_text("queued")
    await expect(page.locator(".stand")).to_have_text("It starts when all its agents have a hand free.")
    await expect(page.locator(".hole")).to_have_count(42)
    await expect(page.locator(".match .clock").first).to_be_hidden()
    await stage.start(match)
    await expect(page.locator(".stand")).to_have_text("ada to move", timeout=10_000)
    await stage.play(match, "4")
    await expect(page.locator(".match .body")).to_have_count(1)
    assert reader.faults == []


async def test_normal_end_needs_no_further_words(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("tic_tac_toe", "ada", "bob")
    await stage.play(match, "0", "3", "1", "4", "2")
    await stage.finish(match, ["win", "loss"], ["normal", "normal"], "")
    await reader.page.goto(stage.url(f"/matches/{match}"))
    await expect(reader.page.locator(".stand")).to_have_text("ada won · normal end")
    await expect(reader.page.locator('[data-part="detail"]')).to_be_hidden()


async def test_empty_cells_of_a_large_board_are_named(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("tic_tac_toe", "ada", "bob")
    await stage.play(match, "4")
    await reader.page.goto(stage.url(f"/matches/{match}"))
    await expect(reader.page.locator(".board-label")).to_have_text(list("01235678"))
    await reader.page.keyboard.press("Home")
    await expect(reader.page.locator(".board-label")).to_have_text(list("012345678"))
    await reader.page.goto(stage.url())
    await expect(card(reader.page, match).locator(".body")).to_have_count(1)
    await expect(reader.page.locator(".board-label")).to_have_count(0)


async def test_command_is_copied(stage, reader):
    page = reader.page
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto(stage.url())
    copy = page.locator("#connect").get_by_role("button", name="Copy")
    await copy.click()
    await expect(page.locator("#connect button")).to_have_text("Copied")
    copied = await page.evaluate("navigator.clipboard.readText()")
    command = ".venv/bin/plyground connect examples/my_agent.py --ladder connect_four --name my-bot"
    assert copied == f"{command} --server {stage.url('').rstrip('/')}"
    await expect(page.locator("#connect button")).to_have_text("Copy")
    assert reader.faults == []


async def test_every_ladder_is_reached_from_every_page_on_a_phone(stage, reader):
    await stage.agent("ada")
    await reader.page.set_viewport_size({"width": 390, "height": 844})
    for path in ("/", "/agents/ada", "/nowhere"):
        await reader.page.goto(stage.url(path))
        await reader.page.get_by_role("navigation").get_by_text("Ladders").click()
        await reader.page.get_by_role("navigation").get_by_role("link", name="Tic-tac-toe").click()
        await expect(reader.page.locator("h1")).to_have_text("Tic-tac-toe")


async def test_names_are_readable_on_a_phone(stage, reader):
    await stage.agent("student-bot-24")
    await stage.agent("alpha-beta-12")
    match = await stage.begin("connect_four_5x6", "student-bot-24", "alpha-beta-12")
    await stage.play(match, "4")
    await reader.page.set_viewport_size({"width": 390, "height": 844})
    for path, names in (
        ("/ladders/connect_four_5x6", ".table td.agent"),
        (f"/matches/{match}", ".seat .name"),
        ("/agents/student-bot-24", "h1"),
        ("/", ".tables td.agent"),
        ("/", ".match-card h2"),
    ):
        await reader.page.goto(stage.url(path))
        await expect(reader.page.locator(names).first).to_be_visible()
        cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)"
        assert await reader.page.locator(names).evaluate_all(cut) == [], path


async def test_error_page_keeps_its_text_inside_its_card(stage, reader):
    await reader.page.goto(stage.url("/agents/nobody"))
    room = await reader.page.locator(".card").evaluate(
        """(card) => {
            const [outer, inner] = [card, card.querySelector("h1")].map((one) => one.getBoundingClientRect());
            return Math.min(inner.top - outer.top, inner.left - outer.left);
        }"""
    )
    assert room >= 12


async def test_more_matches_than_places(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    running = [await stage.begin("connect_four", "ada", "bob") for _ in range(8)]
    await reader.page.goto(stage.url())
    await expect(reader.page.locator(".match-card")).to_have_count(6)
    await expect(reader.page.locator("#running")).to_have_text("8 matches running")
    await stage.finish(running[0], ["win", "loss"], ["normal", "timeout"])
    await expect(card(reader.page, running[6])).to_be_visible()
    await expect(reader.page.locator(".match-card")).to_have_count(6)
    assert reader.faults == []


async def test_end_can_be_seen_before_the_next_match_takes_its_place(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    first = await stage.begin("tic_tac_toe", "ada", "bob")
    await reader.page.goto(stage.url())
    await expect(card(reader.page, first)).to_be_visible()
    await stage.finish(first, ["win", "loss"], ["normal", "resignation"])
    second = await stage.begin("tic_tac_toe", "bob", "ada")
    await expect(card(reader.page, first).locator(".note")).to_have_text("ada won · resignation of bob")
    await expect(card(reader.page, second)).to_be_visible()
    await expect(card(reader.page, first)).to_have_count(0)
    assert reader.faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_text_has_contrast(stage, reader, scheme):
    """Every text token against every ground it stands on: 4.5 to 1 or better (WCAG 2)."""
    await reader.page.emulate_media(color_scheme=scheme)
    await reader.page.goto(stage.url())
    worst = await reader.page.evaluate(
        """() => {
            const probe = document.body.appendChild(document.createElement("i"));
            const light = (token) => {
                probe.style.color = `var(--${token})`;
                const parts = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map(Number);
                const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
                const [r, g, b] = parts.map((part) => linear(part / 255));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            const grounds = ["bg", "card", "sunk"].map(light);
            const inks = ["ink", "ink2", "ink3", "seat1", "seat2", "live", "bad"].map(light);
            return Math.min(...inks.flatMap((ink) => grounds.map((ground) => ratio(ink, ground))));
        }"""
    )
    assert worst >= 4.5


async def test_reduced_motion_moves_nothing(stage, reader):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.begin("connect_four", "ada", "bob")
    await reader.page.emulate_media(reduced_motion="reduce")
    await reader.page.goto(stage.url())
    await expect(card(reader.page, match)).to_be_visible()
    await stage.play(match, "4")
    piece = card(reader.page, match).locator(".arrives")
    await expect(piece).to_have_count(1)
    assert await piece.evaluate("(element) => getComputedStyle(element).animationName") == "none"


@pytest.mark.parametrize("path", ["/", "/ladders/connect_four"])
async def test_page_says_that_new_matches_wait_and_when_they_wait_no_more(stage, reader, path):
    await stage.agent("ada")
    notice = reader.page.locator("#notice")
    await reader.page.goto(stage.url(path))
    await expect(notice).to_be_hidden()
    before = await reader.page.locator("main").bounding_box()
    stage.lag_s = 0.35
    sentence = "New matches wait: the server is 350 ms late, the margin is 200 ms."
    await expect(notice).to_have_text(sentence, timeout=60_000)
    await expect(notice).to_be_visible()
    assert await reader.page.locator("main").bounding_box() == before, "nothing moves"
    await reader.page.reload()
    await expect(notice).to_have_text(sentence)
    stage.lag_s = 0.0
    await expect(notice).to_be_hidden(timeout=60_000)
    assert reader.faults == []
