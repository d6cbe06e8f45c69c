"""The estimate of a line's round trip: as fast as its fastest answer, and slow to believe in a slower one."""

import math

from hypothesis import given
from hypothesis import strategies as st

from server.core.round_trip import CAP_MS, RISE, RoundTrip

SAMPLES_MS = st.floats(min_value=0, max_value=60_000)


def after(*samples_ms: float) -> float:
    line = RoundTrip()
    for sample_ms in samples_ms:
        line = line.sampled(sample_ms)
    assert line.ms is not None
    return line.ms


def test_before_the_first_sample_nothing_is_known():
    assert RoundTrip().ms is None


def test_the_first_sample_is_the_estimate():
    assert after(80.0) == 80.0


def test_a_shorter_sample_counts_at_once():
    assert after(900.0, 40.0) == 40.0


def test_a_longer_sample_moves_the_estimate_by_an_eighth_of_the_difference():
    assert after(40.0, 120.0) == 50.0


def test_no_sample_counts_for_more_than_the_cap():
    assert after(60_000.0) == CAP_MS
    assert after(0.0, 60_000.0) == CAP_MS * RISE


@given(st.lists(SAMPLES_MS), SAMPLES_MS)
def test_one_prompt_pong_undoes_any_delays(delayed_ms: list[float], prompt_ms: float):
    assert after(*delayed_ms, prompt_ms) <= min(prompt_ms, CAP_MS) + 1e-9


@given(st.lists(SAMPLES_MS, min_size=1))
def test_the_estimate_lies_between_the_fastest_and_the_slowest_answer(samples_ms: list[float]):
    capped = [min(sample_ms, CAP_MS) for sample_ms in samples_ms]
    assert min(capped) <= after(*samples_ms) <= max(capped)


@given(st.floats(min_value=0, max_value=CAP_MS), st.floats(min_value=0, max_value=CAP_MS))
def test_a_line_that_has_become_slower_is_believed_in_time(fast_ms: float, slow_ms: float):
    assert math.isclose(after(fast_ms, *[slow_ms] * 200), slow_ms, abs_tol=0.01)


def test_a_sample_that_the_servers_own_lateness_blurs_moves_the_estimate_only_where_it_must():
    line = RoundTrip().sampled(100.0)
    assert line.sampled(3_000.0, 20.0).ms == 100.0, "it may have taken 100 ms"
    assert line.sampled(80.0, 20.0).ms == 80.0, "it took 80 ms at most"
    assert line.sampled(3_000.0, 180.0).ms == 110.0, "it took 180 ms at least"
    assert RoundTrip().sampled(3_000.0, 20.0).ms == 20.0, "no lateness of ours makes a line long"
