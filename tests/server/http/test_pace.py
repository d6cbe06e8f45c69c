"""Whoever asks too fast waits, a little; others do not, and nobody is refused."""

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
