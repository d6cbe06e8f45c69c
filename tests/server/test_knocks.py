"""An agent that came while the database let nobody in is not to blame; one that did not come is."""

import pytest
from sqlalchemy.exc import OperationalError

from games.errors import InputError
from server.db.absence import Absence
from server.knocks import AGAIN_S, QUICK_S, Knocks


def failure() -> OperationalError:
    return OperationalError("SELECT", {}, Exception("it is gone"))


STRANGER = InputError("bad_token", expected="a token", got="none")


class Door:
    def __init__(self) -> None:
        self.now = 100.0
        self.absence = Absence(lambda: self.now)
        self.knocks = Knocks(self.absence, lambda: self.now)

    def refuse(self, name: str, error: Exception, after_s: float = 0.0) -> None:
        def answer() -> None:
            self.now += after_s
            raise error

        with pytest.raises(type(error)), self.knocks.knocking(name):
            answer()

    def let_in(self, name: str, *answers_s: float) -> float:
        """Let the agent in after the database has answered each of these questions; return `kept_s`."""
        with self.knocks.knocking(name) as knock:
            for answer_s in answers_s:
                with knock.asking():
                    self.now += answer_s
            return self.knocks.kept_s(knock)


@pytest.fixture
def door() -> Door:
    return Door()


def test_whoever_was_refused_for_the_database_is_kept_away_and_nobody_else(door: Door) -> None:
    door.refuse("Ada", failure())
    assert door.knocks.kept_away("ada")
    assert not door.knocks.kept_away("bob"), "it did not come"
    door.now += AGAIN_S + 0.1
    assert not door.knocks.kept_away("ada"), "it could have come again"


def test_whoever_was_refused_for_something_else_or_let_in_is_not_kept_away(door: Door) -> None:
    door.refuse("ada", STRANGER)
    assert not door.knocks.kept_away("ada")
    door.refuse("ada", failure())
    door.let_in("ada")
    assert not door.knocks.kept_away("ada")


def test_whoever_waits_for_an_answer_of_the_database_is_kept_away(door: Door) -> None:
    with door.knocks.knocking("ada") as knock:
        with knock.asking():
            door.now += QUICK_S
            assert not door.knocks.kept_away("ada"), "so long it may take"
            door.now += 0.01
            assert door.knocks.kept_away("ada")
            assert not door.knocks.kept_away("bob")
        assert not door.knocks.kept_away("ada"), "it has its answer"
        door.now += 8
        assert not door.knocks.kept_away("ada"), "it waits for something else"


def test_whoever_is_let_in_was_kept_away_since_it_first_knocked(door: Door) -> None:
    for _ in range(3):
        door.refuse("ada", failure(), after_s=0.5)
        door.now += 1
    assert door.let_in("Ada", 0.1) == pytest.approx(4.6)
    assert door.let_in("ada") == 0, "it was let in"


def test_whoever_waited_for_the_database_was_kept_away_for_so_long_and_no_longer(door: Door) -> None:
    assert door.let_in("ada", 4.5, 1.5) == pytest.approx(6.0)
    assert door.let_in("ada", QUICK_S / 2, QUICK_S / 2) == 0, "that is no time"
    with door.knocks.knocking("ada") as knock:
        with knock.asking():
            door.now += 2
        door.now += 8  # for the matches of an older version, say
        assert door.knocks.kept_s(knock) == pytest.approx(2.0)


def test_another_knock_of_the_same_name_gives_nothing(door: Door) -> None:
    with door.knocks.knocking("ada") as other, other.asking():
        door.now += 8
        assert door.let_in("ada") == 0


def test_whoever_took_its_time_after_the_last_refusal_was_not_kept_away(door: Door) -> None:
    door.refuse("ada", failure())
    door.now += AGAIN_S + 0.1
    assert door.let_in("ada") == 0


def test_whoever_was_refused_need_not_knock_all_the_time_that_the_database_is_away(door: Door) -> None:
    door.absence.unread(failure())
    door.refuse("ada", failure())
    door.now += 30
    assert door.knocks.kept_away("ada")
    door.absence.begin()
    door.absence.end(None)
    door.now += AGAIN_S - 0.1
    assert door.knocks.kept_away("ada")
    assert door.let_in("ada") == pytest.approx(30 + AGAIN_S - 0.1)
    door.refuse("bob", failure())
    door.now += AGAIN_S + 0.1
    assert not door.knocks.kept_away("bob"), "it had its time to come again"


def test_refusals_far_apart_are_two_times_of_being_kept_away(door: Door) -> None:
    door.refuse("ada", failure())
    door.now += AGAIN_S + 1
    door.refuse("ada", failure())
    door.now += 1
    assert door.let_in("ada") == 1


def test_a_name_without_its_token_ends_nobodys_time_of_being_kept_away(door: Door) -> None:
    door.refuse("ada", failure())
    door.refuse("ada", STRANGER)
    door.now += 1
    assert door.let_in("ada") == 1
