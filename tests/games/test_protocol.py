"""What `@compiled` checks and adds, and the arithmetic of words."""

import random
from typing import NamedTuple

import pytest

from games.protocol import (
    CHANCE,
    DEFAULTS,
    PARAMETERS,
    compiled,
    leading_zeros,
    mix,
    popcount,
    trailing_zeros,
    u64,
)

REQUIRED = [name for name in PARAMETERS if name not in DEFAULTS]


class Stones(NamedTuple):
    stones: int


def state_class(name: str, *, without: str = "", **extra: object) -> type:
    """Make a minimal state class; `without` leaves one method out."""
    methods: dict[str, object] = {}
    for method in REQUIRED:
        taken = {(): lambda self: 0, ("a",): lambda self, a: 0, ("p",): lambda self, p: 0}
        methods[method] = taken[PARAMETERS[method]]
    methods |= {"features": lambda self, p: (1.0, 2.0 * p), **extra}
    methods.pop(without, None)
    return type(name, (Stones,), methods)


def test_defaults_are_added():
    state = compiled(state_class("WithDefaults"))(0)
    assert state.evaluate(1, [3.0, 0.5]) == 4.0
    assert list(state.chance()) == []
    assert state.players() == 2


def test_own_methods_are_kept():
    assert compiled(state_class("OfThree", players=lambda self: 3))(0).players() == 3


@pytest.mark.parametrize("method", REQUIRED)
def test_missing_method_is_named(method):
    with pytest.raises(TypeError, match=f"lacks {method}"):
        compiled(state_class(f"Without_{method}", without=method))


def test_second_class_of_the_same_name_is_refused():
    first = state_class("Twin")
    compiled(first)
    compiled(first)
    second = state_class("Twin")
    second.__module__ = "elsewhere"
    with pytest.raises(TypeError, match="Twin exists already"):
        compiled(second)


def test_wrong_number_of_weights_is_an_error():
    state = compiled(state_class("Weighted"))(0)
    with pytest.raises(ValueError, match="argument"):
        state.evaluate(0, [1.0])


def test_words_have_64_unsigned_bits():
    assert u64(-1) == 2**64 - 1
    assert u64(2**64 + 5) == 5
    assert popcount(u64(-1)) == 64
    assert [trailing_zeros(u64(1) << bit) for bit in (0, 5, 63)] == [0, 5, 63]
    assert [leading_zeros(u64(3) << bit) for bit in (0, 5, 62)] == [62, 57, 0]
    assert CHANCE < 0


def test_mix_is_one_to_one_and_spreads_small_numbers():
    rng = random.Random(0)
    numbers = set(range(10_000)) | {rng.getrandbits(64) for _ in range(10_000)}
    mixed = {mix(number) for number in numbers}
    assert len(mixed) == len(numbers)
    assert all(0 < number < 2**64 for number in mixed)
    assert len({mix(number) & 0xFFFF for number in range(1 << 12)}) > 3_500
