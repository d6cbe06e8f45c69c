"""An endpoint as data: one table of these drives routing, validation and the description of the API."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec
from aiohttp import web

from server.http.errors import Handler, Problem
from server.http.services import SERVICES, Services
from server.http.validation import JSON_TYPE, read_body, read_path, read_query


class NoQuery(msgspec.Struct, frozen=True):
    """An endpoint that takes no parameter."""


@dataclass(frozen=True)
class Call:
    """What a handler is given: everything checked, `query` and `body` as its endpoint declares them."""

    request: web.Request
    services: Services
    path: Mapping[str, str]
    query: Any
    body: Any


Answers: TypeAlias = Mapping[int, Any]


def problems(*statuses: int) -> dict[int, Any]:
    """Declare statuses that answer a Problem."""
    return dict.fromkeys(statuses, Problem)


@dataclass(frozen=True)
class Endpoint:
    """One method on one path.

    `answers` maps each status to the type of its JSON, or to a media type where it is no JSON. The faults
    that any request can have (400, and those of a body) need not be listed.
    """

    method: str
    path: str
    handler: Callable[[Call], Awaitable[web.StreamResponse]]
    summary: str
    answers: Answers
    query: type[msgspec.Struct] = NoQuery
    body: type[msgspec.Struct] | None = None
    all_answers: Answers = field(init=False)

    def __post_init__(self) -> None:
        common = problems(400, 408, 413, 415) if self.body else problems(400)
        object.__setattr__(self, "all_answers", {**common, **self.answers})

    def route(self) -> web.RouteDef:
        """Return the route for aiohttp; a GET answers HEAD too."""
        define = {"GET": web.get, "POST": web.post}[self.method]
        return define(self.path, self._handler())

    def _handler(self) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            path = read_path(request)
            query = read_query(request, self.query)
            body = await read_body(request, self.body) if self.body else None
            call = Call(request, request.app[SERVICES], path, query, body)
            return await self.handler(call)

        return handle


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """Answer JSON made from a struct. Nothing is cached unless the headers say otherwise."""
    return web.Response(
        status=status,
        body=msgspec.json.encode(value),
        content_type=JSON_TYPE,
        headers={"Cache-Control": "no-cache", **(headers or {})},
    )
