"""Counting paths of play: the standard check that rules are right ("performance test")."""

from collections import Counter
from collections.abc import Iterator

from games.errors import InputError
from games.game import Game
from games.kernel.jit import COMPILES, native
from games.protocol import CHANCE, State, is_compiled, takes_turns

COMPILED_PLIES = 6
"""From this depth on, machine code is quicker by more than it takes to load."""


def plies(state: State) -> Iterator[int]:
    """Yield the actions, or at a chance node the outcomes that are possible; none when the game is over."""
    if state.to_move() == CHANCE:
        yield from (outcome for outcome, probability in state.chance() if probability > 0.0)
    else:
        yield from state.actions()


def turns(state: State) -> Iterator[State]:
    """Yield the states in which a turn that begins here, of one action or several, can end."""
    for action in plies(state):
        after = state.result(action)
        if after.mid_turn():
            yield from turns(after)
        else:
            yield after


def layers(state: State) -> Iterator[Counter[State]]:
    """Yield, turn by turn from `state` on, each state reached with the number of paths that lead to it.

    Equal states are merged. That loses no path, since the future depends on the state alone, and it is
    what makes counting millions of paths quick: connect four has 5,673,234 paths of 8 plies, but only
    54,859 different positions at ply 7.
    """
    layer: Counter[State] = Counter({state: 1})
    while layer:
        yield layer
        following: Counter[State] = Counter()
        for parent, paths in layer.items():
            for after in turns(parent):
                following[after] += paths
        layer = following


def perft(state: State, depth: int) -> int:
    """Count the paths of exactly `depth` plies from `state`: actions and chance outcomes.

    A game over before that counts 0. Where a turn may be several actions, a whole turn is one ply; two ways
    to the same end of it count as two.
    """
    if depth < 0:
        raise InputError("bad_depth", expected="a depth of 0 or more", got=str(depth))
    if depth >= COMPILED_PLIES and COMPILES and is_compiled(type(state)):
        return compiled_perft(state, depth)
    return merged_perft(state, depth)


def compiled_perft(state: State, depth: int) -> int:
    """Count as `perft` does from a depth of 1, as machine code."""
    from games.kernel.counting import count_paths, count_turns  # noqa: PLC0415 - loads numba

    count = count_turns if takes_turns(type(state)) else count_paths
    return int(count(native(state), depth))


def merged_perft(state: State, depth: int) -> int:
    """Count as `perft` does, in plain Python, equal states once."""
    if depth == 0:
        return 1
    for ply, layer in enumerate(layers(state), start=1):
        if ply == depth:  # the last actions need only be counted, not played
            ends = turns if takes_turns(type(state)) else plies
            return sum(paths * sum(1 for _ in ends(parent)) for parent, paths in layer.items())
    return 0


def divide(game: Game, state: State, depth: int) -> dict[str, int]:
    """Return the paths of `depth` plies by their first one's text; the sum is `perft(state, depth)`."""
    if depth < 1:
        raise InputError("bad_depth", expected="a depth of 1 or more to divide", got=str(depth))
    return {game.format_action(state, action): _below(state.result(action), depth) for action in plies(state)}


def _below(after: State, depth: int) -> int:
    """Count the paths of a turn's rest and the turns after it, `depth` with that one."""
    if not after.mid_turn():
        return perft(after, depth - 1)
    return perft(after, depth)
