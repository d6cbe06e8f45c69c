"""Every agent pauses between matches; one that does not show up pauses longer each time."""

from server.rests import FIRST_S, LONGEST_S, Rests

ADA, BOB = 1, 2


def test_an_agent_rests_between_matches_and_nobody_else_does():
    rests = Rests(1.0)
    rests.played(ADA, 100.0)
    assert not rests.over(ADA, 100.9)
    assert rests.over(ADA, 101.0)
    assert rests.over(BOB, 100.0)
    assert not rests.left_alone(ADA, 100.0)


def test_no_shows_are_left_alone_longer_each_time():
    rests = Rests(1.0)
    pauses = [rests.no_show(ADA, 0.0) for _ in range(6)]
    assert pauses[:3] == [FIRST_S, 2 * FIRST_S, 4 * FIRST_S]
    assert pauses[-1] == LONGEST_S
    assert not rests.over(ADA, LONGEST_S - 0.1)
    assert rests.left_alone(ADA, 0.0)
    assert not rests.left_alone(BOB, 0.0)
    assert rests.over(ADA, LONGEST_S)


def test_one_match_played_makes_good_for_one_that_was_not():
    rests = Rests(0.0)
    for _ in range(3):
        rests.no_show(ADA, 0.0)
    rests.played(ADA, 1_000.0)
    assert rests.no_show(ADA, 1_000.0) == 4 * FIRST_S
