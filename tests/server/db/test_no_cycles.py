"""What every match asks of the database leaves no garbage in cycles.

Cycles wait for a collection, and that stops the whole server for a tenth of a second.
"""

import gc

import pytest

from server.db import ladders, matches


def one_match_more(league, ada, bob):
    league.db.read_now(ladders.ratings_on, league.ladder, [ada, bob])
    league.db.read_now(matches.queued)
    league.play(ada, bob, "win", "draw")


@pytest.fixture
def uncollected():
    """Run something with nothing collected meanwhile; returns how many objects it left in cycles."""

    def run(job):
        gc.collect()
        gc.disable()
        try:
            job()
            return gc.collect()
        finally:
            gc.enable()

    return run


def test_matches_leave_nothing_in_cycles(league, uncollected):
    ada, bob = league.agent("ada"), league.agent("bob")
    one_match_more(league, ada, bob)  # fills what is kept for good
    assert uncollected(lambda: [one_match_more(league, ada, bob) for _ in range(5)]) == 0
