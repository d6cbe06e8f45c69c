"""Settings: one frozen struct from a TOML file and `PLYGROUND_*` environment variables.

The environment wins over the file. An unknown or bad key stops the start and says where it stands.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote

import msgspec

import games
from games.errors import InputError

PREFIX = "PLYGROUND_"
CLIENT_VARIABLES = frozenset(
    {
        "PLYGROUND_SERVER",
        "PLYGROUND_TOKEN",
        "PLYGROUND_ADMIN_TOKEN",
        "PLYGROUND_INVITATION",
        "PLYGROUND_CONFIG_DIR",
        "PLYGROUND_CACHE_DIR",
    }
)
"""Variables of the client programs and of compiled code: known here, and ignored."""

_PLAIN = {"`int`": "a whole number", "`float`": "a number", "`bool`": "true or false", "`str`": "text"}
"""Types in the words of the person who sets them."""

_SLUG = re.compile(r"[a-z0-9_]{1,40}")
BOUNDS: dict[str, tuple[float, float]] = {
    "port": (0, 65_535),
    "pace_ms": (0, 60_000),
    "house_rest_s": (0, 3_600),
    "rest_ms": (0, 3_600_000),
    "margin_ms": (0, 60_000),
    "ready_ms": (100, 600_000),
    "lag_ms": (0, 60_000),
    "grace_ms": (0, 600_000),
    "resume_s": (0.1, 3_600),
    "drain_s": (0, 600),
    "hello_s": (0.1, 600),
    "messages_per_s": (1, 100_000),
    "burst": (1, 100_000),
    "requests_per_min": (1, 100_000_000),
    "connections_per_address": (0, 1_000_000),
    "proxy_hops": (0, 16),
}
LADDER_BOUNDS: dict[str, tuple[int, int]] = {
    "move_ms": (1, 86_400_000),
    "bank_ms": (0, 86_400_000),
    "increment_ms": (0, 600_000),
    "byoyomi_ms": (0, 3_600_000),
    "periods": (0, 100),
    "strikes": (0, 100),
    "nodes": (0, 1_000_000_000),
    "ready_ms": (100, 600_000),
}
"""A clock that is never used stays below 2**31 ms, the largest integer of the database."""


class LadderSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A ladder: its slug, its title, the variant it plays, and its times as in agents.protocol.TimeControl.

    Without `move_ms` a move may take 5 s, unless a bank, byo-yomi or a budget of nodes limits the play.
    `ready_ms` is the server's if the ladder has none of its own. With `duplicate` house agents play each
    other with the same dice or cards in all matches of a pair, seats swapped, in a game of chance.
    """

    name: str
    game: str
    title: str = ""
    move_ms: int | None = None
    bank_ms: int = 0
    increment_ms: int = 0
    byoyomi_ms: int = 0
    periods: int = 0
    strikes: int = 0
    nodes: int = 0
    ready_ms: int | None = None
    duplicate: bool = False


DEFAULT_LADDERS = (
    LadderSpec("connect_four", "connect_four", "Connect four"),
    LadderSpec("connect_four_5x6", "connect_four(rows=5,columns=6,k=4)", "Connect four 5×6"),
    LadderSpec("othello", "othello", "Othello"),
    LadderSpec("tic_tac_toe", "tic_tac_toe", "Tic-tac-toe"),
    LadderSpec("chess", "chess", "Chess"),
    LadderSpec("checkers", "checkers", "Checkers"),
    LadderSpec("go", "go", "Go 9×9"),
    LadderSpec("hex", "hex(size=11,swap=true)", "Hex 11×11"),
    LadderSpec("breakthrough", "breakthrough", "Breakthrough"),
    LadderSpec("kalah", "kalah", "Kalah"),
    LadderSpec("backgammon", "backgammon", "Backgammon"),
    LadderSpec("connect_four_three", "connect_four_three", "Connect four for three"),
    LadderSpec("kuhn_poker", "kuhn_poker", "Kuhn poker"),
    LadderSpec("leduc_poker", "leduc_poker", "Leduc poker"),
    LadderSpec("centipede", "centipede", "Centipede"),
)


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that can be set. See docs/settings.md for each in words."""

    host: str = "127.0.0.1"
    port: int = 8080
    data_dir: Path = Path("data")
    database_url: str = ""
    registration: Literal["loopback", "open"] = "loopback"
    house: bool = True
    pace_ms: int = 400
    house_rest_s: float = 10.0
    rest_ms: int = 1_000
    margin_ms: int = 200
    ready_ms: int = 10_000
    lag_ms: int = 1_000
    grace_ms: int = 5_000
    resume_s: float = 60.0
    drain_s: float = 5.0
    hello_s: float = 10.0
    messages_per_s: int = 50
    burst: int = 200
    requests_per_min: int = 6_000
    connections_per_address: int = 4_096
    proxy_hops: int = 0
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    ladders: tuple[LadderSpec, ...] = DEFAULT_LADDERS

    @property
    def database(self) -> str:
        """URL of the database: the one set, else SQLite in the data folder."""
        return self.database_url or f"sqlite:///{quote(str(self.data_dir.absolute() / 'plyground.db'))}"


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings. Raises InputError that names the variable, or the file and key, at fault."""
    environ = os.environ if environ is None else environ
    path = Path(environ.get("PLYGROUND_CONFIG", "plyground.toml"))
    values = _from_file(path, required="PLYGROUND_CONFIG" in environ)
    origins = dict.fromkeys(values, str(path))
    known = {field: f"{PREFIX}{field.upper()}" for field in Settings.__struct_fields__ if field != "ladders"}
    variables = set(known.values())
    for variable in sorted(environ):
        if not variable.startswith(PREFIX) or variable in CLIENT_VARIABLES or variable == "PLYGROUND_CONFIG":
            continue
        if variable not in variables:
            raise InputError(
                "unknown_setting",
                expected="a known setting",
                got=variable,
                where="the environment",
                available=sorted(variables),
            )
    for field, variable in known.items():
        if variable in environ:
            values[field] = environ[variable]
            origins[field] = f"{variable} (environment)"
    return _checked(values, origins)


