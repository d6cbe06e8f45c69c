"""Spectators at `/ws/watch`: each follows channels by version, and none can slow the others down."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
import structlog
from aiohttp import web

from agents import protocol
from server.broadcast import FRONT, Broadcast, ladder_channel, match_channel
from server.inbox import BadFrameError, Flood, Inbox

COALESCE_S = 0.05
"""Changes within this time go out together."""

SKIP_ABOVE_BYTES = 32_768
"""A spectator with more than this unsent gets nothing new until it has read."""

STALLED_S = 30.0
CLOSE_S = 1.0
MAX_CHANNELS = 64
MESSAGES_A_SECOND = 20
BURST = 100

log = structlog.get_logger()

Lookup = Callable[[int], Awaitable[bytes | None]]
"""Finds a match that is not in the broadcast any more; returns its encoded snapshot."""


class Spectator:
    """One socket and its place in each channel it follows."""

    def __init__(self, socket: web.WebSocketResponse, request: web.Request, broadcast: Broadcast) -> None:
        self._socket = socket
        self._transport = request.transport
        self._broadcast = broadcast
        self._places: dict[str, int | None] = {}
        self._dirty: set[str] = set()
        self._wake = asyncio.Event()

    def follow(self, channel: str, since: int | None) -> None:
        """Start at `since`, or with a snapshot."""
        self._places[channel] = since
        self.changed({channel})

    def unfollow(self, channel: str) -> None:
        """Stop following."""
        self._places.pop(channel, None)

    def full(self) -> bool:
        """Whether no more channels may be followed."""
        return len(self._places) >= MAX_CHANNELS

    def changed(self, channels: set[str]) -> None:
        """Hear that channels have changed."""
        mine = channels & self._places.keys()
        if mine:
            self._dirty |= mine
            self._wake.set()

    async def run(self) -> None:
        """Send what is new, a batch at a time, until the socket closes or stalls."""
        while not self._socket.closed:
            await self._wake.wait()
            self._wake.clear()
            if self._transport is None or self._transport.is_closing():
                return
            if self._transport.get_write_buffer_size() > SKIP_ABOVE_BYTES:
                self._wake.set()
            else:
                dirty, self._dirty = self._dirty, set()
                async with asyncio.timeout(STALLED_S):
                    for channel in sorted(dirty):
                        await self._send(channel)
            await asyncio.sleep(COALESCE_S)

    async def _send(self, channel: str) -> None:
        if channel not in self._places:
            return
        place = self._places[channel]
        events = None if place is None else self._broadcast.events_after(channel, place)
        if events is None:
            events = [self._broadcast.snapshot(channel)]
        for version, encoded in events:
            self._places[channel] = version
            await self._socket.send_str(encoded.decode())


class WatchGateway:
    """Handler of `/ws/watch`."""

    def __init__(
        self, broadcast: Broadcast, ladders: set[str], lookup: Lookup, monotonic: Callable[[], float]
    ) -> None:
        self._monotonic = monotonic
        self._broadcast = broadcast
        self._ladders = ladders
        self._lookup = lookup
        self.sockets: set[web.WebSocketResponse] = set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one spectator."""
        socket = web.WebSocketResponse(
            timeout=CLOSE_S, compress=False, max_msg_size=4_096, heartbeat=60, autoping=False
        )
        await socket.prepare(request)
        spectator = Spectator(socket, request, self._broadcast)
        end = self._broadcast.subscribe(spectator.changed)
        sender = asyncio.create_task(self._send_all(spectator, socket))
        self.sockets.add(socket)
        try:
            inbox = Inbox(socket, request, MESSAGES_A_SECOND, BURST, self._monotonic)
            await self._read(inbox, socket, spectator)
        except Flood:
            await socket.close(code=1008, message=b"flood", drain=False)
        except ConnectionError as error:
            log.debug("spectator.cut", error=repr(error))
        finally:
            self.sockets.discard(socket)
            end()
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
        return socket

    async def _send_all(self, spectator: Spectator, socket: web.WebSocketResponse) -> None:
        try:
            await spectator.run()
        except (ConnectionError, RuntimeError, TimeoutError):
            await socket.close(code=1008, message=b"spectator does not read", drain=False)

    async def _read(self, inbox: Inbox, socket: web.WebSocketResponse, spectator: Spectator) -> None:
        while True:
            try:
                text = await inbox.text()
            except BadFrameError:
                answer: protocol.Error | None = protocol.Error("bad_frame", "expected JSON text")
            else:
                if text is None:
                    return
                answer = await self._take(text, socket, spectator)
            if answer is not None:
                await socket.send_str(protocol.encode(answer).decode())

    async def _take(
        self, text: str, socket: web.WebSocketResponse, spectator: Spectator
    ) -> protocol.Error | None:
        message = _decode(text)
        if isinstance(message, protocol.Error):
            return message
        channel = self._channel(message)
        if channel is None:
            return protocol.Error(
                "unknown_channel",
                "expected one of match, ladder or front, and one that exists",
                f"ladders: {', '.join(sorted(self._ladders))}",
            )
        if isinstance(message, protocol.Unwatch):
            spectator.unfollow(channel)
            return None
        if spectator.full():
            return protocol.Error("too_many_channels", f"expected at most {MAX_CHANNELS} channels")
        if message.match is not None and self._broadcast.view(message.match) is None:
            return await self._show_finished(message.match, socket)
        spectator.follow(channel, message.since)
        return None

    async def _show_finished(self, match_id: int, socket: web.WebSocketResponse) -> protocol.Error | None:
        snapshot = await self._lookup(match_id)
        if snapshot is None:
            return protocol.Error("unknown_match", f"expected a match, got {match_id}")
        await socket.send_str(snapshot.decode())
        return None

    def _channel(self, message: protocol.FromSpectator) -> str | None:
        asked = [message.match is not None, message.ladder is not None, message.front]
        if sum(asked) != 1:
            return None
        if message.front:
            return FRONT
        if message.match is not None:
            return match_channel(message.match)
        assert message.ladder is not None
        return ladder_channel(message.ladder) if message.ladder in self._ladders else None


def _decode(text: str) -> protocol.FromSpectator | protocol.Error:
    message: protocol.FromSpectator
    try:
        message = protocol.decode_from_spectator(text)
    except msgspec.ValidationError as error:
        return protocol.Error("bad_message", str(error))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return protocol.Error("bad_json", f"expected a JSON object, got {text[:60]!r}: {error}")
    return message
