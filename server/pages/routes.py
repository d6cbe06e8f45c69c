"""The addresses of the pages and of the parts that their scripts ask for."""

from aiohttp import web

from games.errors import InputError
from server.http import access, clocks
from server.http.errors import Handler
from server.http.services import SERVICES
from server.pages import content, replay
from server.pages.assets import static_file
from server.pages.scale import scale_for
from server.pages.templates import data, fragment, page
from server.pages.turns import rounds_of, takes_turns

_LONGEST_NUMBER = 15


def routes() -> list[web.RouteDef]:
    """Return all routes of the pages."""
    return [
        web.get("/", _counted(front)),
        web.get("/ladders/{ladder}", _counted(ladder)),
        web.get("/matches/{id}", _counted(match)),
        web.get("/agents/{name}", _counted(agent)),
        web.get("/admin", _counted(admin)),
        web.get("/fragments/facts", facts_fragment),
        web.get("/fragments/standings", standings_fragment),
        web.get("/fragments/results", results_fragment),
        web.get("/fragments/recent", recent_fragment),
        web.get("/fragments/matches/{id}", match_fragment),
        web.get("/static/{digest}/{name}", static_file),
    ]


def _counted(handler: Handler) -> Handler:
    """Count a page among the requests of its address; the parts that pages ask for are not counted."""

    async def handle(request: web.Request) -> web.StreamResponse:
        access.count_request(request, request.app[SERVICES])
        return await handler(request)

    return handle


async def front(request: web.Request) -> web.Response:
    """Show what runs, who leads, what has just ended, and how to join."""
    found = await request.app[SERVICES].db.read(content.front)
    return page(
        request,
        "front.html",
        here="live",
        tables=found.tables,
        in_play=found.in_play,
        running=found.running,
        matches=found.results,
        facts=found.facts,
    )


async def ladder(request: web.Request) -> web.Response:
    """Show one ladder: its standings, its running and latest matches."""
    found = await request.app[SERVICES].db.read(content.ladder_page, request.match_info["ladder"])
    return page(
        request,
        "ladder.html",
        here=found.table.ladder.name,
        ladder=found.table.ladder,
        rows=found.table.rows,
        scale=scale_for(row.rating for row in found.table.rows),
        running=found.running,
        matches=found.results,
    )


async def match(request: web.Request) -> web.Response:
    """Show one match, live or from its record."""
    found = await request.app[SERVICES].db.read(replay.match_page, _number(request))
    seats, board = len(found.match.seats), found.position.board(found.match.viewer)
    return page(
        request,
        "match.html",
        match=found.match,
        seen=found,
        board=board,
        rounds=rounds_of(found.movers, seats),
        in_turns=takes_turns(found.movers, seats),
        time_control=clocks.time_control(found.match),
        verdict=found.verdict,
        replayed_by=found.replayed_by,
    )


async def agent(request: web.Request) -> web.Response:
    """Show one agent: how each of its versions stands, why it lost, its latest matches."""
    found = await request.app[SERVICES].db.read(content.agent_page, request.match_info["name"])
    return page(
        request,
        "agent.html",
        agent=found.agent,
        places=found.places,
        losses=found.losses,
        matches=found.results,
    )


async def admin(request: web.Request) -> web.Response:
    """Let the holder of the one-use link become the admin; the code stays in the browser until then."""
    return page(request, "admin.html")


async def facts_fragment(request: web.Request) -> web.Response:
    """Answer the line of figures under the front page's title."""
    found = await request.app[SERVICES].db.read(content.facts)
    return fragment(request, "facts.html", facts=found)


async def standings_fragment(request: web.Request) -> web.Response:
    """Answer a ladder's table, whole if `full` is given."""
    full = "full" in request.query
    found = await request.app[SERVICES].db.read(content.table, _asked_ladder(request) or "")
    if not full:
        return fragment(request, "standings_short.html", ladder=found.ladder, rows=found.top)
    scale = scale_for(row.rating for row in found.rows)
    return fragment(request, "standings_full.html", ladder=found.ladder, rows=found.rows, scale=scale)


async def results_fragment(request: web.Request) -> web.Response:
    """Answer the latest results, of one ladder if one is given."""
    found = await request.app[SERVICES].db.read(content.results, _asked_ladder(request))
    return fragment(request, "results.html", matches=found)


async def recent_fragment(request: web.Request) -> web.Response:
    """Answer the latest finished matches with their final boards, to fill places where nothing runs."""
    return data(await request.app[SERVICES].db.read(replay.recent, _asked_ladder(request)))


async def match_fragment(request: web.Request) -> web.Response:
    """Answer a match with the boards of every ply; only as it is now if `boards=last`."""
    only_last = request.query.get("boards") == "last"
    return data(await request.app[SERVICES].db.read(replay.replay, _number(request), only_last))


def _asked_ladder(request: web.Request) -> str | None:
    return request.query.get("ladder")


def _number(request: web.Request) -> int:
    text = request.match_info["id"]
    if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER):
        raise InputError("unknown_match", expected="the number of a match", got=repr(text))
    return int(text)
