"""What comes in over one socket, and no more of it than a connection may send."""

import asyncio
import math
from collections.abc import Callable
from typing import cast

from aiohttp import WSMsgType, web
from aiohttp.http_websocket import WSMessageNoDecodeText

from agents import protocol
from server.agent_socket import AgentSocket
from server.frames import pong_frame
from server.http.errors import LimitReachedError

BYTES_A_SECOND = 131_072
BURST_BYTES = 524_288
PIECE_BYTES = 8_192
"""What is read without a pause: in empty frames, some milliseconds of work."""

UNREAD_PONGS_BYTES = 16_384
"""A client with more than this unsent gets no pongs."""

_FROM_CLIENT = frozenset({WSMsgType.TEXT, WSMsgType.BINARY, WSMsgType.PING, WSMsgType.PONG})


class Flood(Exception):  # noqa: N818 - the word of the documentation
    """More messages than a connection may send; `answer` tells its client so."""

    def __init__(self, rate: float, burst: float, wait_s: float) -> None:
        seconds = max(1, math.ceil(wait_s))
        limit = f"at most {rate:g} messages a second, {burst:g} at once"
        self.answer = protocol.Error(
            "flood",
            f"expected {limit}, got more; come again in {seconds} s",
            expected=limit,
            got="more",
            where="messages_per_connection",
            retry_after_s=seconds,
        )
        super().__init__(limit)


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

    `received_at` says when the bytes came in that are passed on, in the very call in which they are.
    """

    def __init__(
        self, inner: asyncio.Protocol, transport: asyncio.Transport, monotonic: Callable[[], float]
    ) -> None:
        self._inner = inner
        self.transport = transport
        self._monotonic = monotonic
        self.received_at = monotonic()
        self._bucket = Bucket(BYTES_A_SECOND, BURST_BYTES, self.received_at)
        self._waiting = bytearray()
        self._paused = False
        self._in_debt = False

    @classmethod
    def install(cls, request: web.Request, monotonic: Callable[[], float]) -> "Metered":
        """Meter a request's connection from now on. Raises ConnectionResetError if it is gone."""
        # uvloop's transports and aiohttp's protocols are what they are by shape, not by class.
        transport = request.transport
        if transport is None:
            raise ConnectionResetError("the client has gone")
        meter = cls(cast("asyncio.Protocol", transport.get_protocol()), transport, monotonic)
        transport.set_protocol(meter)
        return meter

    def data_received(self, data: bytes) -> None:
        """Pass data on, a piece at a time; whoever sent too much waits for the rest to be read."""
        self.received_at = self._monotonic()
        if self._paused or len(data) > PIECE_BYTES:
            self._waiting += data
            if not self._paused:
                self._pass_next()
        else:
            self._pass_on(data)

    def _pass_next(self) -> None:
        if self._in_debt:  # its own fault, and no lateness of ours
            self.received_at = self._monotonic()
        piece = bytes(self._waiting[:PIECE_BYTES])
        del self._waiting[:PIECE_BYTES]
        self._pass_on(piece)

    def _pass_on(self, piece: bytes) -> None:
        if piece:
            self._inner.data_received(piece)
        debt_s = self._bucket.take(len(piece), self._monotonic())
        self._in_debt = debt_s > 0
        if self.transport.is_closing():
            return
        if debt_s > 0 or self._waiting:
            # Everybody else has a turn before the next piece; one in debt waits until it is paid.
            self._paused = True
            self.transport.pause_reading()
            asyncio.get_running_loop().call_later(debt_s, self._pass_next)
        elif self._paused:
            self._paused = False
            self.transport.resume_reading()

    @property
    def has_unread(self) -> bool:
        """Whether something has come in that waits its turn, by no fault of who sent it."""
        return bool(self._waiting) and not self._in_debt

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


def _no_pong(_payload: bytes) -> bool:
    """Nobody has asked for one."""
    return False


