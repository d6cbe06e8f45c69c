"""Whoever asks too fast waits, a little; others do not, and nobody is refused."""

from types import SimpleNamespace

import pytest

from server.http import pace as pacing
from server.http.pace import BURST_S, LONGEST_S, MAX_KEYS, Pace


class Clock:
    now = 1_000.0

    def __call__(self):
        return self.now


def a_crowd_of_requests(pace, number, address="a"):
    return [round(pace.delay_s(address), 6) for _ in range(number)]


def test_a_burst_is_served_at_once_and_what_is_more_in_its_turn():
    pace = Pace(10, Clock())
    delays = a_crowd_of_requests(pace, int(10 * BURST_S) + 3)
    assert set(delays[:-3]) == {0.0}
    assert delays[-3:] == [0.1, 0.2, 0.3]


def test_who_waited_long_enough_has_a_burst_again():
    clock = Clock()
    pace = Pace(10, clock)
    a_crowd_of_requests(pace, 70)
    clock.now += BURST_S + LONGEST_S
    assert set(a_crowd_of_requests(pace, 60)) == {0.0}


def test_another_address_is_served_at_once():
    pace = Pace(10, Clock())
    a_crowd_of_requests(pace, 1_000)
    assert pace.delay_s("b") == 0.0


def test_nobody_waits_longer_than_the_longest_wait():
    assert max(a_crowd_of_requests(Pace(10, Clock()), 10_000)) == LONGEST_S


def test_only_so_many_addresses_are_remembered():
    pace = Pace(10, Clock())
    for number in range(MAX_KEYS + 10):
        pace.delay_s(str(number))
    assert len(pace._due) == MAX_KEYS


@pytest.mark.asyncio
async def test_the_health_and_all_else_have_a_pace_each(monkeypatch):
    waits = []

    async def wait(seconds):
        waits.append(seconds)

    async def answer(_request):
        pass

    async def ask(path, number):
        waits.clear()
        for _ in range(number):
            await serve(SimpleNamespace(path=path, remote="192.0.2.1"), answer)
        return [seconds for seconds in (round(asked, 6) for asked in waits) if seconds > 0]

    monkeypatch.setattr(pacing.asyncio, "sleep", wait)
    serve = Pace(10, Clock()).middleware()
    burst = int(10 * BURST_S)
    assert await ask("/", burst + 2) == [0.1, 0.2]
    assert await ask("/healthz", burst) == [], "a crowd at the pages is not in its way"
    assert await ask("/healthz", 2) == [0.1, 0.2], "it is no way around the pace"
    assert await ask("/static/none", 1) == [0.3]
