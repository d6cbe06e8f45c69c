"""The house agents: which there are, what they are made of, and how to make one for a match.

`roster.toml` beside this file lists them; one more of a known algorithm touches that file alone.
"""

import copy
import functools
import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

import msgspec

from agents.agent import Agent
from agents.alphabeta import AlphaBeta
from agents.clock import Clock
from agents.mcts import Mcts
from agents.minimax import Minimax
from agents.policy import Policy
from agents.random_agent import RandomAgent
from games import CHANCE, Game, InputError
from games import load as load_game

ROSTER = Path(__file__).with_name("roster.toml")
ANY = "any"
"""Key of the settings for games that have none of their own."""

SHORTEST_MS = 1
"""A limit in which a search that is compiled already answers anything."""


Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000)]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Arguments of an algorithm; `weights` are those of EVAL by feature name, `table` is that of a policy."""

    depth: Count | None = None
    nodes: Count | None = None
    time_ms: Annotated[float, msgspec.Meta(gt=0, le=600_000)] | None = None
    playouts: Count | None = None
    exploration: Annotated[float, msgspec.Meta(ge=0, le=1_000)] | None = None
    weights: Mapping[str, float] | None = None
    table: Mapping[str, Mapping[str, float]] | None = None

    def given(self, *allowed: str) -> dict[str, float]:
        """Return the plain numbers given. Raises InputError for a setting that is not `allowed`."""
        given = {key: value for key, value in msgspec.structs.asdict(self).items() if value is not None}
        for key in given:
            if key not in allowed:
                raise InputError(
                    "bad_roster",
                    expected="a setting of the algorithm",
                    got=repr(key),
                    where="the roster",
                    available=allowed or ["none"],
                )
        return {key: value for key, value in given.items() if key not in {"weights", "table"}}

    def budgeted(self, nodes: int) -> "Settings":
        """Return them with a budget of nodes in place of every other limit of a search."""
        return msgspec.structs.replace(self, nodes=nodes, depth=None, time_ms=None, playouts=None)


class HouseAgent(msgspec.Struct, frozen=True):
    """An agent of the roster: its name, algorithm, idea, and settings by game."""

    name: str
    algorithm: str
    about: str
    settings: Mapping[str, Settings]
    extra: bool = False

    def plays(self, game: Game) -> bool:
        """Whether it has settings for the game or for any, and an algorithm that can play it."""
        return ALGORITHMS[self.algorithm].plays(game) and (game.name in self.settings or ANY in self.settings)

    def settings_for(self, game: Game) -> Settings:
        """Return its settings for the game. Raises InputError if it does not play it."""
        settings = self.settings.get(game.name) or self.settings.get(ANY)
        if settings is None or not self.plays(game):
            raise self.not_played(game)
        return settings

    def not_played(self, game: Game) -> InputError:
        """Return the error for a game that it does not play: the games that it does, and who plays this."""
        own = sorted(self.settings)
        games = ALGORITHMS[self.algorithm].games
        if ANY not in self.settings and own:
            games = f"{' or '.join(own)} (--game {own[0]})"
        return InputError(
            "not_played",
            expected=f"a game that {self.name} plays: {games}",
            got=game.name,
            available=names(game),
        )

    def fingerprint(self) -> str:
        """SHA-256 of all that it is made of: a changed entry is a new version of the agent."""
        parts = (self.name, self.algorithm, {key: self.settings[key] for key in sorted(self.settings)})
        return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()


Maker = Callable[[Settings, Game, int | None], Agent]


def _random(settings: Settings, _game: Game, seed: int | None) -> Agent:
    settings.given()
    return RandomAgent(seed)


def _minimax(settings: Settings, game: Game, seed: int | None) -> Agent:
    settings.given("depth", "nodes", "weights")
    weights = weights_for(game, settings.weights)
    return Minimax(settings.depth, weights, nodes=settings.nodes, seed=seed)


def _alphabeta(settings: Settings, game: Game, seed: int | None) -> Agent:
    settings.given("depth", "nodes", "time_ms", "weights")
    return AlphaBeta(
        settings.depth,
        weights_for(game, settings.weights),
        nodes=settings.nodes,
        time_ms=settings.time_ms,
        seed=seed,
    )


def _mcts(settings: Settings, _game: Game, seed: int | None) -> Agent:
    given = settings.given("playouts", "nodes", "exploration", "time_ms")
    # A playout adds a node to the tree, so a budget of nodes is one of playouts.
    limits = {"playouts": given.pop("nodes", None), **given}
    return Mcts(**limits, seed=seed)  # type: ignore[arg-type]


def _policy(settings: Settings, game: Game, seed: int | None) -> Agent:
    settings.given("table")
    return Policy(game, settings.table or {}, seed)


def _any_game(_game: Game) -> bool:
    return True


def _open_game(game: Game) -> bool:
    return not game.hidden


def _two_players_game(game: Game) -> bool:
    return game.players == 2 and game.zero_sum and not game.has_chance and not game.hidden


@dataclass(frozen=True)
class Algorithm:
    """How agents of an algorithm are made, which games it can play, and whether it searches the rules.

    `games` says in words what `plays` decides: what an algorithm would play wrong is never offered.
    """

    make: Maker
    plays: Callable[[Game], bool]
    games: str
    searches: bool = True


_TWO_PLAYERS = "one of two players, zero-sum, without chance or hidden information"

ALGORITHMS: dict[str, Algorithm] = {
    "random": Algorithm(_random, _any_game, "any", searches=False),
    "minimax": Algorithm(_minimax, _two_players_game, _TWO_PLAYERS),
    "alphabeta": Algorithm(_alphabeta, _two_players_game, _TWO_PLAYERS),
    "mcts": Algorithm(_mcts, _open_game, "one without hidden information"),
    "policy": Algorithm(_policy, _any_game, "one that it has a table for", searches=False),
}


def weights_for(game: Game, named: Mapping[str, float] | None) -> tuple[float, ...]:
    """Return EVAL weights in the game's order; a feature not named weighs 0.

    Raises InputError for a name that is no feature of the game.
    """
    named = named or {}
    for feature in named:
        if feature not in game.feature_names:
            raise InputError(
                "bad_weights",
                expected=f"a feature of {game.name}",
                got=repr(feature),
                available=game.feature_names,
            )
        if not math.isfinite(named[feature]):
            raise InputError(
                "bad_weights", expected="a finite number", got=str(named[feature]), where=feature
            )
    return tuple(float(named.get(feature, 0.0)) for feature in game.feature_names)


def load(path: Path | str | None = None) -> list[HouseAgent]:
    """Read the house agents that play on ladders, in the roster's order."""
    return [agent for agent in entries(path) if not agent.extra]


