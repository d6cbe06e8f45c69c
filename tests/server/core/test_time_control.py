"""Time controls on a fake clock: what each seat has, what a move may take, and who loses when."""

import pytest

from games import load
from games.position import Position
from server.core import clock
from server.core.match import HAND_OVER_S, Terms
from server.core.match_clock import ABSENT_S
from server.core.match_events import (
    Accept,
    Action,
    Back,
    DeadlinePassed,
    Draw,
    Drawn,
    Lost,
    Reject,
    SetDeadline,
    Timing,
)

MARGIN_S = 0.2
MS = 0.001


def charged(ms):
    return Timing(ms, 0, ms)


def left(match, seat):
    return match.match.limit_ms(seat)


def time_out(match):
    """The timer fires at the deadline; return what follows."""
    match.now = match.match.deadline
    return match.tell(DeadlinePassed(match.now))


# total and increment ----------------------------------------------------------------------------------

FISCHER = Terms(move_ms=0, bank_ms=3000, increment_ms=500)


def test_a_bank_is_for_all_moves_and_grows_after_each(new_match):
    match = new_match(FISCHER).begin().play("4", think_s=1.0).play("0", think_s=0.25)
    assert (left(match, 0), left(match, 1)) == (2500, 3250)
    match.play("8", think_s=2.25)
    assert left(match, 0) == 750
    assert match.times() == (2250, 0, 2250)
    match.hand_over()
    assert match.match.clock_ms(match.now + 0.25) == 3000


def test_whoever_has_used_up_the_bank_has_lost(new_match):
    match = new_match(FISCHER).begin().play("4", think_s=2.75).play("0")
    match.hand_over()
    assert match.match.deadline == pytest.approx(match.now + 0.75 + MARGIN_S)
    time_out(match)
    match.assert_forfeit(seat=0, cause="timeout")
    assert match.match.result.detail == "no answer to ply 2 within 750 ms"


def test_no_move_takes_longer_than_its_own_limit_whatever_is_in_the_bank(new_match):
    match = new_match(Terms(move_ms=1000, bank_ms=1500)).begin()
    assert left(match, 0) == 1000
    match.play("4", think_s=0.9).play("0")
    assert left(match, 0) == 600


# byo-yomi ---------------------------------------------------------------------------------------------

BYOYOMI = Terms(move_ms=0, bank_ms=1000, byoyomi_ms=500, periods=3)


@pytest.mark.parametrize(
    ("charges", "bank_ms", "periods"),
    [
        ([1000], 0, 3),
        ([1001], 0, 3),
        ([1500], 0, 3),
        ([1501], 0, 2),
        ([1000, 500, 500, 500], 0, 3),
        ([1000, 501], 0, 2),
        ([1000, 1001], 0, 1),
        ([2500], 0, 1),
        ([400, 400], 200, 3),
        ([2600], 0, 1),  # the margin was used
    ],
)
def test_a_period_is_used_up_only_by_a_move_that_takes_longer(charges, bank_ms, periods):
    has = clock.full(BYOYOMI)
    for ms in charges:
        has = clock.after(BYOYOMI, has, charged(ms))
    assert (has.bank_ms, has.periods) == (bank_ms, periods)


def test_with_an_empty_bank_each_move_has_the_time_of_the_periods_that_are_left(new_match):
    match = new_match(BYOYOMI).begin().play("4", think_s=1.75).play("0")
    assert left(match, 0) == 1000
    match.hand_over()
    time_out(match)
    match.assert_forfeit(seat=0, cause="timeout")


# no clock ---------------------------------------------------------------------------------------------

UNTIMED = Terms(move_ms=0, nodes=1000, grace_ms=3000)


def test_PB06_an_untimed_match_has_a_ceiling(new_match):
    match = new_match(UNTIMED).begin()
    match.hand_over()
    assert match.match.clock_ms(match.now) == clock.UNTIMED_MS
    time_out(match)
    match.assert_forfeit(seat=0, cause="timeout")


def test_PB06_whoever_is_gone_in_an_untimed_match_is_not_waited_for_to_the_ceiling(new_match):
    match = new_match(UNTIMED).begin()
    match.hand_over()
    match.wait(5)
    assert match.tell(Lost(0, match.now)) == [SetDeadline(match.now + 3.0)]
    assert not match.match.connected[0]
    time_out(match)
    match.assert_forfeit(seat=0, cause="disconnect")


