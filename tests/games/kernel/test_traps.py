"""The traps of compiled games, each met for real. Those of the cache have a file of their own."""

import ast
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

import games
from games.connect_four import ConnectFour
from games.kernel.jit import native, njit
from games.perft import plies
from games.protocol import bitboard, compiled, like, mix, popcount, trailing_zeros, u64, variant, word

ROOT = Path(games.__file__).parents[1]


class Features(NamedTuple):
    stones: int
    half: float


@bitboard
class TwoWords(NamedTuple):
    """A board of 128 cells."""

    lo: word
    hi: word

    def __and__(self, other):
        return TwoWords(self.lo & other.lo, self.hi & other.hi)

    def __or__(self, other):
        return TwoWords(self.lo | other.lo, self.hi | other.hi)

    def __xor__(self, other):
        return TwoWords(self.lo ^ other.lo, self.hi ^ other.hi)

    def __invert__(self):
        return TwoWords(u64(~self.lo), u64(~self.hi))


@compiled
class Wide(NamedTuple):
    """A toy game with a board of two words, a count and a constant; each player may move twice in a row."""

    board: TwoWords
    count: int

    limit = 5

    def to_move(self):
        return self.count // 2 % 2

    def actions(self):
        if self.count < self.limit:
            yield 0
            yield 64

    def result(self, a):
        if a < 64:
            return like(self, self.board ^ TwoWords(u64(1) << self.count, u64(0)), self.count + 1)
        return like(self, self.board ^ ~TwoWords(u64(0), u64(1) << 63), self.count + 1)

    def is_terminal(self):
        return self.count >= self.limit

    def utility(self, p):
        return 1.0 if p == 0 else -1.0

    def features(self, p):
        return Features(popcount(self.board.lo) - p, 0.5)

    def key(self):
        return mix(self.board.lo ^ self.board.hi)


@njit
def play(s, moves):
    for a in moves:
        s = s.result(a)
    return s


@njit
def facts(s, p):
    legal = 0
    for a in s.actions():
        legal = legal * 100 + a + 1
    outcomes = 0
    for _, _ in s.chance():
        outcomes += 1
    return s.to_move(), s.is_terminal(), s.utility(p), s.key(), s.players(), legal, outcomes, s.features(p)


def python_facts(state, p):
    legal = 0
    for a in state.actions():
        legal = legal * 100 + a + 1
    return (
        state.to_move(),
        state.is_terminal(),
        state.utility(p),
        state.key(),
        state.players(),
        legal,
        len(list(state.chance())),
        state.features(p),
    )


def random_states(state, rng: random.Random) -> Iterator[tuple[object, list[int]]]:
    moves: list[int] = []
    yield state, list(moves)
    while not state.is_terminal():
        moves.append(rng.choice(list(plies(state))))
        state = state.result(moves[-1])
        yield state, list(moves)


# trap 1 ------------------------------------------------------------------------------------------------


def calls_of_compiled_functions(source: str) -> dict[str, set[str]]:
    """For each function decorated with njit: the names it calls."""
    return {
        function.name: {
            call.func.id
            for call in ast.walk(function)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        }
        for function in ast.walk(ast.parse(source))
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(d, ast.Name) and d.id == "njit" for d in function.decorator_list)
    }


def mutual_recursion(calls: dict[str, set[str]]) -> set[str]:
    """Functions that reach themselves by way of another."""
    found = set()
    for name, called in calls.items():
        seen, todo = set(), {other for other in called & set(calls) if other != name}
        while todo:
            other = todo.pop()
            seen.add(other)
            todo |= (calls[other] & set(calls)) - seen
        if name in seen:
            found.add(name)
    return found


def test_trap_1_no_two_compiled_functions_call_each_other():
    calls: dict[str, set[str]] = {}
    for folder in ("games", "agents"):
        for path in (ROOT / folder).rglob("*.py"):
            calls |= calls_of_compiled_functions(path.read_text("utf-8"))
    assert "count_paths" in calls
    assert mutual_recursion(calls) == set()


def test_trap_1_check_can_refuse():
    two = "@njit\ndef max_value(s):\n    min_value(s)\n@njit\ndef min_value(s):\n    max_value(s)\n"
    assert mutual_recursion(calls_of_compiled_functions(two)) == {"max_value", "min_value"}


# trap 3 ------------------------------------------------------------------------------------------------


def test_trap_3_second_class_of_one_name_is_refused():
    with pytest.raises(TypeError, match=r"ConnectFour exists already, in games\.connect_four"):
        compiled(type("ConnectFour", (ConnectFour,), {**vars(ConnectFour), "__module__": __name__}))


# trap 7 and 8 ------------------------------------------------------------------------------------------


def test_trap_7_words_with_the_top_bit_stay_unsigned():
    wide = games.load("connect_four(rows=7,columns=8)")
    rng = random.Random(7)
    top = 0
    for _ in range(30):
        for state, moves in random_states(wide.initial_state(), rng):
            top |= state.mask
            assert play(native(wide.initial_state()), np.array(moves, dtype=np.int64)) == state
            assert facts(native(state), 1) == python_facts(state, 1)
    assert top >> 62, "the games should reach the top of the word"


