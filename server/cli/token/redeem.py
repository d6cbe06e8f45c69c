"""`plyground token redeem`."""

import click

from games.errors import InputError
from server.cli import api
from server.cli.terminal import clean, json_option, write_json
from server.cli.token.kept import KEPT_AS, store


@click.command()
@click.argument("link")
@json_option
def command(link: str, *, as_json: bool) -> None:
    """Become the admin, by the link that the first start printed.

    LINK works once, and goes to the server that it names. The token is printed this once, and kept in your
    configuration folder for the other commands of `plyground token`.
    """
    page, _, code = link.strip().partition("#")
    if not code or not page.endswith("/admin"):
        raise InputError("bad_link", expected="a link, http://host:port/admin#code", got=repr(page))
    server = api.server_url(page.removesuffix("/admin"))
    made = api.send(server, "POST", "links/redeem", {"code": code})
    token = api.text_of(server, made, "token")
    kept = store()
    try:
        kept.put(server, KEPT_AS, token)
        told = f"The admin's token of {server}, kept in {kept.file} for the commands of plyground token."
    except InputError as error:
        told = f"{error}; the token was not kept"
    click.echo(clean(told), err=True)
    if as_json:
        write_json(made)
        return
    click.echo(clean(token))
