"""An agent's WebSocket: aiohttp's, but a frame is heard in the moment it is read.

aiohttp puts what it reads into a queue and wakes a task for each frame, which costs about as much as a move
does. Here the queue offers a frame to whoever listens first, in the very call in which its last byte came in:
so server.inbox can stamp its receipt. What nobody takes (what came in before, the close, errors) goes the
library's way, through `receive()`. The library takes frames without a mask too, which a server must refuse
(RFC 6455, section 5.1); here they end the connection. `_post_start`, the parser and the queue are not public
in aiohttp: tests/server/test_agent_socket.py fails if they change.
"""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from aiohttp import WSCloseCode, web
from aiohttp._websocket.reader import WebSocketDataQueue
from aiohttp.http_websocket import WebSocketError, WebSocketReader, WSMessageNoDecodeText

QUEUE_BYTES = 65_536
"""What is kept of frames that nobody takes yet; beyond, reading pauses."""

Hear = Callable[[WSMessageNoDecodeText], bool]
"""Takes a frame, or answers False to leave it to `receive()`."""


class Frames(WebSocketDataQueue):
    """The frames read from one socket."""

    hear: Hear | None = None

    def feed_data(self, data: Any, size: int) -> None:
        """Take a frame from the parser. One never overtakes another that waits."""
        if self.hear is None or self._buffer or not self.hear(data):
            super().feed_data(data, size)


class Masks:
    """Knows where frames begin in what a client sends."""

    def __init__(self) -> None:
        self._left = 0  # bytes until the next frame begins
        self._head = b""  # of a frame whose length is not in yet

    def hold(self, data: bytes) -> bool:
        """Look at the next bytes; False if a frame without a mask begins in them."""
        begins = self._left == 0 and not self._head
        if begins and 6 <= len(data) < 132 and data[1] == 0x80 + len(data) - 6:
            return True  # a short frame and nothing else, as nearly always
        data = self._head + data
        self._head = b""
        at, end = self._left, len(data)
        while at < end:
            if end - at < 2:
                return self._keep(data[at:])
            length = data[at + 1] - 0x80
            if length < 0:
                return False
            if length >= 126:
                more = 2 if length == 126 else 8
                if end - at < 2 + more:
                    return self._keep(data[at:])
                length = more + int.from_bytes(data[at + 2 : at + 2 + more])
            at += 6 + length
        self._left = at - end
        return True

    def _keep(self, head: bytes) -> bool:
        self._left, self._head = 0, head
        return True


class MaskedReader:
    """The library's parser, behind a look at the masks."""

    def __init__(self, frames: Frames, max_msg_size: int) -> None:
        self._frames = frames
        self._masks = Masks()
        self._reader = WebSocketReader(frames, max_msg_size, compress=False, decode_text=False)

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Parse what came in. The answer is the library's: whether that was the end, and what is left."""
        if self._masks.hold(data):
            return self._reader.feed_data(data)
        self._frames.set_exception(WebSocketError(WSCloseCode.PROTOCOL_ERROR, "a frame without a mask"))
        return True, b""

    def feed_eof(self) -> None:
        """Pass on."""
        self._reader.feed_eof()


class AgentSocket(web.WebSocketResponse):
    """A WebSocket whose text can be listened to. It neither compresses nor decodes, and pings nobody."""

    frames: Frames

    def __init__(self, *, timeout: float, max_msg_size: int) -> None:
        super().__init__(
            timeout=timeout, max_msg_size=max_msg_size, compress=False, autoping=False, decode_text=False
        )

    def _post_start(self, request: web.BaseRequest, protocol: str | None, writer: Any) -> None:
        """Begin to read, as the library does, with a queue of ours."""
        self._ws_protocol, self._writer = protocol, writer
        loop = asyncio.get_running_loop()
        self._reader = self.frames = Frames(request.protocol, QUEUE_BYTES, loop=loop)
        reader = MaskedReader(self.frames, self._max_msg_size)
        request.protocol.set_parser(cast("WebSocketReader", reader))  # it is one by shape
        request.protocol.keep_alive(False)
