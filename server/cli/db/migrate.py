"""`plyground db migrate`."""

import click

from server import settings
from server.cli.terminal import clean
from server.db.engine import Database


@click.command()
def command() -> None:
    """Bring the tables up to date; makes the database where there is none."""
    database = Database.open(settings.load().database)
    try:
        database.migrate()
        database.check_schema()
    finally:
        database.close()
    click.echo(clean(f"{database.url.render_as_string(hide_password=True)} is up to date"))
