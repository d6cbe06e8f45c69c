"""The tables of the ladders: agents, matches, results, ratings."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

INSTANT = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    """Create all tables."""
    _create_agents()
    _create_ladders()
    _create_matches()
    _create_records()


def downgrade() -> None:
    """Drop all tables and what is in them."""
    for table in (
        "results",
        "moves",
        "seats",
        "matches",
        "ratings",
        "ladders",
        "tokens",
        "versions",
        "agents",
    ):
        op.drop_table(table)


def _create_agents() -> None:
    op.create_table(
        "agents",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("name_key", sa.Text, nullable=False),
        sa.Column("owner", sa.Text),
        sa.Column("house", sa.Boolean, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("retired_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agents")),
        sa.UniqueConstraint("name_key", name=op.f("uq_agents_name_key")),
    )
    op.create_table(
        "versions",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("agent_id", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("fingerprint", sa.Text),
        sa.Column("parent_id", sa.Integer),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
        sa.UniqueConstraint("agent_id", "number", name=op.f("uq_versions_agent_id_number")),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_versions_agent_id_agents")),
        sa.ForeignKeyConstraint(["parent_id"], ["versions.id"], name=op.f("fk_versions_parent_id_versions")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("token_hash", sa.Text, nullable=False),
        sa.Column("agent_id", sa.Integer, nullable=False),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("revoked_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_tokens_token_hash")),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_tokens_agent_id_agents")),
    )
    op.create_index(op.f("ix_tokens_agent_id"), "tokens", ["agent_id"])


def _create_ladders() -> None:
    op.create_table(
        "ladders",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("game", sa.Text, nullable=False),
        sa.Column("move_ms", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ladders")),
        sa.UniqueConstraint("name", name=op.f("uq_ladders_name")),
    )
    op.create_table(
        "ratings",
        sa.Column("ladder_id", sa.Integer, nullable=False),
        sa.Column("version_id", sa.Integer, nullable=False),
        sa.Column("start_elo", sa.Double, nullable=False),
        sa.Column("elo", sa.Double, nullable=False),
        sa.Column("games", sa.Integer, nullable=False),
        sa.Column("wins", sa.Integer, nullable=False),
        sa.Column("draws", sa.Integer, nullable=False),
        sa.Column("losses", sa.Integer, nullable=False),
        sa.Column("joined_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("ladder_id", "version_id", name=op.f("pk_ratings")),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_ratings_ladder_id_ladders")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_ratings_version_id_versions")),
    )
    op.create_index(op.f("ix_ratings_version_id"), "ratings", ["version_id"])


def _create_matches() -> None:
    op.create_table(
        "matches",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("ladder_id", sa.Integer, nullable=False),
        sa.Column("pair_id", sa.Integer),
        sa.Column("game", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("lease", sa.Text),
        sa.Column("time_control", sa.Text, nullable=False),
        sa.Column("moves", sa.Integer, nullable=False),
        sa.Column("detail", sa.Text),
        sa.Column("replay_of", sa.Integer),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("started_at", INSTANT),
        sa.Column("finished_at", INSTANT),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_matches")),
        sa.UniqueConstraint("replay_of", name=op.f("uq_matches_replay_of")),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_matches_ladder_id_ladders")),
        sa.ForeignKeyConstraint(["pair_id"], ["matches.id"], name=op.f("fk_matches_pair_id_matches")),
        sa.ForeignKeyConstraint(["replay_of"], ["matches.id"], name=op.f("fk_matches_replay_of_matches")),
        sa.CheckConstraint(
            "state IN ('queued', 'starting', 'running', 'finished', 'void')", name=op.f("ck_matches_state")
        ),
    )
    op.create_index(op.f("ix_matches_state_id"), "matches", ["state", "id"])
    op.create_index(op.f("ix_matches_ladder_id_id"), "matches", ["ladder_id", "id"])
    op.create_index(op.f("ix_matches_ladder_id_state_id"), "matches", ["ladder_id", "state", "id"])
    op.create_table(
        "seats",
        sa.Column("match_id", sa.Integer, nullable=False),
        sa.Column("seat", sa.Integer, nullable=False),
        sa.Column("version_id", sa.Integer, nullable=False),
        sa.Column("outcome", sa.Text),
        sa.Column("cause", sa.Text),
        sa.Column("elo_before", sa.Double),
        sa.Column("elo_after", sa.Double),
        sa.PrimaryKeyConstraint("match_id", "seat", name=op.f("pk_seats")),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_seats_match_id_matches")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_seats_version_id_versions")),
        sa.CheckConstraint("outcome IN ('win', 'draw', 'loss', 'void')", name=op.f("ck_seats_outcome")),
    )
    op.create_index(op.f("ix_seats_version_id_match_id"), "seats", ["version_id", "match_id"])


def _create_records() -> None:
    op.create_table(
        "moves",
        sa.Column("match_id", sa.Integer, nullable=False),
        sa.Column("ply", sa.Integer, nullable=False),
        sa.Column("seat", sa.Integer, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("elapsed_ms", sa.Integer, nullable=False),
        sa.Column("charged_ms", sa.Integer, nullable=False),
        sa.Column("received_at", INSTANT, nullable=False),
        sa.Column("info", sa.Text),
        sa.PrimaryKeyConstraint("match_id", "ply", name=op.f("pk_moves")),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_moves_match_id_matches")),
    )
    op.create_table(
        "results",
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("match_id", sa.Integer, nullable=False),
        sa.Column("ladder_id", sa.Integer, nullable=False),
        sa.Column("finished_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_results")),
        sa.UniqueConstraint("match_id", name=op.f("uq_results_match_id")),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_results_match_id_matches")),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_results_ladder_id_ladders")),
    )
    op.create_index(op.f("ix_results_ladder_id_seq"), "results", ["ladder_id", "seq"])
