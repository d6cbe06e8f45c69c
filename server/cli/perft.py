"""`plyground perft`."""

import click

import games
from games.perft import divide, perft
from server.cli.numbers import WholeNumber
from server.cli.terminal import json_option, write_json

MAX_DEPTH = 1_000
"""Deeper than any game is long, and what compiled code can take."""


@click.command()
@click.argument("game")
@click.argument("depth", type=WholeNumber(0, MAX_DEPTH))
@click.option("--position", metavar="TEXT", help="Count from this position, not from the start.")
@click.option("--divide", "divided", is_flag=True, help="Print the count below each action, then the sum.")
@json_option
def command(game: str, depth: int, position: str | None, *, divided: bool, as_json: bool) -> None:
    """Count the action sequences of a length.

    Prints the number of sequences of exactly DEPTH actions, and nothing else. A pass is an action; a game
    that is over before DEPTH counts 0.
    """
    rules = games.load(game)
    state = games.Position.start(rules, position).state
    if not divided:
        count = perft(state, depth)
        if as_json:
            write_json({"count": count})
        else:
            click.echo(count)
        return
    parts = divide(rules, state, depth)
    total = sum(parts.values())
    if as_json:
        write_json({"count": total, "divide": parts})
        return
    for action, count in parts.items():
        click.echo(f"{action} {count}")
    click.echo(total)
