"""How moves were timed, and what was open at the end: written down, read, and taken up by the next server."""

import pytest

from server.core.match_events import Timing
from server.db import matches, reads, resume

TIMING = Timing(
    elapsed_ms=120,
    refunded_ms=29,
    charged_ms=91,
    limit_ms=5_000,
    waited_ms=3,
    round_trip_ms=20.5,
    lag_ms=4,
    away_ms=5,
    timed_out=True,
)
REQUEST = {"seat": 1, "ply": 1, "received": False, "at": "2026-03-01T12:00:00+00:00", "elapsed_ms": 5_201}


@pytest.fixture
def match(league):
    return league.queue(league.agent("ada"), league.agent("bob"))[0]


@pytest.fixture
def attempt(league, match):
    """The match runs and has a move."""
    attempt = league.run(match)
    row = matches.MoveRow(0, 0, "4", 120, 91, None, league.now(), 3, 20.5, 4, 5, 5_000, timed_out=True)
    league.do(matches.record_moves, [matches.Played(match, attempt, [row])])
    return attempt


def last_request(league, match):
    return league.db.read_now(reads.match, match).last_request


def test_a_move_is_read_with_its_times(league, match, attempt):
    (move,) = league.db.read_now(reads.moves, match)
    assert move.timing == TIMING


def test_the_next_server_goes_on_with_the_times_as_they_were(league, match, attempt):
    (found,) = league.do(resume.resume, "server-2")
    assert found.moves == (resume.InterruptedMove(0, "4", TIMING),)


def test_a_finished_match_keeps_what_was_open(league, match, attempt):
    assert last_request(league, match) is None
    seats = [matches.SeatResult("win", "normal", 1.0), matches.SeatResult("loss", "timeout", 0.0)]
    ended = matches.Ended(match, attempt, seats, "over", league.now(), request=REQUEST)
    league.do(matches.finish_all, [ended])
    assert last_request(league, match) == REQUEST


def test_a_void_match_keeps_what_was_open_and_its_replay_has_nothing(league, match, attempt):
    causes, now = ["infrastructure"] * 2, league.now()
    again = league.do(
        lambda conn: matches.void(conn, match, attempt, causes, "broken", now, replay=True, request=REQUEST)
    )
    assert last_request(league, match) == REQUEST
    assert last_request(league, again) is None


def test_a_match_that_ends_with_nothing_open_keeps_nothing(league, match, attempt):
    league.finish(match, attempt, "win")
    assert last_request(league, match) is None
