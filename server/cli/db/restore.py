"""`plyground db restore`."""

from pathlib import Path

import click

from games.errors import InputError
from server import settings
from server.cli.terminal import clean
from server.db import archive, doctor
from server.db.engine import Database
from server.lock import DataLock


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--replace", is_flag=True, help="Remove what is in the database first.")
def command(*, file: Path, replace: bool) -> int:
    """Fill an empty database from a FILE of `plyground db backup`. No server may run.

    All of it or nothing. What it holds then is checked as `plyground doctor` does; exit code 1 if something
    does not hold.
    """
    if not file.exists():
        raise InputError("no_such_file", expected="the file of a backup", got=f"no file {file}")
    archive.check(file)  # before a folder or a database is made for it
    chosen = settings.load()
    lock = DataLock(chosen.data_dir)
    lock.acquire()
    try:
        database = Database.open(chosen.database)
        try:
            database.claim()
            rows = database.restore(file, replace=replace)
            findings = database.read_now(doctor.check)
        finally:
            database.close()
    finally:
        lock.release()
    shown = database.url.render_as_string(hide_password=True)
    click.echo(clean(f"{shown} holds {archive.in_words(rows)}"))
    for finding in findings:
        click.echo(clean(f"{finding.code}: {finding.message}"))
    return 1 if findings else 0
