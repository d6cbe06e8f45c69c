"""What the handlers of pages and API are given: the parts that app.py wired together."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeAlias

from aiohttp import web
from prometheus_client import CollectorRegistry

from games.errors import InputError
from server.db.engine import Database
from server.gate import Gate
from server.http.limits import RateLimit
from server.settings import Settings
from server.stopping import Stopping

REGISTRATIONS_AN_HOUR = 300
"""Agents registered from one address: a class of 200 behind one school's address fits into its lecture."""

TOKENS_A_MINUTE = 60
"""Tokens made or revoked by one holder of a token."""

BAD_TOKENS_A_MINUTE = 60
"""Tokens and links from one address that are worth nothing."""


class Limits:
    """How often one address, or one holder of a token, may do what."""

    def __init__(self, settings: Settings, registrations: RateLimit | None = None) -> None:
        self.requests = RateLimit("requests_per_address", count=settings.requests_per_min, period_s=60)
        self.token_requests = RateLimit("requests_per_token", count=settings.requests_per_min, period_s=60)
        self.registrations = registrations or RateLimit(
            "registrations_per_address", count=REGISTRATIONS_AN_HOUR, period_s=3600
        )
        self.tokens = RateLimit("tokens_per_holder", count=TOKENS_A_MINUTE, period_s=60)
        self.bad_tokens = RateLimit("bad_tokens_per_address", count=BAD_TOKENS_A_MINUTE, period_s=60)


class Told(NamedTuple):
    """What spectators are told of a match: a `snapshot` or an `event`, its version, and it as JSON."""

    kind: str
    version: int
    data: bytes


Feed: TypeAlias = Callable[[int, int | None], AsyncGenerator[list[Told], None]]
"""Follows a match from after a version on, batch by batch; raises InputError (`unknown_match`)."""


def _nobody(_token_id: int) -> None:
    """Close no connection: there are none."""


async def _no_match(match_id: int, _since: int | None) -> AsyncGenerator[list[Told], None]:
    """Follow no match: nobody plays."""
    raise InputError("unknown_match", expected="a match that is played here", got=str(match_id))
    yield []  # never reached: it makes this a generator


def _anybody_may_stay(_request: web.Request) -> AbstractContextManager[None]:
    """Count nobody."""
    return nullcontext()


@dataclass(frozen=True)
class Services:
    """The parts of a running server that handlers use; `clock` returns the time as aware UTC.

    `on_revoked` is told the id of a token that has just been revoked, to end what was begun with it. `feed`
    follows matches. `stay` keeps a place for a request whose answer goes on, and raises LimitReachedError if
    there is none. `stopping` says whether the server is about to stop, `gate` whether new matches start.
    """

    db: Database
    settings: Settings
    registry: CollectorRegistry
    clock: Callable[[], datetime]
    limits: Limits
    on_revoked: Callable[[int], None] = field(default=_nobody)
    feed: Feed = field(default=_no_match)
    stay: Callable[[web.Request], AbstractContextManager[None]] = field(default=_anybody_may_stay)
    gate: Gate = field(default_factory=lambda: Gate(lambda: 0.0, margin_ms=0))
    stopping: Stopping = field(default_factory=lambda: Stopping(time.monotonic))


SERVICES = web.AppKey("services", Services)
