"""What a player sees of a game with hidden information: an agent gets it in place of the state."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from games.errors import InputError, shown
from games.game import Game
from games.protocol import State


class HiddenState(State, Protocol):
    """A state of a game with hidden information; both methods run in plain Python only."""

    def observation(self, p: int, /) -> str:
        """Text of the position as player `p`, or PUBLIC, may know it."""

    def information(self, p: int, /) -> int:
        """Return a number that is equal for exactly those states that player `p` cannot tell apart."""


@dataclass(frozen=True)
class Observation:
    """A position as the player whose turn it is sees it.

    `text` is the state's observation and `legal` the texts of the legal actions. A game's `parse_action` and
    `format_action` take it in place of the state.
    """

    game: Game
    player: int
    text: str
    legal: list[str]

    def to_move(self) -> int:
        """Player whose turn it is: the one who sees this."""
        return self.player

    def actions(self) -> Iterator[int]:
        """Legal actions. Raises InputError for a text that is no action of the game."""
        for text in self.legal:
            if text not in self.game.action_texts:
                raise InputError(
                    "bad_observation",
                    expected=f"actions of {self.game.name}",
                    got=shown(text),
                    available=self.game.action_texts,
                )
            yield self.game.action_texts.index(text)

    def players(self) -> int:
        """Return the number of players."""
        return self.game.players
