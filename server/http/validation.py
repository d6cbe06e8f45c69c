"""What a client sent, turned into typed values: path, query and body, each with its own clear errors."""

import asyncio
import re
from collections.abc import Mapping
from types import NoneType
from typing import Any, TypeVar, Union, get_args

import msgspec
from aiohttp import web
from msgspec import inspect

from games.errors import InputError
from server.db.schema import MAX_ID, NOT_STORABLE

MAX_BODY_BYTES = 65_536
BODY_TIMEOUT_S = 10.0
JSON_TYPE = "application/json"

T = TypeVar("T", bound=msgspec.Struct)

_DIGITS = re.compile(r"0|[1-9][0-9]*")
_UNUSABLE = object()
_NAMED = re.compile(r"`([^`]*)`")
_PLACE = re.compile(r" - at `\$\.?([^`]*)`$")


def read_path(request: web.Request) -> Mapping[str, str]:
    """Return the variable parts of the path. Raises InputError for text that no database can hold."""
    for name, text in request.match_info.items():
        if NOT_STORABLE.search(text):
            raise InputError("bad_path", expected=f"a {name} in UTF-8 without NUL", got=repr(text))
    return dict(request.match_info)


def read_number(text: str, of: str) -> int:
    """Return a number in the path, 0 for one that is too large. Raises InputError (`bad_id`).

    `of` says what has such a number.
    """
    if not _DIGITS.fullmatch(text):
        raise InputError("bad_id", expected=f"the number of {of}", got=repr(text), where="the path")
    return int(text) if len(text) <= len(str(MAX_ID)) else 0


def read_query(request: web.Request, wanted: type[T]) -> T:
    """Return the query as a struct. Raises InputError for unknown, repeated and unusable parameters."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(wanted)}
    values: dict[str, Any] = {}
    for name, text in request.query.items():
        if name not in fields:
            raise InputError(
                "unknown_parameter",
                expected="a parameter of this endpoint",
                got=repr(name),
                where="the query",
                available=fields or ["none"],
            )
        if name in values:
            raise InputError("bad_parameter", expected=f"{name} once", got="it twice", where="the query")
        values[name] = _parameter(name, text, given(fields[name].type))
    return wanted(**values)


def given(kind: Any) -> Any:
    """Return the type of a parameter that is given: without the None of one that is not."""
    kinds = [part for part in get_args(kind) if part is not NoneType]
    return Union[tuple(kinds)] if NoneType in get_args(kind) else kind  # noqa: UP007 - of types in a list


def _parameter(name: str, text: str, wanted: Any) -> Any:
    if NOT_STORABLE.search(text):
        raise InputError("bad_parameter", expected="UTF-8 text without NUL", got=repr(text), where=name)
    try:
        value = msgspec.convert(text, wanted, strict=False)
    except msgspec.ValidationError:
        value = _UNUSABLE
    odd = isinstance(value, int) and not isinstance(value, bool) and not _DIGITS.fullmatch(text)
    if odd or value is _UNUSABLE:  # 1e1 and 5.0 are odd
        expected, choices = _described(inspect.type_info(wanted))
        raise InputError("bad_parameter", expected=expected, got=repr(text), where=name, available=choices)
    return value


def _described(kind: inspect.Type) -> tuple[str, list[str]]:
    """Say in words what a parameter may be, and list the values where they can be listed."""
    if isinstance(kind, inspect.LiteralType):
        return "one of the known values", [str(value) for value in kind.values]
    if isinstance(kind, inspect.Metadata):
        return str((kind.extra_json_schema or {}).get("description", "another value")), []
    return "another value", []


async def read_body(request: web.Request, wanted: type[T]) -> T:
    """Return the JSON body as a struct.

    Raises InputError for another content type, a packed body, one too large or too slow, JSON that cannot
    be read, and fields that are missing, unknown or of another type.
    """
    if request.content_type != JSON_TYPE:
        got = request.headers.get("Content-Type", "none")
        raise InputError("wrong_content_type", expected=JSON_TYPE, got=got, where="Content-Type")
    packed = request.headers.get("Content-Encoding", "identity")
    if packed.lower() != "identity":
        raise InputError(
            "wrong_content_encoding", expected="a plain body", got=packed, where="Content-Encoding"
        )
    data = await _received(request)
    try:
        return msgspec.json.decode(data, type=wanted)
    except msgspec.ValidationError as error:
        raise _misfit(str(error), wanted) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError("bad_json", expected="JSON in UTF-8", got=str(error), where="the body") from None


async def _received(request: web.Request) -> bytes:
    """Read the body as it comes, never more of it than allowed."""
    too_large = InputError(
        "body_too_large", expected=f"at most {MAX_BODY_BYTES} bytes", got="more", where="the body"
    )
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise too_large
    data = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for chunk in request.content.iter_any():
                data += chunk
                if len(data) > MAX_BODY_BYTES:
                    raise too_large
    except TimeoutError:
        raise InputError(
            "slow_body", expected=f"a body within {BODY_TIMEOUT_S:g} s", got=f"{len(data)} bytes so far"
        ) from None
    except (ConnectionError, web.RequestPayloadError):
        request.content.feed_eof()  # else aiohttp reads on, meets the fault again and logs it as its own
        raise InputError("bad_body", expected="a body as the headers promise", got="a broken one") from None
    return bytes(data)


def _misfit(message: str, wanted: type[msgspec.Struct]) -> InputError:
    """Turn msgspec's sentence about a body into ours."""
    place = _PLACE.search(message)
    where = f"{place[1]} of the body" if place and place[1] else "the body"
    if place:
        message = message[: place.start()]
    named = _NAMED.search(message)
    name = named[1] if named else ""
    fields = [field.encode_name for field in msgspec.structs.fields(wanted)]
    if message.startswith("Object contains unknown field"):
        return InputError("bad_body", expected="a known field", got=repr(name), where=where, available=fields)
    if message.startswith("Object missing required field"):
        return InputError("bad_body", expected=f"the field {name!r}", got="none", where=where)
    if message.startswith("Invalid enum value "):
        got = message.removeprefix("Invalid enum value ")
        return InputError("bad_body", expected="one of the known values", got=got, where=where)
    expected, _, got = message.removeprefix("Expected ").replace("`", "").partition(", got ")
    return InputError("bad_body", expected=expected, got=got or "another value", where=where)
