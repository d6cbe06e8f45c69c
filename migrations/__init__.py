"""Alembic revisions of the tables in server.db.schema, for SQLite and PostgreSQL alike."""
