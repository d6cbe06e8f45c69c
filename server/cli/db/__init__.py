"""`plyground db`: a group of commands."""

import click

from server.cli.group import LazyGroup

COMMANDS = {
    "migrate": "Bring the tables up to date; makes the database where there is none.",
    "backup": "Write everything into a new FILE, as it is at one moment; a server may run meanwhile.",
    "restore": "Fill an empty database from a FILE of `plyground db backup`. No server may run.",
}


@click.group(cls=LazyGroup, package="server.cli.db", commands_help=COMMANDS)
def command() -> None:
    """Look after the database."""
