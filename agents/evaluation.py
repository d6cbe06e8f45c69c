"""What a search of two players' games asks at the door, and EVAL at its cut-off, inside the utilities."""

import math
from collections.abc import Sequence
from typing import Any

from games import CHANCE, InputError, Observation, State
from games.protocol import is_compiled, kernel

DECIDED = 1.0
"""A value this far from 0 is a game won or lost; EVAL always stays below it."""

MOST_FEATURES = 64
"""Room for weights in a search's memory."""

LARGEST_WEIGHT = 1e100
"""A sum of such weights is still a number; squashing what is none would end all comparing."""

_INSIDE = 1.0 - 1e-9


def check_game(state: State, algorithm: str) -> None:
    """Refuse a game that the algorithm would play wrong.

    Raises InputError for hidden information, chance, and more or fewer than two players.
    """
    got = _unfit(state)
    if got is not None:
        raise InputError(
            "not_played",
            expected=f"a game of two players without chance or hidden information, for {algorithm}",
            got=f"{type(state).__name__}, {got}",
            available=["random", "mcts"],
        )


def _unfit(state: State) -> str | None:
    if isinstance(state, Observation) or hasattr(state, "information"):
        return "with hidden information"
    if state.players() != 2:
        return f"of {state.players()} players"
    own_chance = is_compiled(type(state)) and type(state).chance.__module__ != kernel.__module__
    return "with chance" if own_chance or state.to_move() == CHANCE else None


def checked_weights(state: State, weights: Sequence[float] | None) -> tuple[float, ...]:
    """Return the weights as a tuple, all zero for None.

    Raises InputError where their number is not the number of the game's features, or one is no number
    of at most LARGEST_WEIGHT.
    """
    features = state.features(0)
    names = getattr(features, "_fields", ())
    if weights is None:
        weights = (0.0,) * len(features)
    if len(features) > MOST_FEATURES:
        raise InputError("bad_weights", expected=f"at most {MOST_FEATURES} features", got=str(len(features)))
    if len(weights) != len(features):
        expected = f"{len(features)} weights"
        raise InputError("bad_weights", expected=expected, got=str(len(weights)), available=names)
    for weight in weights:
        if not math.fabs(weight) <= LARGEST_WEIGHT:
            expected = f"weights of at most {LARGEST_WEIGHT:g}"
            raise InputError("bad_weights", expected=expected, got=str(weight), available=names)
    return tuple(float(weight) for weight in weights)


@kernel
def squashed(value: float) -> float:
    """Squash EVAL into the open interval (-1, 1), keeping order: x / (1 + |x|).

    A sum of features, however large, must never look better than a game won.
    """
    return _INSIDE * value / (1.0 + abs(value))


@kernel
def cutoff_value(state: Any, p: int, weights: Sequence[float]) -> float:
    """EVAL of `state` for player `p`, inside the utilities."""
    return squashed(state.evaluate(p, weights))
