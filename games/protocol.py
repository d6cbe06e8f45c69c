"""What a game is: an immutable state with a handful of small methods, named as in the textbook.

Figure and chapter references are to Russell and Norvig, Artificial Intelligence: A Modern Approach,
chapter "Adversarial search and games".

A state class and the functions it calls run twice: as they stand, in plain Python, and as machine code
inside compiled searches (games.kernel). This file knows nothing of the second way but who takes part in it.
"""

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, Protocol, TypeAlias, TypeVar, cast, get_type_hints

CHANCE = -1
"""What `to_move()` answers where chance moves, not a player."""

PUBLIC = -1
"""For `observation`: what everybody may know."""

LISTED = -1
"""What `playout_action` answers where a random action is to be drawn from `actions()`."""

MASK = 0xFFFF_FFFF_FFFF_FFFF

word: TypeAlias = Annotated[int, "64 unsigned bits"]  # noqa: PYI042 - a machine word, named like int
"""A state field of 64 unsigned bits, such as a bitboard."""

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
S = TypeVar("S")


class State(Protocol):
    """A position of a game, without its history. Immutable and hashable."""

    def to_move(self) -> int:
        """Player 0..n-1 whose turn it is, or CHANCE."""

    def actions(self) -> Iterator[int]:
        """Legal actions, each 0 <= a < 2**15, in a fixed order. Empty at a terminal state."""

    def result(self, a: int, /) -> "State":
        """State after action `a`, which must be legal (it is not checked here), or after a chance outcome."""

    def is_terminal(self) -> bool:
        """Whether the game is over."""

    def utility(self, p: int, /) -> float:
        """Return the utility of a terminal state for player `p`: +1 won, 0 drawn, -1 lost; or chips won."""

    def features(self, p: int, /) -> Any:
        """Return a NamedTuple of numbers as player `p` sees them: the f_i of EVAL."""

    def evaluate(self, p: int, w: Sequence[float], /) -> float:
        """EVAL(s) = sum of w_i f_i(s) for player `p`."""

    def key(self) -> int:
        """64-bit hash of the state, equal for equal states."""

    def chance(self) -> Iterator[tuple[int, float]]:
        """Outcomes of a chance node with their probabilities; empty elsewhere."""

    def players(self) -> int:
        """Return the number of players."""

    def mid_turn(self) -> bool:
        """Whether the player to move has begun a turn of several actions, such as a chain of jumps."""

    def playout_action(self, rng: word, /) -> int:
        """Draw an action at random from 64 random bits, or answer LISTED: draw one of `actions()`."""

    def count_actions(self) -> int:
        """Return how many `actions()` there are; some games can tell without listing them."""


# who takes part ---------------------------------------------------------------------------------------

PARAMETERS: dict[str, tuple[str, ...]] = {
    "to_move": (),
    "actions": (),
    "result": ("a",),
    "is_terminal": (),
    "utility": ("p",),
    "features": ("p",),
    "key": (),
    "evaluate": ("p", "w"),
    "chance": (),
    "players": (),
    "mid_turn": (),
    "playout_action": ("rng",),
    "count_actions": (),
}
"""The methods of a state that searches call, with the names of their parameters: the same in every game."""

OPERATORS = ("__and__", "__or__", "__xor__", "__invert__")
"""Operators that a compiled NamedTuple of words, such as a board of two words, may define."""

_kernels: list[Callable[..., Any]] = []
_classes: dict[str, type] = {}
_watchers: list[Callable[[Any], None]] = []


def kernel(function: F) -> F:
    """Let compiled code call a function: one that state methods or searches use."""
    _take_part(function)
    return function


def watch(watcher: Callable[[Any], None]) -> None:
    """Call `watcher` with every kernel and every compiled class, those to come too."""
    _watchers.append(watcher)
    for part in (*_kernels, *_classes.values()):
        watcher(part)


def _take_part(part: Any) -> None:
    if isinstance(part, type):
        _classes[part.__name__] = part
    else:
        _kernels.append(part)
    for watcher in _watchers:
        watcher(part)


# numbers ----------------------------------------------------------------------------------------------


def u64(value: int) -> word:
    """Cut a number to 64 unsigned bits."""
    return int(value) & MASK


def popcount(bits: word) -> int:
    """Count the ones of a bitboard."""
    return bits.bit_count()


def trailing_zeros(bits: word) -> int:
    """Return the number of the lowest one of a bitboard that is not empty."""
    return (bits & -bits).bit_length() - 1


def leading_zeros(bits: word) -> int:
    """Return how many zeros stand above the highest one of a bitboard that is not empty."""
    return 64 - bits.bit_length()


def dot(values: Any, weights: Sequence[float]) -> float:
    """Sum of the fields of a NamedTuple, each times its weight.

    Raises ValueError for another number of weights; compiled code does not check it: whoever calls it has.
    """
    total = 0.0
    for value, weight in zip(values, weights, strict=True):
        total += value * weight
    return total


@kernel
def mix(bits: word) -> word:
    """Spread a position's number over 64 bits, one to one, so that any of them can index a table.

    One step of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    """
    bits = u64(bits + u64(0x9E37_79B9_7F4A_7C15))
    bits = u64((bits ^ (bits >> 30)) * u64(0xBF58_476D_1CE4_E5B9))
    bits = u64((bits ^ (bits >> 27)) * u64(0x94D0_49BB_1331_11EB))
    return bits ^ (bits >> 31)


