"""Addresses of a server: what people write (http://host:port) and what sockets need."""

import ipaddress
import urllib.request
from urllib.parse import SplitResult, urlsplit, urlunsplit

from games import InputError
from games.errors import shown

SOCKET_PATH = "/ws/agent"
API_PATH = "/api/v1"
_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}


def http_url(server_url: str, path: str = "") -> str:
    """Return the address of a path on the server, http or https."""
    parts = _split(server_url)
    scheme = "https" if _SCHEMES[parts.scheme] == "wss" else "http"
    return urlunsplit((scheme, parts.netloc, _base(parts) + path, "", ""))


def socket_url(server_url: str) -> str:
    """Return the address of the agents' socket: ws for http, wss for https."""
    parts = _split(server_url)
    return urlunsplit((_SCHEMES[parts.scheme], parts.netloc, _base(parts) + SOCKET_PATH, "", ""))


def is_loopback(server_url: str) -> bool:
    """Whether the server is this very machine, so that nobody is between."""
    host = _split(server_url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def opener(server_url: str) -> urllib.request.OpenerDirector:
    """Return what sends requests to a server; to this machine directly, whatever proxy there is.

    It follows no redirect: a token goes to the server that it was given for, and to no other.
    """
    proxies = urllib.request.ProxyHandler({} if is_loopback(server_url) else None)
    web = (urllib.request.HTTPHandler(), urllib.request.HTTPSHandler())
    errors = (urllib.request.HTTPErrorProcessor(), urllib.request.HTTPDefaultErrorHandler())
    director = urllib.request.OpenerDirector()
    for handler in (proxies, *web, *errors):
        director.add_handler(handler)
    return director


def moved(server_url: str, status: int, location: str | None) -> InputError | None:
    """Return the error for an HTTP answer that sends elsewhere; None for any other answer.

    `location` is the header of this name.
    """
    if not (300 <= status < 400 and location):
        return None
    address = location.partition(f"{API_PATH}/")[0] or location
    advice = "; give that address if it is the one you mean" if "://" in location else ""
    got = f"one that sends to {shown(address)}{advice}"
    return InputError("server_moved", expected=f"a Plyground server at {server_url}", got=got)


def check_token_is_safe(server_url: str) -> None:
    """Raise InputError if a token sent to this server could be read on the way."""
    if _SCHEMES[_split(server_url).scheme] == "ws" and not is_loopback(server_url):
        raise InputError(
            "insecure_server",
            expected="an https:// address (a token is sent in clear to this machine only)",
            got=server_url,
        )


def bearer(token: str) -> str:
    """Return the Authorization header for a token. Raises InputError for a text that cannot be one."""
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError("bad_token", expected="a token: ply_, then letters and digits", got="another text")
    return f"Bearer {token}"


def _split(server_url: str) -> SplitResult:
    try:
        parts = urlsplit(server_url.strip())
        usable = parts.scheme in _SCHEMES and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or parts.username is not None or parts.query or parts.fragment:
        raise InputError("bad_server", expected="a server's address, http://host:port", got=repr(server_url))
    return parts


def _base(parts: SplitResult) -> str:
    """Return the path in front of ours, for a server behind a proxy."""
    return parts.path.rstrip("/").removesuffix(SOCKET_PATH)
