"""The pages in docs/games, one a game: rules in short, notation, options, features, and two pictures.

All of it is said by the game's own file: the sentences are those of its docstrings, "Write a column" of
`format_action` as "An action is written as a column".
"""

import inspect
from collections.abc import Iterator
from pathlib import Path

import games
from games import CHANCE, Game, Position
from games.options import written
from games.picture import svg
from games.picture.paint import STONES
from server.cli.boards import MARKS

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
    yield f"An action is written as {_written(game.format_action)}"
    examples = typical.legal() or [text for text, _ in typical.outcomes()]
    yield f"In the second picture {_mover(typical)}: {_some(examples)}"
    yield f"A position is written as {_written(game.format_position)}"
    yield f"```\n{start.text()}\n{typical.text()}\n```"
    yield _marks(typical)
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


def _marks(position: Position) -> str:
    """Say how the players' pieces look on boards."""
    board, players = position.board(), range(position.game.players)
    marks = _listed([f"`{MARKS[p]}` for player {p}" for p in players])
    kinds = f", with the letter of their kind{' (men have none)' * ('man' in board.kinds.values())}"
    names = None
    if board.style in STONES:
        names = "black", "white"
    elif "king" in board.kinds.values():
        names = "white", "black"
    pages = f" On the web pages player 0 is {names[0]}, player 1 {names[1]}." if names else ""
    return f"In the terminal, pieces are {marks}{kinds if board.kinds else ''}.{pages}"


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _written(function: object) -> str:
    """Return the docstring of what writes an action or a position, as it goes on after "is written as".

    Raises ValueError for one that does not begin with "Write".
    """
    said = inspect.getdoc(function) or ""
    if not said.startswith("Write "):
        raise ValueError(f"expected a docstring that begins with Write, got {said[:40]!r}")
    return said.removeprefix("Write ")
