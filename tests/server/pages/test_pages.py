"""The pages as a browser fetches them: headers, sizes, faults."""

import re
import shlex
from html import unescape

import pytest
from aiohttp import ClientSession

from agents.address import check_token_is_safe
from agents.protocol import TimeControl
from games.errors import InputError
from server.cli.clock import command as clock
from server.cli.connect import command as connect
from server.pages import assets, words
from server.pages.here import Here
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


def loaded_scripts(linked: set[str]) -> dict[str, bytes]:
    """The scripts that a page links to, and those that they import, by name."""
    files, found = assets.assets().files, {}
    names = [address.rpartition("/")[2] for address in linked if address.endswith(".js")]
    for name in names:
        if name not in found:
            found[name] = files[name].body
            names += re.findall(r'from "\./([\w.]+)"', found[name].decode())
    return found


@pytest.mark.parametrize("path", ["/", "/ladders/tic_tac_toe", "/matches/{match}", "/agents/ada", "/admin"])
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
    scripts = sum(len(text) for text in loaded_scripts(linked).values())
    styles = sum(len(text) for found, text in bodies if found.content_type == "text/css")
    assert scripts + styles < 98_000  # read once, then kept by the browser
    assert len(html) < 25_000


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
    ("path", "sentence", "code"),
    [
        ("/matches/7", "There is no match 7 here.", "unknown_match"),
        ("/matches/x", "There is no match x here.", "unknown_match"),
        ("/matches/99999999999999999999", "There is no match 99999999999999999999 here.", "unknown_match"),
        ("/ladders/chequers", "There is no ladder called chequers here.", "unknown_ladder"),
        ("/agents/nobody", "There is no agent called nobody here.", "unknown_agent"),
        ("/agents/%3Cb%3E", "There is no agent called &lt;b&gt; here.", "unknown_agent"),
        ("/agents/" + 100 * "w", f"There is no agent called {60 * 'w'}… here.", "unknown_agent"),
        ("/nowhere", "There is nothing at this address.", "not_found"),
    ],
)
async def test_unknown_thing_is_a_page_for_people(stage, path, sentence, code):
    answer, html = await fetch(stage, path, Accept="text/html")
    assert (answer.status, answer.content_type) == (404, "text/html")
    assert sentence in re.sub("</?bdi>", "", html)
    assert f"<code>{code}</code>" in html
    assert "expected" not in html
    assert 'href="/ladders/tic_tac_toe"' in html


def commands(html):
    """What the copy buttons of a page copy."""
    found = re.findall(r'<code class="code">(.+?)</code>\s*<button[^>]+data-copy>', html)
    return [unescape(re.sub("<[^>]+>", "", code)) for code in found]


@pytest.mark.parametrize(
    ("headers", "option"),
    [
        ({"Host": "127.0.0.1:8080"}, ""),
        ({"Host": "localhost:8080"}, " --server http://localhost:8080"),
        ({"Host": "127.0.0.1:9000"}, " --server http://127.0.0.1:9000"),
        ({"Host": "[::1]:8080"}, " --server 'http://[::1]:8080'"),
        ({"Host": "ai.example.org", "X-Forwarded-Proto": "https"}, " --server https://ai.example.org"),
        ({"Host": "ai.example.org", "X-Forwarded-Proto": "gopher"}, " --server http://ai.example.org"),
        ({"Host": "<b>$(reboot)"}, ""),
    ],
)
async def test_command_to_connect_works_as_copied(stage, headers, option):
    expected = ".venv/bin/plyground connect examples/my_agent.py --ladder connect_four --name my-bot"
    _, html = await fetch(stage, "/", **headers)
    first = commands(html)[0]
    assert first == expected + option
    program, name, *words = shlex.split(first)
    assert (program, name) == (".venv/bin/plyground", "connect")
    assert connect.make_context(name, words).params["name"] == "my-bot"
    _, empty = await fetch(stage, "/fragments/standings?ladder=tic_tac_toe", **headers)
    assert commands(empty) == [(expected + option).replace("connect_four", "tic_tac_toe")]


