"""Outcomes and causes by seat."""

from itertools import product

import hypothesis.strategies as st
import pytest
from hypothesis import given

from server.core.outcome import Cause, Outcome, Result, by_utilities, forfeit, void

WIN, DRAW, LOSS, VOID = Outcome.WIN, Outcome.DRAW, Outcome.LOSS, Outcome.VOID


@pytest.mark.parametrize(
    ("utilities", "outcomes", "scores"),
    [
        ((1.0, -1.0), (WIN, LOSS), (1.0, 0.0)),
        ((-1.0, 1.0), (LOSS, WIN), (0.0, 1.0)),
        ((0.0, 0.0), (DRAW, DRAW), (0.5, 0.5)),
        ((-3.0, 3.0), (LOSS, WIN), (0.0, 1.0)),
        ((5.0, 3.0), (WIN, LOSS), (1.0, 0.0)),
        ((-4.0, -4.0), (DRAW, DRAW), (0.5, 0.5)),
        ((-1.0, 2.0, -1.0), (LOSS, WIN, LOSS), (0.25, 1.0, 0.25)),
        ((1.0, -2.0, 1.0), (DRAW, LOSS, DRAW), (0.75, 0.0, 0.75)),
        ((3.0, 5.0, 1.0), (LOSS, WIN, LOSS), (0.5, 1.0, 0.0)),
        ((0.0, 0.0, 0.0), (DRAW, DRAW, DRAW), (0.5, 0.5, 0.5)),
        ((0.0, 3.0, 1.0, 3.0), (LOSS, DRAW, LOSS, DRAW), (0.0, 2.5 / 3, 1 / 3, 2.5 / 3)),
    ],
)
def test_the_highest_utility_wins_and_a_shared_one_is_a_draw(utilities, outcomes, scores):
    result = by_utilities(utilities)
    assert result.outcomes == outcomes
    assert result.scores == scores
    assert result.causes == (Cause.NORMAL,) * len(utilities)
    assert result.utilities == utilities
    assert not result.void


@given(st.lists(st.integers(-3, 3).map(float), min_size=2, max_size=6))
def test_more_utility_is_a_higher_score_and_the_scores_share_one_sum(utilities):
    scores = by_utilities(utilities).scores
    assert sum(scores) == pytest.approx(len(utilities) / 2)
    for (mine, score), (theirs, other) in product(zip(utilities, scores, strict=True), repeat=2):
        assert (score > other) == (mine > theirs)
        assert (score == other) == (mine == theirs)


@pytest.mark.parametrize(
    ("outcomes", "utilities", "sound"),
    [
        ((WIN, LOSS), (), True),
        ((DRAW, DRAW), (), True),
        ((WIN, WIN), (), False),
        ((LOSS, LOSS), (), False),
        ((DRAW, LOSS), (), False),
        ((VOID, VOID), (), False),
        ((WIN, LOSS, LOSS), (), True),
        ((DRAW, DRAW, LOSS), (), True),
        ((WIN, WIN, LOSS), (), False),
        ((WIN, DRAW, LOSS), (), False),
        ((DRAW, LOSS, LOSS), (), False),
        ((WIN, LOSS), (5.0, 3.0), True),
        ((WIN, LOSS), (3.0, 5.0), False),
        ((DRAW, DRAW), (3.0, 5.0), False),
        ((DRAW, DRAW, LOSS), (2.0, 2.0, 0.0), True),
    ],
)
def test_which_outcomes_places_give(outcomes, utilities, sound):
    causes = (Cause.NORMAL,) * len(outcomes)
    assert Result(outcomes, causes, utilities=utilities).sound == sound


def test_a_draw_by_a_rule_says_so_for_every_seat():
    result = by_utilities((0.0, 0.0), rule_draw=True)
    assert (result.outcomes, result.causes) == ((DRAW, DRAW), (Cause.RULE_DRAW,) * 2)


def test_nobody_is_shown_a_zero_with_a_sign():
    assert [str(utility) for utility in by_utilities((-0.0, 0.0)).utilities] == ["0.0", "0.0"]


@pytest.mark.parametrize(("seats", "others"), [(2, WIN), (3, DRAW), (4, DRAW)])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_forfeit_is_last_and_the_others_are_equal(seats, others, seat):
    result = forfeit(seats, seat, Cause.TIMEOUT, "too slow")
    for other in range(seats):
        assert result.outcomes[other] is (LOSS if other == seat else others)
        assert result.causes[other] is (Cause.TIMEOUT if other == seat else Cause.NORMAL)
    best = {score for other, score in enumerate(result.scores) if other != seat}
    assert len(best) == 1
    assert result.scores[seat] == 0.0
    assert sum(result.scores) == pytest.approx(seats / 2)
    assert result.utilities == ()
    assert result.detail == "too slow"
    assert not result.void


def test_a_void_match_has_no_scores():
    result = void([Cause.NORMAL, Cause.NO_SHOW], "not ready in time")
    assert result == Result((VOID, VOID), (Cause.NORMAL, Cause.NO_SHOW), "not ready in time")
    assert result.void
    assert result.scores == (None, None)
