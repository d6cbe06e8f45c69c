"""Every message of wire protocol version 1. Both ends decode with these structs and nothing else.

One JSON object a text frame, tagged by `type`. Times are whole milliseconds. Plies count from 0: the
first action of a match has ply 0, in requests, replies, acknowledgements and records alike.
"""

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

VERSION = 1
MAX_FRAME_BYTES = 65_536
MAX_INFO_BYTES = 4_096

Outcome: TypeAlias = Literal["win", "draw", "loss", "void"]
State: TypeAlias = Literal["queued", "starting", "running", "finished", "void"]
Cause: TypeAlias = Literal[
    "normal",
    "rule_draw",
    "agreement",
    "timeout",
    "illegal_action",
    "crash",
    "disconnect",
    "no_show",
    "resignation",
    "adjudication",
    "infrastructure",
]


class _FromClient(msgspec.Struct, tag_field="type", forbid_unknown_fields=True, frozen=True):
    """A message that the server reads: an unknown field is an error."""


class _FromServer(msgspec.Struct, tag_field="type", frozen=True, omit_defaults=False):
    """A message that clients read: fields may be added in later versions."""


# agent -> server ------------------------------------------------------------------------------------


class Hello(_FromClient, frozen=True, tag="hello"):
    """First message: who this is and which ladders it joins.

    `fingerprint` is a hash of the agent's code; a changed one makes a new version of the agent.
    """

    protocol: int
    agent: Annotated[str, Meta(max_length=100)]
    ladders: Annotated[list[str], Meta(max_length=100)]
    token: Annotated[str, Meta(max_length=200)] | None = None
    concurrency: int = 1
    fingerprint: Annotated[str, Meta(max_length=128)] | None = None
    client: Annotated[str, Meta(max_length=200)] | None = None


class Ready(_FromClient, frozen=True, tag="ready"):
    """The agent has set itself up for the match; its clock may start."""

    match: int


class Move(_FromClient, frozen=True, tag="move"):
    """The agent's action for a ply, in the game's notation. `info` is at most 4 KB of JSON."""

    match: int
    ply: int
    action: str
    info: dict[str, Any] | None = None


class Resign(_FromClient, frozen=True, tag="resign"):
    """Give up the match; `reason` "crash" says that the agent's code broke, not its will."""

    match: int
    reason: Literal["crash"] | None = None


class Leave(_FromClient, frozen=True, tag="leave"):
    """Finish running matches and take no more."""


# server -> agent ------------------------------------------------------------------------------------


class Limits(msgspec.Struct, frozen=True):
    """What a connection may do: frame size, messages a second (and at once), start-up allowance."""

    max_frame_bytes: int
    max_info_bytes: int
    messages_per_s: int
    burst: int
    ready_ms: int


class Welcome(_FromServer, frozen=True, tag="welcome"):
    """Answer to `hello`. `running` lists matches of this agent that go on now."""

    protocol: int
    agent: str
    version: int
    limits: Limits
    running: list[int]


class Player(msgspec.Struct, frozen=True):
    """Who sits where."""

    seat: int
    agent: str
    version: int


class TimeControl(msgspec.Struct, frozen=True):
    """The times of a match, in milliseconds; 0 says that there is no such thing.

    No move may take longer than `move_ms`. All moves of a seat together take at most its bank, to which
    `increment_ms` is added after each; when the bank is empty, each move has `byoyomi_ms`, and one that takes
    longer uses up one of the `periods`. With neither `move_ms` nor a bank no clock runs.

    A time-out while `strikes` are left is answered by a random legal action. `nodes` is the most that a
    search of the house may look at for a move. Up to `margin_ms` over the limit still counts, with every move
    and also when the bank is empty: n moves may use up to n times `margin_ms` more. `ready_ms` is for
    start-up. `lag_ms` is the lag bank, and `grace_ms` the time away that is forgiven.
    """

    move_ms: int
    bank_ms: int = 0
    increment_ms: int = 0
    margin_ms: int = 0
    ready_ms: int = 0
    byoyomi_ms: int = 0
    periods: int = 0
    strikes: int = 0
    nodes: int = 0
    lag_ms: int = 0
    grace_ms: int = 0


class MatchStart(_FromServer, frozen=True, tag="match_start"):
    """A match begins, or goes on after a reconnection; `history` holds all actions so far.

    In a game of chance `seed_hash` is the SHA-256 of `seed:match`, with the seed that all dice or cards come
    from and the number of the match.
    """

    match: int
    game: str
    ladder: str
    seat: int
    players: list[Player]
    time_control: TimeControl
    position: str
    history: list[str]
    seed_hash: str | None = None


class ClockView(msgspec.Struct, frozen=True):
    """Time left for this move, in the bank for all moves, and added after each.

    `byoyomi_ms` is the time of a period when the bank is empty, `periods` how many are left, `strikes` how
    many time-outs cost no game yet.
    """

    move_ms: int
    bank_ms: int = 0
    increment_ms: int = 0
    byoyomi_ms: int = 0
    periods: int = 0
    strikes: int = 0