@pytest.mark.parametrize(
    "origin",
    [
        "http://127.0.0.1:8080",
        "http://127.1.2.3",
        "http://localhost:8080",
        "http://a.localhost",
        "http://[::1]:8080",
        "http://192.168.1.5:8080",
        "http://ai.example.org",
        "https://ai.example.org",
        "http://localhost.example.org",
    ],
)
async def test_page_knows_where_clients_send_no_token(origin):
    try:
        check_token_is_safe(origin)
        refused = False
    except InputError:
        refused = True
    assert Here(origin).in_clear == refused


async def test_page_in_clear_says_that_clients_need_https(stage):
    _, html = await fetch(stage, "/", Host="192.168.1.5:8080")
    assert "it needs an <code>https://</code> address" in html
    _, html = await fetch(stage, "/", Host="192.168.1.5:8080", **{"X-Forwarded-Proto": "https"})
    assert "it needs an <code>https://</code> address" not in html


async def test_command_for_the_clock_works_as_copied(stage):
    match = await played(stage)
    _, html = await fetch(stage, f"/matches/{match}", Host="ai.example.org")
    [copied] = [command for command in commands(html) if " clock " in command]
    assert copied == f".venv/bin/plyground clock {match} --server http://ai.example.org"
    _, name, *words = shlex.split(copied)
    assert clock.make_context(name, words).params["match"] == match


async def test_verdict_stands_on_the_page_of_a_match_that_is_over(stage):
    match = await played(stage)
    _, html = await fetch(stage, f"/matches/{match}")
    assert "Seat 1 (ada) won by the rules of the game, not by the clock" in html


@pytest.mark.parametrize(
    ("control", "told"),
    [
        (TimeControl(5_000), "5 s a move"),
        (TimeControl(0, bank_ms=60_000), "60 s"),
        (TimeControl(10_000, bank_ms=60_000, increment_ms=200), "60 s + 0.2 s, at most 10 s a move"),
        (TimeControl(0, bank_ms=90_000, byoyomi_ms=5_000, periods=3), "90 s, then 3 × 5 s"),
        (TimeControl(0, byoyomi_ms=5_000, periods=1), "1 × 5 s"),
        (TimeControl(0, nodes=10_000), "no clock, 10,000 nodes a move"),
        (TimeControl(5_000, strikes=1), "5 s a move, 1 strike"),
        (TimeControl(5_000, strikes=3), "5 s a move, 3 strikes"),
    ],
)
async def test_time_control_in_words(control, told):
    assert words.pace(control) == told


BANK = "90 s for all moves of a game"
PERIODS = "with 3 such periods: a move that takes longer uses one up."
NO_CLOCK = "No clock runs, only a move that takes over 60 s is too late"
NODES = "agents of the house look at 10,000 nodes a move at most."
LOTS = "no game: a random legal action is played."


@pytest.mark.parametrize(
    ("control", "sentence"),
    [
        (TimeControl(5_000), "5 s for each move."),
        (TimeControl(0, bank_ms=90_000), f"{BANK}."),
        (TimeControl(0, bank_ms=90_000, increment_ms=500), f"{BANK}, 0.5 s added after each move."),
        (TimeControl(10_000, bank_ms=90_000), f"{BANK}; at most 10 s for any of them."),
        (
            TimeControl(0, bank_ms=90_000, byoyomi_ms=5_000, periods=3),
            f"{BANK}; then 5 s for each move, {PERIODS}",
        ),
        (TimeControl(0, byoyomi_ms=5_000, periods=1), "5 s for each move."),
        (TimeControl(0, nodes=10_000), f"{NO_CLOCK}; {NODES}"),
        (TimeControl(5_000, strikes=1), f"5 s for each move; the first time-out costs {LOTS}"),
        (TimeControl(5_000, strikes=3), f"5 s for each move; the first 3 time-outs cost {LOTS}"),
    ],
)
async def test_time_control_in_a_sentence(control, sentence):
    assert words.pace_explained(control) == sentence


