"""Games and ladders."""

import functools

import msgspec
from aiohttp import web
from sqlalchemy import Connection

import games
from games.errors import InputError
from server.db import ladders, reads
from server.http.endpoint import Call, answer
from server.http.views import GameView, LadderView, Page


async def list_games(_call: Call) -> web.Response:
    """Answer all games."""
    return answer(Page(items=_games()))


async def list_ladders(call: Call) -> web.Response:
    """Answer all ladders, in their order."""
    found = await call.services.db.read(ladders.all_ladders)
    return answer(Page(items=[_view(ladder) for ladder in found]))


async def one_ladder(call: Call) -> web.Response:
    """Answer one ladder."""
    ladder = await call.services.db.read(find_ladder, call.path["ladder"])
    return answer(_view(ladder))


def find_ladder(conn: Connection, name: str) -> ladders.Ladder:
    """Return the ladder of that name. Raises InputError (code `unknown_ladder`) listing those there are."""
    ladder = reads.ladder(conn, name)
    if ladder is None:
        known = [ladder.name for ladder in ladders.all_ladders(conn)]
        raise InputError("unknown_ladder", expected="a ladder", got=repr(name), available=known or ["none"])
    return ladder


@functools.cache
def _games() -> list[GameView]:
    return [msgspec.convert(games.load(name).to_json(), GameView) for name in games.names()]


def _view(ladder: ladders.Ladder) -> LadderView:
    return LadderView(ladder.name, ladder.title, ladder.game, ladder.time_control)
