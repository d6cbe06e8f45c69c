"""How each move was timed, the request that was open at the end, and time controls of more than one limit."""

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

UNTIMED_MS = 60_000
"""Limit of a move where no clock runs; the older schema has one for every ladder."""

_LADDERS = sa.table(
    "ladders",
    sa.column("id", sa.Integer),
    sa.column("move_ms", sa.Integer),
    sa.column("time_control", sa.Text),
)


def upgrade() -> None:
    """Add the columns. Old moves have no limit, and old ladders only the one for a move."""
    for name in ("waited_ms", "lag_ms", "away_ms"):
        op.add_column("moves", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    op.add_column("moves", sa.Column("round_trip_ms", sa.Double))
    op.add_column("moves", sa.Column("limit_ms", sa.Integer))
    op.add_column("moves", sa.Column("timed_out", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("matches", sa.Column("last_request", sa.Text))
    op.add_column("ladders", sa.Column("time_control", sa.Text))
    for row in _all_ladders():
        _set(row.id, time_control=json.dumps({"move_ms": row.move_ms}, separators=(",", ":")))
    with op.batch_alter_table("ladders") as ladders:
        ladders.alter_column("time_control", existing_type=sa.Text, nullable=False)
        ladders.drop_column("move_ms")


def downgrade() -> None:
    """Drop the columns. A ladder keeps its limit for a move, or gets what is left where it has none."""
    op.add_column("ladders", sa.Column("move_ms", sa.Integer))
    for row in _all_ladders():
        _set(row.id, move_ms=json.loads(row.time_control)["move_ms"] or UNTIMED_MS)
    with op.batch_alter_table("ladders") as ladders:
        ladders.alter_column("move_ms", existing_type=sa.Integer, nullable=False)
        ladders.drop_column("time_control")
    with op.batch_alter_table("matches") as matches:
        matches.drop_column("last_request")
    with op.batch_alter_table("moves") as moves:
        for name in ("timed_out", "limit_ms", "away_ms", "lag_ms", "round_trip_ms", "waited_ms"):
            moves.drop_column(name)


def _all_ladders() -> Sequence[sa.Row[Any]]:
    return op.get_bind().execute(sa.select(_LADDERS).order_by(_LADDERS.c.id)).all()


def _set(ladder_id: int, **values: object) -> None:
    op.get_bind().execute(sa.update(_LADDERS).where(_LADDERS.c.id == ladder_id).values(**values))
