"""A state together with how it came about, as the referee needs it for rules about history."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from games.board import Board
from games.errors import InputError, shown
from games.game import Game
from games.observation import HiddenState, Observation
from games.protocol import CHANCE, PUBLIC, State


@dataclass(frozen=True)
class Position:
    """A state, the actions and outcomes played to reach it (as text), and the repetition keys of all passed.

    Immutable; `play` returns the next one. Methods with a parameter `p` tell everything without it, and with
    it what player `p`, or PUBLIC, may know. `seen` holds what PUBLIC and each player know of each ply, in
    games with hidden information.
    """

    game: Game
    state: State
    actions: tuple[str, ...] = ()
    keys: tuple[int, ...] = ()
    last: int | None = None
    seen: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def start(cls, game: Game, text: str | None = None, moves: Iterable[str] = ()) -> "Position":
        """Return the initial position, or the one of `text`, after `moves`.

        Raises InputError for a bad text or move; its `where` then names the move's index.
        """
        state = game.initial_state() if text is None else game.parse_position(text)
        position = cls(game, state, keys=(game.repeated(state),))
        for move in moves:
            position = position.play(move)
        return position

    @property
    def ply(self) -> int:
        """Number of actions and chance outcomes played since the start."""
        return len(self.actions)

    def play(self, text: str) -> "Position":
        """Play an action, or at a chance node an outcome, given as text.

        Raises InputError if it is not legal here, or not possible.
        """
        if self.is_terminal():
            raise InputError(
                "game_over", expected="no action, the game is over", got=shown(text), where=self.where()
            )
        action = self._by_text.get(text) if isinstance(text, str) else None
        if action is None:  # another spelling of a legal action, or none
            action = self.game.parse_action(self.state, text)
        if self.to_move() == CHANCE and dict(self.state.chance()).get(action, 0.0) <= 0.0:
            raise InputError(
                "illegal_action",
                expected="an outcome that is possible",
                got=shown(text),
                where=self.where(),
                available=[outcome for outcome, _ in self.outcomes()],
            )
        written = self.game.format_action(self.state, action)
        state = self.state.result(action)
        if self.game.with_history is not None:
            state = self.game.with_history(state, self.keys)
        return Position(
            self.game,
            state,
            (*self.actions, written),
            (*self.keys, self.game.repeated(state)),
            last=action,
            seen=(*self.seen, self._seen(action)) if self.game.format_seen is not None else (),
        )

    def to_move(self) -> int:
        """Player to move, or CHANCE."""
        return self._mover

    def is_terminal(self) -> bool:
        """Whether the game is over, rules about history included."""
        return self._terminal

    def utilities(self) -> tuple[float, ...]:
        """Return the utility of each player at a terminal position: 0 for all after a repetition."""
        if not self.state.is_terminal():
            return (0.0,) * self.game.players
        return tuple(self.state.utility(p) for p in range(self.game.players))

    def rule_draw(self) -> bool:
        """Whether a rule drew a terminal position: repetition, or one of the state's own."""
        if self._repeated and not self.state.is_terminal():
            return True
        return self.game.rule_draw is not None and self.game.rule_draw(self.state)

    def legal(self) -> list[str]:
        """Texts of the legal actions; empty when the game is over and at a chance node."""
        return list(self._by_text)

    def outcomes(self) -> list[tuple[str, float]]:
        """Texts of the possible outcomes with their probabilities; empty but at a chance node."""
        if self.is_terminal() or self.to_move() != CHANCE:
            return []
        return [
            (self.game.format_action(self.state, outcome), probability)
            for outcome, probability in self.state.chance()
            if probability > 0.0
        ]

    def text(self, p: int | None = None) -> str:
        """Text of the position (without history)."""
        if p is None or not self.game.hidden:
            return self.game.format_position(self.state)
        return cast("HiddenState", self.state).observation(p)

    def board(self, p: int | None = None) -> Board:
        """Return the board as data, with the last move marked."""
        if p is None or self.game.board_seen is None:
            return self.game.board(self.state, self.last)
        return self.game.board_seen(self.state, self.last, p)

    def seen_actions(self, p: int | None = None) -> tuple[str, ...]:
        """Return the actions and outcomes played."""
        if p is None or self.game.format_seen is None:
            return self.actions
        return tuple(by_viewer[p - PUBLIC] for by_viewer in self.seen)

    def observation(self) -> Observation:
        """Return what the player to move sees, in a game with hidden information."""
        player = self.to_move()
        return Observation(self.game, player, self.text(player), self.legal())

    def where(self) -> str:
        """Say which position this is, for messages that anybody may read."""
        return f"{self.game.variant} after {self.ply} plies ({self.text(PUBLIC)})"

    @cached_property
    def _mover(self) -> int:
        return self.state.to_move()

    @cached_property
    def _terminal(self) -> bool:
        return self.state.is_terminal() or self._repeated

    @cached_property
    def _repeated(self) -> bool:
        """Whether a position has come so often that the game is drawn."""
        repetitions = self.game.repetitions
        return repetitions is not None and self.keys.count(self.keys[-1]) >= repetitions(**self.game.chosen)

    @cached_property
    def _by_text(self) -> dict[str, int]:
        """Legal actions by their texts: asked for when they are offered, and again when one is played."""
        if self._terminal or self.to_move() == CHANCE:
            return {}
        return {self.game.format_action(self.state, action): action for action in self.state.actions()}

    def _seen(self, action: int) -> tuple[str, ...]:
        """Return what PUBLIC and each player know of an action played here."""
        seen = self.game.format_seen
        assert seen is not None
        return tuple(seen(self.state, action, p) for p in range(PUBLIC, self.game.players))
