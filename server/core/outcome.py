"""How a match ends: an outcome and a cause for each seat.

Seats are placed by their utilities, the highest first; equal utilities share a place. A seat alone in first
place has won, those that share it have drawn, and all others have lost. So with two seats more utility wins
and equal utilities are a draw, also where the sum is not zero.

A seat that forfeits ends the match for all: it is last, and the others share first place, whatever the game
would have given them. With two seats the other one has won.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What a seat got."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"
    VOID = "void"


class Cause(StrEnum):
    """Why a seat got it. `infrastructure` never counts for or against anybody."""

    NORMAL = "normal"
    RULE_DRAW = "rule_draw"
    AGREEMENT = "agreement"
    TIMEOUT = "timeout"
    ILLEGAL_ACTION = "illegal_action"
    CRASH = "crash"
    DISCONNECT = "disconnect"
    NO_SHOW = "no_show"
    RESIGNATION = "resignation"
    ADJUDICATION = "adjudication"
    INFRASTRUCTURE = "infrastructure"


PLAYED_OUT = frozenset({Cause.NORMAL, Cause.RULE_DRAW})
"""Causes of a game played to its end."""

_MERITS = {Outcome.WIN: 1.0, Outcome.DRAW: 0.5, Outcome.LOSS: 0.0}


@dataclass(frozen=True)
class Result:
    """Outcomes and causes by seat; `detail` says for people what these do not, and may be empty.

    `utilities` are those of a game played to its end, empty for any other end.
    """

    outcomes: tuple[Outcome, ...]
    causes: tuple[Cause, ...]
    detail: str = ""
    utilities: tuple[float, ...] = ()

    @property
    def void(self) -> bool:
        """Whether the match counts for nobody."""
        return Outcome.VOID in self.outcomes

    @property
    def scores(self) -> tuple[float | None, ...]:
        """Each seat's mean score against one other seat; None if void.

        Against a seat in a lower place it is 1, in the same one 1/2, in a higher one 0: for two seats 1 for a
        win, 1/2 for a draw, 0 for a loss. More utility always gives more.
        """
        return (None,) * len(self.outcomes) if self.void else _mean_scores(self._merits)

    @property
    def sound(self) -> bool:
        """Whether the outcomes are those that places give: by the utilities if there are any."""
        return not self.void and self.outcomes == _outcomes(self._merits)

    @property
    def _merits(self) -> Sequence[float]:
        """Numbers by which the seats are placed."""
        return self.utilities or [_MERITS[outcome] for outcome in self.outcomes]


def _outcomes(merits: Sequence[float]) -> tuple[Outcome, ...]:
    best = max(merits)
    top = Outcome.DRAW if sum(merit == best for merit in merits) > 1 else Outcome.WIN
    return tuple(top if merit == best else Outcome.LOSS for merit in merits)


def _mean_scores(merits: Sequence[float]) -> tuple[float, ...]:
    others = len(merits) - 1
    return tuple(
        (sum((mine > theirs) + (mine == theirs) / 2 for theirs in merits) - 0.5) / others  # less the own half
        for mine in merits
    )


def by_utilities(utilities: Sequence[float], *, rule_draw: bool = False) -> Result:
    """Return the result of a game played to its end; `rule_draw` if a rule such as repetition drew it."""
    return Result(
        _outcomes(utilities),
        (Cause.RULE_DRAW if rule_draw else Cause.NORMAL,) * len(utilities),
        utilities=tuple(utility + 0.0 for utility in utilities),  # no zero with a sign is shown to anybody
    )


def forfeit(seats: int, seat: int, cause: Cause, detail: str) -> Result:
    """Return the result where `seat` lost by a fault of its own: it is last, and the others are equal."""
    others = Outcome.WIN if seats == 2 else Outcome.DRAW
    return Result(
        tuple(Outcome.LOSS if other == seat else others for other in range(seats)),
        tuple(cause if other == seat else Cause.NORMAL for other in range(seats)),
        detail,
    )


def void(causes: Sequence[Cause], detail: str) -> Result:
    """Return a result that counts for nobody."""
    return Result((Outcome.VOID,) * len(causes), tuple(causes), detail)
