"""Where the reader has found this server, for the commands that pages show."""

import ipaddress
import re
import shlex
from dataclasses import dataclass
from urllib.parse import urlsplit

from aiohttp import web

CLIENTS_DEFAULT = "http://127.0.0.1:8080"
"""Where client programs look for a server unless they are told."""

_HOST = re.compile(r"(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Here:
    """An address of this server, scheme://host."""

    origin: str

    @property
    def option(self) -> str:
        """What a client's command needs to come here, as a shell reads it; empty if it comes by itself."""
        return "" if self.origin == CLIENTS_DEFAULT else f"--server {shlex.quote(self.origin)}"

    @property
    def in_clear(self) -> bool:
        """Whether clients refuse this address, because a token sent to it could be read on the way."""
        parts = urlsplit(self.origin)
        return parts.scheme == "http" and not _is_loopback(parts.hostname or "")


def here(request: web.Request) -> Here:
    """Return the address that this request was sent to. A Host that is none is as good as the default.

    A proxy that ends TLS says so in a header; whoever forges that one deceives only their own page.
    """
    if not _HOST.fullmatch(request.host):
        return Here(CLIENTS_DEFAULT)
    forwarded = request.headers.get("X-Forwarded-Proto", "").partition(",")[0].strip().lower()
    scheme = forwarded if forwarded in {"http", "https"} else request.scheme
    return Here(f"{scheme}://{request.host}")


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