def _from_file(path: Path, *, required: bool) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if required:
            raise InputError(
                "no_settings_file",
                expected="a TOML file",
                got="no such file",
                where=f"PLYGROUND_CONFIG={path}",
            ) from None
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            "bad_settings_file", expected="a readable TOML file", got=str(error), where=str(path)
        ) from None


def _path(kind: type, value: object) -> Path:
    """Read a path; msgspec asks for every type it does not know itself."""
    if kind is not Path or not isinstance(value, str) or not value:
        raise ValueError("a path")
    return Path(value)


def _checked(values: dict[str, Any], origins: dict[str, str]) -> Settings:
    unknown = sorted(set(values) - set(Settings.__struct_fields__))
    if unknown:
        raise _unknown(unknown[0], origins[unknown[0]])
    converted: dict[str, Any] = {}
    types = {field.name: field.type for field in msgspec.structs.fields(Settings)}
    for field, value in values.items():
        if field == "ladders":
            converted[field] = _ladders(value, origins[field])
            continue
        try:
            converted[field] = msgspec.convert(value, types[field], strict=False, dec_hook=_path)
        except msgspec.ValidationError as error:
            what = _expected(error)
            choices = get_args(types[field]) if what.startswith("Invalid enum") else ()
            raise InputError(
                "bad_setting",
                expected="a known value" if choices else _PLAIN.get(what, what.replace("`", "")),
                got=repr(value)[:80],
                where=f"{field}, {origins[field]}",
                available=choices,
            ) from None
        _check_bounds(field, converted[field], origins[field])
    settings = Settings(**converted)
    if not settings.host:
        raise InputError("bad_setting", expected="a host name or address", got="''", where="host")
    return settings


def _unknown(key: str, origin: str) -> InputError:
    """Say what was meant by a key that is none: one of a ladder, or the one most like it."""
    expected, known = "a known setting", Settings.__struct_fields__
    if key in LadderSpec.__struct_fields__:
        expected = f"{key} below [[ladders]], as each ladder has its own"
    elif key == "ladder":
        expected = "[[ladders]], with an s"
    available = () if expected != "a known setting" else get_close_matches(key, known) or known
    return InputError("unknown_setting", expected=expected, got=key, where=origin, available=available)


def _expected(error: msgspec.ValidationError) -> str:
    return str(error).removeprefix("Expected ").partition(", got")[0]


def _check_bounds(
    field: str, value: object, origin: str, bounds: Mapping[str, tuple[float, float]] = BOUNDS
) -> None:
    low, high = bounds.get(field, (None, None))
    if low is None or high is None or not isinstance(value, int | float):
        return
    if not low <= value <= high:
        raise InputError(
            "bad_setting",
            expected=f"{field} from {low} to {high}",
            got=str(value),
            where=f"{field}, {origin}",
        )


