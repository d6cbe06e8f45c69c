"""Alpha-beta search: figure 5.7 of Russell and Norvig (4th edition), with a cut-off test and EVAL.

MAX-VALUE and MIN-VALUE are one function here: a value is always that of a given player, and the sign turns
where another player is to move. So a player may well move twice in a row.

Iterative deepening: depth 1, 2, 3 ... until the depth, the nodes or the time are used up. Each iteration
tries first what the ones before found best.
"""

import math
import random
from collections.abc import Sequence
from typing import Any

from agents.agent import Agent
from agents.clock import Clock, search_ms
from agents.evaluation import DECIDED, check_game, checked_weights, cutoff_value
from agents.ordering import ACTIONS, PLIES, STACK, next_action, push_actions, remember_cutoff
from agents.protocol import MatchStart
from agents.scratch import Scratch, count_node, keep_line, limits_reached
from agents.search_info import SearchInfo
from agents.transposition import best_action, cuts_off, enter, look_up
from games import InputError, State, load
from games.kernel.jit import njit
from games.protocol import u64


@njit
def value(
    state: Any, p: int, depth: int, alpha: float, beta: float, ply: int, start: int, memory: Any
) -> float:
    """Return a number r about v, the minimax value of `state` for player `p`, `depth` plies deep.

    alpha < r < beta:  v = r, and line `ply` of the memory is the principal variation
    r <= alpha:        v <= r
    r >= beta:         v >= r

    `start` is where the stack of actions is free. The result means nothing once `memory.spent` is set.
    """
    count_node(memory, ply)
    if memory.nodes > memory.next_look and limits_reached(memory):
        return 0.0
    if state.is_terminal():
        return float(state.utility(p))
    if depth == 0 or ply == PLIES - 1 or start > STACK - ACTIONS:
        memory.horizon += 1
        return cutoff_value(state, p, memory.weights)
    mover = int(state.to_move())
    sign = 1.0
    if mover != p:
        alpha, beta, sign = -beta, -alpha, -1.0
    inner = depth > 1  # at the last ply a key, and an order, cost more than they save
    tabled = inner and memory.table_on != 0
    ordered = inner and memory.ordered != 0
    key = state.key() if tabled else u64(0)
    entry = look_up(memory, key)
    if tabled and cuts_off(entry, key, depth, alpha, beta):
        memory.table_hits += 1
        memory.horizon += not entry.complete
        return sign * float(entry.value)
    horizon = memory.horizon
    best, chosen, floor = -math.inf, -1, alpha
    turn = end = start
    if ordered:
        end = push_actions(state, memory, start, ply, mover, best_action(entry, key))
    for unordered in state.actions():
        action = next_action(memory, turn, end) if ordered else unordered
        r = value(state.result(action), mover, depth - 1, floor, beta, ply + 1, end, memory)
        if memory.spent:
            return 0.0
        if r > best:
            best, chosen = r, action
        if r >= beta:
            memory.cutoffs += 1
            memory.first_cutoffs += turn == start
            if ordered:
                remember_cutoff(memory, ply, mover, depth, action)
            break
        if r > floor:
            floor = r
            keep_line(memory, ply, action)
        turn += 1
    if tabled:
        enter(entry, key, depth, alpha, beta, best, chosen, memory.horizon == horizon)
    return sign * best


