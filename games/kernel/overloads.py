"""Teaches numba what a state class is: its methods, constants, operators, and the numbers of games.protocol.

Every `@compiled` class is a NamedTuple, which numba knows as NamedUniTuple or NamedTuple; a method called on
one is compiled from the class's own source, for that class alone, and inlined. All private names of numba
that we use are here and in games.kernel.cache.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import lower_getattr
from numba.core.typing.templates import AttributeTemplate, infer_getattr, make_overload_method_template
from numba.extending import intrinsic, overload, register_jitable

from games import protocol

KINDS = (types.NamedUniTuple, types.NamedTuple)


# methods ----------------------------------------------------------------------------------------------


def _method(state: Any, name: str) -> Any:
    """Return the source of a method of a state type, as numba calls it.

    Raises TypingError for a state that `native` has not made: its words would be signed.
    """
    cls = state.instance_class
    if not protocol.is_compiled(cls):
        return None
    for field, kind, wanted in zip(cls._fields, state.types, protocol.field_types(cls), strict=True):
        if (kind == types.uint64) != (wanted == protocol.word):
            raise TypingError(f"expected native(state), got {cls.__name__} with {field} as {kind}")
    return getattr(cls, name, None)


def _no_parameter(name: str) -> Callable[..., Any]:
    def method(self: Any) -> Any:
        return _method(self, name)

    return method


def _one_action(name: str) -> Callable[..., Any]:
    def method(self: Any, a: Any) -> Any:  # noqa: ARG001 - numba reads the names
        return _method(self, name)

    return method


def _one_player(name: str) -> Callable[..., Any]:
    def method(self: Any, p: Any) -> Any:  # noqa: ARG001
        return _method(self, name)

    return method


def _random_bits(name: str) -> Callable[..., Any]:
    def method(self: Any, rng: Any) -> Any:  # noqa: ARG001
        return _method(self, name)

    return method


def _player_and_weights(name: str) -> Callable[..., Any]:
    def method(self: Any, p: Any, w: Any) -> Any:  # noqa: ARG001
        return _method(self, name)

    return method


_MAKERS: dict[tuple[str, ...], Callable[[str], Callable[..., Any]]] = {
    (): _no_parameter,
    ("a",): _one_action,
    ("p",): _one_player,
    ("p", "w"): _player_and_weights,
    ("rng",): _random_bits,
}


def _teach_method(name: str, source: Callable[..., Any]) -> None:
    """Let numba find a method, but only on our classes: elsewhere a field may have its name."""
    for kind in KINDS:
        template = make_overload_method_template(kind, name, source, "never")

        def resolve(self: Any, state: Any, attribute: str, _inherited: Any = template._resolve) -> Any:  # noqa: SLF001
            ours = attribute == self._attr and protocol.is_compiled(state.instance_class)
            return _inherited(self, state, attribute) if ours else None

        infer_getattr(type(template.__name__, (template,), {"_resolve": resolve}))
    overload(source, strict=False)(source)


@intrinsic
def _like(_context: Any, state: Any, fields: Any) -> Any:
    signature = state(state, fields)

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        values = cgutils.unpack_tuple(builder, arguments[1])
        cast = [
            context.cast(builder, value, given, wanted)
            for value, given, wanted in zip(values, fields.types, state.types, strict=True)
        ]
        return context.make_tuple(builder, state, cast)

    return signature, build


@overload(protocol.like, strict=False)
def _like_overload(state: Any, *fields: Any) -> Any:  # noqa: ARG001
    return lambda state, *fields: _like(state, fields)


# constants --------------------------------------------------------------------------------------------

_constants: set[str] = set()


def _teach_constant(name: str) -> None:
    """Let numba read a class's constant as a constant, or the field of that name of another class."""
    if name in _constants:
        return
    _constants.add(name)
    for kind in KINDS:

        def resolve(_self: Any, state: Any, attribute: str, _name: str = name) -> Any:
            mine = attribute == _name and _name in _constants_of(state)
            return types.int64 if mine else None

        infer_getattr(
            type(f"Constant_{name}", (AttributeTemplate,), {"key": kind, "generic_resolve": resolve})
        )

        @lower_getattr(kind, name)
        def _get(context: Any, builder: Any, state: Any, value: Any, _name: str = name) -> Any:
            own = _constants_of(state)
            if _name in own:
                return context.get_constant(types.int64, own[_name])
            return builder.extract_value(value, state.fields.index(_name))


