"""What the handlers of pages and API are given: the parts that app.py wired together."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from aiohttp import web
from prometheus_client import CollectorRegistry

from server.db.engine import Database
from server.http.limits import RateLimit
from server.settings import Settings

REGISTRATIONS_AN_HOUR = 300
"""Agents registered from one address: a class of 200 behind one school's address fits into its lecture."""


def _registration_limit() -> RateLimit:
    return RateLimit("registrations_per_address", count=REGISTRATIONS_AN_HOUR, period_s=3600)


@dataclass(frozen=True)
class Services:
    """The parts of a running server that handlers use; `clock` returns the time as aware UTC."""

    db: Database
    settings: Settings
    registry: CollectorRegistry
    clock: Callable[[], datetime]
    registrations: RateLimit = field(default_factory=_registration_limit)


SERVICES = web.AppKey("services", Services)
