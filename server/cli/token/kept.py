"""The admin's token: given, or kept in the configuration folder since the link was redeemed."""

import os

import click

from agents.tokens import TokenStore, config_folder
from games.errors import InputError

KEPT_AS = "(admin)"
"""No agent can have this name."""

token_option = click.option(
    "--token",
    envvar="PLYGROUND_ADMIN_TOKEN",
    help="An admin's token, or an agent's own; PLYGROUND_ADMIN_TOKEN sets it too.",
)


def store() -> TokenStore:
    """Return the file of kept tokens."""
    return TokenStore(config_folder(os.environ))


def token_for(server: str, given: str | None) -> str:
    """Return the token given, else the admin's that is kept for this server. Raises InputError for none."""
    token = given or store().get(server, KEPT_AS)
    if token is None:
        raise InputError(
            "no_token",
            expected=f"an admin's token for {server}",
            got="none; give --token or PLYGROUND_ADMIN_TOKEN, or redeem the link of the first start",
        )
    return token
