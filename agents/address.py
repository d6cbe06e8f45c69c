"""Addresses of a server: what people write (http://host:port) and what sockets need."""

import ipaddress
import urllib.request
from urllib.parse import SplitResult, urlsplit, urlunsplit

from games import InputError

SOCKET_PATH = "/ws/agent"
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
    """Return what sends requests to a server; to this machine directly, whatever proxy there is."""
    proxies = urllib.request.ProxyHandler({} if is_loopback(server_url) else None)
    return urllib.request.build_opener(proxies)


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
