"""Counting paths of play as machine code, hundreds of times as fast as plain Python."""

from typing import Any

from games.kernel.jit import njit


@njit
def count_plies(s: Any) -> int:
    """Count the actions, or the outcomes that are possible.

    Inside a function that calls itself this loop takes up to four times as long: a generator's variables
    then stay in memory.
    """
    plies = int(s.count_actions())
    for _, probability in s.chance():
        if probability > 0.0:
            plies += 1
    return plies


@njit
def count_paths(s: Any, depth: int) -> int:
    """Count the paths of exactly `depth` plies from a native state, depth >= 1; see games.perft."""
    if depth == 1:  # the last plies need only be counted, not played
        return count_plies(s)
    paths = 0
    for a in s.actions():
        paths += count_paths(s.result(a), depth - 1)
    for outcome, probability in s.chance():
        if probability > 0.0:
            paths += count_paths(s.result(outcome), depth - 1)
    return paths


@njit
def count_turns(s: Any, depth: int) -> int:
    """Count as `count_paths` does, but with a player's whole turn of several actions as one ply."""
    paths = 0
    for a in s.actions():
        after = s.result(a)
        if after.mid_turn():
            paths += count_turns(after, depth)
        else:
            paths += 1 if depth == 1 else count_turns(after, depth - 1)
    for outcome, probability in s.chance():
        if probability > 0.0:
            paths += 1 if depth == 1 else count_turns(s.result(outcome), depth - 1)
    return paths