class LastMove(msgspec.Struct, frozen=True):
    """How the server measured a seat's previous move: charged = elapsed - refunded.

    `limit_ms` is what the move could take, `round_trip_ms` the measured way to the agent and back (null if it
    was not measured). Of what was refunded, `lag_ms` was lateness of the server itself and `away_ms` time
    without a connection. `timed_out` says that the action was drawn by lot, as a strike.
    """

    elapsed_ms: int
    refunded_ms: int
    charged_ms: int
    limit_ms: int = 0
    round_trip_ms: float | None = None
    lag_ms: int = 0
    away_ms: int = 0
    timed_out: bool = False


class YourMove(_FromServer, frozen=True, tag="your_move"):
    """A request for an action. The clock runs from the hand-over of this frame."""

    match: int
    ply: int
    position: str
    last_actions: list[str]
    legal: list[str]
    clock: ClockView
    last: LastMove | None = None


class Ack(_FromServer, frozen=True, tag="ack"):
    """The action for this ply is recorded."""

    match: int
    ply: int


class Reject(_FromServer, frozen=True, tag="reject"):
    """A move that changes nothing: a wrong ply, not this seat's turn, or one too late (`timed_out`)."""

    match: int
    ply: int
    code: str
    message: str


class MatchEnd(_FromServer, frozen=True, tag="match_end"):
    """The match is over. Lists are by seat; `record` is the path of the record on the server.

    `seed` is what `seed_hash` of the match's start has promised; null without chance, and where another match
    with the same dice or cards goes on.
    """

    match: int
    outcome: list[Outcome]
    cause: list[Cause]
    scores: list[float | None]
    record: str
    detail: str | None = None
    seed: str | None = None


class Error(_FromServer, frozen=True, tag="error"):
    """Something the other side sent was not usable; the connection stays open unless it says otherwise.

    Where a limit was reached, `where` is its name, and another try will do after `retry_after_s` seconds.
    """

    code: str
    message: str
    expected: str | None = None
    got: str | None = None
    where: str | None = None
    retry_after_s: float | None = None


# watching -------------------------------------------------------------------------------------------


class Watch(_FromClient, frozen=True, tag="watch"):
    """Follow one match, one ladder, or the front page. `since` is the last version seen."""

    match: int | None = None
    ladder: str | None = None
    front: bool = False
    since: int | None = None


class Unwatch(_FromClient, frozen=True, tag="unwatch"):
    """Stop following."""

    match: int | None = None
    ladder: str | None = None
    front: bool = False


class Seat(msgspec.Struct, frozen=True):
    """A seat as spectators see it; outcome and cause are null until the end.

    `utility` is what the game gave it, null unless it was played to its end. `clock` is what it has when its
    next move begins, `last` how its previous one was measured.
    """

    seat: int
    agent: str
    version: int
    elo: float
    provisional: bool
    outcome: Outcome | None = None
    cause: Cause | None = None
    connected: bool = True
    clock: ClockView | None = None
    last: LastMove | None = None
    utility: float | None = None


class MatchView(msgspec.Struct, frozen=True):
    """A match as spectators see it.

    `to_move` is null when nobody is; `clock_ms` is what the seat to move had left at `at` (server's
    UTC time in milliseconds); for `still_ms` from then its clock stands still: a pause between moves, or
    a time away that is forgiven. `action` is the last action, `moves` all of them (snapshots of one match
    only). `board` is the game's Board as JSON. `detail` explains the end in words. While a match is `closed`,
    since others with the same dice or cards go on, what was played is not shown, and the board is empty.
    """

    id: int
    ladder: str
    title: str
    game: str
    state: State
    ply: int
    to_move: int | None
    players: list[Seat]
    board: dict[str, Any]
    position: str
    move_ms: int
    clock_ms: int | None = None
    still_ms: int = 0
    at: int = 0
    action: str | None = None
    moves: list[str] | None = None
    detail: str | None = None
    closed: bool = False


class Snapshot(_FromServer, frozen=True, tag="snapshot"):
    """All there is to see on a channel (`match:12`, `ladder:connect_four`, `front`) at a version."""

    channel: str
    version: int
    matches: list[MatchView]


class Event(_FromServer, frozen=True, tag="event"):
    """One change on a channel: the match it happened in, as it is now."""

    channel: str
    version: int
    match: MatchView


FromAgent: TypeAlias = Hello | Ready | Move | Resign | Leave
FromSpectator: TypeAlias = Watch | Unwatch
ToAgent: TypeAlias = Welcome | MatchStart | YourMove | Ack | Reject | MatchEnd | Error
ToSpectator: TypeAlias = Snapshot | Event | Error

decode_from_agent = msgspec.json.Decoder(FromAgent).decode
decode_from_spectator = msgspec.json.Decoder(FromSpectator).decode
decode_to_agent = msgspec.json.Decoder(ToAgent).decode
decode_to_spectator = msgspec.json.Decoder(ToSpectator).decode
encode = msgspec.json.encode
