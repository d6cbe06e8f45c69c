"""Tokens that are no agent's, with a label, an end and a single use."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

INSTANT = sa.Text().with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    """Let tokens be nobody's. Those there are stay as they are."""
    with op.batch_alter_table("tokens") as tokens:
        tokens.alter_column("agent_id", existing_type=sa.Integer, nullable=True)
        tokens.add_column(sa.Column("label", sa.Text))
        tokens.add_column(sa.Column("expires_at", INSTANT))
        tokens.add_column(sa.Column("used_at", INSTANT))
        tokens.create_check_constraint(
            op.f("ck_tokens_scope"), "scope IN ('play', 'admin', 'register', 'link')"
        )
        tokens.create_check_constraint(op.f("ck_tokens_agent"), "(scope = 'play') = (agent_id IS NOT NULL)")


def downgrade() -> None:
    """Drop the tokens of nobody, which have no place, and those with an end, which would lose it."""
    op.execute("DELETE FROM tokens WHERE agent_id IS NULL OR expires_at IS NOT NULL")
    with op.batch_alter_table("tokens") as tokens:
        tokens.drop_constraint(op.f("ck_tokens_agent"), type_="check")
        tokens.drop_constraint(op.f("ck_tokens_scope"), type_="check")
        tokens.drop_column("used_at")
        tokens.drop_column("expires_at")
        tokens.drop_column("label")
        tokens.alter_column("agent_id", existing_type=sa.Integer, nullable=False)
