"""The doctor plays every clock through: no refund, limit, strike or forfeit that the times do not show."""

import re
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text

from agents.protocol import TimeControl
from server.core import clock
from server.core.match_events import Timing
from server.db import doctor, doctor_clock, matches

CONTROL = TimeControl(1_000, margin_ms=200, ready_ms=10_000, strikes=1, lag_ms=400, grace_ms=500)
MOVES = (
    (0, Timing(100, 60, 40, 1_000, waited_ms=7, round_trip_ms=60.4)),
    (1, Timing(700, 350, 350, 1_000, lag_ms=50, away_ms=300)),
    (0, Timing(1_260, 60, 1_200, 1_000, round_trip_ms=60.4, timed_out=True)),
    (1, Timing(1_150, 0, 1_150, 1_000)),
)
LATE = Timing(1_300, 100, 1_200, 1_000, round_trip_ms=60.0, lag_ms=40)
GONE = Timing(1_700, 500, 1_200, 1_000, away_ms=500)
QUICK = Timing(20, 0, 20, 1_000)


def record(league, match, control, moves, cause=None, timing=None, *, received=False):
    """Play a match with these times; seat 0 loses it by a cause that `timing` is to show."""
    named = {"control": msgspec.json.encode(control).decode()}
    attempt = league.run(match)
    hurt(league, f"UPDATE matches SET time_control = :control WHERE id = {match}", named)
    for ply, (seat, timed) in enumerate(moves):
        row = matches.MoveRow(
            ply,
            seat,
            "4",
            timed.elapsed_ms,
            timed.charged_ms,
            None,
            league.now(),
            timed.waited_ms,
            timed.round_trip_ms,
            timed.lag_ms,
            timed.away_ms,
            timed.limit_ms,
            timed.timed_out,
        )
        league.do(matches.record_moves, [matches.Played(match, attempt, [row])])
    if cause is None:
        return
    request = None
    if timing is not None:
        shown = {"seat": 0, "ply": len(moves), "received": received, "at": "2026-03-01T12:00:00+00:00"}
        request = shown | msgspec.to_builtins(timing)
    seats = [matches.SeatResult("loss", cause, 0.0), matches.SeatResult("win", "normal", 1.0)]
    ended = matches.Ended(match, attempt, seats, "over", league.now(), request=request)
    league.do(matches.finish_all, [ended])


@pytest.fixture
def pair(league):
    return league.queue(league.agent("ada"), league.agent("bob"))


@pytest.fixture
def fair(league, pair):
    """Matches 1 to 4: lost on time, by a lost connection, by an illegal action, and by the rules."""
    three, four = league.queue(1, 2)
    record(league, pair[0], CONTROL, MOVES, "timeout", LATE)
    record(league, pair[1], CONTROL, MOVES, "disconnect", GONE)
    record(league, three, CONTROL, MOVES, "illegal_action", QUICK, received=True)
    record(league, four, CONTROL, MOVES, "normal")
    assert findings(league) == []
    return league


def findings(league):
    return league.db.read_now(doctor.check)


def codes(league):
    return [finding.code for finding in findings(league)]


def hurt(league, sql, values=None):
    league.do(lambda conn: conn.execute(text(sql), values or {}).close())


def sql(statement):
    return statement, {}


def move(changes, match=4, ply=1):
    return sql(f"UPDATE moves SET {changes} WHERE match_id = {match} AND ply = {ply}")


def lost(match):
    return sql(f"UPDATE matches SET last_request = NULL WHERE id = {match}")


def request(match, **changes):
    """Change what was open at the end of a match."""
    timing = {1: LATE, 2: GONE, 3: QUICK}[match]
    shown = {"seat": 0, "ply": 4, "received": match == 3} | msgspec.to_builtins(timing) | changes
    statement = f"UPDATE matches SET last_request = :request WHERE id = {match}"
    return statement, {"request": msgspec.json.encode(shown).decode()}


