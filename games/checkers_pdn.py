"""Games of checkers in Portable Draughts Notation (PDN), as other checkers programs read and write them.

There squares are numbered from 1 to 32, Black begins on 1 to 12, and diagrams show White at the bottom. Our
first mover is Black, and our board is that diagram turned by half: 1 is g1, 4 is a1, 5 is h2 and 32 is b8.
So the opening 11-15 is c3d4. A turn is `11-15`, or `22x15x8` with all squares of a chain of jumps.

In a result the first mover's points stand first, as in archives of English draughts: 1-0 if Black has won.
Sources: Millett's proposal of 1995, the PDN 3.0 standard of the FMJD; tags are written as in PGN.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from games import checkers
from games.checkers import CELLS, COLUMNS, square_text
from games.checkers_state import Checkers
from games.errors import InputError, shown
from games.position import Position
from games.protocol import State

LINE = 79
RESULTS = {(1.0, -1.0): "1-0", (-1.0, 1.0): "0-1", (0.0, 0.0): "1/2-1/2"}
UNFINISHED = "*"
ROSTER = ("Event", "Site", "Date", "Round", "Black", "White")
"""Tags that every game has, with a question mark for what is not known."""
GAME_TYPE = "21"
"""English draughts."""
_TAG = re.compile(r'\s*\[(?P<name>\w+)\s+"(?P<value>(?:[^"\\\n]|\\["\\])*)"\]', re.ASCII)
_TOKEN = re.compile(
    r"\s*(?:(?P<comment>\{[^}]*\})|(?P<result>1-0|0-1|1/2-1/2|\*)(?!\S)|(?P<number>\d{1,3})\.(?:\.\.)?"
    r"|(?P<turn>\d\d?(?:-\d\d?|(?:x\d\d?)+))(?!\S))",
    re.ASCII,
)


class Record(NamedTuple):
    """A game that was read: its tags, our actions, and its result as PDN writes it."""

    tags: dict[str, str]
    actions: tuple[str, ...]
    result: str


def number_of(square: str) -> int:
    """Return the number from 1 to 32 of one of our dark squares."""
    return _NUMBERS[square]


def square_of(number: int) -> str:
    """Return our square of a number from 1 to 32."""
    return _SQUARES[number]


def result_text(utilities: Sequence[float] | None) -> str:
    """Write the utilities of both players at the end, or `*` while there are none."""
    return UNFINISHED if utilities is None else RESULTS[tuple(utilities)]  # type: ignore[index]


# writing ----------------------------------------------------------------------------------------------


def turns_of(actions: Iterable[str], start: State | None = None) -> list[str]:
    """Write whole turns, the last one as far as it went. Raises InputError for an illegal action."""
    position = _start(start)
    turns: list[str] = []
    for action in actions:
        goes_on = position.state.mid_turn()
        position = position.play(action)
        origin, landing = number_of(action[:2]), number_of(action[2:])
        if goes_on and turns:
            turns[-1] += f"x{landing}"
        else:
            turns.append(f"{origin}{'x' if _is_jump(action) else '-'}{landing}")
    return turns


def to_pdn(
    actions: Iterable[str],
    tags: Mapping[str, str] | None = None,
    utilities: Sequence[float] | None = None,
    start: State | None = None,
) -> str:
    """Write a game: tags, an empty line, and the turns with their numbers and the result.

    A game from another position than the initial one gets the tags SetUp and FEN.
    """
    given, result, state = dict(tags or {}), result_text(utilities), _start(start).state
    written = {name: given.pop(name, "?") for name in ROSTER} | given
    written |= {"Result": result, "GameType": GAME_TYPE}
    if state != checkers.GAME.initial_state():
        written |= {"SetUp": "1", "FEN": fen(state)}
    lines = [f'[{name} "{_escaped(value)}"]' for name, value in written.items()]
    mover = state.to_move()
    numbered = [
        f"{_number(mover + i) if i == 0 or (mover + i) % 2 == 0 else ''}{turn}"
        for i, turn in enumerate(turns_of(actions, state))
    ]
    # A number stays on the line of its turn: a no-break space stands between them until lines are broken.
    moves = textwrap.fill(" ".join([*numbered, result]), LINE, break_on_hyphens=False)
    return "\n".join([*lines, "", moves.replace("\u00a0", " "), ""])


def fen(state: State) -> str:
    """Write the board and who moves, such as `B:WK32,21:B1,2`; not the count of steps without a capture."""
    assert isinstance(state, Checkers)
    sides = []
    for color, seat in (("W", 1), ("B", 0)):
        pieces = state.me if state.mover == seat else state.other
        numbers = sorted(
            (number_of(square_text(bit)), state.kings >> bit & 1) for bit in CELLS if pieces >> bit & 1
        )
        sides.append(color + ",".join(f"{'K' if king else ''}{number}" for number, king in numbers))
    return ":".join(["BW"[state.mover], *sides])


def _number(turn: int) -> str:
    return f"{turn // 2 + 1}.{'..' if turn % 2 else ''}\u00a0"


def _escaped(value: str) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in value)
    return printable.replace("\\", "\\\\").replace('"', '\\"')


def _is_jump(action: str) -> bool:
    return abs(int(action[1]) - int(action[3])) == 2


def _start(start: State | None) -> Position:
    state = checkers.GAME.initial_state() if start is None else start
    return Position(checkers.GAME, state, keys=(state.key(),))


# reading ----------------------------------------------------------------------------------------------


def from_pdn(text: str, start: State | None = None) -> Record:
    """Read one game that begins at `start`. Comments in braces are passed over.

    A tag FEN must tell of that position: its count of steps without a capture is not in a FEN. A turn may
    leave out squares between its first and last where only one chain of jumps fits. Raises InputError
    for what is no PDN, a turn that is not legal, a wrong number, and two different results.
    """
    tags, place = _read_tags(text)
    position, result = _start(start), ""
    if "FEN" in tags and _sides(tags["FEN"]) != _sides(fen(position.state)):
        expected = f"a game from {fen(position.state)}, the start that was given"
        raise InputError("bad_pdn", expected=expected, got=shown(tags["FEN"]), where="the tag FEN")
    first, turns = position.to_move(), 0
    while text[place:].strip():
        token = _TOKEN.match(text, place)
        if token is None or (result and token["comment"] is None):
            expected = "the end after the result" if result else "a number, a turn or a result"
            raise InputError("bad_pdn", expected=expected, got=shown(text[place:].strip()), where="PDN")
        place, result = token.end(), token["result"] or result
        if token["number"] and int(token["number"]) != (first + turns) // 2 + 1:
            expected = f"the number {(first + turns) // 2 + 1}"
            raise InputError("bad_pdn", expected=expected, got=token["number"], where=f"turn {turns + 1}")
        if token["turn"]:
            position, turns = _play(position, token["turn"]), turns + 1
    return Record(tags, position.actions, _one_result(result, tags))


def _sides(text: str) -> tuple[str, set[tuple[str, ...]]]:
    """Take a FEN apart: who moves, and for each side its colour and pieces, in any order."""
    mover, *sides = text.rstrip(".").split(":")
    return mover, {(side[:1], *sorted(side[1:].split(","))) for side in sides}


def _read_tags(text: str) -> tuple[dict[str, str], int]:
    """Return the tags and where they end."""
    tags: dict[str, str] = {}
    place = 0
    while tag := _TAG.match(text, place):
        tags[tag["name"]] = re.sub(r"\\(.)", r"\1", tag["value"])
        place = tag.end()
    return tags, place


def _one_result(result: str, tags: Mapping[str, str]) -> str:
    """Return the result of the text, or that of the tag where the text does not tell it."""
    told = tags.get("Result", UNFINISHED)
    if told not in (*RESULTS.values(), UNFINISHED):
        raise InputError("bad_pdn", expected="a result", got=shown(told), where="the tag Result")
    if UNFINISHED not in (told, result or UNFINISHED) and told != result:
        raise InputError("bad_pdn", expected=f"the result {told} of the tag", got=result, where="PDN")
    return told if result in ("", UNFINISHED) else result


def _play(position: Position, turn: str) -> Position:
    """Play a turn, squares of which may be left out."""
    numbers = re.split("[-x]", turn)
    squares = [_SQUARES.get(int(number), "?") for number in numbers]
    after = position
    for origin, landing in pairwise(squares):
        chains = [origin + landing] if origin + landing in after.legal() else []
        chains = chains or [chain for chain in _chains(after) if chain[:2] + chain[-2:] == origin + landing]
        if len(chains) != 1 or ("x" in turn) != _is_jump(chains[0]):
            raise InputError(
                "illegal_action",
                expected="a legal turn",
                got=turn if not chains else f"{turn}, which may be {len(chains)} different ones",
                where=position.where(),
                available=[turns_of(_split(chain), position.state)[0] for chain in _chains(position)],
            )
        for action in _split(chains[0]):
            after = after.play(action)
    return after


def _split(chain: str) -> list[str]:
    return [chain[i : i + 4] for i in range(0, len(chain), 4)]


def _chains(position: Position) -> Iterator[str]:
    """Whole turns, their actions written one after the other."""
    for action in position.legal():
        after = position.play(action)
        if after.state.mid_turn():
            yield from (action + rest for rest in _chains(after))
        else:
            yield action


_NUMBERS = {f"{COLUMNS[column]}{row + 1}": 4 * row + 4 - column // 2 for row, column in CELLS.values()}
_SQUARES = {number: square for square, number in _NUMBERS.items()}
