"""Plain words: for what msgspec finds wrong with data, and for times."""

import re

WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "null": "nothing",
    "array": "a list",
    "object": "an object",
}

_PLACE = re.compile(r" - at `\$\.?([^`]*)`$")
_NAMED = re.compile(r"`([^`]*)`")


def plain(error: Exception) -> str:
    """Return the message of a msgspec error: `expected a whole number, got text at match`."""
    message = str(error)
    place = _PLACE.search(message)
    where = f" at {place[1]}" if place and place[1] else ""
    kept = message[: place.start()] if place else message
    words = _NAMED.sub(lambda named: " or ".join(_word(kind) for kind in named[1].split(" | ")), kept)
    return f"{words[:1].lower()}{words[1:]}{where}" if words.startswith("Expected ") else f"{words}{where}"


def _word(kind: str) -> str:
    return WORDS.get(kind, kind)


def duration(ms: float) -> str:
    """Write a time: `5.0 s`, below a second `150 ms`."""
    return f"{ms / 1000:.1f} s" if ms >= 1_000 else f"{ms:.0f} ms"
