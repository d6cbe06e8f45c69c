"""Kalah: sow the seeds of a pit around the board, gather more than the opponent in the own store.

W. J. Champion's game (1940), with six pits and four seeds in each at first, as OpenSpiel's mancala plays it.
Pits are numbered around the board in the direction of sowing: 1 to 6 are the first mover's, with the store
after 6; 8 to 13 are the second mover's, with the store after 13. An action is the number of its pit.

A row of pits is a word of eight bits a pit: six pits in the direction of sowing, from the lowest, and the
store. Every game ends: seeds only move forward, and none leaves its row without one more in the store.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from games.board import Board, Cell
from games.game import Game
from games.notation import SIDES, bad_position, read_action, split_side
from games.options import Option
from games.protocol import State, as_state, compiled, kernel, like, mix, signed, u64, word

PITS = 6
"""Pits of a row; the store comes after them."""
LAP = 2 * PITS + 1
"""So many seeds go once around: the opponent's store is left out."""
SECOND_PIT = 8
"""Number of the second mover's first pit."""
MOST = 6
"""Seeds in a pit at first, at most: the sum of all seeds has to fit into eight bits."""

ALL_PITS = 0x0000_FFFF_FFFF_FFFF
ONES = 0x0101_0101_0101_0101
_ROW = re.compile(r"(?:0|[1-9][0-9]?)(?:,(?:0|[1-9][0-9]?)){6}", re.ASCII)

Row = list[int]
"""Seeds of a side's pits and store, where Python alone reads them."""


class Features(NamedTuple):
    """Own minus the opponent's.

    `store` is the seeds in the store, `seeds` those in the pits, `choices` the pits that can be sown. Of
    the sowings that do not leave the row, `again` are those that end in the store, and `capture` is the
    most seeds of the opponent that one of them takes.
    """

    store: int
    seeds: int
    choices: int
    again: int
    capture: int


@compiled
class Kalah(NamedTuple):
    """Seeds of both sides, seen by the player to move. Seat 0 begins."""

    me: word
    """Pits and store of the player to move."""
    other: word
    """Pits and store of the opponent."""
    mover: int
    """Seat of the player to move: who ends in the store moves again."""

    def to_move(self) -> int:
        """Seat whose turn it is."""
        return self.mover

    def actions(self) -> Iterator[int]:
        """Own pits with seeds, in order."""
        if not self.is_terminal():
            for pit in range(PITS):
                if seeds_at(self.me, pit) > 0:
                    yield pit + 1 + self.mover * (SECOND_PIT - 1)

    def result(self, a: int) -> "Kalah":
        """Sow the seeds of pit `a`; capture; move again after a last seed in the store."""
        pit = a - 1 - self.mover * (SECOND_PIT - 1)
        last = (pit + seeds_at(self.me, pit)) % LAP
        me, other = sow(self.me, self.other, pit)
        if last == PITS:
            return like(self, me, other, self.mover)
        if last < PITS and seeds_at(me, last) == 1:
            opposite = PITS - 1 - last
            captured = seeds_at(other, opposite)
            if captured > 0:
                me = u64(me + (u64(captured + 1) << 8 * PITS) - (u64(1) << 8 * last))
                other = other & ~(u64(0xFF) << 8 * opposite)
        return like(self, other, me, 1 - self.mover)

    def is_terminal(self) -> bool:
        """Whether all pits of a side are empty, whoever is to move."""
        return self.me & u64(ALL_PITS) == u64(0) or self.other & u64(ALL_PITS) == u64(0)

    def utility(self, p: int) -> float:
        """+1 for more seeds, -1 for fewer, 0 for as many; those left in pits count for their side."""
        ahead = sum_of(self.me) - sum_of(self.other)
        if p != self.mover:
            ahead = -ahead
        return 1.0 if ahead > 0 else -1.0 if ahead < 0 else 0.0

    def features(self, p: int) -> Features:
        """Seeds, and what the next sowing could do, own minus the opponent's."""
        own, other = self.me, self.other
        if p != self.mover:
            own, other = other, own
        choices, again, capture = prospects(own, other)
        their_choices, their_again, their_capture = prospects(other, own)
        return Features(
            seeds_at(own, PITS) - seeds_at(other, PITS),
            sum_of(own & u64(ALL_PITS)) - sum_of(other & u64(ALL_PITS)),
            choices - their_choices,
            again - their_again,
            capture - their_capture,
        )

    def key(self) -> int:
        """Both sides and the seat to move, mixed one into the other."""
        seat = u64(self.mover) << 8 * (PITS + 1)
        return mix(u64(mix(self.me | seat) + self.other))


