"""`plyground token list`."""

import click

from server.cli import api
from server.cli.api import server_option
from server.cli.terminal import json_option, write_json, write_table
from server.cli.token.kept import token_for, token_option

COLUMNS = ("id", "scope", "agent", "label", "created_at", "expires_at", "used_at", "revoked_at")


@click.command()
@click.option(
    "--scope", type=click.Choice(["play", "register", "admin", "link"]), help="Only those of a scope."
)
@token_option
@server_option
@json_option
def command(scope: str | None, token: str | None, server: str, *, as_json: bool) -> None:
    """List all tokens, the newest first, without the tokens themselves."""
    found = api.items(server, "tokens", token=token_for(server, token), scope=scope, limit=200)
    if as_json:
        write_json(found)
        return
    write_table(
        ("id", "scope", "agent", "label", "made", "until", "redeemed", "revoked"),
        ([row.get(column) for column in COLUMNS] for row in found),
    )
