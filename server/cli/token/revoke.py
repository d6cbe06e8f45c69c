"""`plyground token revoke`."""

import click

from server.cli import api
from server.cli.api import server_option
from server.cli.numbers import WholeNumber
from server.cli.token.kept import token_for, token_option


@click.command()
@click.argument("ids", metavar="ID...", type=WholeNumber(1), nargs=-1, required=True)
@token_option
@server_option
def command(ids: tuple[int, ...], token: str | None, server: str) -> None:
    """Make tokens worthless, by their numbers in the list. Connections made with them end at once."""
    holder = token_for(server, token)
    for number in ids:
        try:
            api.send(server, "DELETE", f"tokens/{number}", token=holder)
        except api.RefusalError as error:
            if error.code != "unknown_token":
                raise
            sentence = f"there is no token {number} that you can revoke; see plyground token list"
            raise api.RefusalError(error.code, sentence) from error
        click.echo(f"token {number} is revoked")