async def test_ladder_page_explains_its_times(stage):
    times = {"move_ms": 0, "bank_ms": 4_000, "increment_ms": 500, "ready_ms": 20_000}
    kinds = {"margin_ms": 200, "lag_ms": 1_000, "grace_ms": 5_000}
    await stage.control("connect_four", TimeControl(**times, **kinds))
    _, html = await fetch(stage, "/ladders/connect_four")
    sentence = "4 s for all moves of a game, 0.5 s added after each move."
    assert f'<span title="{sentence}">4 s + 0.5 s</span>' in html
    assert re.findall(r"<dt>(.+?)</dt><dd>(.+?)</dd>", html) == [
        ("Clock", sentence),
        ("Start-up", "20 s to get ready, before any clock runs."),
        ("Margin", "0.2 s over the limit still counts, with every move."),
        ("Lag bank", "1 s at most for the way there and back: it is not charged, and the bank fills again."),
        ("Grace", "5 s of a game without a connection are not charged."),
    ]


async def test_ladder_page_does_not_mention_times_that_are_none(stage):
    await stage.control("connect_four", TimeControl(5_000))
    _, html = await fetch(stage, "/ladders/connect_four")
    assert re.findall(r"<dt>(.+?)</dt>", html) == ["Clock"]


async def test_match_page_explains_its_time_control(stage):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.queue("connect_four", "ada", "bob")
    _, html = await fetch(stage, f"/matches/{match}")
    assert '<span title="5 s for each move.">5 s a move</span>' in html


def rows(html):
    """The rows of an agent's table: their words."""
    cells = re.findall(r"<tr[^>]*>\s*<td class=\"left\">(.*?)</tr>", html, flags=re.DOTALL)
    return [" ".join(re.sub("<[^>]+>", " ", cell).split()) for cell in cells]


async def test_agent_page_shows_every_version_and_why_it_lost(stage):
    await played(stage)
    for cause in ("timeout", "timeout", "crash"):
        lost = await stage.begin("tic_tac_toe", "ada", "bob")
        await stage.finish(lost, ["loss", "win"], [cause, "normal"])
    await stage.new_version("ada", "tic_tac_toe")
    won = await stage.begin("tic_tac_toe", "ada", "bob")
    await stage.finish(won, ["win", "loss"], ["normal", "normal"])
    _, html = await fetch(stage, "/agents/ada")
    connect_four, five_by_six, othello, new, old, *others = rows(html)
    kuhn_poker = next(row for row in others if row.startswith("Kuhn poker"))
    assert connect_four.startswith("Connect four v1, 1 of 2 1500 ? 0 0 won, 0 drawn, 0 lost")
    assert five_by_six.startswith("Connect four 5×6 v1")
    assert othello.startswith("Othello v1")
    assert kuhn_poker.startswith("Kuhn poker v1")
    assert re.match(r"Tic-tac-toe v2, [12] of 2 \d+ \? 1 1 won, 0 drawn, 0 lost", new)
    assert re.match(r"v1 \d+ \? 4 1 won, 0 drawn, 3 lost", old)
    causes = re.findall(r'<th scope="row">(.+?)</th><td class="number">(\d+)</td>', html)
    assert causes == [("timeout", "2"), ("crash", "1")]
    assert 'href="/api/v1/matches?agent=ada"' in html


async def test_queued_match_has_a_page(stage):
    await stage.agent("ada")
    await stage.agent("bob")
    match = await stage.queue("connect_four", "ada", "bob")
    _, html = await fetch(stage, f"/matches/{match}")
    assert 'data-part="status">queued<' in html


