"""What keeps the matches of a duplicate set closed: one of them tells what is to come in the others."""

from collections.abc import Iterable


class Seal:
    """Closes matches with the same dice or cards until the last of them has ended."""

    def __init__(self, matches: Iterable[int]) -> None:
        self.matches = tuple(matches)
        self._playing = set(self.matches)

    @property
    def closed(self) -> bool:
        """Whether any of them is still to end."""
        return bool(self._playing)

    def end(self, match_id: int) -> tuple[int, ...]:
        """Note the end of one; return the matches that are open now: all after the last one, else none."""
        self._playing.discard(match_id)
        return () if self._playing else self.matches


def closed(seal: Seal | None) -> bool:
    """Whether a match under this seal, if any, is closed."""
    return seal is not None and seal.closed