DAMAGE = {
    "a time below 0": (move("lag_ms = -1"), "refund"),
    "a wait below 0": (move("waited_ms = -1"), "refund"),
    "more refunded than there was reason for": (move("charged_ms = 349"), "refund"),
    "less refunded than its parts": (move("charged_ms = 351"), "refund"),
    "a way refunded that was not measured": (move("round_trip_ms = NULL", ply=0), "refund"),
    "a way refunded that is longer than it was": (move("round_trip_ms = 59.4", ply=0), "refund"),
    "a lag bank that gives more than it holds": (
        move("elapsed_ms = 500, charged_ms = 99, round_trip_ms = 900", ply=0),
        "refund",
    ),
    "a way that the lag bank did not pay for": (
        move("charged_ms = 1150, round_trip_ms = 60", ply=3),
        "refund",
    ),
    "a round trip that no line has": (move("round_trip_ms = 2000.5", ply=0), "round_trip"),
    "a round trip below 0": (move("round_trip_ms = -1", ply=1), "round_trip"),
    "a lateness of the server that makes a match void": (
        move("elapsed_ms = 70100, charged_ms = 60, lag_ms = 70002, round_trip_ms = 38", ply=0),
        "overload",
    ),
    "a move before the match": (move("received_at = '2026-03-01T11:58:00.000000+00:00'", ply=2), "received"),
    "a grace that gives more than it holds": (move("elapsed_ms = 901, away_ms = 501", ply=1), "grace"),
    "a grace that is overdrawn by a later move": (
        move("elapsed_ms = 1351, away_ms = 201, charged_ms = 1150", ply=3),
        "grace",
    ),
    "a limit that the clock does not give": (move("limit_ms = 999"), "limit"),
    "a limit that was not written down": (move("limit_ms = NULL"), "limit"),
    "a move that was too late and counted": (move("elapsed_ms = 1202, charged_ms = 1202", ply=3), "overtime"),
    "a second strike of a seat": (
        move("timed_out = true, elapsed_ms = 1260, charged_ms = 1200, round_trip_ms = 60", ply=0),
        "strikes",
    ),
    "a strike for a move in time": (move("elapsed_ms = 1200, charged_ms = 1140", ply=2), "fault"),
    "a time control that cannot be read": (
        sql("""UPDATE matches SET time_control = '{"grace_ms"' WHERE id = 4"""),
        "time_control",
    ),
    "a loss on time without a trace": (lost(1), "fault"),
    "a loss on time with a trace that cannot be read": (
        sql("UPDATE matches SET last_request = '{}' WHERE id = 1"),
        "fault",
    ),
    "a loss on time of who was not asked": (
        request(1, seat=1, elapsed_ms=1_240, refunded_ms=40, round_trip_ms=None),
        "fault",
    ),
    "a loss on time for another ply": (request(1, ply=3), "fault"),
    "a loss on time before the limit": (request(1, elapsed_ms=1_298, charged_ms=1_198), "fault"),
    "a loss on time by the server's lateness": (
        request(1, refunded_ms=110, charged_ms=1_190, lag_ms=50),
        "fault",
    ),
    "a loss on time with a refund that is not taken off": (request(1, refunded_ms=99), "refund"),
    "a loss on time with a round trip that was not measured": (request(1, round_trip_ms=None), "refund"),
    "a loss on time with a limit of its own": (
        request(1, limit_ms=10, elapsed_ms=300, refunded_ms=100, charged_ms=200),
        "limit",
    ),
    "a loss on time whose way there and back was not refunded": (
        request(1, refunded_ms=40, charged_ms=1_260),
        "refund",
    ),
    "a loss on time by a server that was very late": (
        request(1, elapsed_ms=71_262, refunded_ms=70_062, lag_ms=70_002),
        "overload",
    ),
    "a loss on time before the match": (request(1, at="2026-03-01T11:58:00+00:00"), "received"),
    "new moves with an old time control": (
        sql("""UPDATE matches SET time_control = '{"move_ms": 1}' WHERE id = 4"""),
        "limit",
    ),
    "a lost connection without a trace": (
        lost(2),
        "fault",
    ),
    "a lost connection and no absence": (request(2, elapsed_ms=1_200, refunded_ms=0, away_ms=0), "fault"),
    "a lost connection before its grace was over": (
        request(2, elapsed_ms=1_698, refunded_ms=498, away_ms=498),
        "fault",
    ),
    "a lost connection with time left": (request(2, elapsed_ms=1_600, charged_ms=1_100), "fault"),
    "a lost connection and an answer": (request(2, received=True), "fault"),
    "an illegal action without a trace": (
        lost(3),
        "fault",
    ),
    "an illegal action that nobody sent": (request(3, received=False), "fault"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_times_that_cannot_be_are_found(fair, what):
    damage, code = DAMAGE[what]
    hurt(fair, *damage)
    assert codes(fair) == [code]


def test_every_code_has_its_damage():
    written = set(re.findall(r'(?:Finding|_Wrong)\(\s*"(\w+)"', Path(doctor_clock.__file__).read_text()))
    assert written - {"timing"} == {code for _, code in DAMAGE.values()}


def test_a_match_by_older_rules_is_let_be(fair):
    """It has neither limits nor a request at its end; its time control does not know of them."""
    hurt(fair, "UPDATE moves SET limit_ms = NULL, lag_ms = 0")
    old = {"old": '{"move_ms": 1000}'}
    hurt(fair, "UPDATE matches SET last_request = NULL, time_control = :old", old)
    assert findings(fair) == []


def test_an_old_match_that_a_new_server_went_on_with_is_held_against_its_own_clock(league, pair):
    """Its first moves have no limit; what the old server refunded came out of no lag bank."""
    old = TimeControl(1_000, margin_ms=200)
    moves = [
        (0, Timing(100, 60, 40, 0)),
        (1, Timing(90, 0, 90, 0)),
        (0, Timing(100, 0, 100, 1_000, round_trip_ms=50.0)),
    ]
    record(league, pair[0], old, moves)
    hurt(league, "UPDATE moves SET limit_ms = NULL WHERE ply < 2")
    hurt(league, """UPDATE matches SET time_control = '{"move_ms": 1000, "margin_ms": 200}' WHERE id = 1""")
    assert findings(league) == []
    hurt(league, *move("limit_ms = 2000", match=1, ply=2))
    assert codes(league) == ["limit"]
    hurt(league, *move("limit_ms = 1000", match=1, ply=1))
    hurt(league, *move("limit_ms = NULL", match=1, ply=2))
    assert codes(league) == ["limit"]


def test_a_match_in_play_is_held_against_its_clock(league, pair):
    record(league, pair[0], CONTROL, MOVES)
    assert findings(league) == []
    hurt(league, *move("limit_ms = 1001", match=pair[0]))
    assert codes(league) == ["limit"]


FORFEITS = {
    "in the ceiling where no clock runs": (
        TimeControl(0, nodes=500, margin_ms=200),
        "timeout",
        Timing(clock.UNTIMED_MS + 200, 0, clock.UNTIMED_MS + 200, clock.UNTIMED_MS),
    ),
    "after its grace where no clock runs": (
        TimeControl(0, nodes=500, margin_ms=200, grace_ms=5_000),
        "disconnect",
        Timing(9_000, 5_000, 4_000, clock.UNTIMED_MS, away_ms=5_000),
    ),
    "after a minute of a long bank": (
        TimeControl(0, bank_ms=600_000, grace_ms=5_000),
        "disconnect",
        Timing(66_000, 5_000, 61_000, 600_000, away_ms=5_000),
    ),
    "without a grace": (TimeControl(1_000), "disconnect", Timing(1_000, 0, 1_000, 1_000)),
}


@pytest.mark.parametrize("what", FORFEITS)
def test_a_fault_that_the_clock_shows_is_no_finding(league, pair, what):
    control, cause, timing = FORFEITS[what]
    record(league, pair[0], control, (), cause, timing)
    assert findings(league) == []


def test_an_absence_is_waited_for_a_minute_of_a_long_bank(league, pair):
    control = TimeControl(0, bank_ms=600_000, grace_ms=5_000)
    short = Timing(64_000, 5_000, 59_000, 600_000, away_ms=5_000)
    record(league, pair[0], control, (), "disconnect", short)
    assert codes(league) == ["fault"]


def test_the_clocks_of_a_bank_with_periods_are_played_through(league, pair):
    control = TimeControl(0, bank_ms=4_000, byoyomi_ms=1_000, periods=2, margin_ms=100)
    moves = [
        (0, Timing(3_500, 0, 3_500, 6_000)),
        (1, Timing(10, 0, 10, 6_000)),
        (0, Timing(2_200, 0, 2_200, 2_500)),  # a period is used up by the 1.7 s beyond the bank
        (1, Timing(10, 0, 10, 5_990)),
        (0, Timing(900, 0, 900, 1_000)),
    ]
    record(league, pair[0], control, moves)
    assert findings(league) == []
    hurt(league, *move("limit_ms = 2000", match=pair[0], ply=4))
    assert codes(league) == ["limit"]
