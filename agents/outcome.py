"""How a match ends without a server: outcomes, causes and scores by seat, as on one.

By the highest utility a seat wins, where several share it they draw, and all others lose. Whoever forfeits is
last, and the others are equal.
"""

from collections.abc import Sequence
from typing import TypeAlias

from agents.protocol import Cause, Outcome
from games import Position

Ends: TypeAlias = tuple[tuple[Outcome, ...], tuple[Cause, ...]]
"""Outcomes and causes by seat."""

_MERITS: dict[Outcome, float] = {"win": 1.0, "draw": 0.5, "loss": 0.0}


def by_rules(position: Position) -> Ends:
    """Return how a game ended that was played to its end."""
    utilities = position.utilities()
    best = max(utilities)
    top: Outcome = "draw" if utilities.count(best) > 1 else "win"
    cause: Cause = "rule_draw" if position.rule_draw() else "normal"
    return tuple(top if utility == best else "loss" for utility in utilities), tuple(cause for _ in utilities)


def loss_of(seat: int, cause: Cause, players: int) -> Ends:
    """Return how a match ended that one seat has lost by itself."""
    others: Outcome = "win" if players == 2 else "draw"
    outcomes: tuple[Outcome, ...] = tuple("loss" if other == seat else others for other in range(players))
    causes: tuple[Cause, ...] = tuple(cause if other == seat else "normal" for other in range(players))
    return outcomes, causes


def scores(outcomes: Sequence[Outcome], utilities: Sequence[float | None] = ()) -> list[float | None]:
    """Return each seat's mean score against one other: 1 if it is placed higher, 1/2 if equal, 0 if lower.

    Places are by the `utilities`, if all are known, else by the outcomes. None if void.
    """
    if "void" in outcomes:
        return [None for _ in outcomes]
    known = [utility for utility in utilities if utility is not None]
    merits = known if len(known) == len(outcomes) else [_MERITS[outcome] for outcome in outcomes]
    others = len(merits) - 1
    return [(sum((own > it) + (own == it) / 2 for it in merits) - 0.5) / others for own in merits]
