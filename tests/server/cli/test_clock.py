"""`plyground clock`, scripted: the trace as a table and as data, and the verdict."""

import json

import pytest

VERDICT = "Seat 2 (bob) lost on time at ply 1: no answer came, 5,200 ms of 5,000 ms were used up."


def entry(ply, **changes):
    """A request as the API tells it."""
    asked = "2026-03-01T12:00:00.250000Z"
    return {
        "ply": ply,
        "seat": ply % 2,
        "asked_at": asked,
        "handed_over_at": "2026-03-01T12:00:00.257000Z",
        "received_at": "2026-03-01T12:00:01.457000Z",
        "limit_ms": 5_000,
        "waited_ms": 7,
        "elapsed_ms": 1_200,
        "round_trip_ms": 81.6,
        "refunded_ms": 90,
        "charged_ms": 1_110,
        "lag_ms": 8,
        "away_ms": 0,
        "timed_out": False,
        "counted": True,
        **changes,
    }


def match(*clock, **changes):
    return {
        "id": 7,
        "ladder": "tic_tac_toe",
        "game": "tic_tac_toe",
        "state": "finished",
        "players": [{"seat": 0, "agent": "ada", "version": 1}, {"seat": 1, "agent": "bob\x1b[2J"}],
        "clock": clock,
        "verdict": VERDICT,
        **changes,
    }


UNANSWERED = {
    "received_at": None,
    "elapsed_ms": 5_360,
    "refunded_ms": 160,
    "charged_ms": 5_200,
    "lag_ms": 0,
    "counted": False,
}


@pytest.fixture
async def clock(plyground, scripted):
    async def run(told, *options):
        scripted.told["7"] = told
        return await plyground("clock", "7", "--server", scripted.url, *options)

    return run


async def test_each_request_is_a_line_and_the_verdict_stands_below(clock):
    result = await clock(match(entry(0), entry(1, **UNANSWERED)))
    result.assert_done()
    lines = result.out.splitlines()
    assert lines[0].rstrip() == "match 7  tic_tac_toe  finished"
    heads = ["ply", "agent", "asked", "handed", "received", "limit", "trip", "refunded", "charged", "lag"]
    assert lines[1].split() == heads
    assert lines[3].split() == [*("0", "ada", "12:00:00.250", "+7", "+1200", "5000", "82", "90", "1110", "8")]
    assert lines[4].split() == ["1", "bob?[2J", "12:00:00.250", "+7", "-", "5000", "82", "160", "5200", "0"]
    assert lines[5] == "ply 1: no answer"
    assert lines[-1] == VERDICT
    assert "\x1b" not in result.out


@pytest.mark.parametrize("last", [{}, UNANSWERED, {"timed_out": True}])
async def test_a_trace_fits_a_terminal_of_80_columns_whatever_is_remarked(clock, last):
    result = await clock(match(entry(10), entry(11, **last)))
    assert max(len(line.rstrip()) for line in result.out.splitlines()[:-1]) <= 80


async def test_the_legend_uses_the_words_of_the_columns(clock):
    lines = (await clock(match(entry(0)))).out.splitlines()
    legend = " ".join(lines[4:])
    told = [word for word in ("asked:", "handed:", "received:", "trip:", "lag:") if word in legend]
    assert told == ["asked:", "handed:", "received:", "trip:", "lag:"]


async def test_what_is_out_of_the_ordinary_is_remarked(clock):
    late = {**UNANSWERED, "received_at": "2026-03-01T12:00:06.000000Z"}
    drawn = entry(0, timed_out=True, received_at=None, limit_ms=None)
    out = (await clock(match(drawn, entry(1, **late)))).out
    assert "strike: drawn by lot" in out
    assert "not counted" in out


async def test_json_is_the_data(clock):
    told = match(entry(0), entry(1, **UNANSWERED))
    result = await clock(told, "--json")
    result.assert_done()
    kept = ("id", "state", "game", "players", "clock", "verdict")
    assert json.loads(result.out) == json.loads(json.dumps({name: told[name] for name in kept}))


async def test_a_match_that_waits_has_no_table(clock):
    result = await clock(match(state="queued", verdict="Not begun: no clock has run yet."))
    result.assert_done()
    assert result.out == "match 7  tic_tac_toe  queued\nNot begun: no clock has run yet.\n"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"id": 7}, ["expected a match with its clock from", "cannot be read"]),
        (match({**entry(0), "limit_ms": "soon"}), ["expected a whole number or nothing", "clock"]),
        ([], ["cannot be read"]),
    ],
)
async def test_an_answer_that_is_none_is_refused(clock, told, words):
    (await clock(told)).assert_refused("clock", *words)


async def test_an_unknown_match_is_refused_by_its_number(plyground, scripted):
    result = await plyground("clock", "8", "--server", scripted.url)
    result.assert_refused("clock", f"there is no match 8 on {scripted.url}")


@pytest.mark.parametrize("arguments", [(), ("0",), ("first",), ("1", "2")])
async def test_wrong_arguments_are_refused(plyground, arguments):
    assert (await plyground("clock", *arguments)).code == 2


async def test_no_server_is_told(plyground):
    result = await plyground("clock", "1", "--server", "http://127.0.0.1:9")
    result.assert_refused("clock", "expected a Plyground server at http://127.0.0.1:9")
