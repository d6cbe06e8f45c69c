"""The HTTP API: an endpoint table, its handlers, and how faults are answered."""

from typing import Any

from server.http.endpoints import ENDPOINTS, routes
from server.http.errors import ERROR_PAGE, errors_middleware
from server.http.metrics import Metrics
from server.http.proxy import proxy_middleware
from server.http.security import check_origin, security_middleware
from server.http.services import SERVICES, Limits, Services

__all__ = [
    "ENDPOINTS",
    "ERROR_PAGE",
    "SERVICES",
    "Limits",
    "Metrics",
    "Services",
    "check_origin",
    "middlewares",
    "routes",
]


def middlewares(proxy_hops: int = 0) -> list[Any]:
    """Return the middlewares of the app, outermost first, behind so many trusted proxies."""
    return [proxy_middleware(proxy_hops), security_middleware, errors_middleware]
