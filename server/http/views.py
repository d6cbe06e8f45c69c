"""The JSON of the API: one struct for each thing that an endpoint answers. Times are UTC with zone."""

from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

import msgspec

from agents.protocol import Cause, Outcome, State, TimeControl
from server.core.names import RULE

T = TypeVar("T")

Instant: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
"""A time with its zone."""

PageLimit: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=200, description="a whole number from 1 to 200")]
WholeTableLimit: TypeAlias = Annotated[
    int, msgspec.Meta(ge=1, le=1000, description="a whole number from 1 to 1000")
]


class Page(msgspec.Struct, Generic[T], frozen=True):
    """A page of a list; `next` is the cursor of the page after it, null on the last."""

    items: list[T]
    next: str | None = None


class OptionView(msgspec.Struct, frozen=True):
    """An option of a game: a number with its bounds and the step between values, or one of `choices`.

    A choice between false and true has a boolean default; a choice has no bounds and no step.
    """

    name: str
    default: int | float | bool | str
    low: float | None
    high: float | None
    step: float | None
    choices: tuple[str, ...]
    meaning: str


class GameView(msgspec.Struct, frozen=True):
    """A game that can be played here. `features` are the f_i of EVAL, in order."""

    name: str
    title: str
    players: int
    zero_sum: bool
    chance: bool
    hidden: bool
    options: list[OptionView]
    features: tuple[str, ...]
    rules: str
    initial_position: str


class LadderView(msgspec.Struct, frozen=True):
    """A ladder: the variant it plays and the time for each move."""

    name: str
    title: str
    game: str
    time_control: TimeControl


class PlayerView(msgspec.Struct, frozen=True):
    """A seat of a match; what is not known before the end is null until then.

    `utility` is what the rules of the game give the seat, for a game played to its end; old records lack it.
    """

    seat: int
    agent: str
    version: int
    outcome: Outcome | None
    cause: Cause | None
    utility: float | None
    elo_before: float | None
    elo_after: float | None


class ClockEntry(msgspec.Struct, frozen=True):
    """How the server measured one request: charged = elapsed - refunded, in whole milliseconds.

    From `asked_at` it was wanted, at `handed_over_at` it went out (`waited_ms` later), at `received_at` the
    answer was in (null if none came in time). Of the refund `lag_ms` was lateness of the server, `away_ms`
    time without a connection, the rest the way there and back. `limit_ms` is null in old records,
    `round_trip_ms` where nobody measured it. `timed_out`: a random action was played. `counted` is false for
    the request that was open when the match ended.
    """

    ply: int
    seat: int
    asked_at: Instant
    handed_over_at: Instant
    received_at: Instant | None
    limit_ms: int | None
    waited_ms: int
    elapsed_ms: int
    round_trip_ms: float | None
    refunded_ms: int
    charged_ms: int
    lag_ms: int
    away_ms: int
    timed_out: bool
    counted: bool


class MatchView(msgspec.Struct, frozen=True):
    """A match. `moves` is their number, `times` the milliseconds each took; `detail` explains the end.

    Only a match asked for by its id has `position`, the latest one, `clock`, how each request was measured,
    and `verdict`, what that says of the end. `replay_of` is the void match that this one repeats.
    `seed_hash` is the SHA-256 of `seed:id`, with the seed that all dice or cards of the match come from; the
    `seed` itself is told at the end. A match is `closed`, and nothing told of what is played, until all
    matches with the same dice or cards have ended.
    """

    id: int
    ladder: str
    game: str
    state: State
    players: list[PlayerView]
    moves: int
    times: list[int]
    detail: str | None
    replay_of: int | None
    closed: bool
    seed_hash: str | None
    seed: str | None
    created_at: Instant
    started_at: Instant | None
    finished_at: Instant | None
    position: str | msgspec.UnsetType | None = msgspec.UNSET
    clock: list[ClockEntry] | msgspec.UnsetType = msgspec.UNSET
    verdict: str | msgspec.UnsetType = msgspec.UNSET


class ActionView(msgspec.Struct, frozen=True):
    """One action: what it was, how it was timed as in ClockEntry, what the agent said of it.

    `seat` is -1 for an outcome of chance, which took no time.
    """

    ply: int
    seat: int
    action: str
    limit_ms: int | None
    waited_ms: int
    elapsed_ms: int
    round_trip_ms: float | None
    refunded_ms: int
    charged_ms: int
    lag_ms: int
    away_ms: int
    timed_out: bool
    info: dict[str, Any] | None


class RecordView(msgspec.Struct, frozen=True):
    """All there is to know of a match: with it the match can be played through again.

    `clock` is how each request was measured, `verdict` what that says of the end.
    """

    match: MatchView
    time_control: TimeControl
    initial_position: str | None
    actions: list[ActionView]
    final_position: str | None
    clock: list[ClockEntry]
    verdict: str


class RatingView(msgspec.Struct, frozen=True):
    """Rating and record of a version on a ladder.

    `losses_by_cause` adds up to `losses`; only an agent asked for by its name has it.
    """

    ladder: str
    version: int
    elo: float
    provisional: bool
    games: int
    wins: int
    draws: int
    losses: int
    losses_by_cause: dict[Cause, int] | msgspec.UnsetType = msgspec.UNSET


class AgentView(msgspec.Struct, frozen=True):
    """An agent: its current version, and its newest record on each ladder. A retired one plays no more."""

    name: str
    owner: str | None
    house: bool
    version: int | None
    created_at: Instant
    retired_at: Instant | None
    ladders: list[RatingView]


class VersionView(msgspec.Struct, frozen=True):
    """A version of an agent: one state of its code. `parent` is the version its ratings started from."""

    number: int
    fingerprint: str | None
    parent: int | None
    created_at: Instant
    ladders: list[RatingView]


class Registration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a new agent is to be called."""

    name: Annotated[str, msgspec.Meta(description=RULE, examples=["ada"])]


class Registered(msgspec.Struct, frozen=True):
    """A new agent and its token, which is shown this once."""

    name: str
    token: str


class Health(msgspec.Struct, frozen=True):
    """Whether the server can do its work, and whether new matches start.

    `loop_lag_ms` is the worst lateness of the server in the last seconds; `notice` is what everybody should
    know of it now.
    """

    status: Literal["ok", "draining", "unavailable"]
    database: Literal["ok", "unavailable"]
    admission: Literal["open", "waiting"] = "open"
    loop_lag_ms: int = 0
    notice: str | None = None
