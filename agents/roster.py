"""The house agents: which there are, what they are made of, and how to make one for a match.

`roster.toml` beside this file lists them; one more of a known algorithm touches that file alone.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from agents.agent import Agent
from agents.alphabeta import AlphaBeta
from agents.mcts import Mcts
from agents.minimax import Minimax
from agents.random_agent import RandomAgent
from games import Game, InputError

ROSTER = Path(__file__).with_name("roster.toml")
ANY = "any"
"""Key of the settings for games that have none of their own."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Arguments of an algorithm; `weights` are those of EVAL by feature name."""

    depth: int | None = None
    nodes: int | None = None
    time_ms: float | None = None
    playouts: int | None = None
    exploration: float | None = None
    weights: Mapping[str, float] | None = None

    def given(self, *allowed: str) -> dict[str, float]:
        """Return the settings given, weights aside. Raises InputError for one that is not `allowed`."""
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
        given.pop("weights", None)
        return given


class HouseAgent(msgspec.Struct, frozen=True):
    """An agent of the roster: its name, algorithm, idea, and settings by game."""

    name: str
    algorithm: str
    about: str
    settings: Mapping[str, Settings]
    extra: bool = False

    def plays(self, game: Game) -> bool:
        """Whether it has settings for the game or for any."""
        return game.name in self.settings or ANY in self.settings

    def settings_for(self, game: Game) -> Settings:
        """Return its settings for the game. Raises InputError if it does not play it."""
        settings = self.settings.get(game.name) or self.settings.get(ANY)
        if settings is None:
            raise InputError(
                "not_played",
                expected=f"a game that {self.name} plays",
                got=game.name,
                available=self.settings,
            )
        return settings

    def fingerprint(self) -> str:
        """SHA-256 of all that it is made of: a changed entry is a new version of the agent."""
        parts = (self.name, self.algorithm, {key: self.settings[key] for key in sorted(self.settings)})
        return hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()


Maker = Callable[[Settings, Game, int | None], Agent]


def _random(settings: Settings, _game: Game, seed: int | None) -> Agent:
    settings.given()
    return RandomAgent(seed)


def _minimax(settings: Settings, game: Game, seed: int | None) -> Agent:
    settings.given("depth", "weights")
    return Minimax(settings.depth, weights_for(game, settings.weights), seed=seed)


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
    given = settings.given("playouts", "exploration", "time_ms")
    return Mcts(**{"playouts": None, **given}, seed=seed)  # type: ignore[arg-type]


ALGORITHMS: dict[str, Maker] = {
    "random": _random,
    "minimax": _minimax,
    "alphabeta": _alphabeta,
    "mcts": _mcts,
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
    except msgspec.DecodeError as error:
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
    return agent


def names(game: Game) -> list[str]:
    """Names that `make` knows for this game: the house agents and the bare algorithms."""
    return [agent.name for agent in entries() if agent.plays(game)]


def make(name: str, game: Game, seed: int | None = None) -> Agent:
    """Make a fresh agent by name. Raises InputError for a name that no agent of this game has."""
    for agent in entries():
        if agent.name == name and agent.plays(game):
            return build(agent, game, seed)
    raise InputError("unknown_agent", expected="an agent's name", got=repr(name), available=names(game))


def build(agent: HouseAgent, game: Game, seed: int | None = None) -> Agent:
    """Make the agent that a roster entry describes."""
    return ALGORITHMS[agent.algorithm](agent.settings_for(game), game, seed)
