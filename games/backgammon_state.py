"""The state of a game of backgammon: rolls, and plays of two checkers each.

To play is to move one checker by each die; a double, four moves, is two such plays by the same player. Both
players' places are numbered as each of them goes (see backgammon_checkers).

A play is (roll number) << 10 | (place moved by the higher die) << 5 | (place moved by the lower die), where
place 0 says that this die moves nothing; of a double the higher place comes first. The roll is in it only so
that whoever looks at the number later knows how far the checkers went. An outcome is
(starter << 6) | (higher die) << 3 | (lower die), with starter 0 after the opening roll.
"""

from collections.abc import Iterator
from typing import NamedTuple

from games.backgammon_checkers import (
    BAR,
    HOME,
    OFF,
    POINTS,
    Counts,
    above,
    added,
    all_off,
    count_at,
    crowded_places,
    in_front,
    lone_places,
    longest_run,
    mirrored,
    pip_count,
    removed,
    sources,
    taken_after,
    taken_places,
)
from games.protocol import CHANCE, compiled, kernel, like, mix, popcount, trailing_zeros, u64, word

OPENING = 64
"""Stands for the dice before the roll that says who begins."""

DRAWN = 65
"""Stands for the dice when a game has become too long."""

HIGH_FIRST, LOW_FIRST, ONE_MOVE, ORDERS = range(4)
"""The higher die first; the lower one first; one die alone, or none; number of these."""

SIGN = 0x94D0_49BB_1331_11EB


class Features(NamedTuple):
    """Own minus the opponent's.

    `pips` are the points that all checkers have still to go; `off` and `bar` checkers there; `blots` points
    with a single checker that an opponent's checker has still to pass; `points` those made, with two checkers
    or more, and `home` those of them in the home board; `prime` the longest unbroken row of them.
    """

    pips: int
    off: int
    bar: int
    blots: int
    points: int
    home: int
    prime: int


@compiled
class Backgammon(NamedTuple):
    """The checkers and the dice. Seat 0 is X, and moves first after an opening roll that it wins."""

    me: Counts
    """Counts of the player whose turn it is, or who is to roll."""
    other: Counts
    mover: int
    """Seat of the player whose turn it is, or who is to roll; 0 before the opening roll."""
    dice: int
    """(Higher die) << 3 | (lower die); 0 before a roll, OPENING before the first, DRAWN after a draw."""
    plays: int
    """So many plays of two checkers are left of the roll: 2 after a double, else 1; 0 without a roll."""

    def to_move(self) -> int:
        """Chance where the dice are to be rolled, else the player who has rolled."""
        return CHANCE if self.plays == 0 else self.mover

    def mid_turn(self) -> bool:
        """Whether half of a double is played."""
        return self.plays == 1 and self.dice >> 3 == self.dice & 7

    def actions(self) -> Iterator[int]:
        """Plays of both dice; if there is none, of the higher die that can be played; else to pass.

        By the first checker moved, then by the second, with the higher die first; then what only becomes
        possible when the lower die is played first.
        """
        high, low = self.dice >> 3, self.dice & 7
        taken, lone = taken_places(self.me), lone_places(self.me)
        blocked = mirrored(crowded_places(self.other))
        roll, found = roll_number(high, low) << 10, False
        for order in range(ORDERS if self.plays != 0 else 0):
            firsts = u64(0)
            if order != ONE_MOVE or not found:
                firsts = first_places(taken, blocked, high, low, order)
            while firsts != u64(0):
                first = trailing_zeros(firsts)
                firsts &= firsts - u64(1)
                seconds = second_places(taken, lone, blocked, high, low, order, first)
                while seconds != u64(0):
                    yield roll | play_number(order, first, trailing_zeros(seconds))
                    found = True
                    seconds &= seconds - u64(1)

    def chance(self) -> Iterator[tuple[int, float]]:
        """All 21 rolls; at the beginning 15 rolls that X wins and 15 that O wins: equal dice do not count."""
        opening = self.dice == OPENING
        if self.plays == 0 and not self.is_terminal():
            for starter in range(2 if opening else 1):
                for high in range(1, 7):
                    for low in range(1, high if opening else high + 1):
                        yield (
                            starter << 6 | high << 3 | low,
                            1.0 / 30.0 if opening else 1.0 / 36.0 if high == low else 1.0 / 18.0,
                        )

    def result(self, a: int) -> "Backgammon":
        """Roll the dice, or play two checkers; a turn that is over leaves the dice to the other player."""
        if self.plays == 0:
            dice = a & 63
            plays = 2 if dice >> 3 == dice & 7 else 1
            return like(self, self.me, self.other, self.mover | a >> 6, dice, plays)
        first, second = a >> 5 & 31, a & 31
        me, other = moved(self.me, self.other, first, self.dice >> 3)
        me, other = moved(me, other, second, self.dice & 7)
        if self.plays == 2 and second != OFF and not all_off(me):
            return like(self, me, other, self.mover, self.dice, 1)
        return like(self, other, me, 1 - self.mover, 0, 0)

    def is_terminal(self) -> bool:
        """Whether the player who has just played has borne off all checkers, or the game is drawn."""
        return self.dice == DRAWN or all_off(self.other)

    def utility(self, p: int) -> float:
        """Return 1, for a gammon 2, for a backgammon 3; the loser minus that; 0 after a draw.

        It is a gammon if the loser has borne off nothing, and then a backgammon if one of the loser's
        checkers is on the bar or in the winner's home board, the loser's points 19 to 24.
        """
        points = 1.0
        if count_at(self.me, OFF) == 0:
            points = 3.0 if taken_places(self.me) & above(18) != u64(0) else 2.0
        if self.dice == DRAWN:
            return 0.0
        return -points if p == self.mover else points

    def features(self, p: int) -> Features:
        """Compare how far both have come, and where they stand."""
        sign = 1 if p == self.mover else -1
        me, other = self.me, self.other
        own, others = crowded_places(me) & u64(POINTS), crowded_places(other) & u64(POINTS)
        return Features(
            sign * (pip_count(me) - pip_count(other)),
            sign * (count_at(me, OFF) - count_at(other, OFF)),
            sign * (count_at(me, BAR) - count_at(other, BAR)),
            sign * (blots(me, other) - blots(other, me)),
            sign * (popcount(own) - popcount(others)),
            sign * (popcount(own & u64(HOME)) - popcount(others & u64(HOME))),
            sign * (longest_run(own) - longest_run(others)),
        )

    def key(self) -> int:
        """All fields, mixed one into the other."""
        bits = mix(u64(mix(self.me.low) + self.me.high))
        bits = mix(u64(mix(u64(bits + self.other.low)) + self.other.high))
        return mix(u64(bits + u64(self.mover | self.dice << 1 | self.plays << 8) * u64(SIGN)))


