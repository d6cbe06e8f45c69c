"""A match from the queue to its end, and everything that comes late, twice or not at all."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from sqlalchemy.exc import StatementError

from agents.protocol import TimeControl
from server.core.outcome import Cause, Outcome, forfeit
from server.db import agents, matches, reads, resume
from server.db.doctor import check
from server.db.matches import SeatResult, Stale


@pytest.fixture
def ada(league):
    return league.agent("ada")


@pytest.fixture
def bob(league):
    return league.agent("bob")


def match(league, number):
    return league.db.read_now(reads.match, number)


def assert_sound(league, **options):
    assert league.db.read_now(lambda conn: check(conn, **options)) == []


def assert_refused(league, change, error=Stale):
    before = league.everything()
    with pytest.raises(error):
        change()
    assert league.everything() == before


def test_a_pair_is_two_matches_with_seats_swapped(league, ada, bob):
    first, second = league.queue(ada, bob)
    waiting = league.do(matches.queued)
    assert [(row.id, row.versions) for row in waiting] == [(first, (ada, bob)), (second, (bob, ada))]
    assert {match(league, number).pair_id for number in (first, second)} == {first}
    assert match(league, first).time_control == {"move_ms": 5000}
    assert_sound(league)


def test_a_table_is_a_match_for_each_turn_of_its_seats(league, ada, bob):
    eve = league.agent("eve")
    ids = league.queue_table(ada, bob, eve)
    assert [row.versions for row in league.do(matches.queued)] == [
        (ada, bob, eve),
        (bob, eve, ada),
        (eve, ada, bob),
    ]
    assert {match(league, number).pair_id for number in ids} == {ids[0]}
    for number in ids:
        league.play_out(number, 4.0, 2.0, 1.0)
    assert_sound(league)
    pairs = [frozenset(pair) for pair in ((ada, bob), (ada, eve), (bob, eve))]
    assert league.do(matches.together, league.ladder) == dict.fromkeys(pairs, 3)


def test_a_table_has_no_seat_twice_and_more_than_one(league, ada, bob):
    for table in ((ada, bob, ada), (ada,), ()):
        assert_refused(league, lambda table=table: league.queue_table(*table), ValueError)
    with pytest.raises(ValueError, match=r"versions \[99\] have not joined"):
        league.queue_table(ada, bob, 99)


def test_utilities_are_on_record_where_a_game_was_played_to_its_end(league, ada, bob):
    played, forfeited = league.queue(ada, bob)
    league.play_out(played, 5.0, 0.1 + 0.2)
    league.decide(forfeited, league.run(forfeited), forfeit(2, 0, Cause.TIMEOUT, "late"))
    assert [seat.utility for seat in match(league, played).seats] == [5.0, 0.1 + 0.2]
    assert [seat.outcome for seat in match(league, played).seats] == ["win", "loss"]
    assert [seat.utility for seat in match(league, forfeited).seats] == [None, None]
    assert_sound(league)


def test_nobody_plays_themselves_or_where_they_have_not_joined(league, ada, bob):
    assert_refused(league, lambda: league.queue(ada, ada), ValueError)
    elsewhere = league.ladders["tic_tac_toe"]
    with pytest.raises(ValueError, match="have not joined"):
        league.queue(ada, bob, elsewhere)


def test_a_match_from_queue_to_result(league, ada, bob):
    number, _ = league.queue(ada, bob)
    attempt = league.begin(number)
    assert attempt == 1
    assert match(league, number).state == "starting"
    league.do(matches.set_running, number, attempt, league.now())
    league.move(number, attempt, 0, "4", {"depth": 7, "pv": ["4", "ü\0"]})
    league.move(number, attempt, 1, "3")
    assert league.finish(number, attempt, "win", "resignation") == pytest.approx([1580, 1420])
    over = match(league, number)
    assert (over.state, over.moves, over.detail) == ("finished", 2, "over")
    assert [(seat.agent, seat.version, seat.outcome, seat.cause) for seat in over.seats] == [
        ("ada", 1, "win", "resignation"),
        ("bob", 1, "loss", "resignation"),
    ]
    assert [(seat.elo, seat.elo_after) for seat in over.seats] == [(1500, 1580), (1500, 1420)]
    moves = league.db.read_now(reads.moves, number)
    assert [(move.ply, move.seat, move.action) for move in moves] == [(0, 0, "4"), (1, 1, "3")]
    assert moves[0].info == {"depth": 7, "pv": ["4", "ü\0"]}
    assert moves[1].info is None
    assert_sound(league)


def test_members_of_enums_are_stored_as_their_values(league, ada, bob):
    number, _ = league.queue(ada, bob)
    attempt = league.run(number)
    seats = [SeatResult(Outcome.DRAW, Cause.RULE_DRAW, 0.5)] * 2
    league.end(number, attempt, seats)
    assert [(seat.outcome, seat.cause) for seat in match(league, number).seats] == [("draw", "rule_draw")] * 2


def test_every_time_is_utc_with_its_zone(league, ada, bob):
    number, _ = league.queue(ada, bob)
    tokyo = datetime(2026, 3, 2, 6, 30, 15, 123456, tzinfo=timezone(timedelta(hours=9)))
    attempt = league.do(matches.begin, number, "server-1", tokyo).attempt
    league.do(matches.set_running, number, attempt, tokyo)
    started = match(league, number).started_at
    assert started == tokyo
    assert started.tzinfo is UTC
    assert started.isoformat() == "2026-03-01T21:30:15.123456+00:00"
    without_zone = matches.MoveRow(0, 0, "1", 1, 1, None, tokyo.replace(tzinfo=None))
    with pytest.raises(StatementError, match="expected a time with a zone"):
        league.do(matches.record_moves, [matches.Played(number, attempt, [without_zone])])


BLITZ = TimeControl(700, margin_ms=90, strikes=1, lag_ms=300, grace_ms=40)


def set_times(league, control):
    league.set_times(msgspec.json.encode(control).decode())


@pytest.mark.parametrize("queued_with", [{"move_ms": 5000}, {"move_ms": 9, "margin_ms": 1, "grace_ms": 2}])
def test_a_queued_match_begins_under_the_times_that_its_ladder_has_then(league, ada, bob, queued_with):
    number, other = league.do(matches.queue_table, league.ladder, (ada, bob), queued_with, league.now())
    set_times(league, BLITZ)
    begun = league.do(matches.begin, number, "server-1", league.now())
    assert begun == (1, BLITZ, None)
    assert match(league, number).time_control == msgspec.to_builtins(BLITZ), "the record says so"
    assert match(league, other).time_control == queued_with


def test_a_replay_begins_under_the_times_of_its_day(league, ada, bob):
    number, _ = league.queue(ada, bob)
    again = league.void(number, league.run(number), replay=True)
    set_times(league, BLITZ)
    assert league.do(matches.begin, again, "server-1", league.now()).time_control == BLITZ
    assert match(league, number).time_control == {"move_ms": 5000}, "what was played keeps its own"


def test_a_match_that_was_begun_keeps_its_times_whatever_becomes_of_the_ladder(league, ada, bob):
    number, other = league.queue(ada, bob)
    set_times(league, BLITZ)
    begun = league.do(matches.begin, number, "server-1", league.now())
    league.begin(other)
    set_times(league, TimeControl(60_000))
    assert league.do(matches.begin_again, number, "server-1", league.now()) == begun
    left = league.do(resume.resume, "server-2")
    assert [found.time_control for found in left] == [msgspec.to_builtins(BLITZ)] * 2


def test_a_second_finish_changes_nothing(league, ada, bob):
    number, _ = league.queue(ada, bob)
    attempt = league.run(number)
    league.finish(number, attempt, "win")
    for again in ("win", "loss", "draw"):
        assert_refused(league, lambda result=again: league.finish(number, attempt, result))
    assert_refused(league, lambda: league.void(number, attempt, replay=True))


@pytest.mark.parametrize("attempt", [0, 2, -1])
def test_another_attempt_is_refused(league, ada, bob, attempt):
    number, _ = league.queue(ada, bob)
    league.run(number)
    for change in (
        lambda: league.finish(number, attempt, "win"),
        lambda: league.void(number, attempt, replay=True),
        lambda: league.move(number, attempt, 0),
        lambda: league.do(matches.set_running, number, attempt, league.now()),
    ):
        assert_refused(league, change)


def test_what_was_queued_or_never_was_is_not_finished(league, ada, bob):
    number, _ = league.queue(ada, bob)
    assert_refused(league, lambda: league.finish(number, 0, "win"))
    assert_refused(league, lambda: league.finish(number + 100, 1, "win"))
    assert_refused(league, lambda: league.begin(number + 100))


def test_a_match_is_taken_up_once(league, ada, bob):
    number, _ = league.queue(ada, bob)
    league.begin(number)
    assert_refused(league, lambda: league.begin(number))
    assert_refused(league, lambda: league.do(matches.drop_queued, number, "late", league.now()))


def test_moves_are_recorded_once_and_in_order(league, ada, bob):
    number, _ = league.queue(ada, bob)
    attempt = league.begin(number)
    assert_refused(league, lambda: league.move(number, attempt, 0))  # not running yet
    league.do(matches.set_running, number, attempt, league.now())
    assert_refused(league, lambda: league.move(number, attempt, 1))
    league.move(number, attempt, 0)
    assert_refused(league, lambda: league.move(number, attempt, 0))
    assert_refused(league, lambda: league.move(number, attempt, 2))
    league.finish(number, attempt, "draw")
    assert_refused(league, lambda: league.move(number, attempt, 1))


def test_moves_of_many_matches_are_recorded_by_one_call_all_or_none(league, ada, bob):
    numbers = [*league.queue(ada, bob), *league.queue(bob, ada)]
    attempts = {number: league.run(number) for number in numbers}

    def played(number, first, *seats):
        now = league.now()
        rows = [matches.MoveRow(first + n, seat, "4", 0, 0, None, now) for n, seat in enumerate(seats)]
        return matches.Played(number, attempts[number], rows)

    league.do(matches.record_moves, [played(number, 0, -1, 0) for number in numbers])
    assert [match(league, number).moves for number in numbers] == [2] * 4
    good = [played(number, 2, 1) for number in numbers]
    for bad in (good[0], played(numbers[0], 3, 1), good[0]._replace(attempt=9)):
        assert_refused(league, lambda bad=bad: league.do(matches.record_moves, [*good[1:], bad, good[0]]))
    gap = good[0]._replace(moves=[*good[0].moves, *played(numbers[0], 4, 0).moves])
    assert_refused(league, lambda: league.do(matches.record_moves, [*good[1:], gap]), ValueError)
    league.do(matches.record_moves, good)
    assert [move.ply for move in league.db.read_now(reads.moves, numbers[3])] == [0, 1, 2]
    assert_sound(league)


@pytest.mark.parametrize(
    "seats",
    [
        [SeatResult("void", "infrastructure", 0.5)] * 2,
        [SeatResult("win", "normal", 1.0), SeatResult("loss", "normal", 0.5)],
        [SeatResult("win", "normal", 1.0)],
        [],
        [SeatResult("win", "normal", 0.5)] * 2,
        [SeatResult("win", "normal", 1.0, 1.0), SeatResult("loss", "normal", 0.0)],
        [SeatResult("win", "normal", 1.0, 1.0), SeatResult("loss", "normal", 0.0, 2.0)],
        [SeatResult("win", "normal", 1.0, 1.0), SeatResult("loss", "timeout", 0.0, 0.0)],
        [SeatResult("draw", "normal", 0.5)] * 3,
        [SeatResult("won", "normal", 1.0), SeatResult("loss", "normal", 0.0)],
        [SeatResult("draw", "boredom", 0.5)] * 2,
    ],
)
def test_a_result_that_makes_no_sense_is_refused(league, ada, bob, seats):
    number, _ = league.queue(ada, bob)
    attempt = league.run(number)
    assert_refused(league, lambda: league.end(number, attempt, seats), ValueError)
    league.finish(number, attempt, "win")
    assert_sound(league)


async def test_PB12_racing_ends_give_one_result(league, ada, bob):
    """A winning move, a deadline, a lost connection and an abort in one tick; the first one counts."""
    number, _ = league.queue(ada, bob)
    attempt, now = league.run(number), league.now()

    def ends(one, cause):
        seats = [SeatResult(outcome, cause, score) for outcome, score in one]
        end = matches.Ended(number, attempt, seats, cause, now)
        return league.db.write_together(matches.finish_all, end, durable=True)

    won, lost = (("win", 1.0), ("loss", 0.0)), (("loss", 0.0), ("win", 1.0))
    answers = await asyncio.gather(
        ends(won, "normal"),
        ends(lost, "timeout"),
        ends(lost, "disconnect"),
        league.db.write(
            lambda conn: matches.void(
                conn, number, attempt, ["infrastructure"] * 2, "abort", now, replay=True
            )
        ),
        return_exceptions=True,
    )
    assert answers[0] == pytest.approx([1580, 1420])
    assert [type(answer) for answer in answers[1:]] == [Stale] * 3
    assert match(league, number).detail == "normal"
    assert league.rows("SELECT match_id FROM results") == [(number,)]
    assert sorted(league.rows("SELECT elo, games FROM ratings")) == [(1420, 1), (1580, 1)]
    assert len(league.do(matches.queued)) == 1  # the other match of the pair; no replay
    assert_sound(league)


def test_a_void_match_counts_for_nobody_and_keeps_its_moves(league, ada, bob):
    number, other = league.queue(ada, bob)
    attempt = league.run(number)
    league.move(number, attempt, 0)
    again = league.void(number, attempt, replay=True)
    over = match(league, number)
    assert (over.state, over.moves, over.detail) == ("void", 1, "broken")
    assert over.finished_at is not None
    assert [(seat.outcome, seat.cause, seat.elo_after) for seat in over.seats] == [
        ("void", "infrastructure", None)
    ] * 2
    assert league.rows("SELECT * FROM results") == []
    assert set(league.rows("SELECT elo, games, wins, draws, losses FROM ratings")) == {(1500, 0, 0, 0, 0)}
    assert [row.id for row in league.do(matches.queued)] == [other, again]
    assert_sound(league)


def test_a_replay_is_the_same_match_from_the_start(league, ada, bob):
    _, number = league.queue(ada, bob)
    attempt = league.run(number)
    league.move(number, attempt, 0)
    replay = match(league, league.void(number, attempt, replay=True))
    old = match(league, number)
    assert (replay.state, replay.moves, replay.attempt, replay.replay_of) == ("queued", 0, 0, number)
    assert (replay.pair_id, replay.ladder, replay.time_control) == (old.pair_id, old.ladder, old.time_control)
    assert [seat.version_id for seat in replay.seats] == [bob, ada]
    league.finish(replay.id, league.run(replay.id), "win")
    assert_sound(league)


def test_a_dropped_match_is_void_and_not_replayed(league, ada, bob):
    number, other = league.queue(ada, bob)
    league.do(matches.drop_queued, number, "ada has a new version", league.now())
    assert (match(league, number).state, match(league, number).detail) == ("void", "ada has a new version")
    assert [row.id for row in league.do(matches.queued)] == [other]
    assert_refused(league, lambda: league.do(matches.drop_queued, number, "again", league.now()))
    assert_sound(league)


def test_matches_are_counted_by_pair(league, ada, bob):
    eve = league.agent("eve")
    league.play(ada, bob, "win", "draw")
    league.play(bob, ada, "win", "win")
    league.play(eve, ada, "loss", "loss")
    league.void(number := league.queue(eve, bob)[0], league.run(number), replay=True)
    assert league.do(matches.together, league.ladder) == {frozenset({ada, bob}): 4, frozenset({ada, eve}): 2}
    assert league.do(matches.together, league.ladders["tic_tac_toe"]) == {}


def test_what_waits_for_an_older_version_is_given_up_when_a_newer_one_comes(league):
    old, rival = league.agent("ada", "f1"), league.agent("bob", "f1")
    first, second = league.queue(old, rival)
    league.run(first)
    agent_id = league.rows(f"SELECT agent_id FROM versions WHERE id = {old}")[0][0]
    new = league.do(agents.ensure_version, agent_id, "f2", league.now()).id
    league.do(agents.join_ladder, league.ladder, new, league.now())
    other_first, other_second = league.queue(new, rival)
    league.do(matches.drop_outdated, agent_id, new, league.now())
    states = dict(league.rows("SELECT id, state FROM matches"))
    assert states == {first: "running", second: "void", other_first: "queued", other_second: "queued"}
