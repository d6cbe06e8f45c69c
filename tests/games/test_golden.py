"""One play-through a game, as a text that a person can read in a diff.

After a change of rules that is meant, write them anew and read the diff:
`PLYGROUND_WRITE_GOLDEN=1 python -m pytest tests/games/test_golden.py`
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import games
from games import CHANCE, PUBLIC, Game, Position
from games.options import written

FOLDER = Path(__file__).parent / "golden"
WRITE = "PLYGROUND_WRITE_GOLDEN"
LONG = 130
"""Of a longer game only the actions are told from here on, and the end: nobody reads hundreds of boards."""


def describe_game(game: Game) -> Iterator[str]:
    yield f"{game.title} ({game.variant}), {game.players} players"
    for name, option in game.options.items():
        yield f"option {name}: {written(option.default)} ({option.values}), {option.meaning}"
    for trait in ("zero_sum", "has_chance", "hidden"):
        yield f"{trait}: {getattr(game, trait)}"
    yield f"features: {', '.join(game.feature_names)}"


def describe_position(position: Position) -> Iterator[str]:
    yield f"\n# ply {position.ply}"
    yield from (line.rstrip() for line in position.board().to_text().splitlines())
    yield f"position: {position.text()}"
    if position.game.hidden:
        yield f"seen by player 0, 1, everybody: {', '.join(map(position.text, (0, 1, PUBLIC)))}"
    yield f"key: {position.state.key():016x}"
    yield f"features of player 0: {' '.join(f'{value:g}' for value in position.state.features(0))}"
    if position.is_terminal():
        yield f"utilities: {' '.join(f'{utility:g}' for utility in position.utilities())}"
        yield f"line: {' '.join(f'{row},{column}' for row, column in position.board().line) or 'none'}"
    elif position.to_move() == CHANCE:
        yield f"chance: {' '.join(f'{text}:{probability:.3g}' for text, probability in position.outcomes())}"
    else:
        yield f"player {position.to_move()} to move: {' '.join(position.legal())}"


def play_through(game: Game) -> str:
    """Play a fixed game: a different stride through the legal actions at each ply."""
    position = Position.start(game)
    lines = [*describe_game(game), *describe_position(position)]
    while not position.is_terminal():
        playable = position.legal() or [text for text, _ in position.outcomes()]
        action = playable[(position.ply * 5 + 3) % len(playable)]
        position = position.play(action)
        lines.append(f"action: {action}")
        if position.ply <= LONG or position.is_terminal():
            lines += describe_position(position)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", games.names())
def test_play_through_is_as_recorded(name):
    path = FOLDER / f"{name}.txt"
    text = play_through(games.load(name))
    if os.environ.get(WRITE):
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"no play-through of {name} yet; set {WRITE}=1 to write it"
    assert text == path.read_text(encoding="utf-8")


def test_no_play_through_is_left_over():
    assert sorted(path.stem for path in FOLDER.iterdir()) == games.names()
