"""`plyground standings`."""

from typing import Any

import click

from server.cli import api
from server.cli.api import server_option
from server.cli.terminal import json_option, write_json, write_table


@click.command()
@click.argument("ladder", required=False)
@server_option
@json_option
def command(ladder: str | None, server: str, *, as_json: bool) -> None:
    """Show the standings of a ladder.

    Without LADDER those of every ladder. A "?" marks a rating from few games.
    """
    ladders = api.check_ladders(server, [ladder] if ladder else [])
    names = [ladder] if ladder else list(ladders)
    tables = {name: api.items(server, f"ladders/{api.quoted(name)}/standings") for name in names}
    if as_json:
        rows = [row if ladder else {"ladder": name, **row} for name in names for row in tables[name]]
        write_json(rows)
        return
    for name in names:
        _show(name, tables[name])


def _show(ladder: str, rows: list[dict[str, Any]]) -> None:
    columns = ("rank", "agent", "version", "owner", "rating", "games", "won", "drawn", "lost")
    write_table(columns, (_line(row) for row in rows), title=ladder)


def _line(row: dict[str, Any]) -> tuple[object, ...]:
    rating = f"{row['rating']:.0f}{'?' if row['provisional'] else ''}"
    counts = (row["games"], row["wins"], row["draws"], row["losses"])
    return (row["rank"], row["agent"], f"v{row['version']}", row["owner"], rating, *counts)
