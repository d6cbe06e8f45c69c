"""Answers about positions as plain data: what `plyground inspect` prints, our rules from any language."""

from collections.abc import Mapping

import games
from games.errors import InputError, shown
from games.position import Position
from games.protocol import CHANCE

FIELDS = ("game", "position", "moves")


def describe(request: object) -> dict[str, object]:
    """Describe the position that `{"game", "position"?, "moves"?}` leads to.

    `moves` is a list of actions and chance outcomes, or one text with blanks between them. The answer is
    `{"position", "to_move", "legal", "terminal", "utilities", "key"}`; `to_move` is null when the game is
    over and -1 at a chance node, where nothing is `legal` and `outcomes`, `[[text, probability], ...]` in the
    order of the rules, is one more field; `utilities` is null until the game is over; `key`
    is the position's hash in 16 hexadecimal digits, since readers of JSON may round numbers of 64 bits. A
    request that cannot be answered gets `{"error": {"code", "message", "at_move"}}`, with the index (from 0)
    of the move that could not be played, else null.
    """
    position = None
    try:
        position, moves = _start(request)
        for move in moves:
            position = position.play(move)
    except InputError as error:
        at_move = None if position is None else position.ply
        return {"error": {"code": error.code, "message": str(error), "at_move": at_move}}
    return _answer(position)


def _start(request: object) -> tuple[Position, list[str]]:
    """Return where a request starts, and the moves it plays from there."""
    if not isinstance(request, Mapping) or "game" not in request:
        raise InputError(
            "bad_request",
            expected="an object with the field game",
            got="one without" if isinstance(request, Mapping) else shown(request),
            available=FIELDS,
        )
    for name in request:
        if name not in FIELDS:
            raise InputError("unknown_field", expected="a known field", got=shown(name), available=FIELDS)
    text = request.get("position")
    if text is not None and not isinstance(text, str):
        raise InputError("bad_position", expected="a text", got=shown(text), where="position")
    moves = _moves(request.get("moves"))
    return Position.start(games.load(request["game"]), text), moves


def _moves(moves: object) -> list[str]:
    """Return a request's moves as a list."""
    if moves is None:
        return []
    if isinstance(moves, str):
        return [move for move in moves.split(" ") if move]
    if isinstance(moves, list):
        return moves
    raise InputError(
        "bad_moves",
        expected="a list of actions or a text with blanks between",
        got=shown(moves),
        where="moves",
    )


def _answer(position: Position) -> dict[str, object]:
    terminal = position.is_terminal()
    chance = not terminal and position.to_move() == CHANCE
    outcomes = {"outcomes": [list(outcome) for outcome in position.outcomes()]} if chance else {}
    return {
        "position": position.text(),
        "to_move": None if terminal else position.to_move(),
        "legal": position.legal(),
        "terminal": terminal,
        "utilities": list(position.utilities()) if terminal else None,
        "key": f"{position.state.key():016x}",
        **outcomes,
    }