class AlphaBeta(Agent):
    """Plays the best action of the deepest iteration finished within its limits.

    For two players, zero-sum, without chance and hidden information; another game is an InputError. `weights`
    are those of EVAL, one a feature, all zero if None. The limits, each optional: `depth` in plies, `nodes`
    looked at in all, `time_ms` for a move. With less than `reserve_ms` left on the match's clock it answers
    in any case. The seed decides among equals. `table`, `killers` and `history` can be switched off: they
    change how much is searched, and no value.
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
        table: bool = True,
        killers: bool = True,
        history: bool = True,
    ) -> None:
        self.depth = depth
        self.weights = weights
        self.nodes = nodes
        self.time_ms = time_ms
        self.reserve_ms = reserve_ms
        self.switches = {"table": table, "killers": killers, "history": history}
        self._rng = random.Random(seed)

    def match_start(self, start: MatchStart) -> None:
        """Compile the search for the game, which takes seconds the first time, before any clock runs."""
        AlphaBeta(1, self.weights).values(load(start.game).initial_state(), 1)

    def choose(self, state: State, clock: Clock) -> int:
        """Choose by iterative deepening; stops early when deeper search can change nothing."""
        info = self.info = SearchInfo("alphabeta")
        scratch = self._scratch(state, clock, search_ms(clock, self.reserve_ms, self.time_ms), self.nodes)
        actions = list(state.actions())
        self._rng.shuffle(actions)
        root = _Root(state, actions, scratch)
        scratch.run(lambda: self._deepen(root, info, clock))
        scratch.report(info)
        return root.order[0]

    def _deepen(self, root: "_Root", info: SearchInfo, clock: Clock) -> None:
        for depth in range(1, min(self.depth or PLIES, PLIES) + 1):
            started_ms = clock.elapsed_ms()
            if not root.search(depth):
                return
            info.ms_by_depth.append(clock.elapsed_ms() - started_ms)
            info.depth, info.value, info.pv, info.complete = depth, root.value, root.line, root.complete
            if abs(root.value) >= DECIDED or root.complete:
                return

    def values(self, state: State, depth: int) -> dict[int, float]:
        """Exact value of each action for the player to move, `depth` plies deep: no window between them.

        Raises InputError where that takes longer than a search may (search_run.LONGEST_MS).
        """
        info = self.info = SearchInfo("alphabeta", depth=depth)
        scratch = self._scratch(state, Clock(0))
        root = _Root(state, list(state.actions()), scratch)
        values = scratch.run(lambda: {action: root.result(action, depth) for action in root.order})
        scratch.report(info)
        if scratch.memory.spent:
            raise InputError("too_deep", expected="a depth that can be searched in minutes", got=str(depth))
        return values

    def _scratch(
        self, state: State, clock: Clock, stop_ms: float = math.inf, nodes: int | None = None
    ) -> Scratch:
        check_game(state, "alpha-beta")
        return Scratch(state, checked_weights(state, self.weights), clock, stop_ms, nodes, **self.switches)


class _Root:
    """The root of a search: its actions, the best first, and what the last finished iteration found."""

    def __init__(self, state: State, actions: list[int], scratch: Scratch) -> None:
        self.order = actions
        self.value = 0.0
        self.line: list[int] = []
        self.complete = False
        self._mover = state.to_move()
        self._states = {action: scratch.native(state.result(action)) for action in actions}
        self._scratch = scratch
        self._value = scratch.function(value)

    def result(self, action: int, depth: int, alpha: float = -math.inf) -> float:
        """Value of an action for the player to move if it is above alpha, else an upper bound."""
        memory = self._scratch.memory
        r = self._value(self._states[action], self._mover, depth - 1, alpha, math.inf, 1, 0, memory)
        return float(r)

    def search(self, depth: int) -> bool:
        """Value the actions with a narrowing window and sort them; False if the limits came first.

        The value of the best is exact, the others' are bounds. Where all is lost, that of the iteration
        before stays the first: it has resisted the longest.
        """
        memory = self._scratch.memory
        horizon = memory.horizon
        alpha, line = -math.inf, []
        found = {}
        for action in self.order:
            r = self.result(action, depth, alpha)
            if memory.spent:
                return False
            # An upper bound equal to alpha must not look like an equal: sorted behind, it stays unplayed.
            found[action] = r if r > alpha else math.nextafter(min(r, alpha), -math.inf)
            if r > alpha:
                alpha, line = r, [action, *self._scratch.line(1)]
        self.order.sort(key=lambda action: -found[action])
        self.value, self.line, self.complete = alpha, line, bool(memory.horizon == horizon)
        return True
