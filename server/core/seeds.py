"""The dice and cards of a match: drawn from a seed that is fixed before the match and shown after it.

A seed is 32 bytes of the operating system's randomness, written as 64 hexadecimal digits. Its commitment is
told before the first move: whoever has it can check afterwards that the seed is the one of the start, and
with the seed draw every outcome again. Each event of chance has its own number, from 0, so that two matches
of one seed have the same first roll, second roll and so on, however many moves lie between them.
"""

import hashlib
from collections.abc import Sequence

SEED_BYTES = 32

Outcomes = Sequence[tuple[str, float]]
"""Texts of outcomes with their probabilities, in the order of the game."""


def commitment(seed: str, match_id: int) -> str:
    """Return the SHA-256 of `seed:match_id`, in 64 hexadecimal digits.

    With the match in it, two matches of one seed do not look alike.
    """
    return _sha256(f"{seed}:{match_id}").hex()


def outcome(seed: str, number: int, outcomes: Outcomes) -> str:
    """Return the outcome of the event of chance of this number.

    The first 8 bytes of SHA-256(`seed/number`) are a share of 2^64; the outcomes, side by side in their
    order, each take up their probability, and the one is drawn in which the share lies.
    """
    share = int.from_bytes(_sha256(f"{seed}/{number}")[:8], "big") / 2**64
    possible = [(text, probability) for text, probability in outcomes if probability > 0.0]
    for text, probability in possible:
        if share < probability:
            return text
        share -= probability
    return possible[-1][0]  # rounding may leave a rest


def _sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
