"""`njit` for searches that work with every game, and `native` for the states they are given.

Without numba (or with NUMBA_DISABLE_JIT=1) `njit` changes nothing and everything runs as plain Python.
"""

import importlib.util
import os
from collections.abc import Callable
from typing import Any, TypeVar

from games.protocol import field_types, is_compiled, word

COMPILES = importlib.util.find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
"""Whether searches run as machine code here."""

F = TypeVar("F", bound=Callable[..., Any])
S = TypeVar("S")


def njit(function: F) -> F:
    """Compile a function at its first call for each kind of arguments, and keep the code on disk.

    Compiled code lets other threads run and checks no array bounds. A function may call itself; two that call
    each other crash when they come from the disk (numba 0.68).
    """
    if not COMPILES:
        return function
    import numba  # noqa: PLC0415 - takes a third of a second, and only searches need it

    import games.kernel.overloads  # noqa: F401, PLC0415 - teaches numba what a state is
    from games.kernel.cache import KernelCache  # noqa: PLC0415

    numba.config.SLP_VECTORIZE = 1  # the same work on several words, such as four directions, side by side
    compiled = numba.njit(nogil=True, error_model="numpy", boundscheck=False)(function)
    compiled._cache = KernelCache(function)  # noqa: SLF001 - see there
    return compiled  # type: ignore[no-any-return]


def native(state: S) -> S:
    """Return a state as compiled code takes it: words as 64 unsigned bits.

    A state of Python ints would make numba compile a second version, with signed words and wrong results.
    What comes back from compiled code is made of Python ints again. Raises TypeError for a class that is
    not `@compiled`.
    """
    if not COMPILES:
        return state
    from numpy import uint64  # noqa: PLC0415

    cls: Any = type(state)
    if not is_compiled(cls):
        raise TypeError(f"expected a state of a compiled class, got {cls.__qualname__}")
    fields: list[Any] = []
    for kind, value in zip(field_types(cls), state, strict=True):  # type: ignore[call-overload]
        if kind == word:
            fields.append(uint64(value))
        else:
            fields.append(int(value) if kind is int else native(value))
    return cls(*fields)  # type: ignore[no-any-return]
