"""A WebSocket client that costs little: two cores must do for a server and for all who play on it."""

import asyncio
import struct
from collections.abc import Callable
from typing import cast
from urllib.parse import urlsplit

KEY = "AAAAAAAAAAAAAAAAAAAAAA=="
"""Any sixteen bytes: who runs a bench need not tell its server from another."""


class WebSocketClient(asyncio.Protocol):
    """Calls `on_text` with the payload of each text frame. Frames come whole, as a server's small ones do."""

    def __init__(self, handshake: bytes, on_text: Callable[[bytes], None]) -> None:
        self._handshake = handshake
        self._on_text = on_text
        self._unread = b""
        self._transport: asyncio.Transport | None = None
        self.opened = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the WebSocket."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one by shape, not by class
        self._transport.write(self._handshake)

    def data_received(self, data: bytes) -> None:
        """Take the answer to the handshake, then frames."""
        self._unread += data
        if not self.opened.is_set():
            head, end, rest = self._unread.partition(b"\r\n\r\n")
            if not end:
                return
            assert head.startswith(b"HTTP/1.1 101"), head
            self._unread = rest
            self.opened.set()
        self._unread = self._read_frames(self._unread)

    def _read_frames(self, data: bytes) -> bytes:
        """Pass on all whole frames; return what is left."""
        at = 0
        while len(data) - at >= 2:
            size, start = data[at + 1], at + 2
            if size == 126:
                start = at + 4
                size = int.from_bytes(data[at + 2 : start])
            elif size == 127:
                start = at + 10
                size = int.from_bytes(data[at + 2 : start])
            end = start + size
            if end > len(data):
                break
            if data[at] & 0x8F == 0x81:  # a whole text; a compressed one stays so
                self._on_text(data[start:end])
            elif data[at] == 0x89:  # a ping: who does not answer is taken for dead
                self._write(b"\x8a\x80\0\0\0\0")
            at = end
        return data[at:]

    def send(self, payload: bytes) -> None:
        """Send a text frame of at most 64 KB. Its mask is zero, which changes nothing for who reads it."""
        size = len(payload)
        head = bytes((0x81, 0x80 | size)) if size < 126 else struct.pack("!BBH", 0x81, 0xFE, size)
        self._write(b"%s\0\0\0\0%s" % (head, payload))

    def _write(self, frame: bytes) -> None:
        assert self._transport is not None
        self._transport.write(frame)

    def close(self) -> None:
        """Cut the connection."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.abort()


async def connect(
    url: str, on_text: Callable[[bytes], None], token: str = "", *, deflate: bool = False
) -> WebSocketClient:
    """Open a WebSocket at `ws://host:port/path`. With `deflate` the server may compress what it sends."""
    parts = urlsplit(url)
    more = f"Authorization: Bearer {token}\r\n" if token else ""
    if deflate:
        more += "Sec-WebSocket-Extensions: permessage-deflate\r\n"
    handshake = (
        f"GET {parts.path or '/'} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n{more}\r\n"
    )
    loop = asyncio.get_running_loop()
    _, client = await loop.create_connection(
        lambda: WebSocketClient(handshake.encode(), on_text), parts.hostname or "", parts.port or 80
    )
    await client.opened.wait()
    return client
