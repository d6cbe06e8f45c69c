"""Minimax search with a cut-off: figure 5.3 of Russell and Norvig (4th edition), MINIMAX-SEARCH.

MAX-VALUE and MIN-VALUE are one function here: a value is always that of a given player, and the sign
turns where another player is to move. So a player may well move twice in a row.
"""

import math
import random
from collections.abc import Sequence

from agents.agent import Agent
from agents.clock import Clock, search_ms
from agents.evaluation import checked_weights, cutoff_value
from agents.search_info import SearchInfo
from games import State

NODES_BETWEEN_LOOKS = 256
"""States generated between two looks at the clock."""


class OutOfTimeError(Exception):
    """The clock ran down in mid-search."""


class Minimax(Agent):
    """Plays an action of the highest minimax value, `depth` plies deep, EVAL at the cut-off.

    For two players, zero-sum, without chance. `depth` None searches to the end of the game. Among equals
    an action that ends the game comes first, then the seed decides. With less than `reserve_ms` left on
    the clock the search stops and plays the best action it has valued.
    """

    def __init__(
        self,
        depth: int | None = None,
        weights: Sequence[float] | None = None,
        *,
        seed: int | None = None,
        reserve_ms: float = 150.0,
    ) -> None:
        self.depth = depth
        self.weights = weights
        self.reserve_ms = reserve_ms
        self._rng = random.Random(seed)

    def choose(self, state: State, clock: Clock) -> int:
        """Choose the action of the highest value."""
        values = self.values(state, clock, search_ms(clock, self.reserve_ms))
        best = max(values.values(), default=0.0)
        equals = [action for action, value in values.items() if value == best]
        ending = [action for action in equals if state.result(action).is_terminal()]
        return self._rng.choice(ending or equals or list(state.actions()))

    def values(self, state: State, clock: Clock | None = None, stop_ms: float = math.inf) -> dict[int, float]:
        """Value of each action for the player to move; only those it got to before `stop_ms` on the clock."""
        info = self.info = SearchInfo("minimax", depth=self.depth or 0)
        search = _Search(info, checked_weights(state, self.weights), clock or Clock(0), stop_ms)
        values: dict[int, float] = {}
        try:
            for action in state.actions():
                line: list[int] = []
                values[action] = search.value(state.result(action), state.to_move(), self._below(), line, 1)
                if values[action] > (-math.inf if info.value is None else info.value):
                    info.value, info.pv = values[action], [action, *line]
        except OutOfTimeError:
            info.depth = 0
        info.complete = (
            not search.cut and info.value is not None and len(values) == len(list(state.actions()))
        )
        return values

    def _below(self) -> int:
        """Return the depth left below the root; negative numbers never reach 0, so they mean no cut-off."""
        return -1 if self.depth is None else self.depth - 1


class _Search:
    """One search: its weights, its clock, and what it counted."""

    def __init__(self, info: SearchInfo, weights: tuple[float, ...], clock: Clock, stop_ms: float) -> None:
        self.info = info
        self.weights = weights
        self.clock = clock
        self.stop_ms = stop_ms
        self.cut = False

    def value(self, state: State, p: int, depth: int, line: list[int], ply: int) -> float:
        """Minimax value of `state` for player `p`; `line` becomes the line that leads to it."""
        self._count(ply)
        if state.is_terminal():
            return state.utility(p)
        if depth == 0:
            self.cut = True
            return cutoff_value(state, p, self.weights)
        mover = state.to_move()
        best = -math.inf
        for action in state.actions():
            below: list[int] = []
            value = self.value(state.result(action), mover, depth - 1, below, ply + 1)
            if value > best:
                best = value
                line[:] = [action, *below]
        return best if mover == p else -best

    def _count(self, ply: int) -> None:
        info = self.info
        info.nodes += 1
        info.seldepth = max(info.seldepth, ply)
        if info.nodes % NODES_BETWEEN_LOOKS == 0 and self.clock.elapsed_ms() >= self.stop_ms:
            raise OutOfTimeError
