"""`plyground doctor`."""

import click
from sqlalchemy import Connection

from server import settings
from server.cli.terminal import clean, json_option, write_json
from server.db.doctor import check
from server.db.doctor_replay import NEWEST, replay
from server.db.engine import Database
from server.db.finding import Finding
from server.lock import is_held


@click.command()
@click.option("--all", "replay_all", is_flag=True, help=f"Replay all matches, not only the newest {NEWEST}.")
@json_option
def command(*, replay_all: bool, as_json: bool) -> int:
    """Check that the database holds together.

    Recomputes counters and ratings from the results, looks for matches that contradict themselves, plays the
    clocks through and looks for a forfeit that was not the agent's own fault, and replays the moves of the
    newest by the rules of their game.
    Exit code 1 if something does not hold.
    """
    chosen = settings.load()
    running = is_held(chosen.data_dir)
    database = Database.open(chosen.database, create=False)
    try:
        database.check_schema()
        findings = database.read_now(_examine, newest=None if replay_all else NEWEST)
    finally:
        database.close()
    if as_json:
        write_json([{"code": finding.code, "message": finding.message} for finding in findings])
        return 1 if findings else 0
    click.echo(clean(f"{'a' if running else 'no'} server is running on {chosen.data_dir}"))
    for finding in findings:
        click.echo(clean(f"{finding.code}: {finding.message}"))
    if not findings:
        click.echo("results, ratings and matches hold together")
    return 1 if findings else 0


def _examine(conn: Connection, *, newest: int | None) -> list[Finding]:
    findings = check(conn)
    if any(finding.code == "corrupt" for finding in findings):
        return findings
    return findings + replay(conn, newest)
