"""An agent's WebSocket: aiohttp's, but a frame is heard in the moment it is read.

aiohttp puts what it reads into a queue and wakes a task for each frame, which costs about as much as a move
does. Here the queue offers a frame to whoever listens first. What nobody takes (what came in before, the
close, errors) goes the library's way, through `receive()`. `_post_start` and the queue are not public in
aiohttp: tests/server/test_agent_socket.py fails if they change.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from aiohttp import web
from aiohttp._websocket.reader import WebSocketDataQueue
from aiohttp.http_websocket import WebSocketReader, WSMessageNoDecodeText

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
        self._parser = WebSocketReader(self.frames, self._max_msg_size, compress=False, decode_text=False)
        request.protocol.set_parser(self._parser)
        request.protocol.keep_alive(False)
