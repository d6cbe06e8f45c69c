"""`plyground token issue`."""

from typing import Any

import click

from games.errors import InputError
from server.cli import api
from server.cli.api import server_option
from server.cli.numbers import WholeNumber
from server.cli.terminal import clean, json_option, write_json
from server.cli.token.kept import token_for, token_option

DAY_S = 24 * 3600
WHAT_FOR = {
    "play": "A token to play, shown this once: its agent gives it as connect --token or in PLYGROUND_TOKEN.",
    "register": (
        "An invitation, shown this once: send it to your students, "
        "who give it as connect --invitation or in PLYGROUND_INVITATION."
    ),
    "admin": "An admin's token, shown this once: whoever has it gives it in PLYGROUND_ADMIN_TOKEN.",
}


@click.command()
@click.argument("scope", type=click.Choice(["play", "register", "admin"]))
@click.option("--agent", help="The agent that a token to play is for.")
@click.option("--label", help="What the token is for, to know it again in the list.")
@click.option("--days", type=WholeNumber(1, 3650), help="The token ends after so many days.")
@token_option
@server_option
@json_option
def command(
    scope: str,
    agent: str | None,
    label: str | None,
    days: int | None,
    token: str | None,
    server: str,
    *,
    as_json: bool,
) -> None:
    """Make a token: to play as an agent, to register agents (an invitation), or for an admin.

    It is printed this once. With an agent's own token as --token that agent gets another one to play.
    """
    if scope != "play" and agent is not None:
        raise InputError("bad_usage", expected=f"no --agent with {scope}", got=f"--agent {agent}")
    wanted = {
        "scope": scope,
        "agent": agent,
        "label": label,
        "expires_in_s": None if days is None else days * DAY_S,
    }
    made = _made(server, wanted, token_for(server, token))
    shown = api.text_of(server, made, "token")
    if as_json:
        write_json(made)
        return
    click.echo(clean(shown))
    click.echo(WHAT_FOR[scope], err=True)


def _made(server: str, wanted: dict[str, Any], holder: str) -> Any:
    """Ask for the token; where it is not said whose, name the option that says it."""
    try:
        return api.send(server, "POST", "tokens", wanted, token=holder)
    except api.RefusalError as error:
        if error.code != "bad_body" or wanted["scope"] != "play" or wanted["agent"] is not None:
            raise
        sentence = "expected --agent NAME, the agent that a token to play is for, got none"
        raise api.RefusalError(error.code, sentence) from error
