"""EVAL at the cut-off: weights are checked at the door, and its value stays inside the utilities."""

from collections.abc import Sequence

from games import InputError, State

DECIDED = 1.0
"""A value this far from 0 is a game won or lost; EVAL always stays below it."""

_INSIDE = 1.0 - 1e-9


def checked_weights(state: State, weights: Sequence[float] | None) -> tuple[float, ...]:
    """Return the weights as a tuple, all zero for None.

    Raises InputError where their number is not the number of the game's features.
    """
    features = state.features(0)
    if weights is None:
        return (0.0,) * len(features)
    if len(weights) != len(features):
        raise InputError(
            "bad_weights",
            expected=f"{len(features)} weights",
            got=str(len(weights)),
            available=getattr(features, "_fields", ()),
        )
    return tuple(float(weight) for weight in weights)


def squashed(value: float) -> float:
    """Squash EVAL into the open interval (-1, 1), keeping order: x / (1 + |x|).

    A sum of features, however large, must never look better than a game won.
    """
    return _INSIDE * value / (1.0 + abs(value))


def cutoff_value(state: State, p: int, weights: Sequence[float]) -> float:
    """EVAL of `state` for player `p`, inside the utilities."""
    return squashed(state.evaluate(p, weights))
