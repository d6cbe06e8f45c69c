"""Patience with a server that restarts: what is tried again, and what is told at once."""

from dataclasses import replace

import pytest

from agents.client import Timing
from agents.refusal import NotNowError
from games.errors import InputError
from server.cli.patience import Patience

QUICK = Timing(longest_pause_ms=10)
LATER = NotNowError("database_unavailable", "the database cannot be reached", 0.0)
SILENT = InputError("no_server", expected="a server", got="connection refused; start one")


class Work:
    """Does one after the other: raises what is an error, and returns the rest."""

    def __init__(self, *steps):
        self.steps = list(steps)

    def __call__(self):
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


@pytest.fixture
def said():
    return []


def test_what_works_is_not_told(said):
    assert Patience(said.append, QUICK).with_server(Work(3)) == 3
    assert said == []


def test_a_server_that_says_to_come_again_may_be_silent_meanwhile(said):
    assert Patience(said.append, QUICK).with_server(Work(LATER, SILENT, SILENT, LATER, SILENT, 3)) == 3
    assert [line.partition(")")[0] for line in said] == [
        f"not connected ({why}"
        for why in (
            "the server says: the database cannot be reached",
            "connection refused",
            "connection refused",
            "the server says: the database cannot be reached",
            "connection refused",
        )
    ]


def test_a_server_that_never_answered_is_given_up_at_once(said):
    with pytest.raises(InputError) as refused:
        Patience(said.append, QUICK).with_server(Work(SILENT))
    assert refused.value is SILENT
    assert said == []


def test_a_server_that_has_answered_may_restart(said):
    patience = Patience(said.append, QUICK)
    patience.with_server(Work(1))
    assert patience.with_server(Work(SILENT, 2)) == 2


def test_a_server_that_stays_silent_is_given_up(said):
    patience = Patience(said.append, replace(QUICK, restart_ms=1))
    work = Work(LATER, *[SILENT] * 50)
    with pytest.raises(InputError) as refused:
        patience.with_server(work)
    assert refused.value is SILENT
    assert 1 <= 50 - len(work.steps) <= 3


def test_another_refusal_is_told_at_once(said):
    taken = InputError("name_taken", expected="a free name", got="'ada'")
    with pytest.raises(InputError) as refused:
        Patience(said.append, QUICK).with_server(Work(LATER, taken))
    assert refused.value is taken


def test_no_try_comes_before_the_time_that_the_server_asks_for(said):
    later = NotNowError("busy", "come again", 300.0)
    Patience(said.append, QUICK).with_server(Work(later, 1))
    (line,) = said
    assert float(line.split()[-2]) >= 0.3
