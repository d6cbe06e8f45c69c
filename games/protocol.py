"""What a game is: an immutable state with a handful of small methods, named as in the textbook.

Figure and chapter references are to Russell and Norvig, Artificial Intelligence: A Modern Approach,
chapter "Adversarial search and games".
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, cast

CHANCE = -1
"""What `to_move()` answers where chance moves, not a player."""

MASK = 0xFFFF_FFFF_FFFF_FFFF

word: TypeAlias = int  # noqa: PYI042 - a machine word, named like int
"""A state field of 64 unsigned bits, such as a bitboard."""


def u64(value: int) -> word:
    """Cut a number to 64 unsigned bits."""
    return int(value) & MASK


def popcount(bits: word) -> int:
    """Count the ones of a bitboard."""
    return bits.bit_count()


def mix(bits: word) -> word:
    """Spread a position's number over 64 bits, one to one, so that any of them can index a table.

    One step of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    """
    bits = u64(bits + u64(0x9E37_79B9_7F4A_7C15))
    bits = u64((bits ^ (bits >> 30)) * u64(0xBF58_476D_1CE4_E5B9))
    bits = u64((bits ^ (bits >> 27)) * u64(0x94D0_49BB_1331_11EB))
    return bits ^ (bits >> 31)


class State(Protocol):
    """A position of a game, without its history. Immutable and hashable."""

    def to_move(self) -> int:
        """Player 0..n-1 whose turn it is, or CHANCE."""

    def actions(self) -> Iterator[int]:
        """Legal actions, each 0 <= a < 2**15, in a fixed order. Empty at a terminal state."""

    def result(self, a: int, /) -> "State":
        """State after action `a`, which must be legal (it is not checked here)."""

    def is_terminal(self) -> bool:
        """Whether the game is over."""

    def utility(self, p: int, /) -> float:
        """Return the utility of a terminal state for player `p`: +1 won, 0 drawn, -1 lost."""

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


REQUIRED = ("to_move", "actions", "result", "is_terminal", "utility", "features", "key")
C = TypeVar("C", bound=type)
_registered: dict[str, tuple[str, str]] = {}


def _evaluate(self: Any, p: int, w: Sequence[float]) -> float:
    """EVAL(s) = sum of w_i f_i(s): the dot product of features and weights."""
    total = 0.0
    for value, weight in zip(self.features(p), w, strict=True):
        total += value * weight
    return total


def _chance(self: Any) -> Iterator[tuple[int, float]]:  # noqa: ARG001 - a method
    """No chance in this game."""
    for outcome in range(0):
        yield outcome, 1.0


def _players(self: Any) -> int:  # noqa: ARG001 - a method
    return 2


def compiled(cls: C) -> C:
    """Make a NamedTuple class a game state: check its methods and add the defaults.

    Raises TypeError for a missing method or a second class of the same name, since compiled code
    tells state classes apart by name and field types alone. States run in plain Python.
    """
    missing = [name for name in REQUIRED if name not in vars(cls)]
    if missing:
        raise TypeError(f"game state {cls.__qualname__} lacks {', '.join(missing)}")
    origin = (cls.__module__, cls.__qualname__)
    if _registered.setdefault(cls.__name__, origin) != origin:
        raise TypeError(f"game state {cls.__name__} exists already, in {_registered[cls.__name__][0]}")
    for name, default in (("evaluate", _evaluate), ("chance", _chance), ("players", _players)):
        if name not in vars(cls):
            setattr(cls, name, default)
    return cls


def as_state(state: object) -> State:
    """Tell the type checker that an instance of a `@compiled` class is a State."""
    return cast("State", state)
