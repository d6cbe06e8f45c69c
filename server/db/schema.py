"""All tables. The same schema on SQLite and PostgreSQL; migrations/ builds it step by step.

Every constraint has a name, since SQLite can change only named ones. Every instant is UTC with its zone.
Results are append-only, and ratings and counters can be recomputed from them: see `doctor`.
"""

import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
)
from sqlalchemy.types import TypeEngine

METADATA = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
"""NUL, which PostgreSQL refuses in text, and halves of characters, which UTF-8 cannot hold."""

MAX_ID = 2**31 - 1
"""Largest key a PostgreSQL integer holds."""

MATCH_STATES = ("queued", "starting", "running", "finished", "void")


class UtcDateTime(TypeDecorator[datetime]):
    """An instant. PostgreSQL keeps it as timestamptz, SQLite as ISO 8601 text that sorts by time."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the column type."""
        own = Text() if dialect.name == "sqlite" else DateTime(timezone=True)
        return dialect.type_descriptor(own)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Write UTC. Raises ValueError for a time without a zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"expected a time with a zone, got {value!r}")
        value = value.astimezone(UTC)
        return value.isoformat(timespec="microseconds") if dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Read UTC."""
        if value is None:
            return None
        instant = datetime.fromisoformat(value) if dialect.name == "sqlite" else value
        return instant.astimezone(UTC)


def storable(value: str) -> str:
    """Replace what cannot be stored by U+FFFD; text enums become plain."""
    return NOT_STORABLE.sub("\ufffd", str(value))


class AnyText(TypeDecorator[str]):
    """Text from anywhere, made storable; in lookups too, so asking for a bad text finds nothing."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - a method
        """Write storable text."""
        return None if value is None else storable(value)