def _ladders(tables: object, origin: str) -> tuple[LadderSpec, ...]:
    """Read the ladders. Raises InputError with the ladder, the key and its value at the first fault."""
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        got = "[ladders]" if isinstance(tables, dict) else f"ladders = {_cut(tables)}"
        raise InputError("bad_setting", expected="[[ladders]] above each ladder", got=got, where=origin)
    if not tables:
        raise InputError(
            "bad_setting", expected="at least one ladder", got="none", where=f"ladders, {origin}"
        )
    ladders: dict[str, LadderSpec] = {}
    for number, table in enumerate(tables):
        ladder = _ladder(table, number, origin)
        if ladder.name in ladders:
            got = f"{ladder.name!r} twice"
            where = f"ladders[{number}].name, {origin}"
            raise InputError("bad_setting", expected="another name for each ladder", got=got, where=where)
        ladders[ladder.name] = ladder
    return tuple(ladders.values())


def _ladder(table: Mapping[str, Any], number: int, origin: str) -> LadderSpec:
    name = table.get("name")
    place = f"ladder {_cut(name)}, {origin}" if name else f"ladders[{number}], {origin}"
    types = {field.name: field.type for field in msgspec.structs.fields(LadderSpec)}
    for key in table:
        if key not in types:
            raise InputError(
                "unknown_setting",
                expected="a known key of a ladder",
                got=f"{key} = {_cut(table[key])}",
                where=place,
                available=types,
            )
    for key in ("name", "game"):
        if key not in table:
            raise InputError("bad_setting", expected=f"{key} = ...", got=f"no {key}", where=place)
    values: dict[str, Any] = {}
    for key, value in table.items():
        kind = types[key] if types[key] in (str, bool) else int
        try:
            values[key] = msgspec.convert(value, kind, strict=False)
        except msgspec.ValidationError as error:
            what = _PLAIN.get(_expected(error), _PLAIN[f"`{kind.__name__}`"])
            got = f"{key} = {_cut(value)}"
            raise InputError("bad_setting", expected=f"{what} for {key}", got=got, where=place) from None
    ladder = LadderSpec(**values)
    _check_ladder(ladder, place)
    return ladder


def _check_ladder(ladder: LadderSpec, place: str) -> None:
    if not _SLUG.fullmatch(ladder.name):
        expected = "a name from a-z, 0-9 and _, at most 40 characters"
        raise InputError("bad_setting", expected=expected, got=repr(ladder.name), where=f"name, {place}")
    check_times(ladder)
    try:
        game = games.load(ladder.game)
    except InputError as error:
        where = f"{error.where}, game of {place}" if error.where else f"game of {place}"
        raise InputError(
            error.code, expected=error.expected, got=error.got, where=where, available=error.available
        ) from None
    if game.variant != ladder.game.replace(" ", "") and ladder.game != game.name:
        got = repr(ladder.game)
        raise InputError("bad_setting", expected=game.variant, got=got, where=f"game of {place}")
    if ladder.duplicate and not game.has_chance:
        expected = "a game with dice or cards where duplicate = true"
        raise InputError("bad_setting", expected=expected, got=repr(ladder.game), where=f"game of {place}")


def _cut(value: object) -> str:
    """Show a value, cut where it is long."""
    return value[:80] if isinstance(value, str) and _SLUG.fullmatch(value) else repr(value)[:80]


def check_times(ladder: LadderSpec) -> None:
    """Raise InputError, naming the ladder and the key, where its times make no sense together."""
    where = f"ladder {ladder.name}"
    for key in LADDER_BOUNDS:
        _check_bounds(key, getattr(ladder, key), where, LADDER_BOUNDS)
    banked = ladder.bank_ms > 0
    untimed = ladder.nodes > 0 and not (ladder.move_ms or banked or ladder.byoyomi_ms)
    if ladder.increment_ms and not banked:
        raise _bad_times(ladder, "increment_ms", "bank_ms above 0", "an increment goes into the bank")
    if ladder.byoyomi_ms and not ladder.periods:
        raise _bad_times(ladder, "byoyomi_ms", "periods above 0", "it is the time of a period")
    if ladder.periods and not ladder.byoyomi_ms:
        raise _bad_times(ladder, "periods", "byoyomi_ms above 0", "that is the time of a period")
    if ladder.strikes and banked and not (ladder.increment_ms or ladder.byoyomi_ms):
        why = "a strike may leave the bank empty"
        raise _bad_times(ladder, "strikes", "increment_ms or byoyomi_ms besides bank_ms", why)
    if ladder.strikes and untimed:
        why = "with nodes alone no clock runs"
        raise _bad_times(ladder, "strikes", "move_ms, bank_ms or byoyomi_ms besides nodes", why)


def _bad_times(ladder: LadderSpec, key: str, lacks: str, why: str) -> InputError:
    got = f"{key} = {getattr(ladder, key)} alone"
    expected = f"{lacks} where {key} is set, as {why}"
    return InputError("bad_setting", expected=expected, got=got, where=f"ladder {ladder.name}")
