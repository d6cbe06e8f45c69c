"""Chess moves as people write them: standard algebraic notation (FIDE Laws, appendix C), and PGN."""

import re
import textwrap
from collections.abc import Iterable
from typing import Literal

from games.chess_board import FULL, KING, LETTERS, PAWN, everyone, kind_on, of_kind, side, square_name
from games.chess_fen import format_position
from games.chess_state import Chess, mated, turn_of
from games.chess_uci import parse_action
from games.errors import InputError, shown

Result = Literal["1-0", "0-1", "1/2-1/2", "*"]

_SAN = re.compile(
    r"(?P<piece>[NBRQK]?)(?P<file>[a-h]?)(?P<rank>[1-8]?)(?P<takes>x?)(?P<target>[a-h][1-8])"
    r"(=(?P<promotion>[NBRQ]))?[+#]?"
)
_CASTLING = re.compile(r"(O-O|O-O-O)[+#]?")


def san(state: Chess, action: int) -> str:
    """Write a legal move: `Nf3`, `exd5`, `R1xa3+`, `O-O`, `e8=Q#`.

    A piece's square of origin is told where another one of its kind could legally go there too: the file if
    that tells them apart, else the rank, else both.
    """
    after = state.result(action)
    check = turn_of(after).allowed != FULL
    return _plain(state, action) + ("#" if mated(after) else "+" if check else "")


def parse_san(state: Chess, text: str) -> int:
    """Read a move; also one without the sign of check, or with more about the origin than it needs.

    Raises InputError if no legal move is meant, or more than one.
    """
    actions = list(state.actions())
    meant = _meant(state, actions, text) if isinstance(text, str) else []
    if len(meant) != 1:
        raise InputError(
            "illegal_action",
            expected="one legal move in algebraic notation",
            got=shown(text),
            where=f"chess ({format_position(state)})",
            available=[san(state, action) for action in actions],
        )
    return meant[0]


def movetext(state: Chess, moves: Iterable[str], result: Result = "*") -> str:
    """Write moves, given as in UCI, as the movetext of a PGN that begins in a state: `1. e4 e5 2. Nf3 *`.

    Lines are at most 79 characters long (PGN standard, section 8.2). Raises InputError for an illegal move.
    """
    words = []
    for move in moves:
        if state.mover == 0:
            words.append(f"{state.number}.")
        elif not words:
            words.append(f"{state.number}...")
        action = parse_action(state, move)
        words.append(san(state, action))
        state = state.result(action)
    return textwrap.fill(" ".join([*words, result]), 79, break_long_words=False, break_on_hyphens=False)


def _plain(state: Chess, action: int) -> str:
    """Write a move without the sign of check."""
    origin, target = action & 63, action >> 6 & 63
    kind = kind_on(state.pieces, origin)
    if castling := _castling(state, action):
        return castling
    takes = "x" if _takes(state, action) else ""
    if kind == PAWN:
        file = square_name(origin)[0] if takes else ""
        return f"{file}{takes}{square_name(target)}" + (
            f"={LETTERS[action >> 12].upper()}" if action >> 12 else ""
        )
    return f"{LETTERS[kind].upper()}{_origin(state, action)}{takes}{square_name(target)}"


def _takes(state: Chess, action: int) -> bool:
    """Whether a move captures: a pawn that changes its file does in any case."""
    origin, target = action & 63, action >> 6 & 63
    crosses = kind_on(state.pieces, origin) == PAWN and (target - origin) % 8 != 0
    return crosses or bool(everyone(state.pieces) >> target & 1)


def _origin(state: Chess, action: int) -> str:
    """Tell of a piece's origin what tells it from others of its kind that could go there."""
    origin = action & 63
    kin = of_kind(state.pieces, kind_on(state.pieces, origin)) & side(state.pieces, state.mover)
    if kin == 1 << origin:  # the only one: no need to list all moves
        return ""
    others = [
        other & 63
        for other in state.actions()
        if other >> 6 == action >> 6 and other != action and kin >> (other & 63) & 1
    ]
    name = square_name(origin)
    if not others:
        return ""
    if all(other % 8 != origin % 8 for other in others):
        return name[0]
    return name[1] if all(other // 8 != origin // 8 for other in others) else name


def _castling(state: Chess, action: int) -> str:
    """Write a move of the king by two squares; nothing for another move."""
    origin, target = action & 63, action >> 6 & 63
    if kind_on(state.pieces, origin) != KING or abs(target - origin) != 2:
        return ""
    return "O-O" if target > origin else "O-O-O"


def _meant(state: Chess, actions: list[int], text: str) -> list[int]:
    """Return the moves that a text may mean: all that it says of them is so."""
    if castling := _CASTLING.fullmatch(text):
        return [action for action in actions if _castling(state, action) == castling[1]]
    parts = _SAN.fullmatch(text)
    if parts is None:
        return []
    kind = LETTERS.index((parts["piece"] or "p").lower())
    promotion = LETTERS.index((parts["promotion"] or " ").lower())
    file_told = bool(parts["file"]) or kind != PAWN or not parts["takes"]
    return [
        action
        for action in actions
        if file_told
        and square_name(action >> 6 & 63) == parts["target"]
        and kind_on(state.pieces, action & 63) == kind
        and action >> 12 == promotion
        and parts["file"] in ("", square_name(action & 63)[0])
        and parts["rank"] in ("", square_name(action & 63)[1])
        and bool(parts["takes"]) is _takes(state, action)
        and not _castling(state, action)
    ]
