"""The HTTP API: an endpoint table, its handlers, and how faults are answered."""

import time
from typing import Any

from server.http.endpoints import ENDPOINTS, routes
from server.http.errors import ERROR_PAGE, errors_middleware
from server.http.metrics import Metrics
from server.http.pace import REQUESTS_A_SECOND, Pace
from server.http.proxy import proxy_middleware
from server.http.security import address_of, check_origin, security_middleware
from server.http.services import SERVICES, Limits, Services
from server.http.turns import Turns

__all__ = [
    "ENDPOINTS",
    "ERROR_PAGE",
    "SERVICES",
    "Limits",
    "Metrics",
    "Services",
    "address_of",
    "check_origin",
    "middlewares",
    "routes",
]


def middlewares(proxy_hops: int = 0, requests_per_min: int = 0) -> list[Any]:
    """Return the middlewares of the app, outermost first, behind so many trusted proxies.

    Whoever may send so many requests to the API a minute is not served slower than that.
    """
    pace = Pace(max(REQUESTS_A_SECOND, requests_per_min / 60), time.monotonic)
    return [
        proxy_middleware(proxy_hops),
        pace.middleware(),
        security_middleware,
        errors_middleware,  # for who got no turn
        Turns().middleware(),
        errors_middleware,
    ]
