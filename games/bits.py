"""What several games do with the bits of a word."""

from games.protocol import kernel, popcount, u64, word


@kernel
def nth_one(bits: word, number: int) -> int:
    """Return the place of the one of this number, from 0, of more ones than that: a search by halves."""
    place = 0
    for half in (32, 16, 8, 4, 2, 1):
        below = popcount(bits & ((u64(1) << half) - u64(1)))
        if number >= below:
            bits >>= half
            place += half
            number -= below
    return place
