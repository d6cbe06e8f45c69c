"""Seeds of dice and cards, and which matches stay closed until all of their set have ended."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns. Matches there were have no seed: their chance was drawn without one."""
    op.add_column("matches", sa.Column("seed", sa.Text))
    op.add_column("matches", sa.Column("sealed", sa.Boolean, nullable=False, server_default=sa.false()))
    op.create_index("ix_matches_pair_id", "matches", ["pair_id"])


def downgrade() -> None:
    """Drop them: what was drawn stays, and nobody can check it any more."""
    op.drop_index("ix_matches_pair_id", "matches")
    with op.batch_alter_table("matches") as matches:
        matches.drop_column("sealed")
        matches.drop_column("seed")
