"""Groups of Go stones: captures, liberties, eyes and area, as sets of points.

`me` and `other` are stones of the two sides and `empty` the rest of the board, each cut to the board;
`stride` is the number of bits of a row.
"""

from games.go_points import (
    Points,
    around,
    between,
    count,
    first,
    flood,
    nothing,
    point,
    shifted,
    some,
    without,
)
from games.protocol import kernel

REACH = 3
"""Influence ends so many steps from a stone."""


@kernel
def group_of(seed: Points, colour: Points, empty: Points, stride: int, enough: int) -> tuple[Points, Points]:
    """Return stones of `colour` that hang together with `seed`, and their liberties.

    All of them, or as many stones as have more liberties than `enough`.
    """
    inside = colour | empty
    grown, group, liberties = seed, nothing(), nothing()
    while grown != group and count(liberties) <= enough:
        group = grown
        beside = around(group, stride, inside)
        liberties = beside & empty
        grown = group | beside & colour
    return group, liberties


@kernel
def stifled(stone: Points, other: Points, empty: Points, stride: int) -> Points:
    """Return the groups of `other` next to a stone that have no liberty."""
    captured = nothing()
    left = around(stone, stride, other)
    while some(left):
        group, liberties = group_of(point(first(left)) & other, other, empty, stride, 0)
        left = without(left, group)
        if not some(liberties):
            captured = captured | group
    return captured


@kernel
def roomy(stones: Points, empty: Points, stride: int) -> Points:
    """Return the stones next to two empty points or more."""
    beside = shifted(empty, 1, stones) & shifted(empty, stride, stones)
    return beside | between(empty, 1, stones) | between(empty, stride, stones)


@kernel
def no_suicide(tight: Points, me: Points, other: Points, empty: Points, stride: int) -> Points:
    """Points where a group next to the `tight` ones makes a move of `me` legal: no empty point need be near.

    An own group does so that has another liberty, and a group of the opponent that has no other.
    """
    safe = roomy(me | other, empty, stride)
    found = around(safe & me, stride, tight)
    left = without(around(without(tight, found), stride, me | other), safe)
    while some(left):
        stone = point(first(left))
        own = some(stone & me)
        colour = me if own else other
        group, liberties = group_of(stone & colour, colour, empty, stride, 1)
        left = without(left, group)
        if own != (count(liberties) == 1):
            found = found | liberties
    return found


@kernel
def last_liberties(stones: Points, empty: Points, stride: int) -> Points:
    """Return the liberties of groups that have one alone."""
    found, left = nothing(), stones
    while some(left):
        group = flood(point(first(left)) & stones, stride, stones)
        left = without(left, group)
        liberties = around(group, stride, empty)
        if count(liberties) == 1:
            found = found | liberties
    return found


@kernel
def eyes(other: Points, empty: Points, stride: int) -> Points:
    """Empty points next to neither empty ones nor stones of `other`."""
    return without(empty, around(other | empty, stride, empty))


@kernel
def area(me: Points, other: Points, empty: Points, stride: int) -> int:
    """Stones, and empty points that only they reach, of `me` minus those of `other`."""
    mine = flood(me, stride, me | empty)
    theirs = flood(other, stride, other | empty)
    return count(mine) - count(theirs)  # points that both reach are in both


@kernel
def influence(me: Points, other: Points, empty: Points, stride: int) -> int:
    """Empty points nearer to stones of `me` than of `other`, minus the reverse."""
    mine, theirs, left = me, other, empty
    for _ in range(REACH):
        to_me, to_other = around(mine, stride, left), around(theirs, stride, left)
        mine = mine | without(to_me, to_other)
        theirs = theirs | without(to_other, to_me)
        left = without(left, to_me | to_other)
    return count(mine & empty) - count(theirs & empty)
