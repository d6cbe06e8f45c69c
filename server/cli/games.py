"""`plyground games`."""

import click

import games
from games.options import written
from server.cli.terminal import json_option, write_json, write_table


@click.command()
@json_option
def command(*, as_json: bool) -> None:
    """List the games and their options."""
    found = [games.load(name) for name in games.names()]
    if as_json:
        write_json([game.to_json() for game in found])
        return
    write_table(
        ("game", "title", "players", "options"),
        ((game.name, game.title, game.players, _options(game)) for game in found),
    )


def _options(game: games.Game) -> str:
    """Say each option with its default and range."""
    return ", ".join(
        f"{key}={written(option.default)} ({option.values})" for key, option in game.options.items()
    )
