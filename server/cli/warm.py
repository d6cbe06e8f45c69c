"""`plyground warm`."""

import time

import click

import games
from agents import roster
from games.kernel import jit, store
from games.perft import compiled_perft
from server import settings
from server.cli.terminal import json_option, write_json


@click.command()
@json_option
def command(*, as_json: bool) -> None:
    """Compile the house agents' searches, so that nobody waits for it.

    For every game and every ladder's variant. The code is kept in PLYGROUND_CACHE_DIR (default: .cache
    beside the sources), named by the sources it was made from; what they no longer fit is removed.
    """
    rows = []
    for variant in variants():
        game = games.load(variant)
        algorithms = {agent.algorithm for agent in roster.entries() if agent.plays(game)}
        started_s = time.monotonic()
        for algorithm in sorted(algorithms):
            roster.prepare(algorithm, variant)
        compiled_perft(game.initial_state(), 1)
        seconds = round(time.monotonic() - started_s, 2)
        rows.append({"game": variant, "algorithms": sorted(algorithms), "seconds": seconds})
        if not as_json:
            click.echo(f"{variant}: {', '.join(sorted(algorithms))}  {seconds} s")
    # A process that compiles nothing uses no file, and knows of none that it fits no more.
    removed = store.remove_unused() if jit.COMPILES else 0
    if as_json:
        write_json(rows)
        return
    if not jit.COMPILES:
        click.echo("numba is missing or switched off: searches run as plain Python")
    else:
        click.echo(f"{len(store.used)} files in {store.folder()}, {removed} that fit no more removed")


def variants() -> list[str]:
    """Return all games and what the ladders play."""
    ladders = [games.load(ladder.game).variant for ladder in settings.load().ladders]
    return list(dict.fromkeys([*games.names(), *ladders]))
