"""Live Elo: ratings that move after each match.

The logistic model of Arpad Elo (The Rating of Chessplayers, Past and Present, 1978): a difference of
400 means expected scores of 10 to 1. An update always starts from the ratings at the moment the match
finishes, never from those at its start, so parallel matches add up and a recomputation from the results
in their order gives the same numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

START = 1500.0
"""Rating of an agent nobody has seen play."""

SCALE = 400.0
"""Elo points for a factor of ten in the odds."""

K_FIRST = 160.0
K_LAST = 16.0
K_HALVING_GAMES = 8
"""After this many games K is half of `K_FIRST`."""


class Entry(NamedTuple):
    """A rating in Elo and the number of rated games behind it."""

    elo: float
    games: int


class Result(NamedTuple):
    """A finished match: who sat at each seat, and each seat's score, as `server.core.outcome` has it."""

    versions: tuple[int, ...]
    scores: tuple[float, ...]


def expected(a: float, b: float) -> float:
    """Score that a player rated `a` is expected to make against one rated `b`, in (0, 1)."""
    return float(1.0 / (1.0 + 10.0 ** ((b - a) / SCALE)))


def k_factor(games: int) -> float:
    """Elo points at stake for a version with this many rated games: max(16, 160 / (1 + n/8))."""
    return max(K_LAST, K_FIRST / (1.0 + games / K_HALVING_GAMES))


def adjusted(elo: float, opponents: Sequence[float], scores: Sequence[float], k: float) -> float:
    """Rating after a match against `opponents`, with the score made against each: elo + k * mean(s - E)."""
    surprise = sum(score - expected(elo, other) for other, score in zip(opponents, scores, strict=True))
    return elo + k * surprise / len(opponents)


def update(ratings: Sequence[Entry], scores: Sequence[float]) -> tuple[float, ...]:
    """Return the new rating of each seat after a match.

    With n players the match counts as a game of everybody against everybody, won by the higher score and
    drawn between equal ones, at 1/(n-1) of the stake each; for two players that is the classic update. A
    seat in a better place has the higher score, so the places alone decide. With equal K the sum of all
    ratings stays what it was.
    """
    if len(ratings) != len(scores) or len(ratings) < 2:
        raise ValueError(
            f"expected one score a seat for 2 or more seats, got {len(ratings)} and {len(scores)}"
        )
    after = []
    for seat, entry in enumerate(ratings):
        others = [other for other in range(len(ratings)) if other != seat]
        after.append(
            adjusted(
                entry.elo,
                [ratings[other].elo for other in others],
                [_versus(scores[seat], scores[other]) for other in others],
                k_factor(entry.games),
            )
        )
    return tuple(after)


def _versus(mine: float, theirs: float) -> float:
    """Score of one player against one other, from the scores both made in the match."""
    return 0.5 if mine == theirs else float(mine > theirs)


def recompute(results: Iterable[Result], starts: Mapping[int, float]) -> dict[int, Entry]:
    """Rate all results of one ladder anew, in the order they were finished.

    `starts` gives the rating each version began with (that of its parent, or START); versions without
    a match keep it. The result maps every version of `starts` to its rating and number of games.
    """
    entries = {version: Entry(elo, 0) for version, elo in starts.items()}
    for result in results:
        before = [entries[version] for version in result.versions]
        after = update(before, result.scores)
        for version, entry, elo in zip(result.versions, before, after, strict=True):
            entries[version] = Entry(elo, entry.games + 1)
    return entries
