"""`plyground token`: a group of commands."""

import click

from server.cli.group import LazyGroup

COMMANDS = {
    "redeem": "Become the admin, by the link that the first start printed.",
    "issue": "Make a token: to play, to register agents, or for an admin.",
    "list": "List all tokens, without the tokens themselves.",
    "revoke": "Make tokens worthless.",
}


@click.group(cls=LazyGroup, package="server.cli.token", commands_help=COMMANDS)
def command() -> None:
    """Make, list and revoke tokens; become the admin."""