def _constants_of(state: Any) -> dict[str, int]:
    cls = state.instance_class
    return protocol.constants(cls) if protocol.is_compiled(cls) else {}


# operators --------------------------------------------------------------------------------------------


def _teach_operators() -> None:
    for name in protocol.OPERATORS:
        method = _unary(name) if name == "__invert__" else _binary(name)
        overload(getattr(operator, name), strict=False)(method)


def _unary(name: str) -> Callable[..., Any]:
    def apply(self: Any) -> Any:
        return _operator(self, name)

    return apply


def _binary(name: str) -> Callable[..., Any]:
    def apply(self: Any, other: Any) -> Any:
        return _operator(self, name) if self == other else None

    return apply


def _operator(state: Any, name: str) -> Any:
    return _method(state, name) if isinstance(state, KINDS) else None


# numbers ----------------------------------------------------------------------------------------------


@overload(protocol.u64, strict=False)
def _u64(value: Any) -> Any:  # noqa: ARG001
    return lambda value: np.uint64(value)  # noqa: PLW0108 - numba wants a function


@overload(protocol.signed, strict=False)
def _signed(bits: Any) -> Any:  # noqa: ARG001
    return lambda bits: np.int64(bits)  # noqa: PLW0108 - numba wants a function


@intrinsic
def _count_ones(_context: Any, bits: Any) -> Any:  # noqa: ARG001
    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), build


@intrinsic
def _count_trailing_zeros(_context: Any, bits: Any) -> Any:  # noqa: ARG001
    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), build


@intrinsic
def _count_leading_zeros(_context: Any, bits: Any) -> Any:  # noqa: ARG001
    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), build


@overload(protocol.popcount, strict=False)
def _popcount(bits: Any) -> Any:  # noqa: ARG001
    return lambda bits: _count_ones(np.uint64(bits))


@overload(protocol.trailing_zeros, strict=False)
def _trailing_zeros(bits: Any) -> Any:  # noqa: ARG001
    return lambda bits: _count_trailing_zeros(np.uint64(bits))


@overload(protocol.leading_zeros, strict=False)
def _leading_zeros(bits: Any) -> Any:  # noqa: ARG001
    return lambda bits: _count_leading_zeros(np.uint64(bits))


@intrinsic
def _floats(_context: Any, values: Any) -> Any:
    floats = types.UniTuple(types.float64, len(values.types))

    def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        parts = cgutils.unpack_tuple(builder, arguments[0])
        cast = [
            context.cast(builder, part, given, types.float64)
            for part, given in zip(parts, values.types, strict=True)
        ]
        return context.make_tuple(builder, floats, cast)

    return floats(values), build


@overload(protocol.dot, strict=False)
def _dot(values: Any, weights: Any) -> Any:  # noqa: ARG001
    def dot(values: Any, weights: Any) -> Any:
        floats = _floats(values)
        total = 0.0
        for i in range(len(floats)):
            total += floats[i] * weights[i]
        return total

    return dot


# all of it --------------------------------------------------------------------------------------------


def _teach(part: Any) -> None:
    if isinstance(part, type):
        for name in protocol.constants(part):
            _teach_constant(name)
    else:
        # Inlined, constants of a variant unroll its loops.
        register_jitable(forceinline=part not in protocol.apart)(part)


for _name, _parameters in protocol.PARAMETERS.items():
    _teach_method(_name, _MAKERS[_parameters](_name))
_teach_operators()
protocol.watch(_teach)
