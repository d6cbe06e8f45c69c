"""A match as it goes on, as Server-Sent Events: what `/ws/watch` tells, with the version as id."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Iterable
from typing import Annotated

import msgspec
import structlog
from aiohttp import web

from games.errors import InputError
from server.http.endpoint import Call
from server.http.security import secure
from server.http.services import Told
from server.http.validation import read_number

EVENTS_TYPE = "text/event-stream"
STALLED_S = 30.0
"""A listener that has not read for so long is cut off."""

_VERSION = re.compile(r"[0-9]{1,18}")
_ALIVE = b":\n\n"

log = structlog.get_logger()


class EventsQuery(msgspec.Struct, frozen=True):
    """The version after which to go on; the header Last-Event-ID, which browsers send, goes before it."""

    since: Annotated[int, msgspec.Meta(ge=0, description="a version")] | None = None


async def match_events(call: Call) -> web.StreamResponse:
    """Answer the events of a match until it is over; 204 for one that was over at `since`.

    Browsers ask again when an answer ends, and stop at a 204.
    """
    number = read_number(call.path["id"], "a match")
    async with contextlib.aclosing(call.services.feed(number, _since(call))) as batches:
        first = await anext(batches, None)
        if first is None:
            return web.Response(status=204, headers={"Cache-Control": "no-store"})
        if call.request.method == "HEAD":
            return web.Response(content_type=EVENTS_TYPE, headers={"Cache-Control": "no-store"})
        response = web.StreamResponse(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        response.content_type = EVENTS_TYPE
        secure(response)
        try:
            with call.services.stay(call.request):
                await response.prepare(call.request)
                await _send(response, first, batches)
        except (ConnectionError, TimeoutError) as error:
            log.debug("listener.cut", error=repr(error))
            if call.request.transport is not None:
                call.request.transport.abort()
    return response


async def _send(
    response: web.StreamResponse, first: Iterable[Told], batches: AsyncIterator[list[Told]]
) -> None:
    """Send batch by batch, each when the one before has been read."""
    batch: Iterable[Told] | None = first
    while batch is not None:
        async with asyncio.timeout(STALLED_S):
            await response.write(b"".join(map(_encoded, batch)) or _ALIVE)
        batch = await anext(batches, None)
    await response.write_eof()


def _encoded(told: Told) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (told.version, told.kind.encode(), told.data)


def _since(call: Call) -> int | None:
    """Return the version after which to go on. Raises InputError (`bad_parameter`)."""
    last = call.request.headers.get("Last-Event-ID")
    since: int | None = call.query.since
    if not last:
        return since
    if not _VERSION.fullmatch(last):
        raise InputError(
            "bad_parameter", expected="the id of an event", got=repr(last), where="Last-Event-ID"
        )
    return int(last)
