"""Is the server well, and what has it counted: for the person or program that runs it."""

import asyncio
from typing import Literal

import structlog
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from games.errors import InputError
from server.http.endpoint import Call, answer
from server.http.security import is_local
from server.http.services import Services
from server.http.views import Health

METRICS_TYPE = "text/plain"
"""What /metrics answers, without its parameters."""

_PATIENCE_S = 5.0

log = structlog.get_logger()


async def health(call: Call) -> web.Response:
    """Answer 200 where the server can do its work, else 503 and what is missing."""
    db = call.services.db
    if db.absence.since() is not None:  # to read is not enough: a full disk can be read
        return _answer(call, "unavailable", "unavailable", 503)
    if call.services.stopping.left_s() is not None:
        return _answer(call, "draining", "ok", 503)
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await db.probe()
    except Exception as error:  # noqa: BLE001 - whatever the reason, the database cannot be used: that is the answer
        log.warning("health.unavailable", error=type(error).__name__)
        return _answer(call, "unavailable", "unavailable", 503)
    return _answer(call, "ok", "ok", 200)


def _answer(
    call: Call,
    status: Literal["ok", "draining", "unavailable"],
    database: Literal["ok", "unavailable"],
    code: int,
) -> web.Response:
    gate = call.services.gate
    starts = gate.is_open() and status != "draining"
    admission: Literal["open", "waiting"] = "open" if starts else "waiting"
    return answer(Health(status, database, admission, gate.lag_ms, notice(call.services)), code)


def notice(services: Services) -> str | None:
    """Return what everybody should know of the server now, in a sentence or two; None if it is nothing."""
    if services.stopping.left_s() is not None:
        return "This server is about to stop. A match that does not end before goes on after its next start."
    if services.db.absence.since() is not None:
        return "The database is away. Matches pause until it is back, and it costs nobody time."
    return services.gate.notice()


async def metrics(call: Call) -> web.Response:
    """Answer the metrics in the text format of Prometheus, to this machine only."""
    if not is_local(call.request):
        raise InputError("loopback_only", expected="a request from this machine", got="another address")
    return web.Response(
        body=generate_latest(call.services.registry),
        headers={"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"},
    )
