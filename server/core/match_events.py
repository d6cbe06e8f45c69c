"""What happens to a match and what follows from it, as data; see server.core.match.

Times are seconds on the server's monotonic clock unless a name says milliseconds.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

from server.core.outcome import Result


@dataclass(frozen=True)
class Timing:
    """How a move was timed, in milliseconds: charged = elapsed - refunded."""

    elapsed_ms: int
    refunded_ms: int
    charged_ms: int


# events ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ready:
    """A seat has set itself up."""

    seat: int
    at: float


@dataclass(frozen=True)
class HandedOver:
    """The request for `ply` was handed to the socket (or would have been, had the seat been connected)."""

    ply: int
    at: float


@dataclass(frozen=True)
class Action:
    """A seat's reply. `late_s` is how late the server's own loop was in taking it: it is not charged."""

    seat: int
    ply: int
    text: str
    at: float
    info: dict[str, Any] | None = None
    late_s: float = 0.0


@dataclass(frozen=True)
class Resign:
    """A seat gives up, because its code crashed or of its own will."""

    seat: int
    at: float
    crashed: bool = False


@dataclass(frozen=True)
class Lost:
    """A seat's connection was lost."""

    seat: int
    at: float


@dataclass(frozen=True)
class Back:
    """A seat is connected again."""

    seat: int
    at: float


@dataclass(frozen=True)
class DeadlinePassed:
    """The timer that `SetDeadline` asked for has fired."""

    at: float


@dataclass(frozen=True)
class Abort:
    """The server cannot go on with the match through nobody's fault."""

    at: float
    detail: str


MatchEvent: TypeAlias = Ready | HandedOver | Action | Resign | Lost | Back | DeadlinePassed | Abort


# effects --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Announce:
    """Send `match_start` to the seat."""

    seat: int


@dataclass(frozen=True)
class Begin:
    """All seats are ready."""


@dataclass(frozen=True)
class Ask:
    """Send `your_move` to the seat, not before `not_before`; report `HandedOver` unless it is `again`."""

    seat: int
    ply: int
    not_before: float
    again: bool = False


@dataclass(frozen=True)
class Accept:
    """Record the move, then acknowledge it and tell spectators."""

    seat: int
    ply: int
    action: str
    timing: Timing
    info: dict[str, Any] | None


@dataclass(frozen=True)
class Acknowledge:
    """Acknowledge a move that is recorded already."""

    seat: int
    ply: int


@dataclass(frozen=True)
class Reject:
    """Tell the seat that its move changed nothing."""

    seat: int
    ply: int
    code: str
    message: str


@dataclass(frozen=True)
class SetDeadline:
    """Report `DeadlinePassed` at this time; it replaces an earlier deadline."""

    at: float


@dataclass(frozen=True)
class Finish:
    """The match is over."""

    result: Result


Effect: TypeAlias = Announce | Begin | Ask | Accept | Acknowledge | Reject | SetDeadline | Finish
