"""The pages in docs/games, one a game: rules in short, notation, options, features, and two pictures.

All of it is said by the game's own file: the sentences are those of its docstrings.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import games
from games import CHANCE, Game, Position
from games.options import written
from games.picture import svg

MOST_ACTIONS = 8
"""Actions shown as examples."""


def pages(folder: Path) -> dict[Path, str]:
    """Return what each file in `folder` should hold: the pages, their pictures and the index."""
    found = {folder / "README.md": index()}
    for game in map(games.load, games.names()):
        found[folder / f"{game.name}.md"] = page(game)
        for name, position in pictured(game).items():
            found[folder / f"{game.name}-{name}.svg"] = svg(position.board())
    return found


def index() -> str:
    """Write the list of all games."""
    rows = [
        f"| [{game.title}]({game.name}.md) | `{game.name}` | {game.players} | {_kind(game)} |"
        for game in map(games.load, games.names())
    ]
    head = ["# The games", "", "| game | name | players | kind |", "|---|---|---|---|"]
    after = ["", "To write your own, see [adding a game](../adding-a-game.md)."]
    return "\n".join([*head, *rows, *after]) + "\n"


def page(game: Game) -> str:
    """Write the page of a game."""
    return "\n\n".join(filter(None, _sections(game))) + "\n"


def pictured(game: Game) -> dict[str, Position]:
    """Return the positions of the two pictures: the start, and a typical one."""
    start = Position.start(game)
    return {"start": start, "typical": Position.start(game, moves=game.typical)}


def _sections(game: Game) -> Iterator[str]:
    start, typical = pictured(game).values()
    yield f"# {game.title}"
    yield f"`{game.name}`, {game.players} players: {_kind(game)}. All games: [README.md](README.md)."
    yield game.rules
    yield f'<img src="{game.name}-start.svg" alt="The start" width="320">'
    yield f'<img src="{game.name}-typical.svg" alt="A typical position" width="320">'
    yield f"The start, and a position after `{' '.join(game.typical)}`."
    yield from _options(game)
    yield "## Notation"
    yield "### Actions"
    yield _said_of(game.format_action)
    if "\n\n" in _said_of(game.parse_action):  # there is more to tell than that it reads what is written
        yield _said_of(game.parse_action)
    examples = typical.legal() or [text for text, _ in typical.outcomes()]
    yield f"In the second picture {_mover(typical)}: {_some(examples)}"
    yield "### Positions"
    yield _said_of(game.format_position)
    yield f"```\n{start.text()}\n{typical.text()}\n```"
    if game.hidden:
        yield _hidden(typical)
    yield "## Features"
    yield from _features(typical)


def _kind(game: Game) -> str:
    """Say what kind of game it is, in the words of the textbook."""
    words = ["hidden information" if game.hidden else "perfect information"]
    words += ["chance"] if game.has_chance else []
    words += ["zero-sum" if game.zero_sum else "general-sum"]
    return ", ".join(words)


def _options(game: Game) -> Iterator[str]:
    if not game.options:
        return
    rows = [
        f"| `{name}` | {written(option.default)} | {option.values} | {option.meaning} |"
        for name, option in game.options.items()
    ]
    example = ",".join(f"{name}={written(option.default)}" for name, option in game.options.items())
    yield "## Options"
    yield "\n".join(["| option | default | values | meaning |", "|---|---|---|---|", *rows])
    yield f"Written `{game.name}({example})`."


def _mover(position: Position) -> str:
    if position.to_move() == CHANCE:
        return "chance moves"
    return f"player {position.to_move()} can play"


def _some(texts: list[str]) -> str:
    shown = ", ".join(f"`{text}`" for text in texts[:MOST_ACTIONS])
    more = len(texts) - MOST_ACTIONS
    return f"{shown} and {more} more." if more > 0 else f"{shown}."


def _hidden(position: Position) -> str:
    views = [f"player {p}: {position.text(p)}" for p in range(position.game.players)]
    everybody = f"everybody: {position.text(games.PUBLIC)}"
    return "\n".join(["Of the second one see", "", "```", *views, everybody, "```"])


def _features(typical: Position) -> Iterator[str]:
    features = typical.state.features(0)
    yield inspect.getdoc(type(features)) or ""
    values = ", ".join(f"`{name}` {value:g}" for name, value in features._asdict().items())
    yield f"In the second picture, for player 0: {values}."


def _said_of(function: object) -> str:
    """Return the docstring of a game's function, less what it says to programmers."""
    return re.sub(r"\s*Raises InputError[^.]*\.", "", inspect.getdoc(function) or "")
