"""`plyground db`: a group of commands."""

import click

from server.cli.group import LazyGroup

COMMANDS = {"migrate": "Bring the tables up to date; makes the database where there is none."}


@click.group(cls=LazyGroup, package="server.cli.db", commands_help=COMMANDS)
def command() -> None:
    """Look after the database."""
