"""What pages say about a match, in words and figures. The browser gets the same table of causes."""

from collections.abc import Sequence
from typing import Protocol

CAUSES: dict[str, str] = {
    "normal": "normal end",
    "rule_draw": "drawn by rule",
    "agreement": "draw agreed",
    "timeout": "timeout",
    "illegal_action": "illegal action",
    "crash": "crash",
    "disconnect": "lost connection",
    "no_show": "no show",
    "resignation": "resignation",
    "adjudication": "adjudicated",
    "infrastructure": "server fault",
}
SCORES: dict[str, str] = {"win": "1", "draw": "½", "loss": "0", "void": "–"}


class SeatEnd(Protocol):
    """How a match ended for a seat; both are None until then."""

    @property
    def outcome(self) -> str | None:
        """Win, draw, loss or void."""

    @property
    def cause(self) -> str | None:
        """Why."""


def score(seats: Sequence[SeatEnd]) -> str:
    """Return the scores by seat, "1–0"; "void" or "–" where there are none."""
    outcomes = [seat.outcome for seat in seats]
    if "void" in outcomes:
        return "void"
    return "–".join(SCORES[outcome] for outcome in outcomes if outcome) or "–"


def cause(seats: Sequence[SeatEnd]) -> str:
    """Return why the match ended: the cause of the seat that lost, if one did."""
    ended = sorted(
        (seat for seat in seats if seat.cause is not None),
        key=lambda seat: (seat.outcome != "loss", seat.cause == "normal"),
    )
    return CAUSES[ended[0].cause] if ended and ended[0].cause else "not ended"
