"""Games of Go as SGF, the Smart Game Format of Go programs (FF[4], red-bean.com/sgf), one game a file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from games import go
from games.errors import InputError, shown
from games.go_notation import LETTERS, PASS_TEXT
from games.position import Position

COLUMNS = "abcdefghijklmnopqrs"
"""SGF names columns from the left and rows from the top, both by these."""
COLOURS = "BW"
RULES = "area, positional superko, no suicide"
UNKNOWN = "?"
SETUP = ("AB", "AW", "AE", "PL")
"""Properties that set or remove stones, or change whose turn it is."""
ONLY = {"GM": "1", "HA": "0"}
"""Properties with the only value that a game of go from the empty board has."""
PROPERTY = re.compile(r"\s*(;?)\s*(?:([A-Z]+)\s*\[((?:[^\]\\]|\\.)*)\])?", re.DOTALL)
"""The begin of a node, a property with its value, or both."""


@dataclass(frozen=True)
class Record:
    """A game: its moves as on the wire, black's first, and what else SGF tells of it.

    `result` is as SGF writes it: `B+3.5`, `W+R` for resigning, `W+T` for time, `B+F` for a forfeit, `0` for a
    draw, `Void`, or `?`.
    """

    size: int
    komi: float
    moves: tuple[str, ...]
    result: str = UNKNOWN
    black: str = ""
    white: str = ""


def record(position: Position, black: str = "", white: str = "", result: str | None = None) -> Record:
    """Return the record of a game of Go that was played from the empty board.

    The result is what the board says at the end of the game, unless the match had another one.
    Raises InputError for another game, and for one that began elsewhere.
    """
    state = position.state
    if not isinstance(state, go.Go):
        raise InputError("no_sgf", expected="a game of go", got=position.game.name)
    if Position.start(position.game, None, position.actions).state != state:
        raise InputError("no_sgf", expected="a game from the empty board", got="one from another position")
    found = result or (score(state) if position.is_terminal() else UNKNOWN)
    return Record(state.size, state.komi / 2, position.actions, found, black, white)


def score(state: go.Go) -> str:
    """Write the result that the board says: `B+3.5`, `W+0.5`, or `0` for a draw."""
    ahead = go.lead(state) - state.komi / 2
    return f"{'B' if ahead > 0 else 'W'}+{abs(ahead):g}" if ahead else "0"


def write(game: Record) -> str:
    """Write a record as SGF."""
    about = {
        "FF": "4",
        "GM": "1",
        "CA": "UTF-8",
        "AP": "Plyground",
        "SZ": str(game.size),
        "KM": f"{game.komi:g}",
        "RU": RULES,
        "PB": game.black,
        "PW": game.white,
        "RE": game.result,
    }
    root = "".join(f"{name}[{_escaped(value)}]" for name, value in about.items() if value)
    moves = "".join(
        f";{COLOURS[ply % 2]}[{_coordinates(move, game.size)}]" for ply, move in enumerate(game.moves)
    )
    return f"(;{root}\n{moves})\n"


def read(text: str) -> Record:
    """Read a game that `write` wrote; properties that it does not write are passed over.

    Raises InputError for anything but one game without variations and set stones, whose colours alternate
    from black on. Whether moves are legal is for `replay`.
    """
    properties = list(_properties(text))
    _check_properties(properties)
    root = {name: value for node, name, value in properties if node == 1}
    size, komi = _number(root, "SZ", go.GAME.options["size"].default), _number(root, "KM", 0)
    go.GAME.with_options(size=size, komi=komi)
    moves = [(name, value) for _, name, value in properties if name in tuple(COLOURS)]
    for ply, (colour, _) in enumerate(moves):
        if colour != COLOURS[ply % 2]:
            raise _bad(f"{COLOURS[ply % 2]} to move", f"{colour} as move {ply + 1}")
    return Record(
        int(size),
        komi,
        tuple(_move(value, int(size)) for _, value in moves),
        root.get("RE", UNKNOWN),
        root.get("PB", ""),
        root.get("PW", ""),
    )


def replay(game: Record) -> Position:
    """Play a record's moves. Raises InputError for one that is not legal."""
    return Position.start(go.GAME.with_options(size=game.size, komi=game.komi), None, game.moves)


def _properties(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the number of the node, from 1, and the name and the value of each property."""
    body = text.strip() if isinstance(text, str) else ""
    if not body.startswith("(") or not body.endswith(")"):
        raise _bad("one game in brackets", shown(text))
    at, node, end = 1, 0, len(body) - 1
    if not body[at:end].strip():
        raise _bad("a node", shown(body))
    while body[at:end].strip():
        found = PROPERTY.match(body, at, end)
        if found is None or not found[0].strip() or (found[1] == "" and node == 0):
            raise _bad("a node with properties of one value each", shown(body[at:]))
        at, node = found.end(), node + bool(found[1])
        if found[2]:
            yield node, found[2], re.sub(r"\\(.)", r"\1", found[3], flags=re.DOTALL)


def _check_properties(properties: list[tuple[int, str, str]]) -> None:
    """Raise InputError where the moves alone would be another game than the one told."""
    seen: dict[tuple[int, str], str] = {}
    for node, name, value in properties:
        kind = "move" if name in tuple(COLOURS) else name
        if (node, kind) in seen:
            raise _bad(f"one {kind} in a node", f"{seen[node, kind]} and {name}[{value}]")
        if name in SETUP or ONLY.get(name, value) != value:
            raise _bad("a game of go from the empty board", f"{name}[{value}]")
        seen[node, kind] = f"{name}[{value}]"


def _number(root: dict[str, str], name: str, default: object) -> float:
    value = root.get(name, str(default))
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,2})?", value):
        raise _bad(f"a number for {name}", shown(value))
    return float(value)


def _coordinates(move: str, size: int) -> str:
    if move == PASS_TEXT:
        return ""
    return COLUMNS[LETTERS.index(move[0])] + COLUMNS[size - int(move[1:])]


def _move(coordinates: str, size: int) -> str:
    if coordinates == "":
        return PASS_TEXT
    column, row = (COLUMNS[:size].find(letter) for letter in (coordinates[:1], coordinates[1:] or "?"))
    if column < 0 or row < 0:
        raise _bad(f"a point of a board of size {size}, or nothing to pass", shown(coordinates))
    return f"{LETTERS[column]}{size - row}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("]", "\\]")


def _bad(expected: str, got: str) -> InputError:
    return InputError("bad_sgf", expected=expected, got=got, where="the SGF of a game")