# strikes ----------------------------------------------------------------------------------------------

STRIKES = Terms(move_ms=1000, strikes=2)


@pytest.fixture
def struck(new_match):
    """Seat 0 has let its first time pass, and lots are to be drawn for it."""
    match = new_match(STRIKES).begin()
    match.hand_over()
    time_out(match)
    return match


def test_a_time_out_costs_a_strike_and_a_random_legal_action_is_played(struck):
    lots = Draw(0, tuple((str(cell), 1 / 9) for cell in range(9)))
    assert struck.effects[-2:] == [SetDeadline(struck.now + HAND_OVER_S), lots]
    accept, told, *_ = struck.tell(Drawn(0, "7", struck.now))
    assert (accept.seat, accept.action, accept.timing.timed_out) == (0, "7", True)
    assert (type(told), told.seat, told.ply, told.code) == (Reject, 0, 0, "timed_out")
    struck.assert_goes_on(ply=1, seat=1)
    assert struck.match.position.actions == ("7",)
    assert [has.strikes for has in struck.match.clocks] == [1, 2]
    assert struck.match.last[0].timed_out


def test_nobody_is_told_of_a_strike_before_it_is_recorded_with_the_action(struck):
    """What a step tells is told when what it records is committed: they must be one step."""
    assert struck.of(Reject) == []
    step = struck.tell(Drawn(0, "7", struck.now))
    assert [type(effect) for effect in step[:2]] == [Accept, Reject]


def test_what_comes_after_the_strike_changes_nothing(struck):
    (reject,) = struck.tell(Action(0, 0, "7", struck.now))
    assert reject.code == "timed_out"
    struck.tell(Drawn(0, "7", struck.now))
    (reject,) = struck.tell(Action(0, 0, "7", struck.now))
    assert (type(reject), reject.code) == (Reject, "timed_out")
    assert [move.action for move in struck.of(Accept)] == ["7"]


def test_neither_a_late_timer_nor_the_draw_is_charged_to_the_bank(new_match):
    match = new_match(Terms(move_ms=1000, bank_ms=10_000, margin_ms=200, strikes=2)).begin()
    match.hand_over()
    match.now = match.match.deadline + 3.0
    match.tell(DeadlinePassed(match.now, 3.0))
    match.now += 2.0
    match.tell(Drawn(0, "7", match.now))
    assert match.match.last[0].lag_ms == 3_000
    assert match.match.last[0].charged_ms == 1_200
    assert match.match.clocks[0].bank_ms == 8_800


def test_a_late_answer_is_a_time_out_too(new_match):
    match = new_match(STRIKES).begin()
    match.hand_over()
    match.now = match.match.deadline + MS
    match.answer("4")
    assert [type(effect) for effect in match.effects[-2:]] == [SetDeadline, Draw]


def test_the_match_is_lost_when_no_strike_is_left(new_match):
    match = new_match(STRIKES).begin()
    for cell in ("0", "1"):
        match.hand_over()
        time_out(match)
        match.tell(Drawn(match.match.ply, cell, match.now))
        match.play("8" if cell == "0" else "7")
    match.hand_over()
    time_out(match)
    match.assert_forfeit(seat=0, cause="timeout")


def test_strikes_are_remembered_over_a_restart(struck):
    struck.tell(Drawn(0, "7", struck.now))
    struck.play("4").restart().come_back(0, 1)
    assert [has.strikes for has in struck.match.clocks] == [1, 2]
    (reject,) = struck.tell(Action(0, 0, "7", struck.now))
    assert reject.code == "timed_out"


# the way there and back -------------------------------------------------------------------------------

LAG = Terms(move_ms=1000, lag_ms=400)


def test_the_round_trip_is_refunded(new_match):
    match = new_match(LAG).begin()
    match.hand_over(round_trip_ms=160.0)
    match.wait(0.18).answer("4")
    assert match.times() == (180, 160, 20)
    assert match.match.last[0].round_trip_ms == 160.0


def test_an_answer_that_was_late_on_its_way_counts(new_match):
    match = new_match(LAG).begin()
    match.hand_over(round_trip_ms=160.0)
    match.wait(1.0 + MARGIN_S + 0.16 - MS).answer("4")
    match.assert_goes_on(ply=1, seat=1)


