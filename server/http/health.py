"""Is the server well, and what has it counted: for the person or program that runs it."""

import asyncio

import structlog
from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import Connection, text

from games.errors import InputError
from server.http.endpoint import Call, answer
from server.http.security import is_local
from server.http.views import Health

METRICS_TYPE = "text/plain"
"""What /metrics answers, without its parameters."""

_PATIENCE_S = 5.0

log = structlog.get_logger()


async def health(call: Call) -> web.Response:
    """Answer 200 where the server can do its work, else 503 and what is missing."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await call.services.db.read(_ask)
    except Exception as error:  # noqa: BLE001 - whatever the reason, the database cannot be used: that is the answer
        log.warning("health.unavailable", error=type(error).__name__)
        return answer(Health("unavailable", "unavailable"), 503)
    return answer(Health("ok", "ok"))


def _ask(conn: Connection) -> None:
    conn.execute(text("SELECT 1"))


async def metrics(call: Call) -> web.Response:
    """Answer the metrics in the text format of Prometheus, to this machine only."""
    if not is_local(call.request):
        raise InputError("loopback_only", expected="a request from this machine", got="another address")
    return web.Response(
        body=generate_latest(call.services.registry),
        headers={"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"},
    )
