"""Who may ask for what, and the headers that keep browsers from doing harm."""

import ipaddress

import structlog
from aiohttp import web

from games.errors import InputError
from server.http.errors import MAX_SHOWN, Handler

log = structlog.get_logger()

_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")
"""Headers that tell of a proxy: the peer's address is then not the client's."""

_PAGE_POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
)
_DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"


def secure(response: web.StreamResponse) -> None:
    """Add the headers that keep browsers from doing harm; those that are set already stay."""
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
        secure(redirect)
        raise
    if not response.prepared:
        secure(response)
    log.debug(
        "http.request",
        method=request.method,
        path=request.rel_url.raw_path[:MAX_SHOWN],  # without the query, which may hold what belongs in no log
        status=response.status,
        peer=request.remote,
    )
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
    if any(name in request.headers for name in _FORWARDED) or not is_loopback(request.remote or ""):
        return False
    return "Origin" not in request.headers or is_loopback(_host_name(request.host))


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_loopback(name: str) -> bool:
    """Whether a name or an address is that of this machine to itself."""
    if name.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def bearer_token(request: web.Request) -> str | None:
    """Return the token of the Authorization header; None without one, or with another kind of it."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def address_of(request: web.Request) -> str:
    """Return the client's address for counting."""
    return counted_as(request.remote or "")


def counted_as(peer: str) -> str:
    """Return an address for counting: a whole /64 of IPv6 counts as one."""
    try:
        address = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address) and not (address.ipv4_mapped or address.is_loopback):
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)
