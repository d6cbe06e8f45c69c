"""`plyground agents`."""

import click

import games
from agents import roster
from server.cli.terminal import json_option, write_json, write_table

FEW = 2
"""Games named in the table."""


@click.command()
@click.option("--game", help="Only those that play this game.")
@json_option
def command(game: str | None, *, as_json: bool) -> None:
    """List the house agents.

    Those that play no ladder are known to `plyground play` alone.
    """
    chosen = games.load(game) if game else None
    found = [agent for agent in roster.entries() if chosen is None or agent.plays(chosen)]
    if as_json:
        write_json([_as_data(agent) for agent in found])
        return
    write_table(
        ("name", "game", "algorithm", "on ladders", "what it is"),
        ((agent.name, _few(_games(agent)), agent.algorithm, not agent.extra, agent.about) for agent in found),
    )


def _games(agent: roster.HouseAgent) -> str:
    """Name the games that an agent plays."""
    played = [name for name in games.names() if agent.plays(games.load(name))]
    return "any" if played == games.names() else ", ".join(played)


def _few(played: str) -> str:
    """Cut a list of games to what a table has room for; --json and --game tell all."""
    named = played.split(", ")
    return played if len(named) <= FEW else f"{named[0]} and {len(named) - 1} more"


def _as_data(agent: roster.HouseAgent) -> dict[str, object]:
    return {
        "name": agent.name,
        "game": _games(agent),
        "algorithm": agent.algorithm,
        "on_ladders": not agent.extra,
        "about": agent.about,
    }
