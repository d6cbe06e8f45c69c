"""The one error for bad input: what was expected, what came, where, and what is available."""

from collections.abc import Iterable

SHOWN_CHARACTERS = 60


def shown(value: object) -> str:
    """Quote unusable input for a message: text cut to 60 characters, anything else by its type."""
    if not isinstance(value, str):
        return f"a value of type {type(value).__name__[:SHOWN_CHARACTERS]}"
    if len(value) <= SHOWN_CHARACTERS:
        return repr(value)
    return f"{value[:SHOWN_CHARACTERS]!r}... ({len(value)} characters)"


class InputError(ValueError):
    """Input that cannot be used.

    `code` is stable and meant for programs; the message is one sentence for people. `available` lists
    what would have been accepted, at most twelve of it in the message.
    """

    def __init__(
        self,
        code: str,
        *,
        expected: str,
        got: str,
        where: str = "",
        available: Iterable[str] = (),
    ) -> None:
        self.code = code
        self.expected = expected
        self.got = got
        self.where = where
        self.available = tuple(available)
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        sentence = f"expected {self.expected}, got {self.got}"
        if self.where:
            sentence += f" in {self.where}"
        if self.available:
            shown = ", ".join(self.available[:12])
            more = len(self.available) - 12
            sentence += f"; available: {shown}" + (f" and {more} more" if more > 0 else "")
        return sentence
