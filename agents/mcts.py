"""Monte Carlo tree search with UCT: figure 5.11 of Russell and Norvig (4th edition).

Selection by UCB1 as Kocsis and Szepesvari proposed (Bandit based Monte-Carlo planning, 2006). Every node
adds up the utility of the player who chose the action that leads to it. So one function serves any number of
players, players who move twice in a row, and chance, whose outcomes are drawn by their probabilities.
"""

import math
import random
from typing import Any

from agents.agent import Agent
from agents.clock import Clock, search_ms, searching_ms
from agents.protocol import MatchStart
from agents.search_info import SearchInfo
from agents.search_run import Layout, SearchRun
from games import CHANCE, InputError, State, load
from games.kernel.jit import njit
from games.protocol import LISTED, kernel, mix, u64, word

ROOT = 0
UNEXPANDED = -1

MOST_NODES = 1_000_000
"""Room for nodes, 48 bytes each. When it is used up the tree grows no more and its leaves are played out."""

MOST_PLAIN_NODES = 100_000
"""In plain Python a node takes ten times as much."""

MOST_ACTIONS = 1 << 15
MOST_PLIES = 4096
"""A game still not over after so many plies counts as nothing for everybody."""

MOST_PLAYERS = 16
PLIES_A_LOOK = 64
"""Plies played between two looks at the clock."""

SLICE_MS = 100.0
"""Compiled code hears no Ctrl-C: a search comes back so often to let Python hear it."""

STEP = 0x9E37_79B9_7F4A_7C15

NODE = (
    ("total", "f8"),  # utility of the player who chose the node's action, summed over its visits
    ("value", "f8"),  # total / visits
    ("spread", "f8"),  # 1 / sqrt(visits)
    ("width", "f8"),  # sqrt(ln visits)
    ("visits", "i4"),
    ("first", "i4"),  # its children stand side by side, the first one here; or UNEXPANDED
    ("action", "i2"),  # the action or outcome that leads to it
    ("children", "i2"),
    ("tried", "i2"),  # so many children, from the first, have been visited; not used where chance moves
    ("mover", "i2"),  # who moves here, or CHANCE
)
LAYOUT: Layout = (
    ("playouts", "i8", 0),
    ("most_playouts", "i8", 0),
    ("nodes", "i8", 0),  # those visited
    ("allocated", "i8", 0),  # those of the tree, and where the next ones go
    ("most_nodes", "i8", 0),
    ("seldepth", "i8", 0),
    ("exploration", "f8", 0),
    ("random", "u8", 0),
    ("path", "i4", MOST_PLIES + 1),  # nodes from the root to the leaf
    ("line", "i2", MOST_PLIES + 1),  # the principal variation
    ("length", "i8", 0),  # plies of that
    ("legal", "i4", MOST_ACTIONS),
    ("utilities", "f8", MOST_PLAYERS),
    ("tree", NODE, MOST_NODES + MOST_ACTIONS),
)


@njit
def uct(state: Any, memory: Any) -> None:
    """Grow the tree below `state` in the memory, a node a playout, until a limit is reached."""
    players = int(state.players())
    plies = next_look = 0
    while memory.playouts < memory.most_playouts:
        if plies >= next_look:
            if searching_ms(memory) >= memory.stop_ms:
                break
            next_look = plies + PLIES_A_LOOK
        leaf, depth = select(state, memory)
        end, length = playout(leaf, memory, depth)
        over = end.is_terminal()
        for p in range(players):
            memory.utilities[p] = end.utility(p) if over else 0.0
        back_propagate(memory, depth)
        memory.playouts += 1
        memory.seldepth = max(memory.seldepth, depth)
        plies += length + 1
    keep_line(memory)


@kernel
def select(state: Any, memory: Any) -> tuple[Any, int]:
    """Walk down the tree to a node never visited, or where the tree ends; return its state and depth.

    The path is left in the memory. States are played again, not stored: that is quicker, and a node has one
    size for all games.
    """
    index, depth = ROOT, 0
    node = memory.tree[ROOT]
    while (node.visits > 0 or depth == 0) and depth < MOST_PLIES:
        if node.first == UNEXPANDED:
            if memory.allocated >= memory.most_nodes:
                break
            expand(state, memory, node)
        if node.children == 0:
            break
        if node.mover == CHANCE:
            index = node.first + draw_outcome(state, memory)[0]
        elif node.tried < node.children:
            index = untried_child(memory, node)
        else:
            index = best_child(memory, node)
        node = memory.tree[index]
        state = state.result(int(node.action))
        depth += 1
        memory.path[depth] = index
    return state, depth


