"""The clock trace of a match over the API: what was measured, when, and the verdict."""

from datetime import datetime, timedelta

import pytest

from server.db import resume
from server.db.matches import MoveRow, SeatResult

from .conftest import NOON

LOST = [SeatResult("win", "normal", 1.0), SeatResult("loss", "timeout", 0.0)]
ASKED = NOON - timedelta(milliseconds=1_207)
MOVE = MoveRow(
    ply=0,
    seat=0,
    action="4",
    elapsed_ms=1_200,
    charged_ms=1_110,
    info=None,
    received_at=NOON,
    waited_ms=7,
    round_trip_ms=81.5,
    lag_ms=8,
    away_ms=0,
    limit_ms=5_000,
    timed_out=False,
)
REQUEST = {
    "at": (NOON + timedelta(seconds=8)).isoformat(),
    "seat": 1,
    "ply": 1,
    "received": False,
    "elapsed_ms": 5_360,
    "refunded_ms": 160,
    "charged_ms": 5_200,
    "limit_ms": 5_000,
    "waited_ms": 2,
    "round_trip_ms": 160.2,
    "lag_ms": 0,
    "away_ms": 0,
    "timed_out": False,
}
FIELDS = [
    *("ply", "seat", "asked_at", "handed_over_at", "received_at", "limit_ms", "waited_ms", "elapsed_ms"),
    *("round_trip_ms", "refunded_ms", "charged_ms", "lag_ms", "away_ms", "timed_out", "counted"),
]


@pytest.fixture
def pair(world):
    return world.agent("ada"), world.agent("bob")


def when(entry, field):
    return datetime.fromisoformat(entry[field])


async def test_a_move_is_told_as_it_was_measured(world, pair, get):
    running, _ = world.match(*pair, [MOVE])
    [entry] = (await get(f"/api/v1/matches/{running}"))["clock"]
    assert list(entry) == FIELDS
    assert when(entry, "asked_at") == ASKED
    assert when(entry, "handed_over_at") == ASKED + timedelta(milliseconds=7)
    assert when(entry, "received_at") == NOON
    told = {name: entry[name] for name in FIELDS if not name.endswith("_at")}
    assert told == {
        "ply": 0,
        "seat": 0,
        "limit_ms": 5_000,
        "waited_ms": 7,
        "elapsed_ms": 1_200,
        "round_trip_ms": 81.5,
        "refunded_ms": 90,
        "charged_ms": 1_110,
        "lag_ms": 8,
        "away_ms": 0,
        "timed_out": False,
        "counted": True,
    }


async def test_what_was_open_at_the_end_comes_last_and_explains_it(world, pair, get):
    lost, _ = world.match(*pair, [MOVE], LOST, request=REQUEST)
    match = await get(f"/api/v1/matches/{lost}")
    entry = match["clock"][-1]
    assert (entry["ply"], entry["seat"], entry["counted"], entry["received_at"]) == (1, 1, False, None)
    assert (entry["elapsed_ms"], entry["charged_ms"], entry["round_trip_ms"]) == (5_360, 5_200, 160.2)
    assert when(entry, "asked_at") == NOON + timedelta(milliseconds=8_000 - 5_362)
    assert match["verdict"] == (
        "Seat 2 (bob) lost on time at ply 1: no answer came, 5,200 ms of 5,000 ms and a margin of "
        "200 ms were used up; 160 ms of the way there and back were refunded, the server was not late."
    )


async def test_a_late_answer_has_a_time(world, pair, get):
    late = {**REQUEST, "received": True}
    lost, _ = world.match(*pair, [MOVE], LOST, request=late)
    entry = (await get(f"/api/v1/matches/{lost}"))["clock"][-1]
    assert when(entry, "received_at") == NOON + timedelta(seconds=8)


async def test_the_record_has_the_same_clock_and_verdict(world, pair, get):
    lost, _ = world.match(*pair, [MOVE], LOST, request=REQUEST)
    match, record = await get(f"/api/v1/matches/{lost}"), await get(f"/api/v1/matches/{lost}/record")
    assert (record["clock"], record["verdict"]) == (match["clock"], match["verdict"])
    [action], entry = record["actions"], record["clock"][0]
    shared = set(FIELDS) - {"asked_at", "handed_over_at", "received_at", "counted"}
    assert {name: action[name] for name in shared} == {name: entry[name] for name in shared}


async def test_the_lists_carry_no_clock(world, pair, get):
    world.match(*pair, [MOVE], LOST, request=REQUEST)
    for match in (await get("/api/v1/matches"))["items"]:
        assert not {"clock", "verdict"} & set(match)


async def test_an_action_drawn_by_lot_was_not_received(world, pair, get):
    running, _ = world.match(*pair, [MOVE._replace(timed_out=True)])
    [entry] = (await get(f"/api/v1/matches/{running}"))["clock"]
    assert (entry["timed_out"], entry["received_at"], entry["counted"]) == (True, None, True)


async def test_a_match_of_an_old_server_still_answers(world, pair, get):
    """It knew neither limits nor requests that stayed open; what it refunded was its own lateness."""
    old, _ = world.match(*pair, ["4", "3"], LOST, detail="no answer to ply 2 within 5000 ms")
    match = await get(f"/api/v1/matches/{old}")
    assert [(entry["limit_ms"], entry["lag_ms"]) for entry in match["clock"]] == [(None, 5), (None, 5)]
    assert "is not on record" in match["verdict"]
    assert (await get(f"/api/v1/matches/{old}/record"))["verdict"] == match["verdict"]


async def test_a_match_that_waits_has_an_empty_clock(world, pair, get):
    _, waiting = world.match(*pair)
    match = await get(f"/api/v1/matches/{waiting}")
    assert (match["clock"], match["verdict"]) == ([], "Not begun: no clock has run yet.")


async def test_a_restart_is_told(world, db, pair, get):
    running, _ = world.match(*pair, [MOVE])
    db.write_now(resume.resume, "another server")
    assert "started anew once" in (await get(f"/api/v1/matches/{running}"))["verdict"]


async def test_chance_has_no_clock_and_what_is_hidden_stays_so(world, get):
    poker = [world.agent(name, ladder="kuhn_poker") for name in ("ada", "bob")]
    dealt = [MoveRow(ply, -1, card, 0, 0, None, NOON) for ply, card in enumerate(["d2", "d0"])]
    rows = [*dealt, MOVE._replace(ply=2, action="b")]
    running, _ = world.match(*poker, rows, ladder="kuhn_poker")
    match = await get(f"/api/v1/matches/{running}")
    assert [(entry["ply"], entry["seat"]) for entry in match["clock"]] == [(2, 0)]
    assert "d2" not in str(match)
    record = await get(f"/api/v1/matches/{running}/record")
    assert [action["limit_ms"] for action in record["actions"]] == [None, None, 5_000]
    assert "d2" not in str(record)
