"""Whole numbers on the command line, refused in plain words."""

import click


class WholeNumber(click.IntRange):
    """A whole number from `min` to `max`, each where it is given."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number."""
        try:
            number = int(str(value))
        except ValueError:
            number = None
        if number is None or not self._holds(number):
            self.fail(f"expected {self._expected()}, got {str(value)!r}", param, ctx)
        return number

    def _holds(self, number: int) -> bool:
        return (self.min is None or number >= self.min) and (self.max is None or number <= self.max)

    def _expected(self) -> str:
        low = f" from {self.min}" if self.min is not None else ""
        high = f" to {self.max}" if self.max is not None else ""
        return f"a whole number{low}{high}"
