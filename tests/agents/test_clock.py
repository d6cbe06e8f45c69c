"""The clock that agents see, and how much of it a search takes."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents import view
from agents.clock import Clock, search_ms
from agents.protocol import ClockView, TimeControl
from server.core import clock as referee
from server.core.match_events import Timing

RESERVE_MS = 150.0


def shown(control, has):
    """What an agent sees of its clock, as the server tells it."""
    return Clock(
        referee.limit_ms(control, has),
        has.bank_ms,
        control.increment_ms,
        control.byoyomi_ms,
        has.periods,
        has.strikes,
    )


def play_to_the_budget(control, moves, late_ms):
    """Let a search use all that it may, and come `late_ms` after that, in every move; the clock left."""
    has = referee.full(control)
    for move in range(moves):
        clock = shown(control, has)
        took_ms = round(search_ms(clock, RESERVE_MS) + late_ms)
        assert took_ms <= clock.move_ms, f"out of time at move {move} with {has}"
        has = referee.after(control, has, Timing(took_ms, 0, took_ms))
    return has


def test_without_a_bank_a_search_has_the_limit_less_the_reserve():
    assert search_ms(Clock(5_000), RESERVE_MS) == 4_850
    assert search_ms(Clock(100), RESERVE_MS) == 50
    assert search_ms(Clock(5_000), RESERVE_MS, 1_000) == 1_000


def test_with_a_bank_a_search_has_its_share_of_it():
    clock = Clock(300_000, bank_ms=300_000, increment_ms=2_000)
    assert clock.left_ms() > 299_000
    assert clock.share_ms() == 300_000 / 30 + 0.8 * 2_000
    assert search_ms(clock, RESERVE_MS) == clock.share_ms() - RESERVE_MS
    assert search_ms(clock, RESERVE_MS, 1_000) == 1_000


def test_a_share_is_never_more_than_the_limit_of_the_move():
    assert Clock(2_000, bank_ms=600_000, increment_ms=10_000).share_ms() == 2_000
    assert Clock(100, bank_ms=100, increment_ms=60_000).share_ms() == 100


def test_with_byoyomi_a_move_has_a_period_and_loses_none():
    control = TimeControl(0, bank_ms=60_000, byoyomi_ms=5_000, periods=3)
    left = play_to_the_budget(control, 200, late_ms=RESERVE_MS)
    assert (left.bank_ms, left.periods) == (0, 3)


def test_byoyomi_without_a_period_counts_for_nothing():
    clock = Clock(3_000, bank_ms=3_000, byoyomi_ms=5_000, periods=0)
    assert clock.share_ms() == 100


@example(bank_ms=1_000, increment_ms=0)
@example(bank_ms=1, increment_ms=60_000)
@given(bank_ms=st.integers(1, 3_600_000), increment_ms=st.integers(0, 60_000))
def test_the_longest_match_never_runs_out_of_time(bank_ms, increment_ms):
    """Whatever the reserve does not use up is left over, so no move takes more than its share."""
    control = TimeControl(0, bank_ms=bank_ms, increment_ms=increment_ms)
    assert play_to_the_budget(control, 300, late_ms=0).bank_ms >= 0


@pytest.mark.parametrize(("bank_ms", "increment_ms"), [(60_000, 0), (10_000, 100), (60_000, 1_000)])
def test_a_long_match_of_answers_that_are_late_does_not_run_out_of_time(bank_ms, increment_ms):
    control = TimeControl(0, bank_ms=bank_ms, increment_ms=increment_ms)
    assert play_to_the_budget(control, 150, late_ms=30).bank_ms > 0


# the limit of a first move ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "control",
    [
        TimeControl(5_000),
        TimeControl(0),
        TimeControl(0, bank_ms=300_000, increment_ms=2_000, strikes=2),
        TimeControl(10_000, bank_ms=300_000),
        TimeControl(10_000, bank_ms=3_000),
        TimeControl(0, bank_ms=60_000, byoyomi_ms=5_000, periods=3),
        TimeControl(0, byoyomi_ms=5_000, periods=3),
        TimeControl(0, nodes=10_000),
    ],
    ids=str,
)
def test_a_first_clock_is_the_servers(control):
    has = referee.full(control)
    assert view.first_clock(control) == ClockView(
        referee.limit_ms(control, has),
        has.bank_ms,
        control.increment_ms,
        control.byoyomi_ms,
        has.periods,
        has.strikes,
    )