@kernel
def seeds_at(side: word, pit: int) -> int:
    """Seeds in one pit of a side, or with PITS in its store."""
    return signed(side >> 8 * pit & u64(0xFF))


@kernel
def sum_of(side: word) -> int:
    """Sum of all eight bytes."""
    return signed(u64(side * u64(ONES)) >> 56)


@kernel
def one_each(pits: int) -> word:
    """One seed in each of the first pits of a side."""
    return u64(ONES) & ((u64(1) << 8 * pits) - u64(1))


@kernel
def sow(me: word, other: word, pit: int) -> tuple[word, word]:
    """Sow a pit of `me`: whole laps first, then the own row, the other's pits, the own row again."""
    seeds = seeds_at(me, pit)
    me = me & ~(u64(0xFF) << 8 * pit)
    laps, seeds = u64(seeds // LAP), seeds % LAP
    here = min(seeds, PITS - pit)
    there = min(seeds - here, PITS)
    me = u64(
        me + laps * one_each(PITS + 1) + (one_each(here) << 8 * (pit + 1)) + one_each(seeds - here - there)
    )
    return me, u64(other + laps * one_each(PITS) + one_each(there))


@kernel
def prospects(own: word, other: word) -> tuple[int, int, int]:
    """Pits with seeds, sowings within the row that end in the store, and the most seeds that one captures."""
    choices = again = capture = 0
    for pit in range(PITS):
        seeds = seeds_at(own, pit)
        last = pit + seeds
        if seeds > 0:
            choices += 1
            if last == PITS:
                again += 1
            elif last < PITS and seeds_at(own, last) == 0:
                capture = max(capture, seeds_at(other, PITS - 1 - last))
    return choices, again, capture


def start(seeds: int = 4) -> State:
    """Return the board with as many seeds in each pit."""
    side = seeds * one_each(PITS)
    return as_state(Kalah(side, side, 0))


def _actions_by_text(state: Kalah) -> Iterator[tuple[str, int]]:
    return ((format_action(state, pit), pit) for pit in state.actions())


def parse_action(state: Kalah, text: str) -> int:
    """Read the number of a pit."""
    return read_action(text, _actions_by_text(state), lambda: f"kalah ({format_position(state)})")


def format_action(_state: Kalah, action: int) -> str:
    """Write the number of a pit: 1 to 6 are player 0's, from the left below, 8 to 13 player 1's.

    Pits 8 to 13 follow around the board, from the right above. Whose last seed falls into the own store is
    asked for another action at once.
    """
    return str(action)


def _row(side: word) -> Row:
    return [seeds_at(side, pit) for pit in range(PITS + 1)]


def _side(row: Row) -> word:
    return sum(seeds << 8 * pit for pit, seeds in enumerate(row))


def _by_seat(state: Kalah) -> tuple[Row, Row]:
    rows = _row(state.me), _row(state.other)
    return rows if state.mover == 0 else rows[::-1]


def format_position(state: Kalah) -> str:
    """Write pits 1 to 6 and the store of player 0, `/`, pits 8 to 13 and player 1's store, and who moves.

    Player 0 is x, player 1 is o. The initial position is `4,4,4,4,4,4,0/4,4,4,4,4,4,0 x`.
    """
    first, second = (",".join(map(str, row)) for row in _by_seat(state))
    return f"{first}/{second} {SIDES[state.mover]}"


def parse_position(text: str, seeds: int = 4) -> State:
    """Read a position text. Raises InputError where no game can reach it.

    Checked are the numbers, their sum, and that a sowing of an unfinished game leads here; whether a game
    leads to that is not.
    """
    rows, mover = split_side(text, "kalah")
    read = [[int(number) for number in row.split(",")] for row in rows.split("/") if _ROW.fullmatch(row)]
    if len(read) != 2 or rows.count("/") != 1:
        raise bad_position(
            "seven numbers joined by commas for each side, joined by /", repr(rows[:60]), "kalah"
        )
    total = 2 * PITS * seeds
    if sum(map(sum, read)) != total:
        raise bad_position(f"{total} seeds", str(sum(map(sum, read))), "kalah")
    state = Kalah(_side(read[mover]), _side(read[1 - mover]), mover)
    if as_state(state) != start(seeds) and not _was_sown(state):
        raise bad_position("what a sowing leads to", "a position that none leads to", "kalah")
    return as_state(state)


def _was_sown(state: Kalah) -> bool:
    """Whether some sowing of an unfinished game leads to a state: taken back, and sown again for proof."""
    for own, theirs, mover, last in _ends_of_sowings(state):
        for pit in range(PITS):
            before = _unsown(own, theirs, mover, pit, last)
            action = pit + 1 + mover * (SECOND_PIT - 1)
            if before is not None and not before.is_terminal() and before.result(action) == state:
                return True
    return False


def _ends_of_sowings(state: Kalah) -> Iterator[tuple[Row, Row, int, int]]:
    """Yield how the board may have looked before a capture, who had sown, and where the last seed fell."""
    me, other, opponent = _row(state.me), _row(state.other), 1 - state.mover
    yield me, other, state.mover, PITS  # who ends in the store moves again
    for last in range(LAP):
        if last != PITS:
            yield other, me, opponent, last
    for last in range(PITS):
        opposite = PITS - 1 - last
        if other[last] == me[opposite] == 0:
            for captured in range(1, other[PITS]):
                own, theirs = other.copy(), me.copy()
                own[last], theirs[opposite] = 1, captured
                own[PITS] -= captured + 1
                yield own, theirs, opponent, last


def _unsown(own: Row, theirs: Row, mover: int, pit: int, last: int) -> Kalah | None:
    """Return what stood before a pit of `own` was sown up to `last`; None if it cannot have been.

    Every lap has left a seed in the pit: that tells how many seeds were sown.
    """
    seeds = LAP * own[pit] + (last - pit) % LAP
    sown, sown_there = sow(seeds << 8 * pit, 0, pit)
    before = [now - added for now, added in zip(own, _row(sown), strict=True)]
    there = [now - added for now, added in zip(theirs, _row(sown_there), strict=True)]
    if seeds == 0 or min(*before, *there) < 0:
        return None
    before[pit] = seeds
    return Kalah(_side(before), _side(there), mover)


def _cell(seat: int, pit: int) -> Cell:
    """Cell of a seat's pit, or with PITS of the store.

    Player 0's pits are the bottom row, from the left, and the store is to the right of it, (1, 7); player
    1's are the top row, from the right, and the store is to the left of it, (0, 0).
    """
    return (1, pit + 1) if seat == 0 else (0, PITS - pit)


def board(state: Kalah, last: int | None) -> Board:
    """Return the board as data; columns are labelled by their pits, the upper one first.

    An action's target is the pit that is sown.
    """
    cells = {
        _cell(seat, pit): (seat, seeds)
        for seat, row in enumerate(_by_seat(state))
        for pit, seeds in enumerate(row)
    }
    pits = (f"{2 * PITS + 2 - pit}/{pit}" for pit in range(1, PITS + 1))
    return Board(
        rows=2,
        columns=PITS + 2,
        pieces={cell: seat for cell, (seat, _) in cells.items()},
        style="pits",
        counts={cell: seeds for cell, (_, seeds) in cells.items()},
        last=() if last is None else (_pit_cell(last),),
        column_labels=("", *pits, ""),
        targets={text: _pit_cell(pit) for text, pit in _actions_by_text(state)},
    )


def _pit_cell(action: int) -> Cell:
    return _cell(0, action - 1) if action < SECOND_PIT else _cell(1, action - SECOND_PIT)


GAME = Game(
    name="kalah",
    title="Kalah",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    options={"seeds": Option(4, 1, MOST, "seeds in each pit at first")},
    rules=(
        "Each player has six pits with four seeds in each (option `seeds`), and a store. A move takes all "
        "seeds of an own pit and sows them one by one into the pits that follow around the board, the own "
        "store included, the opponent's left out. Whose last seed falls into the own store moves again. If "
        "it falls into an own pit that was empty and seeds lie in the pit opposite, both go to the store. "
        "The game ends when all pits of one side are empty; seeds left in the other's pits are the other's. "
        "More seeds win (+1, the other player -1), as many are a draw (0)."
    ),
    typical=("3", "6", "12", "2", "1", "11", "6", "12", "3", "8"),
)
