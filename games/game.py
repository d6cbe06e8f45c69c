"""What a game declares beside its state class: names, options, notation and looks, as data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from games.board import Board
from games.errors import InputError, shown
from games.options import Option, Value, with_defaults, written
from games.protocol import State


@dataclass(frozen=True)
class Game:
    """A game with its options chosen.

    `start`, `read_position` and `check_options` take the chosen options by keyword. `parse_action` and
    `read_position` raise InputError for text they cannot read, `parse_action` also for an action that is
    not legal in the state. At a chance node the actions that they read and write are outcomes.

    A game with hidden information also has `action_texts`, `format_seen` and `board_seen`; its `parse_action`
    and `format_action` ask a state whose turn a player has for nothing but `to_move` and `actions`, so that
    an Observation will do in its place.
    """

    name: str
    title: str
    start: Callable[..., State]
    read_position: Callable[..., State]
    format_position: Callable[[Any], str]
    parse_action: Callable[[Any, str], int]
    format_action: Callable[[Any, int], str]
    board: Callable[[Any, int | None], Board]
    feature_names: tuple[str, ...]
    players: int = 2
    zero_sum: bool = True
    has_chance: bool = False
    hidden: bool = False
    options: Mapping[str, Option] = field(default_factory=dict)
    chosen: Mapping[str, Value] = field(default_factory=dict)
    check_options: Callable[..., None] = lambda **_chosen: None
    """Raises InputError where options contradict each other."""
    action_texts: tuple[str, ...] = ()
    """Text of each action, by its number."""
    format_seen: Callable[[Any, int, int], str] | None = None
    """Text of an action or outcome played in a state, as a player or PUBLIC may know it."""
    board_seen: Callable[[Any, int | None, int], Board] | None = None
    """The board, and the last action on it, as a player or PUBLIC may know it."""
    rules: str = ""
    """The rules in short, a few sentences for people: end of the game and utilities included."""
    typical: tuple[str, ...] = ()
    """Actions and outcomes from the start to a typical position, for pictures."""
    repetition_key: Callable[[Any], int] | None = None
    """A number that is equal for positions which rules about repetition take for the same; else `key()`."""
    repetitions: Callable[..., int] | None = None
    """So many occurrences of a position draw the game, by the options; else repetition ends nothing."""
    with_history: Callable[[Any, Sequence[int]], Any] | None = None
    """The state as the repetition keys of all positions before it leave it, such as with points that
    superko bars; its text carries that, so that whoever reads the text knows it too."""
    rule_draw: Callable[[Any], bool] | None = None
    """Whether a terminal state was drawn by a rule, such as a number of moves, and not by play."""

    def __post_init__(self) -> None:
        if self.hidden and not (self.action_texts and self.format_seen and self.board_seen):
            raise TypeError(f"game {self.name} is hidden: what its players see would be everything")

    @property
    def variant(self) -> str:
        """Canonical name: the bare name for the defaults, else `name(option=value,...)`."""
        values = with_defaults(self.options, self.chosen)
        if values == with_defaults(self.options, {}):
            return self.name
        return f"{self.name}({','.join(f'{key}={written(value)}' for key, value in values.items())})"

    def with_options(self, **chosen: Value) -> "Game":
        """Choose options. Raises InputError for an unknown option or a value that it does not allow."""
        values = with_defaults(self.options, {})
        for key, value in chosen.items():
            option = self.options.get(key)
            if option is None:
                raise InputError(
                    "unknown_option",
                    expected=f"an option of {self.name}",
                    got=shown(key),
                    available=self.options or ["none"],
                )
            values[key] = option.chosen(value, key, self.name)
        self.check_options(**values)
        return replace(self, chosen=values)

    def repeated(self, state: State) -> int:
        """Return the number by which rules about repetition know a state."""
        return state.key() if self.repetition_key is None else self.repetition_key(state)

    def initial_state(self) -> State:
        """Return the state before the first move."""
        return self.start(**self.chosen)

    def parse_position(self, text: str) -> State:
        """Read a position's text; the reverse of `format_position`."""
        return self.read_position(text, **self.chosen)

    def to_json(self) -> dict[str, object]:
        """Return plain JSON data: what the API and `plyground games` tell of a game."""
        return {
            "name": self.name,
            "title": self.title,
            "players": self.players,
            "zero_sum": self.zero_sum,
            "chance": self.has_chance,
            "hidden": self.hidden,
            "options": [option.to_json(name) for name, option in self.options.items()],
            "features": list(self.feature_names),
            "rules": self.rules,
            "initial_position": self.format_position(self.initial_state()),
        }
