"""What every match asks of the database leaves no garbage in cycles.

Cycles wait for a collection, and that stops the whole server for a tenth of a second.
"""

import gc

from server.db import ladders, matches


def one_pair_more(league, ada, bob):
    league.db.read_now(ladders.ratings_on, league.ladder, [ada, bob])
    league.db.read_now(matches.queued)
    league.play(ada, bob, "win", "draw")


def left_in_cycles(job):
    """How many objects a job leaves for the collector."""
    gc.collect()
    gc.disable()
    try:
        job()
        return gc.collect()
    finally:
        gc.enable()


def test_matches_leave_nothing_in_cycles(league):
    ada, bob = league.agent("ada"), league.agent("bob")
    one_pair_more(league, ada, bob)  # fills what is kept for good
    assert left_in_cycles(lambda: [one_pair_more(league, ada, bob) for _ in range(5)]) == 0
