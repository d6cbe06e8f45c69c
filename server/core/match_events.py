"""What happens to a match and what follows from it, as data; see server.core.match.

Times are seconds on the server's monotonic clock unless a name says milliseconds. A move makes eight of these
values: msgspec makes each in a tenth of the time that a frozen dataclass takes.
"""

from typing import Any, TypeAlias

from msgspec import Struct

from server.core.outcome import Result


class Timing(Struct, frozen=True):
    """How a move was timed, in milliseconds: charged = elapsed - refunded."""

    elapsed_ms: int
    refunded_ms: int
    charged_ms: int


# events ---------------------------------------------------------------------------------------------


class Ready(Struct, frozen=True):
    """A seat has set itself up."""

    seat: int
    at: float


class HandedOver(Struct, frozen=True):
    """The request for `ply` was handed to the socket (or would have been, had the seat been connected)."""

    ply: int
    at: float


class Action(Struct, frozen=True):
    """A seat's reply. `late_s` is how late the server's own loop was in taking it: it is not charged."""

    seat: int
    ply: int
    text: str
    at: float
    info: dict[str, Any] | None = None
    late_s: float = 0.0


class Drawn(Struct, frozen=True):
    """Chance has moved: the outcome drawn for `ply`."""

    ply: int
    text: str
    at: float


class Resign(Struct, frozen=True):
    """A seat gives up, because its code crashed or of its own will."""

    seat: int
    at: float
    crashed: bool = False


class Lost(Struct, frozen=True):
    """A seat's connection was lost."""

    seat: int
    at: float


class Back(Struct, frozen=True):
    """A seat is connected again."""

    seat: int
    at: float


class DeadlinePassed(Struct, frozen=True):
    """The timer that `SetDeadline` asked for has fired."""

    at: float


class Abort(Struct, frozen=True):
    """The server cannot go on with the match through nobody's fault."""

    at: float
    detail: str


MatchEvent: TypeAlias = Ready | HandedOver | Action | Drawn | Resign | Lost | Back | DeadlinePassed | Abort


# effects --------------------------------------------------------------------------------------------


class Announce(Struct, frozen=True):
    """Send `match_start` to the seat."""

    seat: int


class Begin(Struct, frozen=True):
    """All seats are ready."""


class Ask(Struct, frozen=True):
    """Send `your_move` to the seat, not before `not_before`; report `HandedOver` unless it is `again`."""

    seat: int
    ply: int
    not_before: float
    again: bool = False


class Draw(Struct, frozen=True):
    """Draw one of the outcomes (text, probability) of the chance node at `ply`; report it by `Drawn`."""

    ply: int
    outcomes: tuple[tuple[str, float], ...]


class Record(Struct, frozen=True):
    """Record an outcome of chance, then tell spectators."""

    ply: int
    outcome: str


class Accept(Struct, frozen=True):
    """Record the move, then acknowledge it and tell spectators."""

    seat: int
    ply: int
    action: str
    timing: Timing
    info: dict[str, Any] | None


class Acknowledge(Struct, frozen=True):
    """Acknowledge a move that is recorded already."""

    seat: int
    ply: int


class Reject(Struct, frozen=True):
    """Tell the seat that its move changed nothing."""

    seat: int
    ply: int
    code: str
    message: str


class SetDeadline(Struct, frozen=True):
    """Report `DeadlinePassed` at this time; it replaces an earlier deadline."""

    at: float


class Finish(Struct, frozen=True):
    """The match is over."""

    result: Result


Effect: TypeAlias = (
    Announce | Begin | Ask | Draw | Record | Accept | Acknowledge | Reject | SetDeadline | Finish
)
