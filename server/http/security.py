"""Who may ask for what, and the headers that keep browsers from doing harm."""

import ipaddress

from aiohttp import web

from games.errors import InputError
from server.http.errors import Handler

_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")
"""Headers that tell of a proxy: the peer's address is then not the client's."""

_PAGE_POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
)
_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"


def _secure(response: web.StreamResponse) -> None:
    policy = _PAGE_POLICY if response.content_type == "text/html" else _DATA_POLICY
    for name, value in (
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "same-origin"),
        ("Content-Security-Policy", policy),
        ("Server", "Plyground"),
    ):
        response.headers.setdefault(name, value)


@web.middleware
async def security_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Add the security headers to every answer that has not begun; a handler may set its own first."""
    try:
        response = await handler(request)
    except web.HTTPException as redirect:
        _secure(redirect)
        raise
    if not response.prepared:
        _secure(response)
    return response


def check_origin(request: web.Request) -> None:
    """Refuse a browser that acts for a page of another site.

    A program sends no Origin header and passes. Raises InputError (code `bad_origin`). Only host and
    port are compared: the scheme differs behind a proxy that ends TLS.
    """
    origin = request.headers.get("Origin")
    if origin is None:
        return
    scheme, separator, place = origin.partition("://")
    if not separator or _place(place) != _place(request.host) or scheme not in ("http", "https"):
        raise InputError(
            "bad_origin", expected="a page of this server", got=repr(origin), where="the Origin header"
        )


def _place(host: str) -> str:
    """Write host and port in one way: in small letters, without the default ports."""
    return host.lower().removesuffix(":80").removesuffix(":443")


def is_local(request: web.Request) -> bool:
    """Whether the client runs on this machine: a loopback peer, and no sign of a proxy in between.

    A browser (it sends Origin) must have addressed a loopback name too, lest another site's name that
    was pointed at 127.0.0.1 speak for the person at this machine.
    """
    if any(name in request.headers for name in _FORWARDED) or not _is_loopback(request.remote or ""):
        return False
    return "Origin" not in request.headers or _is_loopback(_host_name(request.host))


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_loopback(name: str) -> bool:
    if name.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def address_of(request: web.Request) -> str:
    """Return the client's address for counting; a whole /64 of IPv6 counts as one."""
    try:
        address = ipaddress.ip_address((request.remote or "").partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)
