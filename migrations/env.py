"""Alembic runs this file for each command; the connection comes from server.db.upgrade."""

from alembic import context

from server.db.schema import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,  # SQLite changes a table by replacing it
)
context.run_migrations()
