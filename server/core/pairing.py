"""Who plays whom next on a ladder.

A pair's weight is the information its games are expected to give: E(1-E), the variance of one game's
result, times the sum of both ratings' variances, divided by 1 + the games these two have played. Agents
that wait are preferred, and one that has waited for long comes next in any case; one pair in ten is
chosen uniformly, so that no pair is never played. A pair always plays two games with seats swapped.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

from server.core.elo import SCALE, expected

UNIFORM_SHARE = 0.1
"""Share of the pairs that is drawn uniformly."""

PRIOR_ELO = 350.0
"""Standard deviation of the strengths of agents nobody has seen play."""

WAIT_UNIT_S = 10.0
"""A pair whose agents have waited this long together counts twice, one of twice this three times, ..."""

WAIT_CAP_S = 60.0
"""Longer waits raise the weight no further."""

OVERDUE_S = 30.0
"""An agent that has waited this long is in the next pair, the longest wait first. House agents never are."""

_PER_GAME = (log(10.0) / SCALE) ** 2 / 4
"""Fisher information of one game between equals about their difference, in 1/Elo^2."""


@dataclass(frozen=True)
class Candidate:
    """A version that could play now; it waits since its last match began, or since it came."""

    version: int
    elo: float
    games: int
    waiting_s: float
    house: bool = False


def choose_pair(
    candidates: Sequence[Candidate],
    together: Mapping[frozenset[int], int],
    draw: Callable[[], float],
    *,
    house_pairs: bool = True,
) -> tuple[int, int] | None:
    """Choose two versions that play each other next, or None if no pair is possible.

    `together` counts the games of each pair so far; `draw` gives uniform random numbers in [0, 1).
    Pairs of two house agents are considered only with `house_pairs`. Time is quadratic in the number of
    candidates.
    """
    pairs = [
        (one, other)
        for one, other in combinations(candidates, 2)
        if one.version != other.version and (house_pairs or not (one.house and other.house))
    ]
    overdue = [one for one in candidates if not one.house and one.waiting_s >= OVERDUE_S]
    if overdue:
        first = max(overdue, key=lambda one: one.waiting_s)
        pairs = [pair for pair in pairs if first in pair]
    if not pairs:
        return None
    if draw() < UNIFORM_SHARE:
        weights = [1.0] * len(pairs)
    else:
        weights = [weight(one, other, together.get(_both(one, other), 0)) for one, other in pairs]
    one, other = pairs[_pick(weights, draw())]
    return one.version, other.version


def weight(one: Candidate, other: Candidate, games_together: int) -> float:
    """Preference for a pair; only ratios of weights matter."""
    score = expected(one.elo, other.elo)
    waited_s = min(one.waiting_s, WAIT_CAP_S) + min(other.waiting_s, WAIT_CAP_S)
    information = score * (1.0 - score) * (variance(one.games) + variance(other.games))
    return information / (1 + games_together) * (1.0 + waited_s / WAIT_UNIT_S)


def variance(games: int) -> float:
    """Variance of a rating after some games, in Elo^2: the prior's, shrunk by what each game tells."""
    return 1.0 / (1.0 / PRIOR_ELO**2 + games * _PER_GAME)


def seatings(pair: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the two games of a pair, versions by seat: each moves first once."""
    one, other = pair
    return (one, other), (other, one)


def _both(one: Candidate, other: Candidate) -> frozenset[int]:
    return frozenset((one.version, other.version))


def _pick(weights: Sequence[float], u: float) -> int:
    """Return an index with probability proportional to its weight, from u uniform in [0, 1)."""
    point = u * sum(weights)
    for index, share in enumerate(weights):
        point -= share
        if point < 0:
            return index
    return len(weights) - 1
