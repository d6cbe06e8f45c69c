"""Spectators at `/ws/watch`: each follows channels by version, and none can slow the others down."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
import structlog
from aiohttp import web

from agents import protocol
from server.broadcast import FRONT, Broadcast, ladder_channel, match_channel
from server.frames import text_frame
from server.inbox import BadFrameError, Flood, Inbox, bad_json

COALESCE_S = 0.05
"""Changes within this time go out together."""

SKIP_ABOVE_BYTES = 32_768
"""A spectator with more than this unsent gets nothing new until it has read."""

AT_ONCE = 50
"""Spectators served in one turn of the event loop."""

STALLED_S = 30.0
"""A spectator that has not read for so long is cut off."""

CLOSE_S = 1.0
MAX_CHANNELS = 64
MESSAGES_A_SECOND = 20
BURST = 100

log = structlog.get_logger()

Lookup = Callable[[int], Awaitable[bytes | None]]
"""Finds a match that is not in the broadcast any more; returns its encoded snapshot."""


class Rounds:
    """Goes round the spectators who have something to hear, every COALESCE_S at most.

    Many are served in pieces, so that the matches have their turns in between.
    """

    def __init__(self) -> None:
        self._due: list[Spectator] = []
        self._next: asyncio.TimerHandle | None = None
        self._began = 0.0

    def soon(self, spectator: "Spectator") -> None:
        """Serve a spectator in the next round: at once if the last one was some time ago."""
        self._due.append(spectator)
        if self._next is None:
            loop = asyncio.get_running_loop()
            self._next = loop.call_at(max(loop.time(), self._began + COALESCE_S), self._begin)

    def _begin(self) -> None:
        self._began = asyncio.get_running_loop().time()
        due, self._due = self._due, []
        self._serve(due)

    def _serve(self, due: list["Spectator"]) -> None:
        piece, rest = due[:AT_ONCE], due[AT_ONCE:]
        for spectator in piece:
            spectator.send_new(self._began)
        loop = asyncio.get_running_loop()
        if rest:
            loop.call_soon(self._serve, rest)
        else:
            self._next = loop.call_at(self._began + COALESCE_S, self._begin) if self._due else None


class Spectator:
    """One socket and its place in each channel it follows."""

    def __init__(
        self,
        socket: web.WebSocketResponse,
        transport: asyncio.Transport,
        broadcast: Broadcast,
        rounds: Rounds,
    ) -> None:
        self._socket = socket
        self._transport = transport
        self._broadcast = broadcast
        self._rounds = rounds
        self._places: dict[str, int | None] = {}
        self._dirty: set[str] = set()
        self._behind_since: float | None = None

    def follow(self, channel: str, since: int | None) -> None:
        """Start at `since`, or with a snapshot."""
        self._places[channel] = since
        self._broadcast.follow(channel, self)
        self.changed(channel)

    def unfollow(self, channel: str) -> None:
        """Stop following."""
        self._places.pop(channel, None)
        self._dirty.discard(channel)
        self._broadcast.unfollow(channel, self)

    def leave(self) -> None:
        """Stop following anything."""
        for channel in list(self._places):
            self.unfollow(channel)

    def full(self) -> bool:
        """Whether no more channels may be followed."""
        return len(self._places) >= MAX_CHANNELS

    def changed(self, channel: str) -> None:
        """Hear that a channel has changed."""
        if not self._dirty:
            self._rounds.soon(self)
        self._dirty.add(channel)

    def send_new(self, now: float) -> None:
        """Send what is new, as long as the socket takes it; the rest has to wait for another round."""
        while self._dirty and not self._socket.closed and not self._transport.is_closing():
            if self._transport.get_write_buffer_size() > SKIP_ABOVE_BYTES:
                self._wait(now)
                return
            self._behind_since = None
            self._send(self._dirty.pop())

    def _wait(self, now: float) -> None:
        """Try again in the next round; whoever has not read for long is cut off."""
        if self._behind_since is None:
            self._behind_since = now
        if now - self._behind_since > STALLED_S:
            log.info("spectator.does_not_read")
            self._transport.abort()
        else:
            self._rounds.soon(self)

    def _send(self, channel: str) -> None:
        place = self._places[channel]
        events = None if place is None else self._broadcast.events_after(channel, place)
        if events is None:
            self._places[channel], snapshot = self._broadcast.snapshot(channel)
            self._transport.write(text_frame(snapshot))
        elif events:
            self._places[channel] = events[-1].version
            self._transport.write(b"".join([event.frame for event in events]))


class WatchGateway:
    """Handler of `/ws/watch`."""

    def __init__(
        self, broadcast: Broadcast, ladders: set[str], lookup: Lookup, monotonic: Callable[[], float]
    ) -> None:
        self._monotonic = monotonic
        self._broadcast = broadcast
        self._ladders = ladders
        self._lookup = lookup
        self._rounds = Rounds()
        self.sockets: set[web.WebSocketResponse] = set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one spectator."""
        socket = web.WebSocketResponse(
            timeout=CLOSE_S,
            compress=False,
            max_msg_size=4_096,
            heartbeat=60,
            autoping=False,
            decode_text=False,
        )
        await socket.prepare(request)
        transport = request.transport
        if transport is None:
            return socket
        spectator = Spectator(socket, transport, self._broadcast, self._rounds)
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
            spectator.leave()
        return socket

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
        self, text: bytes, socket: web.WebSocketResponse, spectator: Spectator
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


def _decode(text: bytes) -> protocol.FromSpectator | protocol.Error:
    message: protocol.FromSpectator
    try:
        message = protocol.decode_from_spectator(text)
    except msgspec.ValidationError as error:
        return protocol.Error("bad_message", str(error))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return bad_json(text, error)
    return message
