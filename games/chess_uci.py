"""Chess moves as programs write them: UCI, the squares left and reached, and what a pawn becomes."""

from games.chess_board import LETTERS, square_name
from games.chess_fen import format_position
from games.chess_state import Chess
from games.notation import read_action


def format_action(_state: Chess, action: int) -> str:
    """Write the squares that are left and reached: `e2e4`, `e1g1` castles, `e7e8q` promotes to a queen."""
    squares = f"{square_name(action & 63)}{square_name(action >> 6 & 63)}"
    return squares + LETTERS[action >> 12].strip()


def parse_action(state: Chess, text: str) -> int:
    """Read a legal move in its one spelling, such as `e2e4`."""
    legal = ((format_action(state, action), action) for action in state.actions())
    return read_action(text, legal, lambda: f"chess ({format_position(state)})")
