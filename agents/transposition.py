"""The transposition table: what a search has proved about a state, wherever in the tree it met it.

One slot for each index, the low bits of the state's key; the newer entry replaces the older one, always.

A value is the state's own, in utilities for the player to move there. No distance from the root is in it,
so a win is the same win at whatever ply the state comes up again; the sooner one is found by deepening.

The table changes no value, of the root or of any move. It answers only where the search would
have had the same bound: from the same depth, or from a line of proof that never reached the horizon. And
it answers only outside of the window, where the node is done with; it never narrows a window.
"""

from typing import Any

from games.protocol import kernel, u64, word

LOWER = 1
"""The value is at least this: the search was cut off."""
UPPER = 2
"""The value is at most this: no action came up to alpha."""
EXACT = LOWER | UPPER
"""The value is this."""

SLOTS = 1 << 18

NO_ACTION = -1

ENTRY = (
    ("key", "u8"),
    ("value", "f8"),
    ("depth", "i4"),
    ("action", "i2"),
    ("bound", "i1"),
    ("complete", "i1"),
)
"""Fields of an entry; `bound` 0 is an empty one."""


@kernel
def look_up(memory: Any, key: word) -> Any:
    """Return the slot of a key, whatever is in there."""
    return memory.table[key & u64(SLOTS - 1)]


@kernel
def cuts_off(entry: Any, key: word, depth: int, alpha: float, beta: float) -> bool:
    """Whether the entry proves that the state's value, `depth` plies deep, is outside of (alpha, beta)."""
    if entry.key != key or entry.bound == 0:
        return False
    if entry.depth != depth and not (entry.complete and entry.depth < depth):
        return False
    above: bool = entry.bound & LOWER != 0 and entry.value >= beta
    below: bool = entry.bound & UPPER != 0 and entry.value <= alpha
    return above or below


@kernel
def best_action(entry: Any, key: word) -> int:
    """Return what was best in this state before, or NO_ACTION."""
    return int(entry.action) if entry.key == key and entry.bound != 0 else NO_ACTION


@kernel
def enter(
    entry: Any, key: word, depth: int, alpha: float, beta: float, value: float, action: int, complete: bool
) -> None:
    """Enter what a search of the window (alpha, beta) has found; `complete`: it never reached the horizon."""
    entry.key = key
    entry.value = value
    entry.depth = depth
    entry.action = action
    entry.bound = EXACT
    if value <= alpha:
        entry.bound = UPPER
    elif value >= beta:
        entry.bound = LOWER
    entry.complete = complete