@kernel
def roll_number(high: int, low: int) -> int:
    """Return the number of a roll, 0 to 20."""
    return high * (high - 1) // 2 + low - 1


@kernel
def play_number(order: int, first: int, second: int) -> int:
    """Return a play's number, but for its roll, from the places in the order in which they are played.

    One move alone is the second one: see `first_places`.
    """
    return first << 5 | second if order == HIGH_FIRST else second << 5 | first


@kernel
def first_places(taken: word, blocked: word, high: int, low: int, order: int) -> word:
    """Return the places from which the first checker can be moved, or the only one.

    With the lower die first, those from which it can bear off are left out: the same checkers are borne off
    with the higher die first. For one die alone, place 0 says the lower one cannot be moved.
    """
    places = sources(taken, blocked, high if order == HIGH_FIRST else low)
    if order == LOW_FIRST:
        places = u64(0) if high == low else places & above(low)
    elif order == ONE_MOVE and (places == u64(0) or sources(taken, blocked, high) != u64(0)):
        places = u64(1)
    return places


@kernel
def second_places(
    taken: word, lone: word, blocked: word, high: int, low: int, order: int, first: int
) -> word:
    """Return the places from which the second checker can be moved after the first.

    Of a double, only those not above the first: the higher checker can always go first. With the lower die
    first, only those from which the higher die could not be played at once: the others come with the higher
    die first, too. For one die alone it is the higher one, where that can be played, or place 0 for nothing.
    """
    if order == HIGH_FIRST:
        places = sources(taken_after(taken, lone, first, high), blocked, low)
        return places & ~above(first) if high == low else places
    at_once = sources(taken, blocked, high)
    if order == LOW_FIRST:
        return sources(taken_after(taken, lone, first, low), blocked, high) & ~at_once
    return at_once if at_once != u64(0) else u64(1)


@kernel
def moved(me: Counts, other: Counts, place: int, die: int) -> tuple[Counts, Counts]:
    """Move a checker by a die, and what it hits to the bar; from place 0 nothing moves."""
    if place != OFF:
        target = max(place - die, OFF)
        me = added(removed(me, u64(1) << place), u64(1) << target)
        hit = u64(1) << BAR - target & lone_places(other)
        if target != OFF and hit != u64(0):  # off the board nothing is hit
            other = added(removed(other, hit), u64(1 << BAR))
    return me, other


@kernel
def blots(checkers: Counts, others: Counts) -> int:
    """Return the number of points with one checker that an opponent's checker has still to pass."""
    return popcount(in_front(lone_places(checkers) & u64(POINTS), taken_places(others)))
