"""Bringing a database's tables to the revision of this code. The revisions are in migrations/versions/."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from games.errors import InputError

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"

_LOCK = 0x506C79
"""PostgreSQL advisory lock: of two programs that migrate at once, one waits."""


def migrate(conn: Connection, to: str, *, where: str) -> None:
    """Step up or down to a revision (`head`, `base` or its name) inside the transaction of `conn`.

    On SQLite the connection must not enforce foreign keys, since a table is changed by replacing it; they
    are checked at the end. Raises InputError for a schema newer than the code.
    """
    if conn.dialect.name == "postgresql":
        conn.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    config = _config()
    now = _known(conn, where)
    config.attributes["connection"] = conn
    scripts = ScriptDirectory.from_config(config)
    below = {step.revision for step in scripts.iterate_revisions(now, "base")} if now else set()
    if to == "base" or (to in below and to != now):
        command.downgrade(config, to)
    else:
        command.upgrade(config, to)
    if conn.dialect.name == "sqlite":
        broken = conn.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise RuntimeError(f"migration to {to} breaks a foreign key: {tuple(broken)}")


def check(conn: Connection, where: str) -> None:
    """Raise InputError unless the database is at the newest revision."""
    now = _known(conn, where)
    if now != head():
        raise InputError(
            "old_schema",
            expected=f"a database at revision {head()} (run: plyground db migrate)",
            got=f"revision {now}" if now else "a database without our tables",
            where=where,
        )


def head() -> str:
    """Return the newest revision."""
    newest = ScriptDirectory.from_config(_config()).get_current_head()
    assert newest is not None
    return newest


def revisions() -> set[str]:
    """Return all revisions."""
    return {step.revision for step in ScriptDirectory.from_config(_config()).walk_revisions()}


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


def _known(conn: Connection, where: str) -> str | None:
    """Return the database's revision, None for an empty one."""
    now = MigrationContext.configure(conn).get_current_revision()
    known = revisions()
    if now is not None and now not in known:
        raise InputError(
            "new_schema",
            expected="a database written by this version of Plyground or an older one",
            got=f"revision {now}",
            where=where,
            available=sorted(known),
        )
    return now