def test_no_more_is_refunded_than_the_lag_bank_holds(new_match):
    match = new_match(LAG).begin()
    refunds = []
    for cell in "012":
        match.hand_over(round_trip_ms=300.0)
        match.wait(0.5).answer(cell)
        refunds.append(match.times()[1])
        if cell != "2":
            match.play("5" if cell == "0" else "7")
    assert refunds == [300, 200, 100]


def test_the_lag_bank_is_never_more_than_a_moves_own_time():
    assert clock.full(Terms(move_ms=100, lag_ms=1000)).lag_ms == 100
    assert clock.full(Terms(move_ms=0, bank_ms=4000, increment_ms=50, lag_ms=1000)).lag_ms == 150


# away -------------------------------------------------------------------------------------------------

GRACE = Terms(move_ms=1000, grace_ms=2000)


def test_a_short_time_away_is_forgiven(new_match):
    match = new_match(GRACE).begin()
    match.hand_over()
    match.wait(0.5).tell(Lost(0, match.now))
    match.wait(1.5).tell(Back(0, match.now))
    match.wait(0.25).answer("4")
    match.assert_goes_on(ply=1, seat=1)
    assert match.times() == (2250, 1500, 750)
    assert match.of(Accept)[0].timing.away_ms == 1500
    assert match.match.clocks[0].grace_ms == 500


def test_what_is_left_is_told_without_the_time_away_that_is_forgiven(new_match):
    match = new_match(GRACE).begin()
    match.hand_over()
    match.wait(0.25).tell(Lost(0, match.now))
    assert match.match.clock_ms(match.now + 1.0) == 750
    match.wait(1.5).tell(Back(0, match.now))
    assert match.match.clock_ms(match.now) == 750
    match.wait(0.25).tell(Lost(0, match.now))
    assert match.match.clock_ms(match.now + 0.75) == 250, "half a second was left of the grace"


def test_the_grace_is_filled_once(new_match):
    match = new_match(GRACE).begin()
    for cell in ("0", "1"):
        match.hand_over()
        match.tell(Lost(0, match.now))
        match.wait(1.5).tell(Back(0, match.now))
        match.answer(cell)
        if cell == "0":
            match.play("5")
    assert match.times() == (1500, 500, 1000)


def test_whoever_does_not_come_back_loses_when_time_and_grace_are_used_up(new_match):
    match = new_match(GRACE).begin()
    match.hand_over()
    asked = match.now
    match.wait(0.5).tell(Lost(0, match.now))
    assert match.match.deadline == pytest.approx(asked + 1.0 + MARGIN_S + 2.0)
    time_out(match)
    match.assert_forfeit(seat=0, cause="disconnect")


def test_nothing_is_forgiven_where_an_agent_will_not_be_back(new_match):
    match = new_match(GRACE).begin()
    match.hand_over()
    asked = match.now
    match.wait(0.5).tell(Lost(0, match.now, gone=True))
    assert match.match.deadline == pytest.approx(asked + 1.0 + MARGIN_S)


def test_whoever_leaves_when_its_time_is_over_wins_none_by_it(new_match):
    match = new_match(GRACE).begin()
    match.hand_over()
    match.now = match.match.deadline + MS
    assert match.tell(Lost(0, match.now)) == []
    match.tell(DeadlinePassed(match.now))
    match.assert_forfeit(seat=0, cause="timeout")


def test_time_away_in_the_others_turn_costs_nothing(new_match):
    match = new_match(GRACE).begin()
    match.hand_over()
    match.tell(Lost(1, match.now))
    match.wait(0.9).tell(Back(1, match.now))
    match.answer("4")
    assert match.match.clocks[1].grace_ms == 2000


def test_who_is_away_when_asked_is_forgiven_as_well(new_match):
    match = new_match(GRACE).begin()
    match.tell(Lost(0, match.now))
    match.hand_over()
    match.wait(1.5).tell(Back(0, match.now))
    match.wait(0.5).answer("4")
    assert match.times() == (2000, 1500, 500)


def test_nobody_waits_for_an_absent_agent_as_long_as_its_bank_lasts(new_match):
    match = new_match(Terms(move_ms=0, bank_ms=3_600_000)).begin()
    match.hand_over()
    match.wait(5).tell(Lost(0, match.now))
    assert match.match.deadline == pytest.approx(match.now + ABSENT_S)
    match.wait(50).tell(Back(0, match.now))
    assert match.match.deadline > match.now + 3000


