"""The moves of a match as its page lists them: in numbered rounds, and in these by who made them.

The script of the page goes on with the same list; its `moves.js` says the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Turn:
    """Plies that one seat made in a row, or that chance decided."""

    mover: int | None
    """A seat; None is chance."""
    plies: list[int] = field(default_factory=list)
    """From 1."""


@dataclass
class Round:
    """A numbered entry: turns in the order of the seats, with what chance decided between them."""

    turns: list[Turn] = field(default_factory=list)

    def is_over(self, mover: int | None, seats: int) -> bool:
        """Whether a ply of this mover begins the next round."""
        last = next((turn.mover for turn in reversed(self.turns) if turn.mover is not None), None)
        if last is None:
            return False
        return last == seats - 1 if mover is None else mover < last


def rounds_of(movers: Sequence[int | None], seats: int) -> list[Round]:
    """Return the rounds of a match, given who made each ply."""
    rounds: list[Round] = []
    for ply, mover in enumerate(movers, start=1):
        if not rounds or rounds[-1].is_over(mover, seats):
            rounds.append(Round())
        turns = rounds[-1].turns
        if not turns or turns[-1].mover != mover:
            turns.append(Turn(mover))
        turns[-1].plies.append(ply)
    return rounds


def takes_turns(movers: Sequence[int | None], seats: int) -> bool:
    """Whether the seats have moved strictly in turns: then rounds are alike, and several stand in a line."""
    return all(mover == ply % seats for ply, mover in enumerate(movers))
