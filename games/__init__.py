"""Games: pure rules. A game is one file in this folder that defines `GAME`; it is found, not listed."""

import functools
import importlib
import pkgutil
import re

from games.board import Board
from games.errors import InputError, shown
from games.game import Game
from games.observation import Observation
from games.options import Option, Value, read, written
from games.position import Position
from games.protocol import CHANCE, PUBLIC, State

__all__ = [
    "CHANCE",
    "PUBLIC",
    "Board",
    "Game",
    "InputError",
    "Observation",
    "Option",
    "Position",
    "State",
    "load",
    "names",
]

_VARIANT = re.compile(r" *(?P<name>\w+) *(?:\( *(?P<options>[^()]*?) *\) *)?", re.ASCII)
_OPTION = re.compile(r" *(?P<key>\w+) *= *(?P<value>-?\d{1,6}(\.\d{1,6})?|[a-z]\w{0,30}) *", re.ASCII)


@functools.cache
def _discovered() -> dict[str, Game]:
    found: dict[str, Game] = {}
    for module in pkgutil.iter_modules(__path__):
        game = getattr(importlib.import_module(f"games.{module.name}"), "GAME", None)
        if isinstance(game, Game):
            found[game.name] = game
    return dict(sorted(found.items()))


def names() -> list[str]:
    """Names of all games, sorted."""
    return list(_discovered())


def load(variant: str) -> Game:
    """Find a game by `name` or `name(option=value,...)`; blanks between the parts do not matter.

    Raises InputError for an unknown game or option and for a value that the option does not allow.
    """
    match = _VARIANT.fullmatch(variant) if isinstance(variant, str) else None
    if match is None:
        raise InputError("bad_game", expected="name or name(option=value,...)", got=shown(variant))
    game = _discovered().get(match["name"])
    if game is None:
        raise InputError("unknown_game", expected="a game", got=shown(match["name"]), available=names())
    chosen: dict[str, Value] = {}
    for part in match["options"].split(",") if match["options"] else ():
        option = _OPTION.fullmatch(part)
        if option is None or option["key"] in chosen:
            raise InputError(
                "bad_option", expected="option=value, once each", got=shown(part), where=shown(variant)
            )
        value = read(option["value"])
        if written(value) != option["value"]:
            raise InputError(
                "bad_option", expected=f"the value {written(value)}", got=shown(part), where=shown(variant)
            )
        chosen[option["key"]] = value
    return game.with_options(**chosen)
