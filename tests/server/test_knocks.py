"""An agent that came while the database let nobody in is not to blame; one that did not come is."""

import pytest
from sqlalchemy.exc import OperationalError

from games.errors import InputError
from server.db.absence import Absence
from server.knocks import Knocks


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
