"""Counts of one player at backgammon as bitboards, and the places from which a die can move one.

A player's places are numbered as that player goes: 25 is the bar, 24 to 1 are the points, 0 is off the board.
The opponent's point 25 - i is the same as point i.
"""

from typing import NamedTuple

from games.protocol import bitboard, kernel, popcount, u64, word

OFF = 0
BAR = 25
CHECKERS = 15
HALF = 32
"""Bits of a word that one binary digit of all places takes."""

ON_BOARD = 0x03FF_FFFE
"""Places 1 to 25: the points and the bar."""
POINTS = 0x01FF_FFFE
HOME = 0x0000_007E
OUTSIDE = 0x03FF_FF80
"""Places 7 to 25: no checker is borne off while one is here."""

DIGITS = (0xAAAA_AAAA, 0xCCCC_CCCC, 0xF0F0_F0F0, 0xFF00_FF00, 0xFFFF_0000)
"""Places whose number has binary digit 0, 1, ... set."""


@bitboard
class Counts(NamedTuple):
    """How many checkers are at each place, 0 to 15, digit by digit of the binary number.

    Of place i, bit i of `low` is the first digit and bit 32 + i the second; `high` has the third and the
    fourth. So which places are taken, or taken by two or more, is a matter of a few operations.
    """

    low: word
    high: word


@kernel
def added(checkers: Counts, place: word) -> Counts:
    """Put a checker on a place, given as its bit."""
    low, high = checkers.low, checkers.high
    carry = (low & place) << HALF
    low ^= place
    carry_on = (low & carry) >> HALF
    low ^= carry
    carry = (high & carry_on) << HALF
    return Counts(low, high ^ carry_on ^ carry)


@kernel
def removed(checkers: Counts, place: word) -> Counts:
    """Take a checker off a place, given as its bit.

    Where none is, 15 are left: a checker added later makes that 0.
    """
    low, high = checkers.low, checkers.high
    borrow = (~low & place) << HALF
    low ^= place
    borrow_on = (~low & borrow) >> HALF
    low ^= borrow
    borrow = (~high & borrow_on) << HALF
    return Counts(low, high ^ borrow_on ^ borrow)


@kernel
def taken_places(checkers: Counts) -> word:
    """Return the points, and the bar, with one checker or more."""
    digits = checkers.low | checkers.high
    return (digits | digits >> HALF) & u64(ON_BOARD)


@kernel
def crowded_places(checkers: Counts) -> word:
    """Return the points, and the bar, with two checkers or more: as points, those that are made."""
    return (checkers.low >> HALF | checkers.high | checkers.high >> HALF) & u64(ON_BOARD)


@kernel
def lone_places(checkers: Counts) -> word:
    """Return the points, and the bar, with one checker: as points, the blots."""
    return checkers.low & ~crowded_places(checkers) & u64(ON_BOARD)


@kernel
def all_off(checkers: Counts) -> bool:
    """Whether all 15 checkers, four binary ones, are borne off."""
    both = u64(1 << HALF | 1)
    return checkers.low & checkers.high & both == both


@kernel
def mirrored(places: word) -> word:
    """Return places as the opponent numbers them: place i becomes 25 - i."""
    places = (places >> 1) & u64(0x5555_5555) | (places & u64(0x5555_5555)) << 1
    places = (places >> 2) & u64(0x3333_3333) | (places & u64(0x3333_3333)) << 2
    places = (places >> 4) & u64(0x0F0F_0F0F) | (places & u64(0x0F0F_0F0F)) << 4
    places = (places >> 8) & u64(0x00FF_00FF) | (places & u64(0x00FF_00FF)) << 8
    return (places >> 16 | (places & u64(0xFFFF)) << 16) >> 6


@kernel
def above(place: int) -> word:
    """Return the places with a higher number, those of the bar and the points."""
    return u64(ON_BOARD) & ~((u64(2) << place) - u64(1))


@kernel
def highest(places: word) -> word:
    """Return the highest of some places as its bit; nothing if there are none."""
    places |= places >> 1
    places |= places >> 2
    places |= places >> 4
    places |= places >> 8
    places |= places >> 16
    return places ^ places >> 1


@kernel
def sources(taken: word, blocked: word, die: int) -> word:
    """Return the places from which a die can move a checker.

    `taken` are the own places, `blocked` the points that the opponent has made. A checker on the bar must
    enter first. Once all are home, a checker is borne off from the die's own point, or from the highest
    point that is taken if that is lower.
    """
    free = taken & ~(blocked << die)
    if taken & u64(1 << BAR) != u64(0):
        return free & u64(1 << BAR)
    places = free & above(die)
    if taken & u64(OUTSIDE) == u64(0):
        places |= taken & u64(1) << die
        if taken >> die == u64(0):
            places |= highest(taken)
    return places


@kernel
def taken_after(taken: word, lone: word, place: int, die: int) -> word:
    """Return the own places after a die has moved a checker from one of them; `lone` are those with one."""
    checker = u64(1) << place
    return taken & ~(checker & lone) | (checker >> die) & u64(ON_BOARD)


@kernel
def count_at(checkers: Counts, place: int) -> int:
    """Return the number of checkers at a place."""
    low, high = checkers.low >> place, checkers.high >> place
    first = int(low & u64(1)) + 2 * int(low >> HALF & u64(1))
    return first + 4 * int(high & u64(1)) + 8 * int(high >> HALF & u64(1))


@kernel
def sum_of_places(places: word) -> int:
    """Add up the numbers of some places."""
    total = 0
    for digit in range(5):
        total += popcount(places & u64(DIGITS[digit])) << digit
    return total


@kernel
def pip_count(checkers: Counts) -> int:
    """Return how far all checkers have to go: the sum of their places."""
    lower = u64(ON_BOARD)
    first, second = checkers.low & lower, checkers.low >> HALF & lower
    third, fourth = checkers.high & lower, checkers.high >> HALF & lower
    low = sum_of_places(first) + 2 * sum_of_places(second)
    return low + 4 * sum_of_places(third) + 8 * sum_of_places(fourth)


@kernel
def longest_run(places: word) -> int:
    """Return the number of places in the longest unbroken row."""
    length = 0
    while places != u64(0):
        places &= places >> 1
        length += 1
    return length


@kernel
def in_front(places: word, opponents: word) -> word:
    """Return those of some places that an opponent's checker has still to pass.

    `opponents` are the opponent's places, in the opponent's numbers.
    """
    last = mirrored(opponents)
    last &= ~last + u64(1)
    return places & ~(last | (last - u64(1)))


def placed(checkers: Counts, place: int, count: int) -> Counts:
    """Put so many checkers on an empty place."""
    low, high = checkers
    for digit in (0, 1):
        low |= (count >> digit & 1) << HALF * digit + place
        high |= (count >> 2 + digit & 1) << HALF * digit + place
    return Counts(low, high)
