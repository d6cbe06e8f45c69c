"""The files that pages refer to: styles, modules, the icon. All are read once and kept in memory."""

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from games.errors import InputError

FOLDER = Path(__file__).parent / "static"
_FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class Asset:
    """One file as it is sent."""

    body: bytes
    content_type: str
    etag: str


@dataclass(frozen=True)
class Assets:
    """All files by name, and the digest over all of them that stands in their addresses."""

    digest: str
    files: Mapping[str, Asset]


@functools.cache
def assets() -> Assets:
    """Read the folder."""
    files = {path.name: _asset(path) for path in sorted(FOLDER.iterdir()) if path.is_file()}
    whole = hashlib.sha256()
    for name, asset in files.items():
        whole.update(f"{name} {asset.etag}\n".encode())
    return Assets(whole.hexdigest()[:12], files)


def address(name: str) -> str:
    """Return the address of a file. It changes with any file, so browsers may keep what they have."""
    found = assets()
    if name not in found.files:
        raise KeyError(f"no static file {name}")
    return f"/static/{found.digest}/{name}"


async def static_file(request: web.Request) -> web.Response:
    """Answer a file. One asked for by an older digest is the present one, not to be kept."""
    found = assets()
    name = request.match_info["name"]
    asset = found.files.get(name)
    if asset is None:
        raise InputError("not_found", expected="a file of the pages", got=repr(name))
    current = request.match_info["digest"] == found.digest
    headers = {"ETag": f'"{asset.etag}"', "Cache-Control": _FOR_EVER if current else "no-cache"}
    if any(known.value == asset.etag for known in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    return web.Response(body=asset.body, content_type=asset.content_type, charset="utf-8", headers=headers)


def _asset(path: Path) -> Asset:
    body = path.read_bytes()
    kinds = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    return Asset(body, kinds[path.suffix], hashlib.sha256(body).hexdigest()[:16])
