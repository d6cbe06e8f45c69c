"""Texts of backgammon: rolls and plays as players write them, and positions.

The checkers of a position are written as in the first part of an XGID, the identifier of the program eXtreme
Gammon: 26 letters, first O's bar, then X's points 1 to 24, then X's bar; A to O stand for 1 to 15 checkers of
X, a to o for O's, - for none. What is missing of 15 is borne off.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from games.backgammon_checkers import (
    BAR,
    CHECKERS,
    HOME,
    OFF,
    Counts,
    added,
    all_off,
    count_at,
    crowded_places,
    mirrored,
    placed,
    removed,
    sources,
    taken_places,
)
from games.backgammon_state import DRAWN, OPENING, Backgammon, roll_number
from games.errors import shown
from games.notation import SIDES, bad_position, read_action
from games.perft import plies
from games.protocol import CHANCE, State, as_state

NAME = "backgammon"
START = "-b----E-C---eE---c-e----B-"
STARTERS = "XO"
PASS_TEXT = "Pass"  # noqa: S105 - no password
NO_DICE = "-"
DRAW = "="
NOBODY = "*"
NONE = "-"
MOST_LETTERS = 64
"""No play takes so many."""

_PLACE = r"(?:[1-9]|1\d|2[0-5]|0|bar|off)"
_RUN = re.compile(rf"(?P<places>{_PLACE}(?:/{_PLACE}\*?)+)(?:\((?P<times>[2-4])\))?", re.ASCII)
_ROLL = re.compile(r"roll(?P<first>[1-6])(?P<second>[1-6])(?::(?P<starter>[XO]))?", re.ASCII)
_WORDS = {"bar": BAR, "off": OFF}
_POSITION = re.compile(
    r"(?P<letters>[-a-o][-A-Oa-o]{24}[-A-O]) (?P<dice>[-=]|[1-6]{2}|[1-6]{4}) (?P<side>[xo*])", re.ASCII
)
_SEPARATOR = re.compile("[+ ]")
_DICE = {
    NO_DICE: (0, 0),
    DRAW: (DRAWN, 0),
    **{f"{high}{low}": (high << 3 | low, 1) for high in range(1, 7) for low in range(1, high + 1)},
    **{f"{die}" * 4: (die << 3 | die, 2) for die in range(1, 7)},
}
"""Dice and plays left, by the dice left as a position text has them: a double's are four or two."""
_DICE_TEXTS = {dice_and_plays: text for text, dice_and_plays in _DICE.items()}


class Move(NamedTuple):
    """A checker goes from one of its player's places to another."""

    source: int
    target: int


# plays and rolls ----------------------------------------------------------------------------------------


def moves_of(action: int) -> tuple[Move, ...]:
    """Return the moves of a play as they are written: from higher places first."""
    number = action >> 10
    high, low = next(
        (high, low) for high in range(1, 7) for low in range(1, high + 1) if roll_number(high, low) == number
    )
    steps = ((action >> 5 & 31, high), (action & 31, low))
    return tuple(
        sorted((Move(place, max(place - die, OFF)) for place, die in steps if place != OFF), reverse=True)
    )


def hits(state: Backgammon, moves: Iterable[Move]) -> set[int]:
    """Return the points where moves hit a blot."""
    return {target for _, target in moves if target != OFF and count_at(state.other, BAR - target) == 1}


def format_action(state: Backgammon, action: int) -> str:
    """Write the seat, a colon, and for each checker moved the points that it leaves and reaches.

    `0:13/8/4` moves one checker of player 0 twice, `1:Bar/23*+6/5` one from the bar, which hits (the star),
    and another one; `0:1/Off(2)` bears two off; `Pass` stands for dice that cannot be played. Each player
    counts the points from the own side: 24 is the furthest, 1 the last one before `Off`. A double is two
    actions in a row, of two checkers each. Player 0 is X in rolls, x in positions; player 1 is O and o.

    A throw of two dice is `roll63`, the higher one first. In the opening roll each player throws one die: O's
    is written first, X's second, and then who has the higher one and begins. After `roll36:X` O has thrown 3
    and X 6, and X plays 3 and 6; after `roll63:O` O has thrown 6 and X 3, and O plays them. If both dice show
    the same, they are thrown again, so there is no `roll33:X`.

    Other spellings are read, too: moves may come in any order, with a plus or a blank between them, and the
    seat, stars, and `Pass` beside a move can be missing. `8/4 13/8*` is `0:13/8*+8/4`.
    """
    if state.to_move() == CHANCE:
        return _roll_text(state, action)
    moves = moves_of(action)
    hit = hits(state, moves)
    texts = [f"{_place(source)}/{_place(target)}{'*' * (target in hit)}" for source, target in moves]
    if len(moves) < 2:
        text = "+".join([*texts, PASS_TEXT])
    elif moves[0] == moves[1]:
        text = f"{texts[0]}(2)"
    elif moves[0].target == moves[1].source:
        text = f"{texts[0]}/{texts[1].partition('/')[2]}"
    else:  # two that hit on one point hit one blot
        text = f"{texts[0]}+{texts[1].rstrip('*') if moves[0].target == moves[1].target else texts[1]}"
    return f"{state.mover}:{text}"


