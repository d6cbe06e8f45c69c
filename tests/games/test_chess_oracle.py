"""Random games of chess against two other implementations: python-chess and OpenSpiel.

python-chess: everything that both can say of a position is the same. OpenSpiel draws its games by rules of
its own (see `test_openspiel`), its moves are the same.
"""

import random

import chess as oracle
import pyspiel
import pytest

import games
from games import Position
from games.chess_moves import dead
from games.chess_san import movetext, parse_san, san

GAME = games.load("chess")
FIDE = games.load("chess(claims=fide)")
RETURNS = {"1-0": (1.0, -1.0), "0-1": (-1.0, 1.0), "1/2-1/2": (0.0, 0.0)}


def is_over(board: oracle.Board, *, times: int, clock: int) -> bool:
    return (
        not any(board.legal_moves)
        or board.is_insufficient_material()
        or board.is_repetition(times)
        or board.halfmove_clock >= clock
    )


def compare(position: Position, board: oracle.Board) -> None:
    """Everything about a position; every move in algebraic notation at one ply of eight."""
    state = position.state
    assert position.text() == board.fen(en_passant="legal")
    assert GAME.parse_position(board.fen(en_passant="fen")) == state
    assert dead(state.pieces) is board.is_insufficient_material()
    if position.is_terminal():
        return
    assert sorted(position.legal()) == sorted(move.uci() for move in board.legal_moves)
    if board.ply() % 8 == 0:
        ours = {GAME.format_action(state, action): san(state, action) for action in state.actions()}
        assert ours == {move.uci(): board.san(move) for move in board.legal_moves}


def play(seed: int, game: games.Game = GAME) -> int:
    """Play a random game on both sides; return its length."""
    rng, board, position = random.Random(seed), oracle.Board(), Position.start(GAME)
    while not is_over(board, times=3, clock=100):
        compare(position, board)
        assert not position.is_terminal()
        text = rng.choice(position.legal())
        assert parse_san(position.state, board.san(oracle.Move.from_uci(text))) == GAME.parse_action(
            position.state, text
        )
        position = position.play(text)
        board.push_uci(text)
    compare(position, board)
    assert position.is_terminal()
    assert position.utilities() == RETURNS[board.result(claim_draw=True)]
    written = oracle.Board().variation_san(board.move_stack)
    assert movetext(GAME.initial_state(), position.actions).split() == [*written.split(), "*"]
    return position.ply


def test_games_against_python_chess():
    assert sum(play(seed) for seed in range(20)) > 4_000


@pytest.mark.deep
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("start", range(1_000, 2_000, 100))
def test_more_games_against_python_chess(start):
    assert sum(play(seed) for seed in range(start, start + 100)) > 12_000


def number(move: oracle.Move) -> int:
    """Our action of a move."""
    kind = " pbnrkq".index(oracle.piece_symbol(move.promotion)) if move.promotion else 0
    return move.from_square | move.to_square << 6 | kind << 12


def play_by_states(seed: int) -> int:
    """Play a random game by states alone: the legal moves at every ply, the text at every fourth, the end."""
    rng, board, state = random.Random(seed), oracle.Board(), GAME.initial_state()
    while actions := sorted(state.actions()):
        moves = {number(move): move for move in board.legal_moves}
        assert actions == sorted(moves)
        if board.ply() % 4 == 0:
            assert GAME.format_position(state) == board.fen(en_passant="legal")
        action = rng.choice(actions)
        state = state.result(action)
        board.push(moves[action])
    mate = board.is_checkmate()
    assert mate or board.is_stalemate() or board.is_insufficient_material() or board.halfmove_clock == 100
    assert state.utility(state.to_move()) == (-1.0 if mate else 0.0)
    return board.ply()


def test_two_hundred_games_move_by_move():
    assert sum(play_by_states(seed) for seed in range(10_000, 10_200)) > 20_000


@pytest.mark.parametrize("seed", range(6))
def test_the_fifth_repetition_and_the_seventy_fifth_move_end_a_game_without_claims(seed):
    """Two kings, a rook and pawns that cannot move: long games that hardly ever end but by these rules."""
    rng = random.Random(seed)
    fen = ["4k3/p7/P7/8/8/8/8/R3K3 w - - 0 1", "k7/8/1p6/1P6/8/8/8/K7 w - - 0 1"][seed % 2]
    board, position = oracle.Board(fen), Position.start(FIDE, fen)
    while not is_over(board, times=5, clock=150):
        assert not position.is_terminal()
        text = rng.choice(position.legal())
        position = position.play(text)
        board.push_uci(text)
    assert position.is_terminal()
    assert position.rule_draw() is any(board.legal_moves)
    if any(board.legal_moves):
        assert (
            board.is_fivefold_repetition() or board.is_seventyfive_moves() or board.is_insufficient_material()
        )


@pytest.mark.parametrize("seed", range(25))
def test_openspiel(seed):
    """Its moves, read in algebraic notation, are ours, and so are its positions and the number of moves.

    It writes the square that a pawn has passed where any pawn stands beside it, pinned or not, and ends games
    likewise at the third repetition and at the clock of 100.
    """
    rng, other, position = random.Random(seed), pyspiel.load_game("chess").new_initial_state(), None
    position = Position.start(GAME)
    while not other.is_terminal():
        assert not position.is_terminal()
        ours = str(other).split(" ")
        mine = position.text().split(" ")
        assert ours[:3] + ours[4:] == mine[:3] + mine[4:]
        texts = [other.action_to_string(action) for action in other.legal_actions()]
        actions = [parse_san(position.state, text) for text in texts]
        assert sorted(actions) == sorted(position.state.actions())
        number = rng.randrange(len(actions))
        other.apply_action(other.legal_actions()[number])
        position = position.play(GAME.format_action(position.state, actions[number]))
    assert position.is_terminal()
    assert list(position.utilities()) == other.returns()[::-1]
