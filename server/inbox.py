"""What comes in over one socket, and no more of it than a connection may send."""

import asyncio
from collections.abc import Callable
from typing import cast

from aiohttp import WSMsgType, web

BYTES_A_SECOND = 131_072
BURST_BYTES = 524_288
PIECE_BYTES = 8_192
"""What is read without a pause: in empty frames, some milliseconds of work."""


class Flood(Exception):  # noqa: N818 - the word of the documentation
    """More messages than a connection may send."""


class BadFrameError(Exception):
    """A frame that is not text."""


class Bucket:
    """Holds up to `burst` tokens, refilled at `rate` a second."""

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate, self._burst = rate, burst
        self._level, self._at = burst, now

    def take(self, amount: float, now: float) -> float:
        """Take tokens; return the seconds until the bucket is out of debt, 0 if it is in none."""
        self._level = min(self._burst, self._level + (now - self._at) * self._rate) - amount
        self._at = now
        return max(0.0, -self._level / self._rate)

    def give_back(self, amount: float) -> None:
        """Put tokens back."""
        self._level = min(self._burst, self._level + amount)


class Metered(asyncio.Protocol):
    """Stands before a connection's protocol and reads no faster than the bucket allows.

    The limit on messages cannot see what makes none (empty fragments, half a frame); bytes it cannot
    do without. Whoever sends faster is kept waiting by TCP, and costs nobody else anything.
    """

    def __init__(
        self, inner: asyncio.Protocol, transport: asyncio.Transport, monotonic: Callable[[], float]
    ) -> None:
        self._inner = inner
        self._transport = transport
        self._monotonic = monotonic
        self._bucket = Bucket(BYTES_A_SECOND, BURST_BYTES, monotonic())
        self._waiting = bytearray()
        self._paused = False

    @classmethod
    def install(cls, request: web.Request, monotonic: Callable[[], float]) -> None:
        """Meter a request's connection from now on."""
        # uvloop's transports and aiohttp's protocols are what they are by shape, not by class.
        transport = request.transport
        if transport is not None:
            inner = cast("asyncio.Protocol", transport.get_protocol())
            transport.set_protocol(cls(inner, transport, monotonic))

    def data_received(self, data: bytes) -> None:
        """Pass data on, a piece at a time; whoever sent too much waits for the rest to be read."""
        self._waiting += data
        if not self._paused:
            self._pass_on()

    def _pass_on(self) -> None:
        piece = bytes(self._waiting[:PIECE_BYTES])
        del self._waiting[:PIECE_BYTES]
        if piece:
            self._inner.data_received(piece)
        debt_s = self._bucket.take(len(piece), self._monotonic())
        if self._transport.is_closing():
            return
        if debt_s > 0 or self._waiting:
            # Everybody else has a turn before the next piece; one in debt waits until it is paid.
            self._paused = True
            self._transport.pause_reading()
            asyncio.get_running_loop().call_later(debt_s, self._pass_on)
        elif self._paused:
            self._paused = False
            self._transport.resume_reading()

    def eof_received(self) -> bool | None:
        """Pass on."""
        return self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass on."""
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        """Pass on."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Pass on."""
        self._inner.resume_writing()


class Inbox:
    """The text frames of one socket. Every frame counts, pings and pongs too."""

    def __init__(
        self,
        socket: web.WebSocketResponse,
        request: web.Request,
        rate: float,
        burst: float,
        monotonic: Callable[[], float],
    ) -> None:
        self._socket = socket
        self._monotonic = monotonic
        self._bucket = Bucket(rate, burst, monotonic())
        Metered.install(request, monotonic)

    async def text(self) -> str | None:
        """Return the next text frame; None when the connection is at its end.

        Raises Flood if there are too many, and BadFrameError for a binary one, after which reading may go on.
        """
        while True:
            message = await self._socket.receive()
            if self._bucket.take(1, self._monotonic()) > 0:
                raise Flood
            if message.type is WSMsgType.TEXT:
                return str(message.data)
            if message.type is WSMsgType.BINARY:
                raise BadFrameError
            if message.type is WSMsgType.PING:
                await self._socket.pong(message.data)
            elif message.type is not WSMsgType.PONG:
                return None

    def give_back(self) -> None:
        """Count one message less: it was asked for, so however fast it came it is no flood."""
        self._bucket.give_back(1)
