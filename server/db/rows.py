"""What reads answer: plain rows, with names in place of keys. Times are UTC, ratings Elo."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from games.protocol import PUBLIC


@dataclass(frozen=True)
class SeatRow:
    """A seat of a match.

    `elo` is the rating before the match once it is finished, else the one now; `elo_after` exists only for
    finished ones, `utility` only for those played to their end and not older than it. `games` counts the
    version's rated games on the ladder now.
    """

    seat: int
    agent: str
    version: int
    version_id: int
    house: bool
    elo: float
    elo_after: float | None
    games: int
    provisional: bool
    outcome: str | None
    cause: str | None
    utility: float | None = None


@dataclass(frozen=True)
class MatchRow:
    """A match with its seats. `moves` counts the recorded moves; a void match has a `finished_at` too.

    `last_request` is what was asked when the match ended and not answered as it should have been, if
    anything was: `at` (UTC, ISO 8601), and the fields of `server.core.match.Unfinished` and its timing.

    `closed`: another match with the same dice or cards is not over, or this one, and until then nothing is
    told of what was played: no moves, no detail, no request, no utilities. `seed_hash` commits to the seed of
    its chance, `seed` is that itself once it may be known.
    """

    id: int
    ladder: str
    title: str
    game: str
    state: str
    attempt: int
    pair_id: int | None
    replay_of: int | None
    time_control: dict[str, Any]
    moves: int
    detail: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    seats: tuple[SeatRow, ...]
    last_request: dict[str, Any] | None = None
    closed: bool = False
    seed_hash: str | None = None
    seed: str | None = None

    @property
    def over(self) -> bool:
        """Whether it is finished or void."""
        return self.state in {"finished", "void"}

    @property
    def viewer(self) -> int | None:
        """For whom it is shown to everybody: PUBLIC until it is over, then None, who sees all."""
        return None if self.over else PUBLIC


@dataclass(frozen=True)
class LadderRecord:
    """A version's rating and record on a ladder."""

    ladder: str
    version: int
    elo: float
    provisional: bool
    games: int
    wins: int
    draws: int
    losses: int


@dataclass(frozen=True)
class AgentRow:
    """An agent; `version` is the number of its current one, `ladders` holds the newest record on each."""

    name: str
    owner: str | None
    house: bool
    version: int | None
    created_at: datetime
    retired_at: datetime | None
    ladders: tuple[LadderRecord, ...]


@dataclass(frozen=True)
class VersionRow:
    """A version of an agent; `parent` is the number of the one it started from."""

    number: int
    fingerprint: str | None
    parent: int | None
    created_at: datetime
    ladders: tuple[LadderRecord, ...]


@dataclass(frozen=True)
class TokenRow:
    """A token without what it is: `agent` is the name of the agent it plays as, if any."""

    id: int
    scope: str
    agent: str | None
    label: str | None
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None