@kernel
def expand(state: Any, memory: Any, node: Any) -> None:
    """Give a node its children, one an action or outcome; none where the game is over."""
    end = memory.allocated
    node.first, node.tried, node.mover = end, 0, CHANCE
    if not state.is_terminal():
        node.mover = state.to_move()
        for action in state.actions():
            begin_node(memory, end, action)
            end += 1
        for outcome, _ in state.chance():
            begin_node(memory, end, outcome)
            end += 1
        if end == node.first:
            raise ValueError("expected a legal action in a state that is not terminal")
    node.children = end - node.first
    memory.allocated = end


@kernel
def begin_node(memory: Any, index: int, action: int) -> None:
    """Let a node be new: the tree of an earlier search may be in its place."""
    node = memory.tree[index]
    node.action = action
    node.first = UNEXPANDED
    node.visits = 0
    node.total = 0.0


@kernel
def untried_child(memory: Any, node: Any) -> int:
    """Draw a child never visited; it changes places with the first of them."""
    place = node.first + node.tried
    first = memory.tree[place]
    drawn = memory.tree[place + draw_below(memory, node.children - node.tried)]
    action = first.action
    first.action = drawn.action
    drawn.action = action
    node.tried += 1
    return int(place)


@kernel
def best_child(memory: Any, node: Any) -> int:
    """Child of the highest UCB1 = U/N + C sqrt(ln N(parent) / N)."""
    best, highest = node.first, -math.inf
    width = memory.exploration * node.width
    for index in range(node.first, node.first + node.children):
        child = memory.tree[index]
        ucb1 = child.value + width * child.spread
        if ucb1 > highest:
            best, highest = index, ucb1
    return int(best)


@kernel
def playout(state: Any, memory: Any, plies: int) -> tuple[Any, int]:
    """Play at random to the end of the game, from a state `plies` deep; return the end and its depth.

    Only a state without a legal action is asked whether the game is over.
    """
    while plies < MOST_PLIES:
        number = 0
        drawn = state.playout_action(memory.random)
        if drawn == LISTED:
            for action in state.actions():
                memory.legal[number] = action
                number += 1
        else:
            memory.legal[0] = drawn
            number = 1
        if number > 0:
            state = state.result(int(memory.legal[draw_below(memory, number)]))
        elif state.to_move() == CHANCE and not state.is_terminal():
            state = state.result(draw_outcome(state, memory)[1])
        else:
            break
        plies += 1
    return state, plies


@kernel
def back_propagate(memory: Any, depth: int) -> None:
    """Count a visit in all nodes of the path, and the utility for whoever chose each of them.

    What UCB1 takes from a node is worked out here, once a visit, and not whenever it is looked at.
    """
    chooser = CHANCE
    for i in range(depth + 1):
        node = memory.tree[memory.path[i]]
        node.visits += 1
        if chooser != CHANCE:
            node.total += memory.utilities[chooser]
            node.value = node.total / node.visits
            node.spread = 1.0 / math.sqrt(node.visits)
        node.width = math.sqrt(math.log(node.visits))
        chooser = node.mover
    memory.nodes += node.visits == 1 and depth > 0


@kernel
def keep_line(memory: Any) -> None:
    """Write down the principal variation: the actions visited most, up to where chance moves."""
    memory.length = 0
    node = memory.tree[ROOT]
    while node.first != UNEXPANDED and node.mover != CHANCE and node.tried > 0:
        best = node.first
        for index in range(node.first + 1, node.first + node.tried):
            child, most = memory.tree[index], memory.tree[best]
            if child.visits > most.visits or (child.visits == most.visits and child.total > most.total):
                best = index
        node = memory.tree[best]
        memory.line[memory.length] = node.action
        memory.length += 1


# chance -------------------------------------------------------------------------------------------------


@kernel
def draw(memory: Any) -> word:
    """64 random bits: SplitMix64, the same in plain Python."""
    bits = mix(memory.random)
    memory.random = u64(memory.random + u64(STEP))
    return bits


@kernel
def draw_below(memory: Any, end: int) -> int:
    """Draw one of 0 .. end - 1, by its share of 32 bits."""
    return int(((draw(memory) >> 32) * u64(end)) >> 32)


