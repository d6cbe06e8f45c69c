"""What a game declares beside its state class: names, options, notation and looks, as data."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from games.board import Board
from games.errors import InputError, shown
from games.protocol import State


@dataclass(frozen=True)
class Option:
    """A whole-number option of a game, with its default and the range allowed."""

    default: int
    low: int
    high: int
    meaning: str


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
    chosen: Mapping[str, int] = field(default_factory=dict)
    check_options: Callable[..., None] = lambda **_chosen: None
    """Raises InputError where options contradict each other."""
    action_texts: tuple[str, ...] = ()
    """Text of each action, by its number."""
    format_seen: Callable[[Any, int, int], str] | None = None
    """Text of an action or outcome played in a state, as a player or PUBLIC may know it."""
    board_seen: Callable[[Any, int | None, int], Board] | None = None
    """The board, and the last action on it, as a player or PUBLIC may know it."""

    def __post_init__(self) -> None:
        if self.hidden and not (self.action_texts and self.format_seen and self.board_seen):
            raise TypeError(f"game {self.name} is hidden: what its players see would be everything")

    @property
    def variant(self) -> str:
        """Canonical name: the bare name for the defaults, else `name(option=value,...)`."""
        values = {key: self.chosen.get(key, option.default) for key, option in self.options.items()}
        if all(values[key] == option.default for key, option in self.options.items()):
            return self.name
        return f"{self.name}({','.join(f'{key}={value}' for key, value in values.items())})"

    def with_options(self, **chosen: int) -> "Game":
        """Choose options. Raises InputError for an unknown option or a value outside its range."""
        for key, value in chosen.items():
            option = self.options.get(key)
            if option is None:
                raise InputError(
                    "unknown_option",
                    expected=f"an option of {self.name}",
                    got=shown(key),
                    available=self.options or ["none"],
                )
            if not option.low <= value <= option.high:
                raise InputError(
                    "bad_option",
                    expected=f"{key} from {option.low} to {option.high}",
                    got=str(value),
                    where=self.name,
                )
        values = {key: chosen.get(key, option.default) for key, option in self.options.items()}
        self.check_options(**values)
        return replace(self, chosen=values)

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
            "options": [{"name": name, **asdict(option)} for name, option in self.options.items()],
            "features": list(self.feature_names),
            "initial_position": self.format_position(self.initial_state()),
        }