class Inbox:
    """The text frames of one socket. Every frame counts, pings and pongs too.

    `heard_at` says when the last byte of the newest frame came that was read. `pong` hears the payload of
    each pong, and says whether it was asked for: such a one counts for nothing.
    """

    def __init__(
        self,
        socket: web.WebSocketResponse,
        request: web.Request,
        rate: float,
        burst: float,
        monotonic: Callable[[], float],
    ) -> None:
        self.pong: Callable[[bytes], bool] = _no_pong
        self._socket = socket
        self._rate, self._burst = rate, burst
        self._bucket = Bucket(rate, burst, monotonic())
        self._meter = Metered.install(request, monotonic)
        self._transport = self._meter.transport
        self.heard_at = self._meter.received_at

    def has_unread(self) -> bool:
        """Whether something has come in that waits its turn to be read."""
        return self._meter.has_unread

    @property
    def received_at(self) -> float:
        """When the newest frame came in, whenever a task gets round to it."""
        return self._meter.received_at

    async def text(self) -> bytes | None:
        """Return the next text frame; None when the connection is at its end.

        Raises Flood if there are too many, and BadFrameError for a binary one, after which reading may go on.
        """
        while (frame := await self._socket.receive()).type in _FROM_CLIENT:
            if self._count() > 0:
                raise self._flood()
            text = self._open(frame)
            if text is not None:
                return text
        return None

    async def listen(self, socket: AgentSocket, hear: Callable[[bytes | None], None]) -> None:
        """Have each text frame heard in the moment it is read, None standing for a binary one, until the end.

        Raises Flood if there are too many, and whatever `hear` raises.
        """
        faults: list[Exception] = []

        def take(frame: WSMessageNoDecodeText) -> bool:
            if faults or frame.type not in _FROM_CLIENT:
                return False
            try:
                self._pass(frame, hear)
            except Exception as error:  # noqa: BLE001 - raised below, by the task that this wakes
                faults.append(error)
            return not faults

        socket.frames.hear = take
        try:
            while (frame := await socket.receive()).type in _FROM_CLIENT:
                if faults:
                    raise faults[0]
                self._pass(frame, hear)  # it came before anybody listened
        finally:
            socket.frames.hear = None

    def _pass(self, frame: WSMessageNoDecodeText, hear: Callable[[bytes | None], None]) -> None:
        in_debt = self._count() > 0
        try:
            text = self._open(frame)
        except BadFrameError:
            hear(None)
        else:
            if text is not None:
                hear(text)  # who gives back what it costs if it was asked for: no reply is ever a flood
        if in_debt and self._count(0) > 0:
            raise self._flood()

    def _count(self, messages: int = 1) -> float:
        """Count messages; return the seconds until the connection is out of debt."""
        return self._bucket.take(messages, self._meter.received_at)

    def _flood(self) -> Flood:
        return Flood(self._rate, self._burst, self._count(0))

    def _open(self, frame: WSMessageNoDecodeText) -> bytes | None:
        """Return the text of a frame, None for one without. A client that reads no pongs gets no more."""
        self.heard_at = self._meter.received_at
        if frame.type is WSMsgType.TEXT:
            return cast("bytes", frame.data)
        if frame.type is WSMsgType.BINARY:
            raise BadFrameError
        if frame.type is WSMsgType.PING and self._transport.get_write_buffer_size() < UNREAD_PONGS_BYTES:
            self._transport.write(pong_frame(frame.data))
        elif frame.type is WSMsgType.PONG and self.pong(frame.data):
            self.give_back()
        return None

    def give_back(self) -> None:
        """Count one message less: it was asked for, so however fast it came it is no flood."""
        self._bucket.give_back(1)


def limit_reached(error: LimitReachedError) -> protocol.Error:
    """Say which limit, and when to come again."""
    return protocol.Error(
        error.code, str(error), error.expected, error.got, error.limit, float(error.retry_after_s)
    )


def bad_json(text: bytes, error: Exception) -> protocol.Error:
    """Say that a text is no JSON."""
    shown = text[:60].decode(errors="replace")
    return protocol.Error("bad_json", f"expected a JSON object, got {shown!r}: {error}")