def _roll_text(state: Backgammon, outcome: int) -> str:
    high, low, starter = outcome >> 3 & 7, outcome & 7, outcome >> 6
    if state.dice != OPENING:
        return f"roll{high}{low}"
    return f"roll{low}{high}:X" if STARTERS[starter] == "X" else f"roll{high}{low}:O"


def _place(place: int) -> str:
    return "Bar" if place == BAR else "Off" if place == OFF else str(place)


def parse_action(state: Backgammon, text: str) -> int:
    """Read a play or a roll, in any spelling: `8/4 13/8*` is `13/8*+8/4`.

    Moves may come in any order, with a plus or a blank between them, those of one checker as a run or each
    for itself, or without the point between where that says enough. The seat, stars, and Pass beside a move
    can be missing; a star where nothing is hit is refused. The bar is `Bar`, `bar` or 25, off the board
    `Off`, `off` or 0. The dice of a roll may come in either order.
    """
    choices = list(plies(as_state(state)))
    texts = {format_action(state, action): action for action in choices}
    if isinstance(text, str) and text not in texts and len(text) <= MOST_LETTERS:
        text = _spelled_roll(text) if state.to_move() == CHANCE else _spelled_play(state, choices, text)
    return read_action(text, texts.items(), lambda: NAME)


def _spelled_roll(text: str) -> str:
    """Return the one spelling of a roll; a text that is none as it stands."""
    match = _ROLL.fullmatch(text)
    if match is None:
        return text
    starter = match["starter"]
    low, high = sorted((match["first"], match["second"]))
    if starter is None:
        return f"roll{high}{low}"
    return f"roll{low}{high}:X" if starter == "X" else f"roll{high}{low}:O"


def _spelled_play(state: Backgammon, choices: Sequence[int], text: str) -> str:
    """Return the one spelling of a play; a text that is none, or may be several, as it stands."""
    wanted = _read_play(text, state.mover)
    if wanted is None:
        return text
    found = []
    for action in choices:
        moves = moves_of(action)
        if wanted.names(moves) and wanted.starred <= hits(state, moves):
            found.append(action)
    same_end = len({state.result(action) for action in found}) == 1
    return format_action(state, found[0]) if same_end else text


class _Wanted(NamedTuple):
    """A play as it was written."""

    moves: tuple[Move, ...]
    starred: frozenset[int]
    passes: int

    def names(self, moves: tuple[Move, ...]) -> bool:
        """Whether these moves are meant."""
        if self.passes > 2 - len(moves):
            return False
        run = len(moves) == 2 and moves[0].target == moves[1].source
        whole = (Move(moves[0].source, moves[1].target),) if run else None
        return self.moves in (moves, whole)


def _read_play(text: str, mover: int) -> _Wanted | None:
    """Read a play; None if it is none, or the other player's."""
    seat, colon, body = text.rpartition(":")
    if colon and seat != str(mover):
        return None
    moves: list[Move] = []
    starred: set[int] = set()
    passes = 0
    for part in _SEPARATOR.split(body.lower()):
        run = _RUN.fullmatch(part)
        if run is not None:
            stars = [place.endswith("*") for place in run["places"].split("/")]
            places = [_number(place.rstrip("*")) for place in run["places"].split("/")]
            moves += [*map(Move, places, places[1:])] * int(run["times"] or 1)
            starred |= {place for place, star in zip(places, stars, strict=True) if star}
        elif part == PASS_TEXT.lower():
            passes += 1
        else:
            return None
    return _Wanted(tuple(sorted(moves, reverse=True)), frozenset(starred), passes)


def _number(place: str) -> int:
    return _WORDS[place] if place in _WORDS else int(place)


# positions ----------------------------------------------------------------------------------------------


