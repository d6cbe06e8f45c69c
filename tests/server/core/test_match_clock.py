"""The clock of a move: from the hand-over of the request to the receipt of the answer, never early."""

import time

import pytest

from server.core.match import HAND_OVER_S, Phase, Terms
from server.core.match_events import (
    Accept,
    Action,
    Ask,
    DeadlinePassed,
    HandedOver,
    Resign,
    SetDeadline,
)

LIMIT_S, MARGIN_S = 1.0, 0.2
MS = 0.001
DRAWN = ["0", "1", "2", "4", "3", "5", "7", "6", "8"]


@pytest.mark.parametrize("after_s", [LIMIT_S - MS, LIMIT_S, LIMIT_S + MARGIN_S - MS])
def test_PB02_an_answer_within_limit_and_margin_counts(running, after_s):
    running.wait(after_s).answer("4")
    running.assert_goes_on(ply=1, seat=1)


def test_PB02_an_answer_at_the_very_deadline_counts(running):
    running.now = running.match.deadline
    running.answer("4")
    running.assert_goes_on(ply=1, seat=1)


@pytest.mark.parametrize("timer_first", [False, True])
def test_PB02_a_late_answer_costs_the_mover_the_match_and_nobody_else(running, timer_first):
    running.play("4").hand_over()
    running.now = running.match.deadline + MS
    late = Action(1, 1, "0", running.now)
    timer = DeadlinePassed(running.now)
    for event in (timer, late) if timer_first else (late, timer):
        running.tell(event)
    running.assert_forfeit(seat=1, cause="timeout")
    assert len(running.of(Accept)) == 1


@pytest.mark.parametrize("played", [0, 1, 2])
def test_PB03_a_silent_agent_is_ended_by_the_server_alone(running, played):
    running.play(*["4", "0"][:played]).hand_over()
    running.now = running.match.deadline
    running.tell(DeadlinePassed(running.now))
    running.assert_forfeit(seat=played % 2, cause="timeout")
    assert running.match.result.detail == f"no answer to ply {played} within 1000 ms"


def test_a_timer_that_fires_early_ends_nothing(running):
    running.now = running.match.deadline - 0.94 * MS
    assert running.tell(DeadlinePassed(running.now)) == [SetDeadline(running.match.deadline)]
    running.answer("4")
    running.assert_goes_on(ply=1, seat=1)


def test_PB05_the_match_reads_no_clock_of_its_own(running, monkeypatch):
    def stopped(*_):
        raise AssertionError("the core read a clock")

    for clock in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"):
        monkeypatch.setattr(time, clock, stopped)
    running.play(*DRAWN)
    running.assert_over_once(Phase.FINISHED)


def test_PB05_a_time_stamp_before_the_request_is_charged_as_nothing(running):
    running.wait(-0.5).answer("4")
    assert running.times(0) == (0, 0, 0)


def test_time_the_server_was_late_is_refunded(running):
    running.wait(LIMIT_S + MARGIN_S + 0.25).answer("4", lag_s=0.3)
    running.assert_goes_on(ply=1, seat=1)
    timing = running.of(Accept)[0].timing
    assert timing.elapsed_ms == pytest.approx(1450, abs=1)
    assert (timing.refunded_ms, timing.charged_ms) == (300, timing.elapsed_ms - 300)
    assert running.match.last == (timing, None)


def test_no_more_is_refunded_than_was_used(running):
    running.wait(0.25).answer("4", lag_s=3.0)
    assert running.times(0) == (250, 250, 0)


def test_a_refund_that_does_not_reach_saves_nobody(running):
    running.wait(LIMIT_S + MARGIN_S + 0.25).answer("4", lag_s=0.2)
    running.assert_forfeit(seat=0, cause="timeout")


def test_the_clock_is_there_only_while_a_request_waits(new_match):
    match = new_match()
    assert match.match.clock_ms(match.now) is None
    match.begin()
    assert match.match.clock_ms(match.now) is None
    match.hand_over()
    assert match.match.clock_ms(match.now) == 1000
    assert match.match.clock_ms(match.now + 0.25) == 750
    assert match.match.clock_ms(match.now + 5.0) == 0
    match.tell(Resign(0, match.now))
    assert match.match.clock_ms(match.now) is None


def test_a_second_hand_over_does_not_restart_the_clock(running):
    deadline = running.match.deadline
    assert running.wait(0.5).hand_over() == []
    assert running.match.deadline == deadline
    assert running.match.clock_ms(running.now) == 500


def test_the_hand_over_of_another_ply_starts_no_clock(new_match):
    match = new_match().begin().play("4")
    for ply in (0, 2):
        assert match.tell(HandedOver(ply, match.now)) == []
    assert match.match.clock_ms(match.now) is None


def test_the_pause_between_moves_is_nobodys_time(new_match):
    match = new_match(Terms(move_ms=1000, pace_ms=400)).begin()
    assert match.of(Ask)[-1].not_before == match.now
    match.play("4", think_s=0.5)
    assert match.of(Ask)[-1] == Ask(1, 1, match.now + 0.4)
    match.wait(0.4).play("0", think_s=0.5)
    assert match.times(-1) == (500, 0, 500)


def test_a_request_that_cannot_be_handed_over_is_nobodys_fault(new_match):
    match = new_match().begin().play("4")
    match.wait(HAND_OVER_S).tell(DeadlinePassed(match.now))
    match.assert_void("infrastructure", "infrastructure")
    assert match.match.result.detail == "the request for ply 1 could not be handed over"
