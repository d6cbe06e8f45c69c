"""How a match ends: an outcome and a cause for each seat."""

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


_SCORES = {Outcome.WIN: 1.0, Outcome.DRAW: 0.5, Outcome.LOSS: 0.0, Outcome.VOID: None}


@dataclass(frozen=True)
class Result:
    """Outcomes and causes by seat; `detail` says for people what these do not, and may be empty."""

    outcomes: tuple[Outcome, ...]
    causes: tuple[Cause, ...]
    detail: str = ""

    @property
    def void(self) -> bool:
        """Whether the match counts for nobody."""
        return Outcome.VOID in self.outcomes

    @property
    def scores(self) -> tuple[float | None, ...]:
        """1 for a win, 1/2 for a draw, 0 for a loss; None if void."""
        return tuple(_SCORES[outcome] for outcome in self.outcomes)


def by_utilities(utilities: Sequence[float]) -> Result:
    """Return the result of a game played to its end: the highest utility wins, a shared one is a draw."""
    best = max(utilities)
    winners = [seat for seat, utility in enumerate(utilities) if utility == best]
    top = Outcome.WIN if len(winners) == 1 else Outcome.DRAW
    outcomes = tuple(top if utility == best else Outcome.LOSS for utility in utilities)
    return Result(outcomes, (Cause.NORMAL,) * len(utilities))


def forfeit(seats: int, seat: int, cause: Cause, detail: str) -> Result:
    """Return the result where `seat` lost by a fault of its own."""
    return Result(
        tuple(Outcome.LOSS if other == seat else Outcome.WIN for other in range(seats)),
        tuple(cause if other == seat else Cause.NORMAL for other in range(seats)),
        detail,
    )


def void(causes: Sequence[Cause], detail: str) -> Result:
    """Return a result that counts for nobody."""
    return Result((Outcome.VOID,) * len(causes), tuple(causes), detail)
