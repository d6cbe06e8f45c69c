"""Rendering: one Jinja environment that escapes everything, and the headers a page carries."""

import functools
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import msgspec
from aiohttp import web
from markupsafe import Markup

from games.picture import svg
from games.picture.shapes import seat_shape
from server.http.health import notice
from server.http.services import SERVICES
from server.pages import assets, words
from server.pages.here import here as found_at

FOLDER = Path(__file__).parent / "templates"

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Nothing inline, nothing from elsewhere: a name that got into a page as markup could still do nothing."""


@functools.cache
def environment() -> jinja2.Environment:
    """Build the environment; templates are compiled once."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["static"] = assets.address
    made.globals["causes_in_words"] = words.CAUSES
    made.globals["causes"] = msgspec.json.encode(words.CAUSES).decode()
    made.filters["address"] = lambda text: quote(text, safe="")
    made.filters["whole"] = lambda number: f"{number:.0f}".replace("-", "−")
    made.filters["pace"] = words.pace
    made.filters["pace_explained"] = words.pace_explained
    made.filters["allowances"] = words.allowances
    made.filters["score"] = lambda match: words.score(match.seats)
    made.filters["cause"] = lambda match: words.cause(match.seats)
    made.filters["stand"] = words.stand
    made.filters["points"] = lambda match: words.points(match.seats)
    made.filters["sides"] = words.sides
    made.filters["picture"] = lambda board, title: Markup(svg(board, title=title))  # noqa: S704 it escapes
    made.globals["seat_shape"] = seat_shape
    made.filters["placed"] = lambda match: words.placed(match.seats)
    return made


def page(
    request: web.Request, template: str, *, status: int = 200, here: str = "", **content: Any
) -> web.Response:
    """Answer a whole page; `here` is the entry of the navigation that it stands for."""
    services = request.app[SERVICES]
    html = (
        environment()
        .get_template(template)
        .render(
            here=here,
            server=found_at(request),
            ladders=services.settings.ladders,
            notice=notice(services),
            now_ms=int(services.clock().timestamp() * 1000),
            **content,
        )
    )
    return _html(html, status, {"Content-Security-Policy": PAGE_POLICY})


def fragment(request: web.Request, template: str, **content: Any) -> web.Response:
    """Answer a part of a page, which scripts put in the place of the one they have."""
    html = environment().get_template(template).render(server=found_at(request), **content)
    return _html(html, 200, {})


def data(value: Any) -> web.Response:
    """Answer JSON for the scripts of the pages."""
    return web.Response(
        body=msgspec.json.encode(value),
        content_type="application/json",
        headers={"Cache-Control": "no-store"},
    )


def _html(html: str, status: int, headers: dict[str, str]) -> web.Response:
    return web.Response(
        text=html,
        status=status,
        content_type="text/html",
        headers={"Cache-Control": "no-store", **headers},
    )
