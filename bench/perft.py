"""Counting paths: our compiled rules beside OpenSpiel's in C++ driven from Python, for every game.

Chess is counted beside python-chess, and beside rust-chess, which is a compiled generator with the same
interface. The figures are paths for each second of CPU time; where a game is not in OpenSpiel only ours is
shown.
"""

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import games
from bench.result import Result, rate
from games.kernel.counting import count_paths
from games.kernel.jit import native

RUNS = 5
LEAST_S = 0.1
"""Ours is repeated for so long: it is over in a millisecond."""


@dataclass(frozen=True)
class Contest:
    """A game, the peer's name for it ("" if it has none), the depth for the peer, and the goal.

    Not `alike`: OpenSpiel has 36 rolls of two dice where we have 21, and lists each order of two moves.
    """

    game: str
    peer: str
    depth: int
    goal: float = 10.0
    alike: bool = True


CONTESTS = (
    Contest("backgammon", "backgammon(scoring_type=full_scoring)", 3, alike=False),
    Contest("breakthrough", "breakthrough", 3),
    Contest("centipede", "", 6),
    Contest("checkers", "checkers", 6),
    Contest("connect_four", "connect_four", 6),
    Contest("connect_four_three", "", 5),
    Contest("go", "go(board_size=9)", 2),
    Contest("hex", "hex(board_size=11)", 2),
    Contest("kalah", "mancala", 6),
    Contest("kuhn_poker", "kuhn_poker", 4),
    Contest("leduc_poker", "leduc_poker", 6),
    Contest("othello", "othello", 6),
    Contest("tic_tac_toe", "tic_tac_toe", 6),
)

CHESS = {
    "start": ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 3),
    "kiwipete": ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 2),
    "endgame": ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 4),
    "promotions": ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 3),
    "castling": ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 3),
    "middle game": ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 2),
}
"""Positions that programs count, with the depth for python-chess."""

CHESS_GOAL = 100.0


def run(*, quick: bool) -> list[Result]:
    """Measure every game there is."""
    names = games.names()
    contests = [contest for contest in CONTESTS if contest.game.partition("(")[0] in names]
    results = [_beside_open_spiel(contest, quick) for contest in contests]
    if "chess" in names:
        results += [_beside_chess(name, "chess", quick) for name in CHESS]
        results += [_beside_chess(name, "rust_chess", quick) for name in CHESS]
    return results


def _beside_open_spiel(contest: Contest, quick: bool) -> Result:
    state = native(games.load(contest.game).initial_state())
    name = f"Perft of {contest.game}, over OpenSpiel's from Python"
    if not contest.peer:
        count_paths(state, contest.depth)
        rates = [_rate(lambda: int(count_paths(state, contest.depth))) for _ in range(2 if quick else RUNS)]
        return Result(
            f"Perft of {contest.game}",
            tuple(paths / 1e6 for paths in rates),
            unit="M paths/s",
            detail="no peer",
        )
    pyspiel = _module("pyspiel")
    if pyspiel is None:
        return Result(name, goal=contest.goal, missing="open_spiel")
    peer = pyspiel.load_game(contest.peer).new_initial_state()
    depth = contest.depth - 1 if quick else contest.depth
    return _ratio(
        name, state, depth, lambda: _open_spiel(peer, depth), contest.goal, quick, alike=contest.alike
    )


def _beside_chess(name: str, peer: str, quick: bool) -> Result:
    fen, depth = CHESS[name]
    depth -= quick
    beside = {"chess": "python-chess", "rust_chess": "rust-chess"}[peer]
    title = f"Perft of chess, {name}, over {beside} from Python"
    goal = CHESS_GOAL if peer == "chess" else None
    module = _module(peer)
    if module is None:
        return Result(title, goal=goal, missing=peer)
    state = native(games.load("chess").parse_position(fen))
    if peer == "chess":
        board = module.Board(fen)
        return _ratio(title, state, depth, lambda: _python_chess(board, depth), goal, quick)
    rust = module.Board.from_fen(fen)
    return _ratio(title, state, depth, lambda: _rust_chess(rust, depth), goal, quick)


def _ratio(
    name: str,
    state: Any,
    depth: int,
    peer: Callable[[], int],
    goal: float | None,
    quick: bool,
    *,
    alike: bool = True,
) -> Result:
    """Measure both sides in turn. Raises ValueError if the counts differ where they are `alike`."""
    counts = int(count_paths(state, depth)), peer()
    if counts[0] != counts[1] and alike:
        raise ValueError(f"{name}: expected {counts[1]:,} paths at depth {depth}, got {counts[0]:,}")
    ours, theirs = [], []
    for _ in range(2 if quick else RUNS):
        ours.append(_rate(lambda: int(count_paths(state, depth))))
        theirs.append(_rate(peer, 0.0))
    return Result(
        name,
        figures=tuple(own / other for own, other in zip(ours, theirs, strict=True)),
        goal=goal,
        detail=f"{rate(ours)} paths/s against {rate(theirs)}, depth {depth}",
    )


def _open_spiel(state: Any, depth: int) -> int:
    if state.is_terminal():
        return 0
    chance = state.is_chance_node()
    actions = [outcome for outcome, _ in state.chance_outcomes()] if chance else state.legal_actions()
    if depth == 1:
        return len(actions)
    return sum(_open_spiel(state.child(action), depth - 1) for action in actions)


def _python_chess(board: Any, depth: int) -> int:
    if depth == 1:
        return board.legal_moves.count()  # type: ignore[no-any-return]
    paths = 0
    for move in board.legal_moves:
        board.push(move)
        paths += _python_chess(board, depth - 1)
        board.pop()
    return paths


def _rust_chess(board: Any, depth: int) -> int:
    board.reset_move_generator()  # one that has run to its end stays there
    if depth == 1:
        return board.get_generator_num_remaining()  # type: ignore[no-any-return]
    return sum(_rust_chess(board.make_move_new(move), depth - 1) for move in board.generate_legal_moves())


def _rate(count: Callable[[], int], least_s: float = LEAST_S) -> float:
    """Return the paths counted for each second of CPU time."""
    paths, begun = 0, time.process_time()
    while True:
        paths += count()
        taken = time.process_time() - begun
        if taken > least_s:
            return paths / taken


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