def format_position(state: Backgammon) -> str:
    """Write the checkers, the dice left to play, and whose turn it is, with blanks between.

    The checkers are 26 letters: O's bar, X's points 1 to 24, X's bar. `A` is one checker of X, `B` two, and
    so on, `a` is one of O, `-` none; what is missing of 15 is borne off. In
    `-b----E-C---eE---c-e----B- 63 x` X is to play 6 and 3, the higher die first; `3333` is a double, of
    which `33` is left after two moves; `- o` says that O is to roll, `- *` that the opening roll is to come,
    `= o` that the game was drawn when it was O's turn.
    """
    players = (state.me, state.other) if state.mover == 0 else (state.other, state.me)
    letters = [
        _letter(count_at(players[0], place), count_at(players[1], BAR - place)) for place in range(1, 25)
    ]
    bars = _letter(0, count_at(players[1], BAR)), _letter(count_at(players[0], BAR), 0)
    opening = state.dice == OPENING
    dice = NO_DICE if opening else _DICE_TEXTS[state.dice, state.plays]
    return f"{bars[0]}{''.join(letters)}{bars[1]} {dice} {NOBODY if opening else SIDES[state.mover]}"


def _letter(of_x: int, of_o: int) -> str:
    return chr(ord("A") + of_x - 1) if of_x else chr(ord("a") + of_o - 1) if of_o else NONE


def parse_position(text: str) -> State:
    """Read a position text. Raises InputError where no game can reach it, as far as is told easily."""
    match = _POSITION.fullmatch(text) if isinstance(text, str) else None
    if match is None or match["dice"] not in _DICE:
        raise bad_position(
            "26 letters (O's bar, X's points 1 to 24, X's bar), a blank, the dice to play with the higher "
            f"one first, {NO_DICE} or {DRAW}, a blank, and x, o or {NOBODY} to move",
            shown(text),
            NAME,
        )
    letters, side = match["letters"], match["side"]
    dice, plays = _DICE[match["dice"]]
    if side == NOBODY:
        if (letters, dice, plays) != (START, 0, 0):
            raise bad_position(f"x or o to move after the start {START}", shown(text), NAME)
        dice = OPENING
    x, o = _checkers(letters, "A"), _checkers(letters[::-1], "a")
    me, other, mover = (o, x, 1) if side == SIDES[1] else (x, o, 0)
    state = Backgammon(me, other, mover, dice, plays)
    _check_reachable(state)
    return as_state(state)


def _checkers(letters: str, one: str) -> Counts:
    """Read the checkers of one player, whose places are numbered like the letters."""
    checkers, total = Counts(0, 0), 0
    for place, letter in enumerate(letters):
        count = ord(letter) - ord(one) + 1
        if 0 < count <= CHECKERS:
            total += count
            checkers = placed(checkers, place, count)
    if total > CHECKERS:
        raise bad_position(f"at most {CHECKERS} checkers of each player", str(total), NAME)
    return placed(checkers, OFF, CHECKERS - total)


def _check_reachable(state: Backgammon) -> None:
    """Refuse a winner who is to move, players who both can never enter, and half a double out of nothing."""
    if all_off(state.me) or (all_off(state.other) and state.dice != 0):
        raise bad_position("the loser to move, without dice, once all of a player's are off", "another", NAME)
    if all(
        count_at(checkers, BAR) > 0 and crowded_places(checkers) & HOME == HOME
        for checkers in (state.me, state.other)
    ):
        raise bad_position("a player who can enter from the bar", "two closed home boards", NAME)
    if state.mid_turn() and not _after_two_moves(state.me, state.other, state.dice & 7):
        raise bad_position(
            "a position after two moves of the double", "one that two moves cannot reach", NAME
        )


def _after_two_moves(me: Counts, other: Counts, die: int) -> bool:
    """Whether the player may just have moved two checkers by a die."""
    return any(True for between in _before(me, other, die) for _ in _before(between, other, die))


def _before(me: Counts, other: Counts, die: int) -> Iterator[Counts]:
    """Yield a player's checkers as they may have been before one of them was moved by a die."""
    blocked = mirrored(crowded_places(other))
    for target in range(BAR):
        if count_at(me, target) == 0:
            continue
        for source in range(1, die + 1) if target == OFF else (target + die,):
            if source > BAR or (source < BAR and count_at(other, BAR - source) > 0):
                continue
            before = added(removed(me, 1 << target), 1 << source)
            if sources(taken_places(before), blocked, die) >> source & 1:
                yield before
