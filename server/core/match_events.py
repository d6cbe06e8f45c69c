"""What happens to a match and what follows from it, as data; see server.core.match.

Times are seconds on the server's monotonic clock unless a name says milliseconds. A move makes eight of these
values: msgspec makes each in a tenth of the time that a frozen dataclass takes.
"""

from typing import Any, TypeAlias

from msgspec import Struct

from server.core.outcome import Result


class Timing(Struct, frozen=True):
    """How a move was timed, in milliseconds: charged = elapsed - refunded.

    `elapsed_ms` runs from the hand-over of the request to the receipt of the reply. Of the refund `lag_ms`
    was the server's own doing (its loop was late, or it did not let the agent come back), `away_ms` time
    without a connection, and the rest came out of the lag bank. `waited_ms` passed before the hand-over,
    since the match asked; `limit_ms` is what the move could take; `round_trip_ms` was measured before the
    request, None if it was not. `timed_out` says that a random action was played in its place.
    """

    elapsed_ms: int
    refunded_ms: int
    charged_ms: int
    limit_ms: int = 0
    waited_ms: int = 0
    round_trip_ms: float | None = None
    lag_ms: int = 0
    away_ms: int = 0
    timed_out: bool = False

    @property
    def trip_ms(self) -> int:
        """What the lag bank gave for the way there and back."""
        return self.refunded_ms - self.lag_ms - self.away_ms


class Unfinished(Struct, frozen=True):
    """The request that was open when a match ended; `received` says that an answer came, late or illegal.

    `grace_ms` is how much time away could be forgiven: none if it was known that the agent would not be back.
    """

    seat: int
    ply: int
    timing: Timing
    received: bool
    grace_ms: int


# events ---------------------------------------------------------------------------------------------


class Ready(Struct, frozen=True):
    """A seat has set itself up."""

    seat: int
    at: float


class HandedOver(Struct, frozen=True):
    """The request for `ply` was handed to the socket (or would have been, had the seat been connected).

    `round_trip_ms` is the seat's measured way there and back; None if it has none (the house).
    """

    ply: int
    at: float
    round_trip_ms: float | None = None


class Action(Struct, frozen=True):
    """A seat's reply. `lag_s` is how late the server's own loop was in taking it: it is not charged."""

    seat: int
    ply: int
    text: str
    at: float
    info: dict[str, Any] | None = None
    lag_s: float = 0.0


class Drawn(Struct, frozen=True):
    """The lot has fallen: the outcome drawn for `ply`, or the action in place of one that timed out."""

    ply: int
    text: str
    at: float


class Resign(Struct, frozen=True):
    """A seat gives up, because its code crashed or of its own will."""

    seat: int
    at: float
    crashed: bool = False


class Lost(Struct, frozen=True):
    """A seat's connection was lost; `gone` says that it will not be back, so nothing is forgiven."""

    seat: int
    at: float
    gone: bool = False


class Back(Struct, frozen=True):
    """A seat is connected again. For `kept_s` before, the server did not let it: that is not charged."""

    seat: int
    at: float
    kept_s: float = 0.0


class DeadlinePassed(Struct, frozen=True):
    """The timer that `SetDeadline` asked for has fired. `lag_s` is how late the server's own loop was."""

    at: float
    lag_s: float = 0.0


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
    """All seats are ready, since `at`."""

    at: float


class Ask(Struct, frozen=True):
    """Send `your_move` to the seat, not before `not_before`; report `HandedOver` unless it is `again`."""

    seat: int
    ply: int
    not_before: float
    again: bool = False


class Draw(Struct, frozen=True):
    """Draw one of the outcomes (text, probability) for `ply`; report it by `Drawn`.

    They are those of a chance node, or all legal actions where a time-out cost a strike.
    """

    ply: int
    outcomes: tuple[tuple[str, float], ...]


class Record(Struct, frozen=True):
    """Record an outcome of chance, drawn at `at`, then tell spectators."""

    ply: int
    outcome: str
    at: float


class Accept(Struct, frozen=True):
    """Record the move, received at `at`, then acknowledge it (not one that timed out) and tell spectators."""

    seat: int
    ply: int
    action: str
    timing: Timing
    info: dict[str, Any] | None
    at: float


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
    """The match is over, at `at`; `request` is what was asked and not answered as it should have been."""

    result: Result
    at: float
    request: Unfinished | None = None


Effect: TypeAlias = (
    Announce | Begin | Ask | Draw | Record | Accept | Acknowledge | Reject | SetDeadline | Finish
)
