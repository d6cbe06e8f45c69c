"""An agent that came while the database let nobody in is not to blame; one that did not come is."""

import pytest
from sqlalchemy.exc import OperationalError

from games.errors import InputError
from server.db.absence import Absence
from server.knocks import AT_ONCE_S, COME_BACK_S, Knocks


def failure() -> OperationalError:
    return OperationalError("SELECT", {}, Exception("it is gone"))


class Door:
    def __init__(self) -> None:
        self.now = 100.0
        self.absence = Absence(lambda: self.now)
        self.knocks = Knocks(self.absence, lambda: self.now)

    def refuse(self, name: str, error: Exception) -> None:
        with pytest.raises(type(error)), self.knocks.knocking(name):
            raise error


@pytest.fixture
def door() -> Door:
    return Door()


def test_whoever_was_refused_for_the_database_was_kept_away_and_nobody_else(door: Door) -> None:
    door.absence.unread(failure())
    door.refuse("Ada", failure())
    assert door.knocks.kept_away("ada", 99.0)
    assert not door.knocks.kept_away("ada", 100.0), "that was before"
    assert not door.knocks.kept_away("bob", 99.0), "it did not come"


def test_whoever_was_refused_for_something_else_was_not_kept_away(door: Door) -> None:
    door.absence.unread(failure())
    door.refuse("ada", InputError("bad_token", expected="a token", got="none"))
    with door.knocks.knocking("ada"):
        pass
    assert not door.knocks.kept_away("ada", 0.0)


def test_whoever_waits_for_an_answer_is_kept_away_if_the_database_is(door: Door) -> None:
    with door.knocks.knocking("ada"):
        assert not door.knocks.kept_away("ada", 0.0), "the database is well, however slow the server"
        door.now += 1
        door.absence.unread(failure())
        assert door.knocks.kept_away("ada", 0.0)
        assert not door.knocks.kept_away("bob", 0.0)
    assert not door.knocks.kept_away("ada", 0.0), "it was let in"


def test_whoever_is_let_in_was_kept_away_since_it_first_knocked(door: Door) -> None:
    for _ in range(3):
        door.refuse("ada", failure())
        door.now += 1
    with door.knocks.knocking("Ada"):
        door.now += 0.5
        assert door.knocks.kept_s("Ada") == 3.5
        assert door.knocks.kept_s("bob") == 0
    with door.knocks.knocking("ada"):
        assert door.knocks.kept_s("ada") == 0, "it was let in"
    assert not door.knocks.kept_away("ada", 0.0)


def test_whoever_took_its_time_after_the_last_refusal_was_not_kept_away(door: Door) -> None:
    door.refuse("ada", failure())
    door.now += AT_ONCE_S + 1
    with door.knocks.knocking("ada"):
        assert door.knocks.kept_s("ada") == 0


def test_refusals_far_apart_are_two_times_of_being_kept_away(door: Door) -> None:
    door.refuse("ada", failure())
    door.now += COME_BACK_S + 1
    door.refuse("ada", failure())
    door.now += 1
    with door.knocks.knocking("ada"):
        assert door.knocks.kept_s("ada") == 1


def test_whoever_waited_while_the_database_was_away_was_kept_away_for_so_long(door: Door) -> None:
    with door.knocks.knocking("ada"):
        door.now += 2
        assert door.knocks.kept_s("ada") == 0, "the database is well, however slow the server"
        door.absence.unread(failure())
        assert door.knocks.kept_s("ada") == 2


def test_a_name_without_its_token_ends_nobodys_time_of_being_kept_away(door: Door) -> None:
    door.refuse("ada", failure())
    door.refuse("ada", InputError("bad_token", expected="a token", got="none"))
    door.now += 1
    with door.knocks.knocking("ada"):
        assert door.knocks.kept_s("ada") == 1
