"""Monte Carlo tree search with UCT: figure 5.11 of Russell and Norvig (4th edition).

Selection by UCB1 as Kocsis and Szepesvari proposed (Bandit based Monte-Carlo planning, 2006). Every node
remembers which player chose the action that leads to it and adds up that player's utility alone. So it
serves any number of players, players who move twice in a row, and chance, whose outcomes are drawn.
"""

import math
import random

from agents.agent import Agent
from agents.clock import Clock, search_ms
from agents.search_info import SearchInfo
from games import CHANCE, State

PLAYOUTS_BETWEEN_LOOKS = 8
"""Playouts between two looks at the clock."""


class Mcts(Agent):
    """Plays the action tried most often after `playouts` random games, or what `time_ms` allows.

    `exploration` is the constant C of UCB1 (utilities run from -1 to 1 here). Repeatable with a seed as
    long as the number of playouts, not the time, is the limit. With less than `reserve_ms` left on the
    match's clock it answers in any case.
    """

    def __init__(
        self,
        playouts: int | None = 1000,
        *,
        exploration: float = 1.4,
        time_ms: float | None = None,
        seed: int | None = None,
        reserve_ms: float = 150.0,
    ) -> None:
        self.playouts = playouts
        self.exploration = exploration
        self.time_ms = time_ms
        self.reserve_ms = reserve_ms
        self._rng = random.Random(seed)

    def choose(self, state: State, clock: Clock) -> int:
        """Choose the action whose node was visited most."""
        root = _Node(state, chooser=state.to_move())
        info = self.info = SearchInfo("mcts")
        stop_ms = search_ms(clock, self.reserve_ms, self.time_ms)
        while not self._done(info, stop_ms, clock):
            path = self._select(root)
            leaf = path[-1]
            end = self._playout(leaf.state)
            for node in path:
                node.visits += 1
                if node.chooser != CHANCE:
                    node.total += end.utility(node.chooser)
            info.playouts += 1
            info.seldepth = max(info.seldepth, len(path) - 1)
        self._report(root, info)
        return info.pv[0] if info.pv else self._rng.choice(list(state.actions()))

    def _done(self, info: SearchInfo, stop_ms: float, clock: Clock) -> bool:
        if self.playouts is not None and info.playouts >= self.playouts:
            return True
        return info.playouts % PLAYOUTS_BETWEEN_LOOKS == 0 and clock.elapsed_ms() >= stop_ms

    def _select(self, root: "_Node") -> list["_Node"]:
        """Walk down by UCB1 to a node with an untried action and add the child; return the path."""
        path = [root]
        node = root
        while not node.terminal:
            if node.mover == CHANCE:
                node, new = node.child(self._outcome(node.state))
            elif node.untried:
                node, new = node.child(node.untried.pop(self._rng.randrange(len(node.untried))))
            else:
                node, new = self._best_child(node), False
            path.append(node)
            if new:
                break
        return path

    def _best_child(self, node: "_Node") -> "_Node":
        """Child of the highest UCB1 = U/N + C sqrt(ln N(parent) / N)."""
        log_visits = math.log(node.visits)

        def ucb1(child: _Node) -> float:
            return child.total / child.visits + self.exploration * math.sqrt(log_visits / child.visits)

        return max(node.children.values(), key=ucb1)

    def _outcome(self, state: State) -> int:
        outcomes = list(state.chance())
        (outcome,) = self._rng.choices([o for o, _ in outcomes], weights=[p for _, p in outcomes])
        return outcome

    def _playout(self, state: State) -> State:
        """Play at random to the end of the game."""
        while not state.is_terminal():
            if state.to_move() == CHANCE:
                state = state.result(self._outcome(state))
            else:
                state = state.result(self._rng.choice(list(state.actions())))
        return state

    def _report(self, root: "_Node", info: SearchInfo) -> None:
        info.nodes = root.size()
        info.visits = {action: child.visits for action, child in root.children.items()}
        node = root
        while node.children and node.mover != CHANCE:
            action, child = max(node.children.items(), key=lambda item: (item[1].visits, item[1].total))
            if node is root:
                info.value = child.total / child.visits
            info.pv.append(action)
            node = child
        info.depth = len(info.pv)


class _Node:
    """A state in the tree: how often it was visited, and the utility this brought to who chose it."""

    __slots__ = ("children", "chooser", "mover", "state", "terminal", "total", "untried", "visits")

    def __init__(self, state: State, chooser: int) -> None:
        self.state = state
        self.chooser = chooser
        self.terminal = state.is_terminal()
        self.mover = CHANCE if self.terminal else state.to_move()
        self.untried = [] if self.terminal or self.mover == CHANCE else list(state.actions())
        self.children: dict[int, _Node] = {}
        self.visits = 0
        self.total = 0.0

    def child(self, action: int) -> tuple["_Node", bool]:
        """Return the child by this action or outcome, and whether it is new."""
        known = self.children.get(action)
        if known is not None:
            return known, False
        child = self.children[action] = _Node(self.state.result(action), chooser=self.mover)
        return child, True

    def size(self) -> int:
        """Return the number of nodes from here down."""
        count, stack = 0, [self]
        while stack:
            node = stack.pop()
            count += 1
            stack.extend(node.children.values())
        return count