@kernel
def draw_outcome(state: Any, memory: Any) -> tuple[int, int]:
    """Draw an outcome by its probability; return its place among all outcomes, and itself."""
    left = (draw(memory) >> 11) * 2.0**-53
    place = drawn = 0
    for number, (outcome, probability) in enumerate(state.chance()):
        if probability > 0.0:
            place, drawn = number, outcome
            if left < probability:
                break
            left -= probability
    return place, drawn


# the agent ----------------------------------------------------------------------------------------------


class Mcts(Agent):
    """Plays the action tried most often after `playouts` random games, or what `time_ms` allows.

    For any number of players, also with chance; hidden information is an InputError. `exploration`
    is the constant C of UCB1 (utilities run from -1 to 1 here), `most_nodes` bounds the tree. Repeatable with
    a seed as long as the playouts, not the time, are the limit. With less than `reserve_ms` left on the
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
        most_nodes: int = MOST_NODES,
    ) -> None:
        self.playouts = playouts
        self.exploration = exploration
        self.time_ms = time_ms
        self.reserve_ms = reserve_ms
        self.most_nodes = min(most_nodes, MOST_NODES)
        self._run: SearchRun | None = None
        self._rng = random.Random(seed)

    def match_start(self, start: MatchStart) -> None:
        """Compile the search for the game, which takes seconds the first time, before any clock runs."""
        state = load(start.game).initial_state()
        check_game(state)
        self._search(state, Clock(1), stop_ms=1.0)

    def choose(self, state: State, clock: Clock) -> int:
        """Choose the action whose node was visited most."""
        check_game(state)
        check_choice(state)
        memory = self._search(state, clock, search_ms(clock, self.reserve_ms, self.time_ms))
        self.info = report(memory)
        return self.info.pv[0] if self.info.pv else self._rng.choice(list(state.actions()))

    def _search(self, state: State, clock: Clock, stop_ms: float) -> Any:
        """Grow a tree and return the memory that holds it."""
        run = self._run = SearchRun(state, LAYOUT, clock, stop_ms, self._run)
        memory, root = run.memory, run.native(state)
        memory.playouts = memory.seldepth = 0
        memory.most_playouts = 1 << 62 if self.playouts is None else self.playouts
        memory.most_nodes = self.most_nodes if run.compiled else min(self.most_nodes, MOST_PLAIN_NODES)
        memory.exploration = self.exploration
        memory.random = self._rng.getrandbits(64)
        begin_node(memory, ROOT, UNEXPANDED)
        memory.nodes = memory.allocated = 1
        grow, end_ms = run.function(uct), memory.stop_ms
        while True:
            memory.stop_ms = min(end_ms, run.now_ms() + SLICE_MS)
            grow(root, memory)
            if memory.playouts >= memory.most_playouts or run.now_ms() >= end_ms:
                return memory


def check_game(state: State) -> None:
    """Raise InputError for a game with hidden information, and for one of more than MOST_PLAYERS."""
    got = "hidden information" if not hasattr(state, "result") or hasattr(state, "information") else ""
    if not got and state.players() > MOST_PLAYERS:
        got = f"{state.players()} players"
    if got:
        raise InputError(
            "not_played",
            expected=f"a game without hidden information of at most {MOST_PLAYERS} players, for mcts",
            got=f"{type(state).__name__} with {got}",
            available=["random"],
        )


def check_choice(state: State) -> None:
    """Raise InputError for a state in which no player chooses."""
    got = "one that is terminal" if state.is_terminal() else ""
    if not got and state.to_move() == CHANCE:
        got = "one where chance moves"
    if got:
        raise InputError("no_choice", expected="a state with a player to move", got=got)


def report(memory: Any) -> SearchInfo:
    """Read from the memory what the search did."""
    info = SearchInfo("mcts")
    info.playouts, info.nodes, info.seldepth = int(memory.playouts), int(memory.nodes), int(memory.seldepth)
    info.depth = int(memory.length)
    info.pv = [int(memory.line[i]) for i in range(info.depth)]
    root = memory.tree[ROOT]
    first, tried = int(root.first), int(root.tried) if info.pv else 0
    children = {int(child.action): child for child in (memory.tree[first + i] for i in range(tried))}
    info.visits = {action: int(children[action].visits) for action in sorted(children)}
    if info.pv:
        info.value = float(children[info.pv[0]].value)
    return info
