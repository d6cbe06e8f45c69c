"""Counting paths of play: the standard check that rules are right ("performance test")."""

from collections import Counter
from collections.abc import Iterator

from games.errors import InputError
from games.game import Game
from games.protocol import State


def layers(state: State) -> Iterator[Counter[State]]:
    """Yield, ply by ply from `state` on, each state reached with the number of paths that lead to it.

    Equal states are merged. That loses no path, since the future depends on the state alone, and it is
    what makes counting millions of paths quick: connect four has 5,673,234 paths of 8 plies, but only
    54,859 different positions at ply 7.
    """
    layer: Counter[State] = Counter({state: 1})
    while layer:
        yield layer
        following: Counter[State] = Counter()
        for parent, paths in layer.items():
            for action in parent.actions():
                following[parent.result(action)] += paths
        layer = following


def perft(state: State, depth: int) -> int:
    """Count the paths of exactly `depth` actions from `state`. A game over before that counts 0."""
    if depth < 0:
        raise InputError("bad_depth", expected="a depth of 0 or more", got=str(depth))
    if depth == 0:
        return 1
    for ply, layer in enumerate(layers(state), start=1):
        if ply == depth:  # the last actions need only be counted, not played
            return sum(paths * sum(1 for _ in parent.actions()) for parent, paths in layer.items())
    return 0


def divide(game: Game, state: State, depth: int) -> dict[str, int]:
    """Return the paths of `depth` actions by their first action's text; the sum is `perft(state, depth)`."""
    if depth < 1:
        raise InputError("bad_depth", expected="a depth of 1 or more to divide", got=str(depth))
    return {
        game.format_action(state, action): perft(state.result(action), depth - 1)
        for action in state.actions()
    }
