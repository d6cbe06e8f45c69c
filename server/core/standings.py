"""A ladder's table: its columns and its order."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from server.core.names import name_key

PROVISIONAL_GAMES = 30
"""With fewer rated games than this a rating is marked as provisional."""


@dataclass(frozen=True)
class StandingsRow:
    """One row of the standings; the fields, in this order, are the columns of every export.

    `rating`, with its 95 % interval, is what the rank follows; ratings are in Elo. `tier` numbers groups
    of agents that the intervals cannot tell apart, `los_next` is the probability of being stronger than
    the next row; both, and the interval, are None while the rating is the live Elo.
    """

    rank: int
    tier: int | None
    agent: str
    version: int
    owner: str | None
    rating: float
    rating_low: float | None
    rating_high: float | None
    elo: float
    provisional: bool
    games: int
    wins: int
    draws: int
    losses: int
    los_next: float | None


COLUMNS = tuple(column.name for column in fields(StandingsRow))


def standing(
    *, agent: str, version: int, owner: str | None, elo: float, wins: int, draws: int, losses: int
) -> StandingsRow:
    """Return the row of one agent by its live Elo, not yet ranked (rank 0)."""
    games = wins + draws + losses
    return StandingsRow(
        rank=0,
        tier=None,
        agent=agent,
        version=version,
        owner=owner,
        rating=elo,
        rating_low=None,
        rating_high=None,
        elo=elo,
        provisional=games < PROVISIONAL_GAMES,
        games=games,
        wins=wins,
        draws=draws,
        losses=losses,
        los_next=None,
    )


def rank_rows(rows: Iterable[StandingsRow]) -> list[StandingsRow]:
    """Sort by rating, best first, and number the ranks.

    Ratings that are equal to a tenth of a point, the precision shown, share a rank and stand in the
    order of their names; the next rank leaves a gap (1, 2, 2, 4).
    """
    ordered = sorted(rows, key=lambda row: (-_shown(row), name_key(row.agent), row.agent, row.version))
    ranked: list[StandingsRow] = []
    for place, row in enumerate(ordered, start=1):
        tied = ranked and _shown(ranked[-1]) == _shown(row)
        ranked.append(replace(row, rank=ranked[-1].rank if tied else place))
    return ranked


def _shown(row: StandingsRow) -> float:
    return round(row.rating, 1)
