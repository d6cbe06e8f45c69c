"""Random games of every game, played once for all tests that look at them."""

import functools
import random

import games
from games import Game, Position
from games.options import Option, Value

GAMES_PLAYED = 12
MAX_PLIES = 2_000
SAMPLED = 150


def values_near(option: Option) -> list[Value]:
    """Values next to the default: a step below and above, or the other words."""
    if isinstance(option.default, bool):
        return [not option.default]
    if option.choices:
        return [word for word in option.choices if word != option.default]
    return [option.default - option.step, option.default + option.step]


def neighbours(game: Game) -> list[str]:
    """Variants that differ from the defaults in one option by one step, where the rules allow that."""
    found = []
    for name, option in game.options.items():
        for value in values_near(option):
            try:
                found.append(game.with_options(**{name: value}).variant)
            except games.InputError:
                continue
    return found


def playable(position: Position) -> list[str]:
    """What can be played: actions, or at a chance node outcomes."""
    return [text for text, _ in position.outcomes()] or position.legal()


@functools.cache
def random_games(variant: str) -> tuple[tuple[Position, ...], ...]:
    """Some random games, each as all its positions from the initial one to the end."""
    game = games.load(variant)
    return tuple(_random_game(game, random.Random(f"{variant} {seed}")) for seed in range(GAMES_PLAYED))


def _random_game(game: Game, rng: random.Random) -> tuple[Position, ...]:
    positions = [Position.start(game)]
    while not positions[-1].is_terminal():
        assert len(positions) <= MAX_PLIES, f"a game of {game.variant} does not end"
        positions.append(positions[-1].play(rng.choice(playable(positions[-1]))))
    return tuple(positions)


@functools.cache
def sample(variant: str) -> tuple[Position, ...]:
    """Positions of the random games: the first and last of each game, others at random, SAMPLED at most."""
    played = random_games(variant)
    ends = [position for positions in played for position in (positions[0], positions[-1])]
    others = [position for positions in played for position in positions[1:-1]]
    random.Random(variant).shuffle(others)
    return tuple((ends + others)[:SAMPLED])
