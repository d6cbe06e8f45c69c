"""The token bucket: what it lets through, what it tells the refused, and what it remembers."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.http import limits
from server.http.errors import LimitReachedError
from server.http.limits import RateLimit

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def allowed(limit: RateLimit, key: str, now: datetime) -> bool:
    try:
        limit.spend(key, now)
    except LimitReachedError:
        return False
    return True


def test_the_count_passes_at_once_and_the_next_is_told_how_long_to_wait():
    limit = RateLimit("registrations", count=3, period_s=60)
    assert [allowed(limit, "a", NOON) for _ in range(3)] == [True, True, True]
    with pytest.raises(LimitReachedError) as refused:
        limit.spend("a", NOON)
    assert refused.value.limit == "registrations"
    assert refused.value.retry_after_s == 20


def test_waiting_as_long_as_told_is_enough_and_shorter_is_not():
    limit = RateLimit("registrations", count=3, period_s=60)
    for _ in range(3):
        limit.spend("a", NOON)
    assert not allowed(limit, "a", after(19))
    assert allowed(limit, "a", after(20))
    assert not allowed(limit, "a", after(20))


def test_keys_do_not_share():
    limit = RateLimit("registrations", count=1, period_s=60)
    assert allowed(limit, "a", NOON)
    assert allowed(limit, "b", NOON)
    assert not allowed(limit, "a", NOON)


def test_a_clock_set_back_gives_and_takes_nothing():
    limit = RateLimit("registrations", count=2, period_s=60)
    assert allowed(limit, "a", NOON)
    assert allowed(limit, "a", after(-3600))
    assert not allowed(limit, "a", after(-3600))


def test_memory_is_bounded_and_the_longest_quiet_is_forgotten(monkeypatch):
    monkeypatch.setattr(limits, "MAX_KEYS", 3)
    limit = RateLimit("registrations", count=1, period_s=60)
    for key in "abcd":
        assert allowed(limit, key, NOON)
    assert len(limit._left) == 3
    assert not allowed(limit, "d", NOON)
    assert allowed(limit, "a", NOON), "a was forgotten, so it starts afresh"


@given(st.lists(st.floats(0, 30), max_size=60))
def test_never_more_than_the_burst_and_the_refill(pauses):
    limit = RateLimit("registrations", count=4, period_s=40)
    now, passed = 0.0, 0
    for pause in pauses:
        now += pause
        passed += allowed(limit, "a", after(now))
        assert passed <= 4 + now / 10 + 1e-6
