"""The time of day as records have it: whatever is done to the machine's clock, it goes forward."""

from datetime import UTC, datetime, timedelta

import hypothesis.strategies as st
import pytest
from hypothesis import given

from server.wall_clock import WallClock

START = 1_767_225_600.0


class Machine:
    """A wall clock that people set, and a monotonic one that they cannot."""

    def __init__(self):
        self.wall_s, self.monotonic_s = START, 50.0
        self.clock = WallClock(lambda: self.wall_s, lambda: self.monotonic_s)

    def wait(self, seconds):
        self.wall_s += seconds
        self.monotonic_s += seconds

    def now(self):
        return self.clock.now() - datetime.fromtimestamp(START, UTC)


@pytest.fixture
def machine():
    return Machine()


def test_it_is_the_wall_clock_with_its_zone(machine):
    machine.wait(90)
    assert machine.now() == timedelta(seconds=90)
    assert machine.clock.now().tzinfo is UTC


def test_PB05_it_follows_a_wall_clock_set_forward_and_goes_on_when_that_is_set_back(machine):
    machine.wall_s += 3600
    assert machine.now() == timedelta(hours=1)
    machine.wall_s -= 7200
    machine.wait(5)
    assert machine.now() == timedelta(hours=1, seconds=5)
    machine.wall_s += 7200
    assert machine.now() == timedelta(hours=1, seconds=5)


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(-5000, 5000)), max_size=30))
def test_PB05_it_never_goes_back_and_always_goes_on(steps):
    machine = Machine()
    before = machine.now()
    for waited_s, set_by_s in steps:
        machine.wait(waited_s)
        machine.wall_s += set_by_s
        after = machine.now()
        assert after - before >= timedelta(seconds=waited_s) - timedelta(microseconds=2)
        before = after


def test_it_tells_the_time_of_an_instant_that_has_passed(machine):
    machine.wait(90)
    received = machine.monotonic_s
    machine.wait(2)
    assert machine.clock.at(received) == datetime.fromtimestamp(START + 90, UTC)


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 3), st.floats(-5000, 5000)), max_size=30))
def test_PB05_instants_told_one_after_the_other_keep_their_order(steps):
    """Whatever is done to the wall clock between them, and however late they are told."""
    machine = Machine()
    before, latest = machine.clock.at(machine.monotonic_s), machine.monotonic_s
    for waited_s, ago_s, set_by_s in steps:
        machine.wait(waited_s)
        machine.wall_s += set_by_s
        latest = max(latest, machine.monotonic_s - ago_s)
        after = machine.clock.at(latest)
        assert after - before >= -timedelta(microseconds=2)
        before = after
