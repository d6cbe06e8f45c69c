"""Chess by the laws of FIDE: options, looks, and what the other files make of it.

The moves are in games.chess_moves, the state in games.chess_state. Actions are written as in UCI
(games.chess_uci), positions in Forsyth-Edwards Notation (games.chess_fen).
"""

from games.board import Board, Cell
from games.chess_board import FILES, KINDS, everyone, kind_on
from games.chess_checks import checkers_of, king_square
from games.chess_features import Features
from games.chess_fen import format_position, parse_position, start
from games.chess_moves import count_moves
from games.chess_state import Chess, mated, turn_of
from games.chess_uci import format_action, parse_action
from games.game import Game
from games.options import choice


def repetitions(claims: str = "auto") -> int:
    """How often a position comes before the game is drawn."""
    return 3 if claims == "auto" else 5


def rule_draw(state: Chess) -> bool:
    """Whether a game is over that could go on but for a rule: by the clock, or because nobody can mate."""
    return state.is_terminal() and count_moves(state.pieces, turn_of(state), 1) > 0


def cell(square: int) -> Cell:
    """Row and column of a square; row 0 is the eighth rank."""
    return 7 - square // 8, square % 8


def board(state: Chess, last: int | None) -> Board:
    """Return the board as data, White below; at mate the king and the checkers are marked."""
    squares = [square for square in range(64) if everyone(state.pieces) >> square & 1]
    return Board(
        rows=8,
        columns=8,
        pieces={cell(square): 1 - (state.pieces.white >> square & 1) for square in sorted(squares, key=cell)},
        kinds={cell(square): KINDS[kind_on(state.pieces, square)] for square in sorted(squares, key=cell)},
        style="chequered",
        last=() if last is None else (cell(last & 63), cell(last >> 6 & 63)),
        line=_mate(state),
        column_labels=tuple(FILES),
        row_labels=tuple("87654321"),
        targets={format_action(state, action): cell(action >> 6 & 63) for action in state.actions()},
    )


def _mate(state: Chess) -> tuple[Cell, ...]:
    """Cells of a mated king and of the pieces that give check."""
    if not mated(state):
        return ()
    king = king_square(state.pieces, state.mover)
    checkers = checkers_of(state.pieces, state.mover)
    return (cell(king), *(cell(square) for square in range(64) if checkers >> square & 1))


GAME = Game(
    name="chess",
    title="Chess",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    options={
        "claims": choice(
            "auto",
            ("auto", "fide"),
            "draws that players would have to claim: auto ends the game at once, at the third repetition and "
            "after 50 moves; fide leaves it until nobody needs to claim, at the fifth and after 75",
        )
    },
    repetitions=repetitions,
    rule_draw=rule_draw,
    rules=(
        "The laws of FIDE. White, the first mover, and Black take turns; nobody may leave the own king in "
        "check. A player in check who has no legal move is mated and loses (-1, the other player +1). The "
        "game is drawn (0) when a player who is not in check has no legal move; when the material cannot "
        "mate; when a position comes for the third time; and after 50 moves by each player without a capture "
        "or a move of a pawn, but a mate on the last of them counts. A move is written as the two squares, "
        "e2e4, castling as the king's move, e1g1, a promotion with what the pawn becomes, e7e8q."
    ),
    typical=(
        *("e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6", "e1g1"),
        *("f8e7", "f1e1", "b7b5", "a4b3", "d7d6", "c2c3", "e8g8", "h2h3", "c6a5"),
    ),
)
