"""Whole numbers on the command line, refused in plain words."""

import re

import click

_WHOLE = re.compile(r"-?[0-9]{1,4000}")
"""Plain digits: int() would read those of other scripts, blanks and underscores too."""


class WholeNumber(click.IntRange):
    """A whole number from `min` to `max`, each where it is given."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number."""
        number = int(str(value)) if _WHOLE.fullmatch(str(value)) else None
        if number is None or not self._holds(number):
            self.fail(f"expected {self._expected()}, got {str(value)!r}", param, ctx)
        return number

    def _holds(self, number: int) -> bool:
        return (self.min is None or number >= self.min) and (self.max is None or number <= self.max)

    def _expected(self) -> str:
        low = f" from {self.min}" if self.min is not None else ""
        high = f" to {self.max}" if self.max is not None else ""
        return f"a whole number{low}{high}"
