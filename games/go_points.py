"""Sets of points of a Go board: bitboards of six words.

Bit (size + 1) * row + column is a point, from the top left. The bit after each row stays empty, so that a
shift by one point does not reach the next row; 19 rows take 379 bits. On smaller boards the upper words are
zero, and compiled code that has cut a set to its board, a constant, leaves them out.

In plain Python a word that was shifted up has more than 64 bits until it is cut.
"""

from typing import NamedTuple

from games.protocol import bitboard, kernel, popcount, trailing_zeros, u64, word

WORDS = 6
WORD_BITS = 64


@bitboard
class Points(NamedTuple):
    """A set of points, the lowest bits first."""

    a: word
    b: word
    c: word
    d: word
    e: word
    f: word

    def __and__(self, other: "Points") -> "Points":
        """Points in both sets."""
        return Points(
            self.a & other.a,
            self.b & other.b,
            self.c & other.c,
            self.d & other.d,
            self.e & other.e,
            self.f & other.f,
        )

    def __or__(self, other: "Points") -> "Points":
        """Points in one set or in both."""
        return Points(
            self.a | other.a,
            self.b | other.b,
            self.c | other.c,
            self.d | other.d,
            self.e | other.e,
            self.f | other.f,
        )


NOTHING = Points(0, 0, 0, 0, 0, 0)
"""The empty set, for plain Python alone: its words are not native."""


@kernel
def nothing() -> Points:
    """Return the empty set."""
    return Points(u64(0), u64(0), u64(0), u64(0), u64(0), u64(0))


@kernel
def without(points: Points, others: Points) -> Points:
    """Points in the first set alone."""
    return Points(
        points.a & ~others.a,
        points.b & ~others.b,
        points.c & ~others.c,
        points.d & ~others.d,
        points.e & ~others.e,
        points.f & ~others.f,
    )


@kernel
def some(points: Points) -> bool:
    """Whether there is any point."""
    return points.a | points.b | points.c | points.d | points.e | points.f != u64(0)


@kernel
def count(points: Points) -> int:
    """Return the number of points."""
    lower = popcount(points.a) + popcount(points.b) + popcount(points.c)
    return lower + popcount(points.d) + popcount(points.e) + popcount(points.f)


@kernel
def beside(low: word, bits: word, high: word, step: int) -> word:
    """Shift a word by `step` both ways; bits of the words below and above it come in. To be cut."""
    rest = WORD_BITS - step
    return bits << step | low >> rest | bits >> step | high << rest


@kernel
def amid(low: word, bits: word, high: word, step: int) -> word:
    """Return what shifts of a word by `step` both ways have in common. To be cut."""
    rest = WORD_BITS - step
    return (bits << step | low >> rest) & (bits >> step | high << rest)


@kernel
def shifted(points: Points, step: int, inside: Points) -> Points:
    """Points that lie `step` bits, fewer than a word has, after or before others, as far as `inside`."""
    zero = u64(0)
    return Points(
        beside(zero, points.a, points.b, step) & inside.a,
        beside(points.a, points.b, points.c, step) & inside.b,
        beside(points.b, points.c, points.d, step) & inside.c,
        beside(points.c, points.d, points.e, step) & inside.d,
        beside(points.d, points.e, points.f, step) & inside.e,
        beside(points.e, points.f, zero, step) & inside.f,
    )


@kernel
def between(points: Points, step: int, inside: Points) -> Points:
    """Points of `inside` that lie `step` bits after one point and before another."""
    zero = u64(0)
    return Points(
        amid(zero, points.a, points.b, step) & inside.a,
        amid(points.a, points.b, points.c, step) & inside.b,
        amid(points.b, points.c, points.d, step) & inside.c,
        amid(points.c, points.d, points.e, step) & inside.d,
        amid(points.d, points.e, points.f, step) & inside.e,
        amid(points.e, points.f, zero, step) & inside.f,
    )


@kernel
def around(points: Points, stride: int, inside: Points) -> Points:
    """Neighbours of points, one step up, down, left or right, as far as `inside`."""
    return shifted(points, 1, inside) | shifted(points, stride, inside)


@kernel
def flood(seed: Points, stride: int, inside: Points) -> Points:
    """Points of `inside` that hang together with `seed`, and `seed`."""
    group, before = seed, nothing()
    while group != before:
        before = group
        group = group | around(group, stride, inside)
    return group


@kernel
def point(number: int) -> Points:
    """Return the set of one point, by the number of its bit."""
    at, bit, zero = number >> 6, u64(1) << (number & 63), u64(0)
    return Points(
        bit if at == 0 else zero,
        bit if at == 1 else zero,
        bit if at == 2 else zero,
        bit if at == 3 else zero,
        bit if at == 4 else zero,
        bit if at == 5 else zero,
    )


@kernel
def first(points: Points) -> int:
    """Return the lowest bit of a set that is not empty."""
    if points.a != u64(0):
        return trailing_zeros(points.a)
    if points.b != u64(0):
        return WORD_BITS + trailing_zeros(points.b)
    if points.c != u64(0):
        return 2 * WORD_BITS + trailing_zeros(points.c)
    if points.d != u64(0):
        return 3 * WORD_BITS + trailing_zeros(points.d)
    if points.e != u64(0):
        return 4 * WORD_BITS + trailing_zeros(points.e)
    return 5 * WORD_BITS + trailing_zeros(points.f)


@kernel
def member(points: Points, number: int) -> int:
    """Return the bit of the point of this number, from 0, in a set of more."""
    at = 0
    while number >= popcount(points[at]):
        number -= popcount(points[at])
        at += 1
    bits, bit, width = points[at], WORD_BITS * at, 32
    while width > 0:  # the point is among the lower bits, or as many lie below it
        below = bits & ((u64(1) << width) - u64(1))
        if number >= popcount(below):
            number -= popcount(below)
            bits >>= width
            bit += width
        else:
            bits = below
        width >>= 1
    return bit


def bits_of(points: Points) -> int:
    """Return all words as one number, in plain Python."""
    return sum(bits << WORD_BITS * at for at, bits in enumerate(points))


def points_of(bits: int) -> Points:
    """Return the set of a number's bits, in plain Python."""
    return Points(*(u64(bits >> WORD_BITS * at) for at in range(WORDS)))
