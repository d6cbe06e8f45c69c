"""Spectators at `/ws/watch`: each follows channels by version, and none can slow the others down."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from itertools import chain, islice

import msgspec
import structlog
from aiohttp import web

from agents import protocol
from server.broadcast import FRONT, Broadcast, ladder_channel, match_channel
from server.db.readers import BusyError
from server.frames import text_frame
from server.http.errors import LimitReachedError
from server.inbox import BadFrameError, Flood, Inbox, bad_json, limit_reached

COALESCE_S = 0.05
"""Changes within this time go out together."""

SKIP_ABOVE_BYTES = 32_768
"""A spectator with more than this unsent gets nothing new until it has read."""

AT_ONCE = 50
"""Spectators served in one turn of the event loop."""

LOOK_AGAIN_S = 0.25
"""After so long it is asked again whether a spectator that was behind has read."""

STALLED_S = 30.0
"""A spectator that has not read for so long is cut off."""

CLOSE_S = 1.0
POLICY_VIOLATION = 1008
TRY_AGAIN_LATER = 1013
MAX_CHANNELS = 64
MESSAGES_A_SECOND = 20
BURST = 100

log = structlog.get_logger()

Lookup = Callable[[int], Awaitable[bytes | None]]
"""Finds a match that is not in the broadcast any more; returns its encoded snapshot."""


class Rounds:
    """Goes round the spectators of what has changed, every COALESCE_S at most.

    It alone hears of changes, so a change costs the same however many look on. Many are served in pieces, and
    the matches have their turns in between. Who does not read is looked after aside and delays no round.
    """

    def __init__(self, broadcast: Broadcast) -> None:
        self._broadcast = broadcast
        self._seats: dict[str, set[Spectator]] = {}
        self._changed: set[str] = set()
        self._new: list[tuple[str, Spectator]] = []
        self._next: asyncio.TimerHandle | None = None
        self._began = 0.0
        self._behind: list[Spectator] = []

    def follow(self, channel: str, spectator: "Spectator") -> None:
        """Serve a spectator in the next round, and then whenever the channel has changed."""
        seats = self._seats.get(channel)
        if seats is None:
            seats = self._seats[channel] = set()
            self._broadcast.follow(channel, self)
        seats.add(spectator)
        self._new.append((channel, spectator))
        self._soon()

    def unfollow(self, channel: str, spectator: "Spectator") -> None:
        """Serve a spectator no more."""
        seats = self._seats.get(channel, set())
        seats.discard(spectator)
        if not seats and self._seats.pop(channel, None) is not None:
            self._broadcast.unfollow(channel, self)

    def changed(self, channel: str) -> None:
        """Hear that a channel has changed."""
        self._changed.add(channel)
        self._soon()

    def _soon(self) -> None:
        """Begin the next round: at once if the last one was some time ago."""
        if self._next is None:
            loop = asyncio.get_running_loop()
            self._next = loop.call_at(max(loop.time(), self._began + COALESCE_S), self._begin)

    def _begin(self) -> None:
        self._began = asyncio.get_running_loop().time()
        new, self._new = self._new, []
        changed, self._changed = self._changed, set()
        seated = ((name, one) for name in changed for one in list(self._seats.get(name, ())))
        self._serve(chain(new, seated))

    def _serve(self, due: Iterator[tuple[str, "Spectator"]]) -> None:
        served = 0
        for channel, spectator in islice(due, AT_ONCE):
            served += 1
            spectator.serve(channel)
        loop = asyncio.get_running_loop()
        if served == AT_ONCE:
            loop.call_soon(self._serve, due)
        elif self._new or self._changed:
            self._next = loop.call_at(self._began + COALESCE_S, self._begin)
        else:
            self._next = None

    def wait_for(self, spectator: "Spectator") -> None:
        """Look now and then whether a spectator reads again."""
        if not self._behind:
            asyncio.get_running_loop().call_later(LOOK_AGAIN_S, self._look_again, [])
        self._behind.append(spectator)

    def _look_again(self, rest: list["Spectator"]) -> None:
        loop = asyncio.get_running_loop()
        if not rest:
            rest, self._behind = self._behind, []
        piece, rest = rest[:AT_ONCE], rest[AT_ONCE:]
        for spectator in piece:
            spectator.catch_up(loop.time())
        if rest:
            loop.call_soon(self._look_again, rest)


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
        self._behind_since: float | None = None

    def follow(self, channel: str, since: int | None) -> None:
        """Start at `since`, or with a snapshot."""
        self._places[channel] = since
        self._rounds.follow(channel, self)

    def unfollow(self, channel: str) -> None:
        """Stop following."""
        self._places.pop(channel, None)
        self._rounds.unfollow(channel, self)

    def leave(self) -> None:
        """Stop following anything."""
        for channel in list(self._places):
            self.unfollow(channel)

    def full(self) -> bool:
        """Whether no more channels may be followed."""
        return len(self._places) >= MAX_CHANNELS

    def serve(self, channel: str) -> None:
        """Send what is new, unless the socket is full: then it has to wait."""
        if self._behind_since is not None or self._gone():
            return
        if self._transport.get_write_buffer_size() > SKIP_ABOVE_BYTES:
            self._behind_since = asyncio.get_running_loop().time()
            self._rounds.wait_for(self)
        elif channel in self._places:
            self._send(channel)

    def catch_up(self, now: float) -> None:
        """Send all that is new by now if the socket takes it again; who has not read for long is cut off."""
        if self._gone() or self._behind_since is None:
            return
        if self._transport.get_write_buffer_size() <= SKIP_ABOVE_BYTES:
            self._behind_since = None
            for channel in list(self._places):
                self.serve(channel)
        elif now - self._behind_since > STALLED_S:
            log.info("spectator.does_not_read")
            self._transport.abort()
        else:
            self._rounds.wait_for(self)

    def _gone(self) -> bool:
        return self._socket.closed or self._transport.is_closing()

    def _send(self, channel: str) -> None:
        place = self._places[channel]
        new = None if place is None else self._broadcast.frames_after(channel, place)
        if new is None:
            self._places[channel], snapshot = self._broadcast.snapshot(channel)
            self._transport.write(text_frame(snapshot))
        elif new[1]:
            self._places[channel], frames = new
            self._transport.write(frames)


class WatchGateway:
    """Handler of `/ws/watch`."""

    def __init__(
        self,
        broadcast: Broadcast,
        ladders: set[str],
        lookup: Lookup,
        monotonic: Callable[[], float],
        stay: Callable[[web.Request], AbstractContextManager[None]] = lambda _: nullcontext(),
    ) -> None:
        self._stay = stay
        self._monotonic = monotonic
        self._broadcast = broadcast
        self._ladders = ladders
        self._lookup = lookup
        self._rounds = Rounds(broadcast)
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
            with ExitStack() as place:
                inbox = Inbox(socket, request, MESSAGES_A_SECOND, BURST, self._monotonic)
                await self._read(inbox, socket, spectator, lambda: place.enter_context(self._stay(request)))
        except Flood as flood:
            await _refuse(socket, flood.answer, POLICY_VIOLATION)
        except LimitReachedError as error:
            await _refuse(socket, limit_reached(error), TRY_AGAIN_LATER)
        except ConnectionError as error:
            log.debug("spectator.cut", error=repr(error))
        finally:
            self.sockets.discard(socket)
            spectator.leave()
        return socket

    async def _read(
        self,
        inbox: Inbox,
        socket: web.WebSocketResponse,
        spectator: Spectator,
        settle: Callable[[], None],
    ) -> None:
        """Read on. The first message that can be used shows that this one stays."""
        settled = False
        while True:
            try:
                text = await inbox.text()
            except BadFrameError:
                answer: protocol.Error | None = protocol.Error("bad_frame", "expected JSON text")
            else:
                if text is None:
                    return
                answer = await self._take(text, socket, spectator)
                if answer is None and not settled:
                    settle()
                    settled = True
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
        try:
            snapshot = await self._lookup(match_id)
        except BusyError as error:
            return protocol.Error(
                error.code, str(error), error.expected, error.got, error.where, float(error.retry_after_s)
            )
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


async def _refuse(socket: web.WebSocketResponse, message: protocol.Error, close_code: int) -> None:
    """Say why and close; whoever does not read is not waited for."""
    with suppress(TimeoutError, ConnectionError, RuntimeError):
        async with asyncio.timeout(CLOSE_S):
            await socket.send_str(protocol.encode(message).decode())
            await socket.close(code=close_code, message=message.code.encode(), drain=False)


def _decode(text: bytes) -> protocol.FromSpectator | protocol.Error:
    message: protocol.FromSpectator
    try:
        message = protocol.decode_from_spectator(text)
    except msgspec.ValidationError as error:
        return protocol.Error("bad_message", str(error))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return bad_json(text, error)
    return message