@pytest.mark.parametrize(
    "path",
    [
        "/static/x/..%2Froutes.py",
        "/static/x/nothing.js",
        "/fragments/standings",
        "/fragments/standings?ladder=chequers",
        "/fragments/results?ladder=chequers",
        "/fragments/recent?ladder=chequers",
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
    def __init__(self, outcome, cause, utility=None):
        self.outcome = outcome
        self.cause = cause
        self.utility = utility


@pytest.mark.parametrize(
    ("seats", "score", "cause"),
    [
        ([End("win", "normal"), End("loss", "normal")], "1–0", "normal end"),
        ([End("win", "normal"), End("loss", "timeout")], "1–0", "timeout"),
        ([End("loss", "illegal_action"), End("win", "normal")], "0–1", "illegal action"),
        ([End("draw", "normal"), End("draw", "normal")], "½–½", "normal end"),
        ([End("void", "infrastructure"), End("void", "infrastructure")], "void", "server fault"),
        ([End(None, None), End(None, None)], "–", "not ended"),
        ([End("win", "normal", 7.0), End("loss", "normal", 5.0)], "1–0", "normal end"),
        ([End("draw", "rule_draw", 0.0)] * 2, "½–½", "drawn by rule"),
        (
            [End("loss", "normal", 2.0), End("win", "normal", 4.0), End("loss", "normal", 1.0)],
            "2nd, 1st, 3rd",
            "normal end",
        ),
        (
            [End("draw", "normal", 3.0), End("loss", "normal", 1.0), End("draw", "normal", 3.0)],
            "1st, 3rd, 1st",
            "normal end",
        ),
        ([End("draw", "normal"), End("draw", "normal"), End("loss", "crash")], "1st, 1st, 3rd", "crash"),
        ([End("void", "normal"), End("void", "no_show"), End("void", "normal")], "void", "no show"),
        ([End(None, None)] * 3, "–", "not ended"),
    ],
)
async def test_end_in_words(seats, score, cause):
    assert (words.score(seats), words.cause(seats)) == (score, cause)


async def test_seats_stand_in_the_order_of_their_places():
    seats = [End("loss", "normal", utility) for utility in (0.0, 2.0, 5.0, 2.0)]
    places = [(seat.utility, place) for seat, place in words.placed(seats)]
    assert places == [(5.0, "1st"), (2.0, "2nd"), (2.0, "2nd"), (0.0, "4th")]


async def three(stage):
    """A match of three on a ladder of its own, played to its end: bob before ada before cy."""
    await stage.open_ladder("share_out", "Share out")
    for name in ("ada", "bob", "cy"):
        await stage.agent(name)
    match = await stage.begin("share_out", "ada", "bob", "cy")
    await stage.play(match, "2", "2", "1", "0", "2")
    await stage.finish(match, ["loss", "win", "loss"], ["normal"] * 3, utilities=[2.0, 4.0, 1.0])
    return match


@pytest.mark.usefixtures("share_out")
@pytest.mark.parametrize("path", ["/", "/ladders/share_out", "/agents/ada"])
async def test_results_of_three_are_told_by_place(stage, path):
    match = await three(stage)
    _, html = await fetch(stage, path)
    result = re.search(r'<div class="result of-many">(.+?)</div>', html, flags=re.DOTALL)[1]
    assert " ".join(re.sub("<[^>]+>", "", result).split()) == "bob 1st ada 2nd cy 3rd"
    assert re.findall(r'class="name( won)?"><a href="/agents/(\w+)"', result) == [
        (" won", "bob"),
        ("", "ada"),
        ("", "cy"),
    ]
    assert f'href="/matches/{match}" aria-label="match {match}, bob 1st"' in result


@pytest.mark.usefixtures("share_out")
async def test_page_of_a_match_of_three(stage):
    match = await three(stage)
    _, html = await fetch(stage, f"/matches/{match}")
    told = re.search("<noscript><p[^>]*>(.+?)</p>", html, flags=re.DOTALL)[1]
    words_told = " ".join(re.sub("<[^>]+>", "", told).split())
    assert words_told.startswith("ada against bob against cy: 2nd, 1st, 3rd, normal end.")
    assert "Seat 2 (bob) won by the rules of the game" in html
    async with ClientSession() as session, session.get(stage.url(f"/fragments/matches/{match}")) as answer:
        replay = await answer.json()
    assert [seat["utility"] for seat in replay["view"]["players"]] == [2.0, 4.0, 1.0]
    assert [round(change) for change in replay["changes"]] == [0, 80, -80]
    assert [seat["last"] is not None for seat in replay["view"]["players"]] == [True] * 3


@pytest.mark.parametrize("ratings", [[], [1500.0], [1200.0, 1867.3], [1499.9, 1500.1], [-800.0, 3000.0]])
async def test_scale_holds_every_rating(ratings):
    scale = scale_for(ratings)
    assert all(0 <= scale.x(rating) <= 100 for rating in ratings)
    assert 1 <= len(scale.ticks) <= 5
    assert all(0 <= tick.x <= 100 for tick in scale.ticks)
