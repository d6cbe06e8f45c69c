"""Move ordering: the best action first is half of alpha-beta.

First what the transposition table found best in this state, then two killers (actions that cut off another
node of this ply), then by history: how much an action has cut off anywhere in the tree (Schaeffer: The
history heuristic, 1983). All of them only order the legal actions.

The actions wait in one stack for all nodes of the path: a node's are those from `start` up to `end`. Each is
one number, its rank and the action together, so that the highest number is the next action to be tried.
"""

from typing import Any

from games.protocol import kernel

PLIES = 512
"""Deepest ply of any search: neither compiled code nor plain Python overflows its stack there."""

ACTIONS = 1 << 15
"""Actions are smaller than this in every game (games.protocol), so no state has more of them."""

LAST = ACTIONS - 1

STACK = 1 << 17
"""Room for the actions of all nodes of a path."""

FIRST = 1 << 30
MOST_HISTORY = 1 << 28


@kernel
def push_actions(state: Any, memory: Any, start: int, ply: int, mover: int, best: int) -> int:
    """Put the state's actions onto the stack, `best` (the table's, or none) first; return the end of them."""
    first, second = memory.killers[2 * ply] - 1, memory.killers[2 * ply + 1] - 1
    end = start
    for action in state.actions():
        rank = int(memory.history[mover * ACTIONS + action])
        if action == best:
            rank = FIRST
        elif action == first:
            rank = FIRST - 1
        elif action == second:
            rank = FIRST - 2
        memory.ranked[end] = rank * ACTIONS + LAST - action  # among equals the smaller action
        end += 1
    return end


@kernel
def next_action(memory: Any, start: int, end: int) -> int:
    """Return the action of the highest rank from `start` on; it changes places with the one there."""
    highest, place = memory.ranked[start], start
    for i in range(start + 1, end):
        if memory.ranked[i] > highest:
            highest, place = memory.ranked[i], i
    memory.ranked[place] = memory.ranked[start]
    return LAST - (int(highest) & LAST)


@kernel
def remember_cutoff(memory: Any, ply: int, mover: int, depth: int, action: int) -> None:
    """Learn from an action that cut off. A killer is kept as action + 1, because memory begins as zeros."""
    if memory.killers_on and memory.killers[2 * ply] != action + 1:
        memory.killers[2 * ply + 1] = memory.killers[2 * ply]
        memory.killers[2 * ply] = action + 1
    if memory.history_on:
        place = mover * ACTIONS + action
        memory.history[place] = min(memory.history[place] + depth * depth, MOST_HISTORY)
