"""`plyground doctor`."""

import click

from server import settings
from server.cli.terminal import clean, json_option, write_json
from server.db.doctor import check
from server.db.engine import Database
from server.lock import is_held


@click.command()
@json_option
def command(*, as_json: bool) -> int:
    """Check that the database holds together.

    Recomputes counters and ratings from the results and looks for matches that contradict themselves.
    Exit code 1 if something does not hold.
    """
    chosen = settings.load()
    running = is_held(chosen.data_dir)
    database = Database.open(chosen.database, create=False)
    try:
        database.check_schema()
        findings = database.read_now(check, server_running=running)
    finally:
        database.close()
    if as_json:
        write_json([{"code": finding.code, "message": finding.message} for finding in findings])
        return 1 if findings else 0
    click.echo(clean(f"a server {'runs' if running else 'does not run'} on {chosen.data_dir}"))
    for finding in findings:
        click.echo(clean(f"{finding.code}: {finding.message}"))
    if not findings:
        click.echo("results, ratings and matches hold together")
    return 1 if findings else 0
