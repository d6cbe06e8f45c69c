"""`plyground db backup`."""

from datetime import UTC, datetime
from pathlib import Path

import click

from server import settings
from server.cli.terminal import clean
from server.db import archive
from server.db.engine import Database


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def command(*, file: Path) -> None:
    """Write everything into a new FILE, as it is at one moment; a server may run meanwhile.

    It restores into SQLite and PostgreSQL alike. It holds no token, only their hashes, and is readable by you
    alone.
    """
    database = Database.open(settings.load().database, create=False)
    try:
        database.check_schema()
        rows = database.read_now(archive.backup, file, datetime.now(UTC))
    finally:
        database.close()
    click.echo(clean(f"{file} holds {archive.in_words(rows)}"))
