"""Pauses before another try, whatever a server asks for."""

import math
import random

import pytest

from agents.backoff import MOST_ASKED_MS, Backoff, asked_ms
from agents.protocol import Error
from agents.refusal import ComeAgainError, later_ms

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("asked", "least_ms"),
    [
        (0.0, 0),
        (-5_000.0, 0),
        (-math.inf, 0),
        (math.nan, 0),
        (2_500.0, 2_500),
        (1e15, DAY_MS),
        (math.inf, DAY_MS),
    ],
)
def test_no_pause_is_negative_or_longer_than_a_day(asked, least_ms):
    assert MOST_ASKED_MS == DAY_MS
    for _ in range(20):
        assert least_ms <= Backoff(500, 15_000, random.Random()).pause_ms(asked) <= least_ms + 500


@pytest.mark.parametrize("digits", [1, 11, 20, 400, 5_000, 60_000])
def test_seconds_of_any_length_can_be_read(digits):
    text = "9" * digits
    refusal = ComeAgainError(Error("server_full", f"again in {text} s"))
    for asked in (asked_ms(text), later_ms(503, text), refusal.asked_ms):
        assert 0 <= Backoff(500, 15_000, random.Random()).pause_ms(asked) <= DAY_MS + 500
    assert asked_ms(text) >= 9_000


@pytest.mark.parametrize("seconds", [1e12, 1e300, -5.0, -1e9, math.nan, math.inf])
def test_no_refusal_over_a_socket_asks_for_an_odd_pause(seconds):
    asked = ComeAgainError(Error("server_full", "full", retry_after_s=seconds)).asked_ms
    assert 0 <= Backoff(500, 15_000, random.Random()).pause_ms(asked) <= DAY_MS + 500


@pytest.mark.parametrize("text", ["-5", "\u00b2", "Wed, 21 Oct 2099 07:28:00 GMT", "1e9", ""])
def test_what_is_no_number_of_seconds_asks_for_nothing(text):
    assert asked_ms(text) == 0
