"""The utility of each seat: it places more than two, and says how much was won where that differs."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. Old matches have no utilities; their two seats were rated by their outcomes alone."""
    op.add_column("seats", sa.Column("utility", sa.Double))


def downgrade() -> None:
    """Drop the column."""
    with op.batch_alter_table("seats") as seats:
        seats.drop_column("utility")
