"""What pages say about a match, in words and figures. The browser gets the same table of causes."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from agents.protocol import TimeControl
from games.board import Board
from server.core.clock import UNTIMED_MS
from server.db.rows import MatchRow

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
SECOND_MS = 1000
SCORES: dict[str, str] = {"win": "1", "draw": "½", "loss": "0", "void": "–"}
_MERITS: dict[str | None, float] = {"win": 1.0, "draw": 0.5, "loss": 0.0}
_OPEN = {
    "queued": "It starts when all its agents have a hand free.",
    "starting": "Waiting for all agents to be ready. No clock runs yet.",
}
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


class SeatEnd(Protocol):
    """How a match ended for a seat. All is None until then, and the utility where no game was played out."""

    @property
    def outcome(self) -> str | None:
        """Win, draw, loss or void."""

    @property
    def cause(self) -> str | None:
        """Why."""

    @property
    def utility(self) -> float | None:
        """What the game gave it."""


S = TypeVar("S", bound=SeatEnd)


def pace(control: TimeControl) -> str:
    """Return a time control in a few words: "60 s + 0.5 s, then 3 × 5 s, 2 strikes"."""
    told = []
    if control.bank_ms:
        added = f" + {seconds(control.increment_ms)}" if control.increment_ms else ""
        told.append(f"{seconds(control.bank_ms)}{added}")
    if control.byoyomi_ms:
        told.append(f"{'then ' if told else ''}{control.periods} × {seconds(control.byoyomi_ms)}")
    if control.move_ms:
        told.append(f"{'at most ' if told else ''}{seconds(control.move_ms)} a move")
    if not told:
        told.append("no clock")
    if control.nodes:
        told.append(f"{control.nodes:,} nodes a move")
    if control.strikes:
        told.append(f"{control.strikes} {'strikes' if control.strikes > 1 else 'strike'}")
    return ", ".join(told)


def pace_explained(control: TimeControl) -> str:
    """Return a time control in a sentence, for those who do not know how it is written in short."""
    told = []
    if control.bank_ms:
        added = f", {seconds(control.increment_ms)} added after each move" if control.increment_ms else ""
        told.append(f"{seconds(control.bank_ms)} for all moves of a game{added}")
    if control.byoyomi_ms:
        periods = f", with {control.periods} such periods: a move that takes longer uses one up"
        then = f"{'then ' if told else ''}{seconds(control.byoyomi_ms)} for each move"
        told.append(f"{then}{periods if control.periods > 1 else ''}")
    if control.move_ms:
        own = f"{seconds(control.move_ms)} for"
        told.append(f"at most {own} any of them" if told else f"{own} each move")
    if not told:
        told.append(f"no clock runs, only a move that takes over {seconds(UNTIMED_MS)} is too late")
    if control.nodes:
        told.append(f"agents of the house look at {control.nodes:,} nodes a move at most")
    if control.strikes:
        first = f"first {control.strikes} time-outs cost" if control.strikes > 1 else "first time-out costs"
        told.append(f"the {first} no game: a random legal action is played")
    return "; ".join(told).capitalize() + "."


def allowances(control: TimeControl) -> list[tuple[str, str]]:
    """Return what a time control gives beside its clock: each by its name, and in a sentence."""
    kinds = (
        (control.ready_ms, "Start-up", "to get ready, before any clock runs."),
        (control.margin_ms, "Margin", "over the limit still counts, with every move."),
        (
            control.lag_ms,
            "Lag bank",
            "at most for the way there and back: it is not charged, and the bank fills again.",
        ),
        (control.grace_ms, "Grace", "of a game without a connection are not charged."),
    )
    return [(name, f"{seconds(ms)} {what}") for ms, name, what in kinds if ms]


def seconds(ms: int) -> str:
    """Return a time in seconds, "0.5 s"."""
    return f"{ms / SECOND_MS:g} s"


def score(seats: Sequence[SeatEnd]) -> str:
    """Return the scores by seat, "1–0", or more than two places, "1st, 3rd, 2nd"; "void" or "–" if none."""
    outcomes = [seat.outcome for seat in seats]
    if "void" in outcomes:
        return "void"
    if len(seats) > 2 and None not in outcomes:
        return ", ".join(map(_ordinal, _places(seats)))
    return "–".join(SCORES[outcome] for outcome in outcomes if outcome) or "–"


def placed(seats: Sequence[S]) -> list[tuple[S, str]]:
    """Return the seats of a finished match with their places, "1st", the best first."""
    ordered = sorted(zip(_places(seats), seats, strict=True), key=lambda one: one[0])
    return [(seat, _ordinal(place)) for place, seat in ordered]


def points(seats: Sequence[SeatEnd]) -> list[str]:
    """Return by seat what a match gave it: points, or its place where more than two played; "" until then."""
    outcomes = [seat.outcome for seat in seats]
    if len(seats) > 2 and None not in outcomes and "void" not in outcomes:
        return list(map(_ordinal, _places(seats)))
    return [SCORES[outcome] if outcome else "" for outcome in outcomes]


def stand(match: MatchRow) -> str:
    """Return how a match stands, in a sentence: what is said until the script of the page knows more."""
    if match.state == "void":
        return "Void · counts for nobody"
    if match.state != "finished":
        return _OPEN.get(
            match.state, f"It runs; {match.moves} {'ply' if match.moves == 1 else 'plies'} so far."
        )
    won, shared = ([seat.agent for seat in match.seats if seat.outcome == kind] for kind in ("win", "draw"))
    if won:
        return f"{', '.join(won)} won · {cause(match.seats)}"
    if len(shared) < len(match.seats):
        return f"{', '.join(shared)} share first place · {cause(match.seats)}"
    return f"Draw · {cause(match.seats)}"


def sides(board: Board) -> tuple[str, ...]:
    """Return names of the sides by seat; "" where pieces have their seats' colours.

    The script `sides.js` says the same.
    """
    if board.style in {"felt", "wood", "points"}:
        return ("black", "white")
    return ("white", "black") if "king" in board.kinds.values() else ("",) * 4


def _places(seats: Sequence[SeatEnd]) -> list[int]:
    """Return places by utility, or by outcome where the game was not played to its end. Equals share one."""
    utilities = [seat.utility for seat in seats if seat.utility is not None]
    merits = utilities if len(utilities) == len(seats) else [_MERITS.get(seat.outcome, 0.0) for seat in seats]
    return [1 + sum(other > own for other in merits) for own in merits]


def _ordinal(place: int) -> str:
    return f"{place}{_ENDINGS.get(place, 'th')}"


def cause(seats: Sequence[SeatEnd]) -> str:
    """Return why the match ended: the cause of the seat that lost, if one did."""
    ended = sorted(
        (seat for seat in seats if seat.cause is not None),
        key=lambda seat: (seat.outcome != "loss", seat.cause == "normal"),
    )
    return CAUSES[ended[0].cause] if ended and ended[0].cause else "not ended"