def entries(path: Path | str | None = None) -> list[HouseAgent]:
    """Read all entries of a roster. Raises InputError where the file is missing or damaged."""
    file = ROSTER if path is None else Path(path)
    try:
        document = msgspec.toml.decode(file.read_bytes())
    except OSError as error:
        raise InputError(
            "bad_roster", expected="a roster file", got=error.strerror or str(error), where=str(file)
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError("bad_roster", expected="TOML", got=str(error), where=str(file)) from error
    return [_entry(item, file) for item in document.get("agent", [])]


def _entry(item: dict[str, object], file: Path) -> HouseAgent:
    """Read one [[agent]]: its tables are settings by game, its other keys are fields."""
    settings = {key: value for key, value in item.items() if isinstance(value, dict)}
    fields = {key: value for key, value in item.items() if key not in settings}
    where = f"{file.name}, agent {fields.get('name')!r}"
    unknown = set(fields) - {"name", "algorithm", "about", "extra"}
    if unknown:
        raise InputError(
            "bad_roster", expected="name, algorithm, about, extra", got=min(unknown), where=where
        )
    try:
        agent = msgspec.convert({**fields, "settings": settings}, HouseAgent)
    except msgspec.ValidationError as error:
        raise InputError("bad_roster", expected="a roster entry", got=str(error), where=where) from error
    if agent.algorithm not in ALGORITHMS:
        raise InputError(
            "bad_roster",
            expected="an algorithm",
            got=repr(agent.algorithm),
            where=where,
            available=ALGORITHMS,
        )
    kind = ALGORITHMS[agent.algorithm]
    for name in sorted(agent.settings.keys() - {ANY}):
        if not kind.plays(load_game(name)):
            raise InputError(
                "bad_roster",
                expected=f"a game that {agent.algorithm} plays: {kind.games}",
                got=name,
                where=where,
            )
        _try_to_make(agent, load_game(name), where)
    return agent


def _try_to_make(agent: HouseAgent, game: Game, where: str) -> None:
    """Find what is wrong with an agent's settings now, not in its first match."""
    try:
        ALGORITHMS[agent.algorithm].make(agent.settings_for(game), game, None)
    except InputError as error:
        raise InputError(
            "bad_roster", expected=error.expected, got=error.got, where=where, available=error.available
        ) from error


def names(game: Game) -> list[str]:
    """Names that `make` knows for this game: the house agents and the bare algorithms."""
    return [agent.name for agent in entries() if agent.plays(game)]


def make(name: str, game: Game, seed: int | None = None) -> Agent:
    """Make a fresh agent by name. Raises InputError for an unknown one and one that plays other games."""
    for agent in entries():
        if agent.name == name:
            return build(agent, game, seed)
    raise InputError("unknown_agent", expected="an agent's name", got=repr(name), available=names(game))


def build(agent: HouseAgent, game: Game, seed: int | None = None, *, nodes: int = 0) -> Agent:
    """Make the agent that a roster entry describes. What it runs is compiled here, not at its first move.

    A search looks at no more than `nodes` for a move, 0 for no such budget: this takes the place of its own
    depth, playouts and time. For mcts it is a number of playouts. What does not search plays as it is. Two
    agents made of one entry share nothing that could change.
    """
    settings = copy.deepcopy(agent.settings_for(game))
    prepare(agent.algorithm, game.variant)
    kind = ALGORITHMS[agent.algorithm]
    return kind.make(settings.budgeted(nodes) if nodes and kind.searches else settings, game, seed)


@functools.cache
def prepare(algorithm: str, variant: str) -> None:
    """Compile an algorithm for a game that it plays, or load it from the disk: it would take seconds."""
    game = load_game(variant)
    kind = ALGORITHMS[algorithm]
    state = game.initial_state()
    while state.to_move() == CHANCE:
        state = state.result(next(state.chance())[0])
    if kind.searches:
        kind.make(Settings(), game, None).choose(state, Clock(SHORTEST_MS))