@kernel
def draw(rng: word, number: int, end: int) -> int:
    """Draw one of 0 .. end - 1: the draw of this number, from 0, that 64 random bits give (see `mix`)."""
    bits = mix(u64(rng + u64(number + 1) * u64(0xD1B5_4A32_D192_ED03)))
    return int(((bits >> 32) * u64(end)) >> 32) | 0  # in machine code int() alone would leave it unsigned


# state classes ----------------------------------------------------------------------------------------


def _evaluate(self: Any, p: int, w: Sequence[float]) -> float:
    """EVAL(s) = sum of w_i f_i(s): the dot product of features and weights."""
    return dot(self.features(p), w)


def _chance(self: Any) -> Iterator[tuple[int, float]]:  # noqa: ARG001 - a method
    """No chance in this game."""
    for outcome in range(0):
        yield outcome, 1.0


def _players(self: Any) -> int:  # noqa: ARG001 - a method
    return 2


def _mid_turn(self: Any) -> bool:  # noqa: ARG001 - a method
    return False


def _playout_action(self: Any, rng: word) -> int:  # noqa: ARG001 - a method
    return LISTED


def _count_actions(self: Any) -> int:
    number = 0
    for _ in self.actions():
        number += 1
    return number


DEFAULTS: dict[str, Callable[..., Any]] = {
    "evaluate": _evaluate,
    "chance": _chance,
    "players": _players,
    "mid_turn": _mid_turn,
    "playout_action": _playout_action,
    "count_actions": _count_actions,
}


def like(state: S, *fields: Any) -> S:
    """Return a state of the same class, that is of the same variant, with these fields."""
    return type(state)(*fields)


def compiled(cls: C) -> C:
    """Make a NamedTuple class a game state: check it and add the defaults.

    Its fields are `word`, `int` or NamedTuples of words (see `bitboard`). Whole numbers in the class body
    are constants of the variant, `self.rows`, and compiled code takes them for constants too.

    Raises TypeError for a missing method, a parameter of another name than in PARAMETERS, a field that is
    none of the above, and a second class of the same name: compiled code tells state classes apart by name
    and field types alone.
    """
    missing = [name for name in PARAMETERS if name not in DEFAULTS and name not in vars(cls)]
    if missing:
        raise TypeError(f"game state {cls.__qualname__} lacks {', '.join(missing)}")
    for name, default in DEFAULTS.items():
        if name not in vars(cls):
            setattr(cls, name, default)
    for name, parameters in PARAMETERS.items():
        got = tuple(inspect.signature(vars(cls)[name]).parameters)[1:]
        if got != parameters:
            raise TypeError(f"expected {cls.__qualname__}.{name} to take {parameters}, got {got}")
    return _registered(cls)


def bitboard(cls: C) -> C:
    """Let states have fields of a NamedTuple of words, with its OPERATORS: boards of more than 64 bits."""
    return _registered(cls)


def _registered(cls: C) -> C:
    for name in get_type_hints(cls):
        if _field_type(cls, name) is None:
            raise TypeError(
                f"expected {cls.__qualname__}.{name} to be a word, an int or a NamedTuple of such"
            )
    other = _classes.get(cls.__name__)
    if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
        raise TypeError(f"game state {cls.__name__} exists already, in {other.__module__}")
    _take_part(cls)
    return cls


def field_types(cls: type) -> list[Any]:
    """Return the types of a state class's fields, in order: `word`, `int`, or a class of `bitboard`."""
    return [_field_type(cls, name) for name in cls._fields]  # type: ignore[attr-defined]


def _field_type(cls: type, name: str) -> Any:
    hint = get_type_hints(cls, include_extras=True)[name]
    plain = hint is int or hint == word
    return hint if plain or (isinstance(hint, type) and hint in _classes.values()) else None


def takes_turns(cls: type) -> bool:
    """Whether a turn in this game may be several actions."""
    return cls.mid_turn is not _mid_turn  # type: ignore[attr-defined]


def is_compiled(cls: type) -> bool:
    """Whether compiled code knows this very class."""
    return _classes.get(cls.__name__) is cls


def constants(cls: type) -> dict[str, int]:
    """Return the whole numbers that are constants of a state class, inherited ones too."""
    return {
        name: value
        for base in reversed(cls.__mro__)
        for name, value in vars(base).items()
        if not name.startswith("_") and isinstance(value, int) and not isinstance(value, bool)
    }


def variant(cls: type, name: str, **chosen: int) -> type:
    """Return the class of a variant: `cls` with other constants; asked for again, the same class.

    Raises TypeError for a constant that `cls` does not have. The class becomes an attribute of the module
    of `cls`, where stored code looks for it by name; a module whose `__getattr__` makes its variants spares
    a process that has not made them yet the compilation.
    """
    unknown = set(chosen) - set(constants(cls))
    if unknown:
        raise TypeError(f"{cls.__qualname__} has no constant {min(unknown)}")
    made = _classes.get(name)
    if made is not None and made.__mro__[1] is cls and constants(made) == {**constants(cls), **chosen}:
        return made
    body = {"__slots__": (), "__module__": cls.__module__, "__qualname__": name, "__doc__": cls.__doc__}
    made = _registered(type(name, (cls,), {**body, **chosen}))
    setattr(sys.modules[cls.__module__], name, made)
    return made


def as_state(state: object) -> State:
    """Tell the type checker that an instance of a `@compiled` class is a State."""
    return cast("State", state)
