"""Outcomes and causes by seat."""

import pytest

from server.core.outcome import Cause, Outcome, Result, by_utilities, forfeit, void

WIN, DRAW, LOSS, VOID = Outcome.WIN, Outcome.DRAW, Outcome.LOSS, Outcome.VOID


@pytest.mark.parametrize(
    ("utilities", "outcomes", "scores"),
    [
        ((1.0, -1.0), (WIN, LOSS), (1.0, 0.0)),
        ((-1.0, 1.0), (LOSS, WIN), (0.0, 1.0)),
        ((0.0, 0.0), (DRAW, DRAW), (0.5, 0.5)),
        ((-3.0, 3.0), (LOSS, WIN), (0.0, 1.0)),
        ((-1.0, 2.0, -1.0), (LOSS, WIN, LOSS), (0.0, 1.0, 0.0)),
        ((1.0, -2.0, 1.0), (DRAW, LOSS, DRAW), (0.5, 0.0, 0.5)),
    ],
)
def test_the_highest_utility_wins_and_a_shared_one_is_a_draw(utilities, outcomes, scores):
    result = by_utilities(utilities)
    assert result.outcomes == outcomes
    assert result.scores == scores
    assert result.causes == (Cause.NORMAL,) * len(utilities)
    assert not result.void


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_forfeit_costs_only_its_seat(seats, seat):
    result = forfeit(seats, seat, Cause.TIMEOUT, "too slow")
    for other in range(seats):
        assert result.outcomes[other] is (LOSS if other == seat else WIN)
        assert result.causes[other] is (Cause.TIMEOUT if other == seat else Cause.NORMAL)
    assert result.detail == "too slow"
    assert not result.void


def test_a_void_match_has_no_scores():
    result = void([Cause.NORMAL, Cause.NO_SHOW], "not ready in time")
    assert result == Result((VOID, VOID), (Cause.NORMAL, Cause.NO_SHOW), "not ready in time")
    assert result.void
    assert result.scores == (None, None)
