"""The door lets the newest in, cuts who has been silent longest, and counts who stays."""

import contextlib
from collections import Counter

import pytest

from server.door import (
    FOR_REQUESTS,
    HEADERS_S,
    LONGEST_WAIT_S,
    NONSENSE_S,
    SILENT,
    SILENT_AN_ADDRESS,
    STALLED_S,
    Door,
    Rules,
)
from server.http.errors import LimitReachedError, problem_of
from server.process import RESERVED_FILES

FAR, LOCAL = "203.0.113.7", "127.0.0.1"


class Guest:
    def __init__(self, address=FAR):
        self.address = address
        self.is_cut = False

    def cut(self):
        self.is_cut = True


class Place:
    """A door, with a clock and a number of files that a test sets."""

    def __init__(self, files=100_000, staying_an_address=0, *, behind_proxy=False):
        self.now, self.files, self.cut = 0.0, files, Counter()
        self.door = Door(
            Rules(staying_an_address, behind_proxy=behind_proxy),
            lambda: self.files,
            lambda: self.now,
            lambda reason: self.cut.update([reason]),
        )

    def enter(self, number=1, address=FAR):
        guests = [Guest(address) for _ in range(number)]
        for guest in guests:
            self.door.enter(guest)
        return guests

    def ask(self, guest):
        self.door.asks(guest)
        self.door.served(guest)


def cut_of(guests):
    return [number for number, guest in enumerate(guests) if guest.is_cut]


def test_beyond_the_silent_of_one_address_its_oldest_is_cut():
    place = Place()
    (other,) = place.enter(address="198.51.100.1")
    crowd = place.enter(SILENT_AN_ADDRESS + 3)
    assert cut_of(crowd) == [0, 1, 2]
    assert not other.is_cut
    assert place.cut == {"silent_address": 3}


def test_beyond_all_the_silent_the_oldest_is_cut():
    place = Place()
    crowd = [place.enter(address=f"10.0.{number // 250}.{number % 250}")[0] for number in range(SILENT + 2)]
    assert cut_of(crowd) == [0, 1]
    assert place.cut == {"silent_crowd": 2}
    assert place.door.closed_s() > 0


def test_behind_a_proxy_all_have_the_proxys_address_and_only_the_crowd_counts():
    place = Place(behind_proxy=True)
    assert cut_of(place.enter(SILENT)) == []
    assert place.door.closed_s() == 0


def test_with_few_files_few_may_be_silent():
    place = Place(files=RESERVED_FILES + 200)
    assert cut_of(place.enter(101)) == [0]


def test_who_is_served_is_never_cut_for_another():
    place = Place(files=RESERVED_FILES + 200)
    served = place.enter(100)
    for guest in served:
        place.ask(guest)
    place.enter(500)
    assert cut_of(served) == []


def test_who_was_answered_is_silent_anew_and_the_youngest_of_them():
    place = Place(files=RESERVED_FILES + 200)
    answered, *others = place.enter(100)
    place.ask(answered)
    place.door.waits(answered)
    place.enter(1)
    assert not answered.is_cut
    assert cut_of(others) == [0]


def test_a_body_on_its_way_leaves_its_connection_silent():
    place = Place(files=RESERVED_FILES + 200)
    crowd = place.enter(100)
    place.door.asks(crowd[0])
    place.enter(1)
    assert cut_of(crowd) == [0]


def test_who_sends_no_whole_request_in_time_is_cut():
    place = Place()
    mute, asking = place.enter(2)
    place.door.asks(asking)
    place.now = HEADERS_S - 0.1
    place.door.sweep()
    assert not mute.is_cut
    place.now = HEADERS_S
    place.door.sweep()
    assert (mute.is_cut, asking.is_cut) == (True, False)
    assert place.cut == {"no_request": 1}


def test_who_reads_nothing_is_cut_in_time_and_who_reads_again_is_not():
    place = Place()
    frozen, slow = place.enter(2)
    for guest in (frozen, slow):
        place.ask(guest)
        place.door.stalls(guest)
    place.door.flows(slow)
    place.now = STALLED_S
    place.door.sweep()
    assert (frozen.is_cut, slow.is_cut) == (True, False)
    assert place.cut == {"does_not_read": 1}


def test_one_who_leaves_is_forgotten():
    place = Place()
    (guest,) = place.enter()
    place.door.stalls(guest)
    place.door.leave(guest)
    place.door.waits(guest)
    place.now = 1_000.0
    place.door.sweep()
    assert not guest.is_cut
    assert place.door.cut_oldest("no_files") == 0


def test_no_more_stay_than_an_address_may_and_the_answer_names_the_limit():
    place = Place(staying_an_address=2)
    first, second, third = place.enter(3)
    with contextlib.ExitStack() as places:
        leaving = contextlib.ExitStack()
        leaving.enter_context(place.door.stay(first, FAR))
        places.enter_context(place.door.stay(second, FAR))
        with pytest.raises(LimitReachedError) as refused, place.door.stay(third, FAR):
            pass
        problem = problem_of(refused.value)
        assert (problem.status, problem.code) == (429, "too_many_connections")
        assert problem.limit == "connections_per_address"
        assert problem.retry_after > 0
        with place.door.stay(third, "198.51.100.1"):
            pass
        leaving.close()
        with place.door.stay(third, FAR):
            pass


def test_this_machine_and_no_limit_let_any_number_stay():
    for place, address in ((Place(staying_an_address=1), LOCAL), (Place(staying_an_address=0), FAR)):
        with contextlib.ExitStack() as places:
            for guest in place.enter(10):
                places.enter_context(place.door.stay(guest, address))


def test_those_who_stay_leave_files_to_the_others():
    place = Place(files=RESERVED_FILES + FOR_REQUESTS + 100)
    with contextlib.ExitStack() as places:
        for guest in place.enter(100):
            places.enter_context(place.door.stay(guest, LOCAL))
        crowd = place.enter(FOR_REQUESTS)
        assert [guest.is_cut for guest in crowd[-FOR_REQUESTS // 2 :]] == [False] * (FOR_REQUESTS // 2)
        with pytest.raises(LimitReachedError) as refused:
            place.door.check_room()
    assert problem_of(refused.value).status == 503
    assert problem_of(refused.value).limit == "connections"
    place.door.check_room()


def test_who_stays_is_not_silent_until_it_leaves():
    place = Place(files=RESERVED_FILES + 200)
    (player,) = place.enter()
    place.door.asks(player)
    place.door.waits(player)
    with place.door.stay(player, FAR):
        place.enter(300)
        assert not player.is_cut
        place.door.stalls(player)
        place.door.flows(player)
        place.enter(300)
        assert not player.is_cut
    place.enter(300)
    assert player.is_cut


def test_nonsense_and_a_crowd_keep_the_next_ones_waiting_but_never_for_long():
    place = Place()
    for guest in place.enter(10):
        place.door.refuses(guest, "malformed")
    assert place.door.closed_s() == pytest.approx(10 * NONSENSE_S)
    for guest in place.enter(1_000):
        place.door.refuses(guest, "malformed")
    assert place.door.closed_s() == LONGEST_WAIT_S
    place.now += LONGEST_WAIT_S
    assert place.door.closed_s() == 0
