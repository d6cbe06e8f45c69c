"""Minimax search with a cut-off: figure 5.3 of Russell and Norvig (4th edition), MINIMAX-SEARCH.

MAX-VALUE and MIN-VALUE are one function here: a value is always that of a given player, and the sign
turns where another player is to move. So a player may well move twice in a row.
"""

import math
import random
from collections.abc import Sequence
from typing import Any

from agents.agent import Agent
from agents.clock import Clock, search_ms
from agents.evaluation import check_game, checked_weights, cutoff_value
from agents.ordering import PLIES
from agents.protocol import MatchStart
from agents.scratch import Scratch, count_node, keep_line, limits_reached
from agents.search_info import SearchInfo
from games import State, load
from games.kernel.jit import njit


@njit
def value(state: Any, p: int, depth: int, ply: int, memory: Any) -> float:
    """Minimax value of `state` for player `p`, `depth` plies deep; line `ply` of the memory leads to it.

    It means nothing once `memory.spent` is set.
    """
    count_node(memory, ply)
    if memory.nodes > memory.next_look and limits_reached(memory):
        return 0.0
    if state.is_terminal():
        return float(state.utility(p))
    if depth == 0:
        memory.horizon += 1
        return cutoff_value(state, p, memory.weights)
    mover = int(state.to_move())
    best = -math.inf
    for action in state.actions():
        r = value(state.result(action), mover, depth - 1, ply + 1, memory)
        if memory.spent:
            return 0.0
        if r > best:
            best = r
            keep_line(memory, ply, action)
    return best if mover == p else -best


class Minimax(Agent):
    """Plays an action of the highest minimax value, `depth` plies deep, EVAL at the cut-off.

    For two players, zero-sum, without chance and hidden information; another game is an InputError. `depth`
    None searches to the end of the game. With `nodes` it looks at so many states at most, at depth 1, 2, 3
    in turn, and the deepest that was finished decides. Among equals an action that ends the game comes first,
    then the seed decides. With less than `reserve_ms` left on the clock the search stops and plays the best
    action it has valued.
    """

    def __init__(
        self,
        depth: int | None = None,
        weights: Sequence[float] | None = None,
        *,
        nodes: int | None = None,
        seed: int | None = None,
        reserve_ms: float = 150.0,
    ) -> None:
        self.depth = depth
        self.weights = weights
        self.nodes = nodes
        self.reserve_ms = reserve_ms
        self._rng = random.Random(seed)

    def match_start(self, start: MatchStart) -> None:
        """Compile the search for the game, which takes seconds the first time, before any clock runs."""
        Minimax(1, self.weights).values(load(start.game).initial_state())

    def choose(self, state: State, clock: Clock) -> int:
        """Choose the action of the highest value."""
        values = self.values(state, clock, search_ms(clock, self.reserve_ms))
        best = max(values.values(), default=0.0)
        equals = [action for action, value in values.items() if value == best]
        ending = [action for action in equals if state.result(action).is_terminal()]
        return self._rng.choice(ending or equals or list(state.actions()))

    def values(self, state: State, clock: Clock | None = None, stop_ms: float = math.inf) -> dict[int, float]:
        """Value of each action for the player to move; only those it got to before `stop_ms` on the clock."""
        info = self.info = SearchInfo("minimax")
        scratch = self._scratch(state, clock or Clock(0), stop_ms)
        search = self._fixed if self.nodes is None else self._deepened
        values = scratch.run(lambda: search(state, scratch, info))
        scratch.report(info)
        return values

    def _fixed(self, state: State, scratch: Scratch, info: SearchInfo) -> dict[int, float]:
        """Search to the depth at once."""
        values = _root(state, self._most_plies, scratch, info)
        memory = scratch.memory
        info.complete = not memory.horizon and not memory.spent
        info.depth = 0 if memory.spent else self.depth or 0
        return values

    def _deepened(self, state: State, scratch: Scratch, info: SearchInfo) -> dict[int, float]:
        """Search one ply deeper each time, until the limits are reached or nothing is left to be found."""
        values: dict[int, float] = {}
        memory = scratch.memory
        for depth in range(1, self._most_plies + 1):
            memory.horizon = 0
            found = SearchInfo("minimax")
            deeper = _root(state, depth, scratch, found)
            if memory.spent and values:
                break
            values, info.value, info.pv = deeper, found.value, found.pv
            if memory.spent:
                break
            info.depth, info.complete = depth, not memory.horizon
            if info.complete:
                break
        return values

    @property
    def _most_plies(self) -> int:
        return min(PLIES if self.depth is None else self.depth, PLIES)

    def _scratch(self, state: State, clock: Clock, stop_ms: float) -> Scratch:
        check_game(state, "minimax")
        return Scratch(state, checked_weights(state, self.weights), clock, stop_ms, self.nodes)


def _root(state: State, depth: int, scratch: Scratch, info: SearchInfo) -> dict[int, float]:
    """Value the actions in turn, and keep the best one's value and line."""
    search, memory = scratch.function(value), scratch.memory
    values: dict[int, float] = {}
    for action in state.actions():
        r = float(search(scratch.native(state.result(action)), state.to_move(), depth - 1, 1, memory))
        if memory.spent:
            break
        values[action] = r
        if info.value is None or r > info.value:
            info.value, info.pv = r, [action, *scratch.line(1)]
    return values