@njit
def numbers(bits):
    return mix(bits), popcount(bits), trailing_zeros(bits), u64(bits) >> 3, u64(bits | u64(1) << 63) >> 63


def test_trap_7_arithmetic_of_words_is_that_of_plain_python():
    rng = random.Random(64)
    for bits in [1, 2**63, 2**64 - 1, *(rng.getrandbits(64) | 1 for _ in range(200))]:
        assert numbers(np.uint64(bits)) == numbers.py_func(bits)


def test_trap_8_state_of_python_numbers_is_refused_by_compiled_code():
    with pytest.raises(TypingError, match=r"expected native\(state\), got ConnectFour with me as int64"):
        facts(ConnectFour(1, 1), 0)


def test_trap_8_what_comes_back_is_made_native_again():
    state = native(games.load("connect_four").initial_state())
    back = play(state, np.array([0, 1, 0], dtype=np.int64))
    assert type(back) is ConnectFour
    assert all(type(field) is int for field in back)
    assert facts(native(back), 0) == python_facts(back, 0)


def test_native_refuses_what_is_no_state_of_a_compiled_class():
    with pytest.raises(TypeError, match="expected a state of a compiled class, got tuple"):
        native((1, 2))


# trap 9 ------------------------------------------------------------------------------------------------


class Record(NamedTuple):
    """No state: its fields have the names of a method and of a constant of games."""

    key: float
    rows: float


@njit
def sum_of(record):
    return record.key + record.rows


def test_trap_9_field_keeps_its_name_beside_methods_and_constants_of_games():
    facts(native(games.load("connect_four").initial_state()), 0)
    assert sum_of(Record(0.25, 2.0)) == 2.25


def test_trap_9_parameters_have_the_same_names_in_every_game():
    class Renamed(NamedTuple):
        stones: word

    methods = {name: getattr(Wide, name) for name in vars(Wide) if name in games.protocol.PARAMETERS}
    methods["result"] = lambda self, move: self
    with pytest.raises(TypeError, match=r"expected Renamed.result to take \('a',\), got \('move',\)"):
        compiled(type("Renamed", (Renamed,), methods))


# trap 10 -----------------------------------------------------------------------------------------------

PLY_CAP = 512
ACTIONS = 2**15


@pytest.mark.parametrize("name", games.names())
def test_trap_10_actions_are_small_and_games_end(name):
    game = games.load(name)
    rng = random.Random(10)
    for _ in range(20):
        state, ply = game.initial_state(), 0
        while not state.is_terminal():
            choices = list(plies(state))
            assert all(0 <= a < ACTIONS for a in choices)
            state, ply = state.result(rng.choice(choices)), ply + 1
            assert ply < PLY_CAP


# trap 11 -----------------------------------------------------------------------------------------------


def test_trap_11_empty_generator_compiles():
    assert facts(native(games.load("tic_tac_toe").initial_state()), 0)[6] == 0


def test_trap_11_missing_method_is_named_at_once():
    class Half(NamedTuple):
        stones: word

    with pytest.raises(TypeError, match="lacks to_move, actions"):
        compiled(Half)


def test_field_of_another_type_is_refused():
    class Named(NamedTuple):
        name: str

    with pytest.raises(
        TypeError, match=r"expected .*Named.name to be a word, an int or a NamedTuple of such"
    ):
        bitboard(Named)


# boards of more than one word --------------------------------------------------------------------------


def test_operators_constants_and_repeated_turns_compile():
    rng = random.Random(2)
    start = Wide(TwoWords(0, 0), 0)
    for _ in range(20):
        for state, moves in random_states(start, rng):
            assert play(native(start), np.array(moves, dtype=np.int64)) == state
            for p in (0, 1):
                assert facts(native(state), p) == python_facts(state, p)


def test_variant_has_its_own_constants_in_compiled_code():
    short = variant(Wide, "Wide_2", limit=2)
    assert variant(Wide, "Wide_2", limit=2) is short
    start = short(TwoWords(0, 0), 0)
    after = play(native(start), np.array([0, 0], dtype=np.int64))
    assert type(after) is short
    assert facts(native(after), 0)[1]
    assert not facts(native(Wide(*after)), 0)[1]


def test_variant_of_an_unknown_constant_is_refused():
    with pytest.raises(TypeError, match="Wide has no constant length"):
        variant(Wide, "Wide_3", length=2)


@njit
def value(s, p, w):
    return s.evaluate(p, w)


@pytest.mark.parametrize("name", [name for name in games.names() if games.load(name).feature_names])
def test_evaluate_is_the_same_in_both(name):
    game = games.load(name)
    rng = random.Random(5)
    weights = tuple(rng.uniform(-1, 1) for _ in game.feature_names)
    for state, _ in random_states(game.initial_state(), rng):
        for p in range(game.players):
            assert value(native(state), p, weights) == pytest.approx(state.evaluate(p, weights))