agents = Table(
    "agents",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", AnyText, nullable=False),
    Column("name_key", AnyText, nullable=False),
    Column("owner", AnyText),
    Column("house", Boolean, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("retired_at", UtcDateTime),
    UniqueConstraint("name_key"),
)

# What is rated. A changed fingerprint makes a new version, whose rating starts from its parent's.
versions = Table(
    "versions",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("agent_id", ForeignKey("agents.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("fingerprint", AnyText),
    Column("parent_id", ForeignKey("versions.id")),
    Column("created_at", UtcDateTime, nullable=False),
    UniqueConstraint("agent_id", "number"),
)

# A token is good until it is revoked, expired or used; only links are used. See `tokens`.
tokens = Table(
    "tokens",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("token_hash", AnyText, nullable=False),
    Column("agent_id", ForeignKey("agents.id"), index=True),
    Column("scope", AnyText, nullable=False),
    Column("label", AnyText),
    Column("created_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime),
    Column("used_at", UtcDateTime),
    Column("revoked_at", UtcDateTime),
    UniqueConstraint("token_hash"),
    CheckConstraint("scope IN ('play', 'admin', 'register', 'link')", name="scope"),
    CheckConstraint("(scope = 'play') = (agent_id IS NOT NULL)", name="agent"),
)

# `position` orders the ladders; it is null for one that the settings no longer name. `time_control` is JSON,
# as agents.protocol.TimeControl; a match keeps that of its ladder when it was queued.
ladders = Table(
    "ladders",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", AnyText, nullable=False),
    Column("title", AnyText, nullable=False),
    Column("game", AnyText, nullable=False),
    Column("time_control", AnyText, nullable=False),
    Column("position", Integer),
    UniqueConstraint("name"),
)

# games = wins + draws + losses, counted from results; `elo` is the live Elo, which began at `start_elo`.
ratings = Table(
    "ratings",
    METADATA,
    Column("ladder_id", ForeignKey("ladders.id"), nullable=False),
    Column("version_id", ForeignKey("versions.id"), nullable=False, index=True),
    Column("start_elo", Double, nullable=False),
    Column("elo", Double, nullable=False),
    Column("games", Integer, nullable=False),
    Column("wins", Integer, nullable=False),
    Column("draws", Integer, nullable=False),
    Column("losses", Integer, nullable=False),
    Column("joined_at", UtcDateTime, nullable=False),
    PrimaryKeyConstraint("ladder_id", "version_id"),
)

# `attempt` counts how often the match was taken up, `lease` says by whom: who writes with an older attempt
# is refused. `moves` counts the recorded moves. The games of a table, one for each turn of its seats, have
# the same `pair_id`, the id of the first; with two players they are a pair with seats swapped. A void match
# is played again at most once, by the match that names it in `replay_of`. `last_request` is JSON, as in
# rows.MatchRow. From the `seed` all chance of a match is drawn, as server.core.seeds says. A `sealed` match
# has the seed of the others that are sealed with the same `pair_id`.
matches = Table(
    "matches",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("ladder_id", ForeignKey("ladders.id"), nullable=False),
    Column("pair_id", ForeignKey("matches.id")),
    Column("game", AnyText, nullable=False),
    Column("state", AnyText, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("lease", AnyText),
    Column("time_control", AnyText, nullable=False),
    Column("moves", Integer, nullable=False),
    Column("detail", AnyText),
    Column("replay_of", ForeignKey("matches.id")),
    Column("created_at", UtcDateTime, nullable=False),
    Column("started_at", UtcDateTime),
    Column("finished_at", UtcDateTime),
    Column("last_request", AnyText),
    Column("seed", AnyText),
    Column("sealed", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("replay_of"),
    CheckConstraint("state IN ('queued', 'starting', 'running', 'finished', 'void')", name="state"),
    Index(None, "state", "id"),
    Index(None, "ladder_id", "id"),
    Index(None, "ladder_id", "state", "id"),
    Index(None, "pair_id"),
)

# `utility` is that of a game played to its end, null for any other end and in matches older than the column.
seats = Table(
    "seats",
    METADATA,
    Column("match_id", ForeignKey("matches.id"), nullable=False),
    Column("seat", Integer, nullable=False),
    Column("version_id", ForeignKey("versions.id"), nullable=False),
    Column("outcome", AnyText),
    Column("cause", AnyText),
    Column("elo_before", Double),
    Column("elo_after", Double),
    Column("utility", Double),
    PrimaryKeyConstraint("match_id", "seat"),
    CheckConstraint("outcome IN ('win', 'draw', 'loss', 'void')", name="outcome"),
    Index(None, "version_id", "match_id"),
)

# How a move was timed, as server.core.Timing says; what was refunded is elapsed_ms - charged_ms. The limit is
# null where none was written down: of a chance outcome, and of moves older than the column. `received_at` is
# when the reply came in, by the wall clock.
moves = Table(
    "moves",
    METADATA,
    Column("match_id", ForeignKey("matches.id"), nullable=False),
    Column("ply", Integer, nullable=False),
    Column("seat", Integer, nullable=False),
    Column("action", AnyText, nullable=False),
    Column("elapsed_ms", Integer, nullable=False),
    Column("charged_ms", Integer, nullable=False),
    Column("received_at", UtcDateTime, nullable=False),
    Column("info", AnyText),
    Column("waited_ms", Integer, nullable=False, server_default="0"),
    Column("round_trip_ms", Double),
    Column("lag_ms", Integer, nullable=False, server_default="0"),
    Column("away_ms", Integer, nullable=False, server_default="0"),
    Column("limit_ms", Integer),
    Column("timed_out", Boolean, nullable=False, server_default=false()),
    PrimaryKeyConstraint("match_id", "ply"),
)

# The order of `seq` is the order in which matches were rated: one writer commits them.
results = Table(
    "results",
    METADATA,
    Column("seq", Integer, primary_key=True),
    Column("match_id", ForeignKey("matches.id"), nullable=False),
    Column("ladder_id", ForeignKey("ladders.id"), nullable=False),
    Column("finished_at", UtcDateTime, nullable=False),
    UniqueConstraint("match_id"),
    Index(None, "ladder_id", "seq"),
)