def test_time_away_by_the_servers_own_doing_costs_neither_time_nor_grace(new_match):
    match = new_match(Terms(move_ms=0, bank_ms=10_000, grace_ms=2000)).begin()
    match.hand_over()
    match.wait(0.5).tell(Lost(0, match.now))
    match.wait(9.0).tell(Back(0, match.now, kept_s=8.0))
    assert match.match.clock_ms(match.now) == 9_500
    match.wait(0.25).answer("4")
    assert match.times() == (9750, 9000, 750)
    timing = match.of(Accept)[0].timing
    assert (timing.lag_ms, timing.away_ms) == (8000, 1000)
    assert match.match.clocks[0].grace_ms == 1000


def test_the_deadline_moves_by_what_the_server_kept_an_agent_away(new_match):
    match = new_match(GRACE).begin()
    match.hand_over()
    asked = match.now
    match.tell(Lost(0, match.now))
    match.wait(1.5).tell(Back(0, match.now, kept_s=1.25))
    assert match.match.deadline == pytest.approx(asked + 1.0 + MARGIN_S + 1.5)
    time_out(match)
    match.assert_forfeit(seat=0, cause="timeout")


def test_nobody_is_kept_away_for_longer_than_it_was_away(new_match):
    match = new_match(GRACE).begin()
    match.wait(30).hand_over()
    match.wait(0.5).tell(Lost(0, match.now))
    match.wait(0.25).tell(Back(0, match.now, kept_s=30.0))
    match.wait(0.25).answer("4")
    assert match.times() == (1000, 250, 750)


def test_in_one_move_nobody_is_kept_away_for_longer_than_an_absent_agent_is_waited_for(new_match):
    match = new_match(Terms(move_ms=0, bank_ms=3_600_000)).begin()
    match.hand_over()
    for _ in range(2):
        match.tell(Lost(0, match.now))
        match.wait(50).tell(Back(0, match.now, kept_s=50.0))
    match.answer("4")
    assert match.times() == (100_000, int(ABSENT_S) * 1000, 40_000)


# the server's own faults ------------------------------------------------------------------------------


def test_lateness_of_the_server_is_not_taken_from_the_bank(new_match):
    match = new_match(FISCHER).begin()
    match.hand_over()
    match.wait(2.0).answer("4", lag_s=1.5)
    assert match.times() == (2000, 1500, 500)
    assert left(match, 0) == 3000


@pytest.mark.parametrize("answered", [False, True])
def test_a_server_that_is_very_late_makes_the_match_void(new_match, answered):
    match = new_match(Terms(move_ms=1000)).begin()
    match.hand_over()
    match.wait(12.0)
    if answered:
        match.answer("4", lag_s=10.5)
    else:
        match.tell(DeadlinePassed(match.now, lag_s=10.5))
    match.assert_void("infrastructure", "infrastructure")
    assert match.match.result.detail == "overload: the server was 10.5 s late"


def test_a_timer_that_is_late_is_charged_to_nobody(new_match):
    match = new_match(Terms(move_ms=1000)).begin()
    match.hand_over()
    match.wait(4.0).tell(DeadlinePassed(match.now, lag_s=3.5))
    match.assert_forfeit(seat=0, cause="timeout")
    timing = match.effects[-1].request.timing
    assert (timing.elapsed_ms, timing.lag_ms, timing.charged_ms) == (4000, 2800, 1200)


# what is told of it -----------------------------------------------------------------------------------


@pytest.mark.parametrize("received", [False, True])
def test_the_request_that_lost_the_match_is_told_with_it(new_match, received):
    match = new_match(LAG).begin().wait(0.004)
    match.hand_over(round_trip_ms=100.0)
    match.wait(3.0)
    match.answer("4") if received else match.tell(DeadlinePassed(match.now))
    request = match.effects[-1].request
    assert (request.seat, request.ply, request.received) == (0, 0, received)
    assert request.timing == Timing(3000, 100, 2900, limit_ms=1000, waited_ms=4, round_trip_ms=100.0)


def test_a_normal_end_leaves_no_request(new_match):
    match = new_match().begin().play("4", "0", "2", "1", "6")
    match.assert_won(seat=0)
    assert match.effects[-1].request is None


def test_chance_has_no_clock(new_match):
    match = new_match(FISCHER, Position.start(load("kuhn_poker"))).begin()
    match.tell(Drawn(0, "d2", match.now))
    match.wait(1.0).tell(Drawn(1, "d0", match.now))
    assert (left(match, 0), left(match, 1)) == (3000, 3000)
