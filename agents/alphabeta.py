"""Alpha-beta search: figure 5.7 of Russell and Norvig (4th edition), with a cut-off test and EVAL.

Iterative deepening: depth 1, 2, 3 ... until the depth, the nodes or the time are used up. Each iteration
tries first what the one before found best, in every position, so that more is cut off.

A value is always that of a given player, and the sign turns where another player is to move. So a player
may well move twice in a row.
"""

import math
import random
from collections.abc import Sequence

from agents.agent import Agent
from agents.clock import Clock, search_ms
from agents.evaluation import DECIDED, checked_weights, cutoff_value
from agents.search_info import SearchInfo
from games import State

NODES_BETWEEN_LOOKS = 256
"""States generated between two looks at the clock."""

MAX_DEPTH = 512
"""Deepest iteration where no depth is given; deeper than any game searched in plain Python."""


class BudgetSpentError(Exception):
    """Nodes or time are used up in mid-search."""


class AlphaBeta(Agent):
    """Plays the best action of the deepest iteration finished within its limits.

    For two players, zero-sum, without chance. `weights` are those of EVAL, one a feature, all zero if
    None. The limits, each optional: `depth` in plies, `nodes` generated in all, `time_ms` for a move.
    With less than `reserve_ms` left on the match's clock it answers in any case. The seed decides among
    equals.
    """

    def __init__(
        self,
        depth: int | None = None,
        weights: Sequence[float] | None = None,
        *,
        nodes: int | None = None,
        time_ms: float | None = None,
        seed: int | None = None,
        reserve_ms: float = 150.0,
    ) -> None:
        self.depth = depth
        self.weights = weights
        self.nodes = nodes
        self.time_ms = time_ms
        self.reserve_ms = reserve_ms
        self._rng = random.Random(seed)

    def choose(self, state: State, clock: Clock) -> int:
        """Choose by iterative deepening; stops early when deeper search can change nothing."""
        info = self.info = SearchInfo("alphabeta")
        stop_ms = search_ms(clock, self.reserve_ms, self.time_ms)
        search = _Search(info, checked_weights(state, self.weights), self.nodes, stop_ms, clock)
        actions = list(state.actions())
        self._rng.shuffle(actions)
        chosen = actions[0]
        for depth in range(1, (self.depth or MAX_DEPTH) + 1):
            started_ms = clock.elapsed_ms()
            try:
                values = search.root(state, actions, depth)
            except BudgetSpentError:
                break
            info.ms_by_depth.append(clock.elapsed_ms() - started_ms)
            actions.sort(key=lambda action: -values[action])
            lost = values[actions[0]] <= -DECIDED
            # A loss at this depth is a loss whatever is played: the action that looked best before resists
            # as long as any.
            if not (lost and depth > 1):
                chosen = actions[0]
            info.depth, info.value, info.pv = depth, values[actions[0]], list(search.line)
            info.complete = not search.cut
            if abs(info.value) >= DECIDED or info.complete:
                break
        info.first_move_cutoffs = search.first_cutoffs / info.cutoffs if info.cutoffs else None
        return chosen

    def values(self, state: State, depth: int) -> dict[int, float]:
        """Exact value of each action for the player to move, `depth` plies deep: no window between them."""
        info = self.info = SearchInfo("alphabeta", depth=depth)
        search = _Search(info, checked_weights(state, self.weights), None, math.inf, Clock(0))
        return {
            action: search.value(state.result(action), state.to_move(), depth - 1, -math.inf, math.inf, [], 1)
            for action in state.actions()
        }


class _Search:
    """One search: its weights and limits, the best actions met, and what it counted."""

    def __init__(
        self,
        info: SearchInfo,
        weights: tuple[float, ...],
        nodes: int | None,
        stop_ms: float,
        clock: Clock,
    ) -> None:
        self.info = info
        self.weights = weights
        self.nodes = nodes
        self.stop_ms = stop_ms
        self.clock = clock
        self.cut = False
        self.first_cutoffs = 0
        self.line: list[int] = []
        self._best: dict[int, int] = {}

    def root(self, state: State, actions: list[int], depth: int) -> dict[int, float]:
        """Value the actions with a narrowing window: that of the best is exact, the others' are bounds."""
        self.cut = False
        mover = state.to_move()
        alpha = -math.inf
        values = {}
        for action in actions:
            line: list[int] = []
            value = self.value(state.result(action), mover, depth - 1, alpha, math.inf, line, 1)
            # An upper bound equal to alpha must not look like an equal: sorted behind, it stays unplayed.
            values[action] = value if value > alpha else math.nextafter(min(value, alpha), -math.inf)
            if value > alpha:
                alpha = value
                self.line = [action, *line]
        return values

    def value(
        self, state: State, p: int, depth: int, alpha: float, beta: float, line: list[int], ply: int
    ) -> float:
        """Value of `state` for player `p` if it is inside (alpha, beta), else a bound on the same side.

        v = minimax value where alpha < v < beta; v <= alpha and v >= beta are upper and lower bounds.
        `line` becomes the principal variation.
        """
        self._count(ply)
        if state.is_terminal():
            return state.utility(p)
        if depth == 0:
            self.cut = True
            return cutoff_value(state, p, self.weights)
        mover = state.to_move()
        if mover != p:
            alpha, beta = -beta, -alpha
        best = -math.inf
        key, ordered = self._ordered(state, depth)
        for number, action in enumerate(ordered):
            below: list[int] = []
            value = self.value(state.result(action), mover, depth - 1, alpha, beta, below, ply + 1)
            if value > best:
                best = value
                line[:] = [action, *below]
                if value >= beta:
                    self.info.cutoffs += 1
                    self.first_cutoffs += number == 0
                    break
                alpha = max(alpha, value)
        if depth > 1:
            self._best[key] = line[0]
        return best if mover == p else -best

    def _ordered(self, state: State, depth: int) -> tuple[int, list[int]]:
        """Return the state's key and its actions, first what a shallower iteration found best here."""
        actions = list(state.actions())
        if depth == 1:  # nothing shallower to learn from, and the key costs more than it saves
            return 0, actions
        key = state.key()
        best = self._best.get(key)
        if best in actions:
            actions.remove(best)
            actions.insert(0, best)
        return key, actions

    def _count(self, ply: int) -> None:
        info = self.info
        info.nodes += 1
        info.seldepth = max(info.seldepth, ply)
        if self.nodes is not None and info.nodes > self.nodes:
            raise BudgetSpentError
        look = info.nodes % NODES_BETWEEN_LOOKS == 0
        if look and self.clock.elapsed_ms() >= self.stop_ms:
            raise BudgetSpentError
