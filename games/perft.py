"""Counting paths of play: the standard check that rules are right ("performance test")."""

from collections import Counter
from collections.abc import Iterator

from games.errors import InputError
from games.game import Game
from games.kernel.jit import COMPILES, native
from games.protocol import CHANCE, State, is_compiled

COMPILED_PLIES = 6
"""From this depth on, machine code is quicker by more than it takes to load."""


def plies(state: State) -> Iterator[int]:
    """Yield the actions, or at a chance node the outcomes that are possible; none when the game is over."""
    if state.to_move() == CHANCE:
        yield from (outcome for outcome, probability in state.chance() if probability > 0.0)
    else:
        yield from state.actions()


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
            for action in plies(parent):
                following[parent.result(action)] += paths
        layer = following


def perft(state: State, depth: int) -> int:
    """Count the paths of exactly `depth` plies from `state`: actions and chance outcomes.

    A game over before that counts 0.
    """
    if depth < 0:
        raise InputError("bad_depth", expected="a depth of 0 or more", got=str(depth))
    if depth >= COMPILED_PLIES and COMPILES and is_compiled(type(state)):
        from games.kernel.counting import count_paths  # noqa: PLC0415 - loads numba

        return int(count_paths(native(state), depth))
    return merged_perft(state, depth)


def merged_perft(state: State, depth: int) -> int:
    """Count as `perft` does, in plain Python, equal states once."""
    if depth == 0:
        return 1
    for ply, layer in enumerate(layers(state), start=1):
        if ply == depth:  # the last actions need only be counted, not played
            return sum(paths * sum(1 for _ in plies(parent)) for parent, paths in layer.items())
    return 0


def divide(game: Game, state: State, depth: int) -> dict[str, int]:
    """Return the paths of `depth` plies by their first one's text; the sum is `perft(state, depth)`."""
    if depth < 1:
        raise InputError("bad_depth", expected="a depth of 1 or more to divide", got=str(depth))
    return {
        game.format_action(state, action): perft(state.result(action), depth - 1) for action in plies(state)
    }
