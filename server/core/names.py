"""Names of agents: what is allowed in them, and when two count as the same.

A name is shown in terminals, pages, tables and records and stands in addresses, so it consists of visible
characters only, cannot start a spreadsheet formula, and cannot change the direction of the text around it.
"""

import re
import unicodedata

from games.errors import InputError, shown

MAX_CHARACTERS = 32
MAX_MARKS = 2
"""Combining marks in a row: enough for Vietnamese, Hebrew and the Indic scripts, too few for a tower."""

_SEPARATORS = "-_. "
_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd"})
_MARKS = frozenset({"Mn", "Mc"})
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks by category that show nothing: fillers, joiners and variation selectors."""

RULE = (
    f"a name of 1 to {MAX_CHARACTERS} letters, digits, '-', '_', '.' or single spaces inside, "
    "starting with a letter or digit"
)


def clean_name(text: str) -> str:
    """Return the name in Unicode normal form C.

    Raises InputError (code `bad_name`), where possible with a usable name made from the text.
    """
    # At most four code points compose to one character, so more than this is too long in any form.
    name = unicodedata.normalize("NFC", text[: 4 * MAX_CHARACTERS + 1])
    fault = _fault(name)
    if fault is None:
        return name
    suggestion = _suggestion(name)
    raise InputError(
        "bad_name",
        expected=RULE,
        got=shown(text),
        where=fault,
        available=[suggestion] if suggestion else [],
    )


def name_key(name: str) -> str:
    """Return the text by which names are compared: equal for names that differ in case or form only.

    The compatibility caseless match of the Unicode Standard (section 3.13, definition D146).
    """
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFD", name).casefold())
    return unicodedata.normalize("NFKC", folded.casefold())


def _fault(name: str) -> str | None:
    """Say where a name breaks the rule, or None."""
    if not name:
        return "a name"
    if len(name) > MAX_CHARACTERS:
        return f"a name of more than {MAX_CHARACTERS} characters"
    place = _first_misplaced(name)
    if place is not None:
        return f"character {place + 1} ({_described(name[place])})"
    return "the space at the end" if name.endswith(" ") else None


def _first_misplaced(name: str) -> int | None:
    """Return the index of the first character that may not stand where it stands."""
    before = " "
    marks = 0
    for place, character in enumerate(name):
        marks = marks + 1 if _kind(character) == "mark" else 0
        if marks > MAX_MARKS or not _may_follow(character, before):
            return place
        before = character
    return None


def _may_follow(character: str, before: str) -> bool:
    """Whether a character may stand after another one; the start of a name counts as a space."""
    kind = _kind(character)
    if kind == "letter":
        return True
    if kind == "mark":
        return _kind(before) in ("letter", "mark")
    return kind == "separator" and before != " "


def _kind(character: str) -> str:
    """Sort a character into letter (digits too), mark, separator or other."""
    if character in _SEPARATORS:
        return "separator"
    if _INVISIBLE.match(character):
        return "other"
    category = unicodedata.category(character)
    return "letter" if category in _LETTERS else "mark" if category in _MARKS else "other"


def _described(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, 'without a name')}"


def _suggestion(name: str) -> str:
    """Make a usable name of what is usable in a text; empty if nothing is."""
    kept = ""
    for character in name:
        if _first_misplaced(kept + character) is None:
            kept += character
        elif _kind(character) == "other" and kept and kept[-1] not in _SEPARATORS:
            kept += "-"
    return kept[:MAX_CHARACTERS].rstrip(_SEPARATORS)
