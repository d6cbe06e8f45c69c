"""Scratch memory of minimax and alpha-beta, and what both do with it: they count nodes and keep lines."""

import math
from collections.abc import Sequence
from typing import Any

from agents.clock import Clock, searching_ms
from agents.evaluation import MOST_FEATURES
from agents.ordering import ACTIONS, PLIES, STACK
from agents.search_info import SearchInfo
from agents.search_run import Layout, SearchRun
from agents.transposition import ENTRY, SLOTS
from games import State
from games.protocol import kernel

LAYOUT: Layout = (
    ("nodes", "i8", 0),  # states generated
    ("most_nodes", "i8", 0),  # the search looks at no more
    ("next_look", "i8", 0),  # nodes at the next look at the limits
    ("nodes_a_look", "i8", 0),
    ("seldepth", "i8", 0),
    ("horizon", "i8", 0),  # times that a value rested on EVAL
    ("cutoffs", "i8", 0),
    ("first_cutoffs", "i8", 0),  # those by the first action tried
    ("table_hits", "i8", 0),
    ("table_on", "i8", 0),
    ("killers_on", "i8", 0),
    ("history_on", "i8", 0),
    ("ordered", "i8", 0),  # one of them is on
    ("weights", "f8", MOST_FEATURES),
    ("ranked", "i8", STACK),
    ("table", ENTRY, SLOTS),
    ("history", "i4", 2 * ACTIONS),
    ("killers", "i4", 2 * PLIES),
    ("lines", "i2", (PLIES + 1) * PLIES),  # row `ply`: the principal variation from there, then NO_ACTION
)
NODES_A_LOOK = {True: 1024, False: 64}
"""Nodes between two looks at the clock, compiled and plain: some 100 us, and some ms."""

LINE_END = 0
"""Ends a line, in which an action is kept as action + 1: memory begins as zeros."""


class Scratch(SearchRun):
    """The run and memory of one search, with the weights of EVAL in it, and its limit of nodes.

    `switches` are `table`, `killers`, `history`.
    """

    def __init__(
        self,
        state: State,
        weights: Sequence[float],
        clock: Clock,
        stop_ms: float = math.inf,
        nodes: int | None = None,
        **switches: bool,
    ) -> None:
        super().__init__(state, LAYOUT, clock, stop_ms)
        memory = self.memory
        if self.compiled:
            memory.weights[: len(weights)] = weights
        else:
            memory.weights = tuple(weights)
        for name, on in switches.items():
            setattr(memory, f"{name}_on", int(on))
        memory.ordered = int(any(switches.values()))
        memory.most_nodes = 1 << 62 if nodes is None else nodes
        memory.nodes_a_look = NODES_A_LOOK[self.compiled]
        memory.next_look = min(memory.nodes_a_look, memory.most_nodes)

    def line(self, ply: int) -> list[int]:
        """Principal variation from a ply on."""
        line: list[int] = []
        while (kept := int(self.memory.lines[ply * PLIES + len(line)])) != LINE_END:
            line.append(kept - 1)
        return line

    def report(self, info: SearchInfo) -> None:
        """Write what was counted."""
        memory = self.memory
        info.nodes, info.seldepth = int(memory.nodes), int(memory.seldepth)
        info.cutoffs, info.table_hits = int(memory.cutoffs), int(memory.table_hits)
        info.first_move_cutoffs = int(memory.first_cutoffs) / info.cutoffs if info.cutoffs else None


@kernel
def count_node(memory: Any, ply: int) -> None:
    """Count a state generated at a ply; its line is empty until one is found."""
    memory.nodes += 1
    memory.seldepth = max(memory.seldepth, ply)
    memory.lines[ply * PLIES] = LINE_END


@kernel
def limits_reached(memory: Any) -> bool:
    """Look at the limits, and say when to look again."""
    if memory.nodes > memory.most_nodes:
        memory.nodes -= 1  # this one is not looked at
        memory.spent = 1
    elif searching_ms(memory) >= memory.stop_ms:
        memory.spent = 1
    memory.next_look = min(memory.nodes + memory.nodes_a_look, memory.most_nodes)
    return bool(memory.spent)


@kernel
def keep_line(memory: Any, ply: int, action: int) -> None:
    """Let the principal variation of a ply be this action and that of the next ply."""
    to, below = ply * PLIES, (ply + 1) * PLIES
    kept = action + 1
    memory.lines[to] = kept
    while kept != LINE_END:
        kept = memory.lines[below]
        to, below = to + 1, below + 1
        memory.lines[to] = kept
