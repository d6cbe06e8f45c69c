"""Backgammon's moves a second time, without bitboards: what the game's own are compared with.

A side is a list of the number of checkers at each of its places: 0 is off, 1 to 24 the points, 25 the bar.
"""

from collections.abc import Iterator

BAR = 25

Side = list[int]
Step = tuple[int, int]
"""A place and the die that moves a checker from there."""


def may_move(own: Side, other: Side, place: int, die: int) -> bool:
    """Whether a die can move a checker that is at a place; with some on the bar, that is the place."""
    target = place - die
    if target > 0:
        return other[BAR - target] < 2
    higher = range(place + 1, 26)
    return not any(own[7:]) and (target == 0 or not any(own[i] for i in higher))


def moved(own: Side, other: Side, place: int, die: int) -> tuple[Side, Side]:
    own, other, target = own[:], other[:], max(place - die, 0)
    own[place] -= 1
    own[target] += 1
    if target > 0 and other[BAR - target] == 1:
        other[BAR - target] = 0
        other[BAR] += 1
    return own, other


def every(own: Side, other: Side, dice: tuple[int, ...]) -> Iterator[tuple[tuple[Step, ...], Side, Side]]:
    """Steps with any of the dice left until no more can be moved, and where they lead."""
    stuck = True
    places = [BAR] if own[BAR] else [place for place in range(1, BAR) if own[place]]
    for die in sorted(set(dice)):
        left = list(dice)
        left.remove(die)
        for place in places:
            if may_move(own, other, place, die):
                stuck = False
                after = moved(own, other, place, die)
                for steps, *end in every(*after, tuple(left)):
                    yield ((place, die), *steps), *end
    if stuck:
        yield (), own, other


def longest(own: Side, other: Side, dice: tuple[int, ...]) -> list[tuple[tuple[Step, ...], Side, Side]]:
    """What the rules allow: as many dice as can be moved; if one of two different ones, the higher."""
    found = list(every(own, other, dice))
    most = max(len(steps) for steps, *_ in found)
    found = [row for row in found if len(row[0]) == most]
    if most == 1 and len(set(dice)) == 2:
        die = max(steps[0][1] for steps, *_ in found)
        found = [row for row in found if row[0][0][1] == die]
    return found
