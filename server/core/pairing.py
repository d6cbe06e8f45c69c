"""Who plays whom next on a ladder.

A pair's weight is the information its games are expected to give: E(1-E), the variance of one game's
result, times the sum of both ratings' variances, divided by 1 + the games these two have played. Agents
that wait are preferred, and one that has waited for long comes next in any case; one pair in ten is
chosen uniformly, so that no pair is never played.

A game of more than two players is played by a table. Its first two are drawn as a pair is, and each further
agent by the sum of its weights with those who are seated already. A table always plays one game for each
turn of its seats, so that everybody has had every seat: a pair two games, with seats swapped.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import TypeVar

from server.core.elo import SCALE, expected

T = TypeVar("T")

UNIFORM_SHARE = 0.1
"""Share of the tables that is drawn uniformly."""

PRIOR_ELO = 350.0
"""Standard deviation of the strengths of agents nobody has seen play."""

WAIT_UNIT_S = 10.0
"""A pair whose agents have waited this long together counts twice, one of twice this three times, ..."""

WAIT_CAP_S = 60.0
"""Longer waits raise the weight no further."""

OVERDUE_S = 30.0
"""An agent that has waited this long is at the next table, the longest wait first. House agents never are."""

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


def choose_table(
    candidates: Sequence[Candidate],
    together: Mapping[frozenset[int], int],
    draw: Callable[[], float],
    *,
    seats: int = 2,
    house_tables: bool = True,
) -> tuple[int, ...] | None:
    """Choose so many different versions that play each other next, or None if there is no such table.

    `together` counts the games of each pair so far; `draw` gives uniform random numbers in [0, 1), one for
    the table and one for each version but the first. Tables of house agents alone are considered only with
    `house_tables`. Time is quadratic in the number of candidates.
    """
    if len({one.version for one in candidates}) < seats:
        return None
    pairs = [
        (one, other)
        for one, other in combinations(candidates, 2)
        if one.version != other.version and (house_tables or not (one.house and other.house))
    ]
    overdue = [one for one in candidates if not one.house and one.waiting_s >= OVERDUE_S]
    if overdue:
        first = max(overdue, key=lambda one: one.waiting_s)
        pairs = [pair for pair in pairs if first in pair]
    if not pairs:
        return None
    uniform = draw() < UNIFORM_SHARE
    pair = _drawn(pairs, lambda pair: 1.0 if uniform else _weight(*pair, together), draw)
    table = list(pair)
    while len(table) < seats:
        seated = {one.version for one in table}
        left = [one for one in candidates if one.version not in seated]

        def preference(one: Candidate) -> float:
            return 1.0 if uniform else sum(_weight(one, other, together) for other in table)

        table.append(_drawn(left, preference, draw))
    return tuple(one.version for one in table)


def _weight(one: Candidate, other: Candidate, together: Mapping[frozenset[int], int]) -> float:
    return weight(one, other, together.get(frozenset((one.version, other.version)), 0))


def weight(one: Candidate, other: Candidate, games_together: int) -> float:
    """Preference for a pair; only ratios of weights matter."""
    score = expected(one.elo, other.elo)
    waited_s = min(one.waiting_s, WAIT_CAP_S) + min(other.waiting_s, WAIT_CAP_S)
    information = score * (1.0 - score) * (variance(one.games) + variance(other.games))
    return information / (1 + games_together) * (1.0 + waited_s / WAIT_UNIT_S)


def variance(games: int) -> float:
    """Variance of a rating after some games, in Elo^2: the prior's, shrunk by what each game tells."""
    return 1.0 / (1.0 / PRIOR_ELO**2 + games * _PER_GAME)


def seatings(table: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the games of a table, versions by seat: everybody moves up by one, and has each seat once."""
    return [(*table[turn:], *table[:turn]) for turn in range(len(table))]


def _drawn(choices: Sequence[T], weigh: Callable[[T], float], draw: Callable[[], float]) -> T:
    """Draw one of some choices, each with a probability in proportion to its weight."""
    return choices[_pick([weigh(choice) for choice in choices], draw())]


def _pick(weights: Sequence[float], u: float) -> int:
    """Return an index with probability proportional to its weight, from u uniform in [0, 1)."""
    point = u * sum(weights)
    for index, share in enumerate(weights):
        point -= share
        if point < 0:
            return index
    return len(weights) - 1
