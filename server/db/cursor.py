"""Cursors of keyset pages: where the last page ended, as text that means nothing to its bearer."""

import base64
import binascii
from collections.abc import Sequence
from typing import Annotated, TypeAlias, TypeVar

import msgspec

from games.errors import InputError
from server.db.schema import MAX_ID

T = TypeVar("T")
Id: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_ID)]


def encode(*key: str | float) -> str:
    """Make a cursor of the last row's sort key, which must be unique."""
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def decode(cursor: str, key: type[T]) -> T:
    """Return the sort key, a tuple of type `key`. Raises InputError for what `encode` never made."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        return msgspec.json.decode(raw, type=key)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise InputError(
            "bad_cursor", expected="the `next` of an earlier page", got=repr(cursor[:80]), where="cursor"
        ) from None


def cut(rows: Sequence[T], limit: int) -> tuple[Sequence[T], bool]:
    """Cut `limit` rows off a query that asked for one more; say whether there are more."""
    return rows[:limit], len(rows) > limit
