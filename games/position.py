"""A state together with how it came about, as the referee needs it for rules about history."""

from collections.abc import Iterable
from dataclasses import dataclass

from games.board import Board
from games.errors import InputError, shown
from games.game import Game
from games.protocol import State


@dataclass(frozen=True)
class Position:
    """A state, the actions played to reach it (as text), and the keys of all states passed.

    Immutable; `play` returns the next one.
    """

    game: Game
    state: State
    actions: tuple[str, ...] = ()
    keys: tuple[int, ...] = ()
    last: int | None = None

    @classmethod
    def start(cls, game: Game, text: str | None = None, moves: Iterable[str] = ()) -> "Position":
        """Return the initial position, or the one of `text`, after `moves`.

        Raises InputError for a bad text or move; its `where` then names the move's index.
        """
        state = game.initial_state() if text is None else game.parse_position(text)
        position = cls(game, state, keys=(state.key(),))
        for move in moves:
            position = position.play(move)
        return position

    @property
    def ply(self) -> int:
        """Number of actions played since the start."""
        return len(self.actions)

    def play(self, text: str) -> "Position":
        """Play an action given as text. Raises InputError if it is not legal here."""
        if self.is_terminal():
            raise InputError(
                "game_over", expected="no action, the game is over", got=shown(text), where=self.where()
            )
        action = self.game.parse_action(self.state, text)
        written = self.game.format_action(self.state, action)
        state = self.state.result(action)
        return Position(self.game, state, (*self.actions, written), (*self.keys, state.key()), last=action)

    def to_move(self) -> int:
        """Player to move, or CHANCE."""
        return self.state.to_move()

    def is_terminal(self) -> bool:
        """Whether the game is over, rules about history included."""
        return self.state.is_terminal()

    def utilities(self) -> tuple[float, ...]:
        """Return the utility of each player at a terminal position."""
        return tuple(self.state.utility(p) for p in range(self.game.players))

    def legal(self) -> list[str]:
        """Texts of the legal actions; empty when the game is over."""
        if self.is_terminal():
            return []
        return [self.game.format_action(self.state, action) for action in self.state.actions()]

    def text(self) -> str:
        """Text of the position (without history)."""
        return self.game.format_position(self.state)

    def board(self) -> Board:
        """Return the board as data, with the last move marked."""
        return self.game.board(self.state, self.last)

    def where(self) -> str:
        """Say which position this is, for messages."""
        return f"{self.game.variant} after {self.ply} plies ({self.text()})"
