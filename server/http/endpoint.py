"""An endpoint as data: one table of these drives routing, validation and the description of the API."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec
from aiohttp import web

from server.db.tokens import Bearer
from server.http import access
from server.http.errors import Handler, Problem
from server.http.security import check_origin
from server.http.services import SERVICES, Services
from server.http.validation import JSON_TYPE, read_body, read_path, read_query

API = "/api/v1"


class NoQuery(msgspec.Struct, frozen=True):
    """An endpoint that takes no parameter."""


@dataclass(frozen=True)
class Call:
    """What a handler is given: everything checked, `query` and `body` as its endpoint declares them.

    `bearer` is the holder of the token that came with the request, where the endpoint asks for tokens.
    """

    request: web.Request
    services: Services
    path: Mapping[str, str]
    query: Any
    body: Any
    bearer: Bearer | None


Answers: TypeAlias = Mapping[int, Any]


def problems(*statuses: int) -> dict[int, Any]:
    """Declare statuses that answer a Problem."""
    return dict.fromkeys(statuses, Problem)


@dataclass(frozen=True)
class Endpoint:
    """One method on one path.

    `answers` maps each status to the type of its JSON, to a media type where it is no JSON, or to None where
    there is nothing. The faults that any request can have need not be listed: 400, those of a body, of a
    token, of a page of another site, and 429. `scopes` are those of the tokens that may ask, and without any
    everybody may; `open_to_some` lets the handler decide about who brings no token. `headers` names and
    explains headers of an answer by its status.
    """

    method: str
    path: str
    handler: Callable[[Call], Awaitable[web.StreamResponse]]
    summary: str
    answers: Answers
    query: type[msgspec.Struct] = NoQuery
    body: type[msgspec.Struct] | None = None
    scopes: tuple[str, ...] = ()
    open_to_some: bool = False
    headers: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    all_answers: Answers = field(init=False)

    def __post_init__(self) -> None:
        common = problems(400)
        common |= problems(429) if self.limited else {}
        common |= problems(408, 413, 415) if self.body else {}
        common |= problems(401, 403) if self.scopes else {}
        common |= {} if self.safe else problems(403)
        object.__setattr__(self, "all_answers", dict(sorted({**common, **self.answers}.items())))

    @property
    def safe(self) -> bool:
        """Whether it changes nothing."""
        return self.method == "GET"

    @property
    def limited(self) -> bool:
        """Whether its requests are counted; a probe of the server's health is never refused."""
        return self.path.startswith(f"{API}/")

    def route(self) -> web.RouteDef:
        """Return the route for aiohttp; a GET answers HEAD too."""
        define = {"GET": web.get, "POST": web.post, "DELETE": web.delete}[self.method]
        return define(self.path, self._handler())

    def _handler(self) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            services = request.app[SERVICES]
            if self.limited:
                access.count_request(request, services)
            if not self.safe:
                check_origin(request)
                services.db.absence.check()
            bearer = None
            if self.scopes:
                bearer = await access.bearer(request, services, self.scopes, needed=not self.open_to_some)
            path = read_path(request)
            query = read_query(request, self.query)
            body = await read_body(request, self.body) if self.body else None
            return await self.handler(Call(request, services, path, query, body, bearer))

        return handle


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """Answer JSON made from a struct. Nothing is cached unless the headers say otherwise."""
    return web.Response(
        status=status,
        body=msgspec.json.encode(value),
        content_type=JSON_TYPE,
        headers={"Cache-Control": "no-cache", **(headers or {})},
    )
