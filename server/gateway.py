"""Agents at `/ws/agent`: hello, then messages to and from their matches.

An unusable message gets one error and the connection stays open. Only an oversize frame, a flood, or no
`hello` in time close it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

import msgspec
import structlog
from aiohttp import WSMsgType, web

from agents import protocol
from games.errors import InputError
from server.core import match as core
from server.http.errors import LimitReachedError
from server.http.limits import RateLimit
from server.http.security import address_of
from server.presence import Connection, Presence
from server.referee import Referee
from server.settings import Settings

MAX_CONCURRENCY = 64
POLICY_VIOLATION = 1008
TRY_AGAIN_LATER = 1013

CLOSE_S = 1.0
"""How long a client may take to answer a close."""

HELLOS_A_MINUTE = 30
"""An agent that connects more often is told when to come again."""

log = structlog.get_logger()


@dataclass(frozen=True)
class Admitted:
    """Who said hello, as the database knows them."""

    agent_id: int
    name: str
    version_id: int
    version: int
    house: bool


Admit = Callable[[protocol.Hello, str | None], Awaitable[Admitted]]
"""Checks a hello with the token of its header; raises InputError to refuse."""


class Flood(Exception):  # noqa: N818 - the word of the documentation
    """More messages than a connection may send."""


class TokenBucket:
    """Admits `rate` messages a second, `burst` at once."""

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate, self._burst = rate, burst
        self._level, self._at = burst, now

    def take(self, now: float) -> None:
        """Count one message. Raises Flood if it is one too many."""
        self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now
        if self._level < 1:
            raise Flood
        self._level -= 1

    def give_back(self) -> None:
        """Count one message less: it was asked for, so however fast it came it is no flood."""
        self._level = min(self._burst, self._level + 1)


class Gateway:
    """Handler of `/ws/agent`."""

    def __init__(
        self,
        settings: Settings,
        admit: Admit,
        presence: Presence,
        referee: Referee,
        monotonic: Callable[[], float],
        now: Callable[[], datetime],
        wake: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._admit = admit
        self._presence = presence
        self._referee = referee
        self._monotonic = monotonic
        self._now = now
        self._wake = wake
        self._hellos = RateLimit("hellos_per_agent", count=HELLOS_A_MINUTE, period_s=60)
        self.sockets: set[web.WebSocketResponse] = set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one agent."""
        socket = web.WebSocketResponse(compress=False, max_msg_size=protocol.MAX_FRAME_BYTES, autoping=False)
        await socket.prepare(request)
        self.sockets.add(socket)
        address = request.remote or "unknown"
        bucket = TokenBucket(self._settings.messages_per_s, self._settings.burst, self._monotonic())
        try:
            async with asyncio.timeout(self._settings.hello_s) as patience:
                connection = await self._hello(socket, request, bucket)
                patience.reschedule(None)
                if connection is not None:
                    await self._serve(socket, connection, bucket)
        except TimeoutError:
            await _refuse(socket, protocol.Error("no_hello", "expected hello in time, got nothing"))
            log.info("agent.no_hello", address=address)
        except Flood:
            limit = f"{self._settings.messages_per_s} messages a second, {self._settings.burst} at once"
            await _refuse(socket, protocol.Error("flood", f"expected at most {limit}"))
            log.warning("agent.flood", address=address)
        except ConnectionError as error:
            log.debug("agent.cut", address=address, error=repr(error))
        finally:
            self.sockets.discard(socket)
        return socket

    async def _hello(
        self, socket: web.WebSocketResponse, request: web.Request, bucket: TokenBucket
    ) -> Connection | None:
        while True:
            text = await self._next_text(socket, bucket)
            if text is None:
                return None
            message = _decode(text)
            if isinstance(message, protocol.Error):
                await _answer(socket, message)
            elif not isinstance(message, protocol.Hello):
                await _answer(socket, _error("no_hello", "hello first", type(message).__name__.lower()))
            else:
                try:
                    self._hellos.spend(f"{address_of(request)} {message.agent[:40]}", self._now())
                    return await self._enter(socket, message, _bearer(request))
                except InputError as error:
                    later = isinstance(error, LimitReachedError)
                    await _refuse(socket, to_message(error), TRY_AGAIN_LATER if later else POLICY_VIOLATION)
                    return None

    async def _enter(
        self, socket: web.WebSocketResponse, hello: protocol.Hello, token: str | None
    ) -> Connection:
        if hello.protocol != protocol.VERSION:
            raise InputError(
                "protocol", expected=f"protocol {protocol.VERSION}", got=str(hello.protocol), where="hello"
            )
        if not 1 <= hello.concurrency <= MAX_CONCURRENCY:
            raise InputError(
                "bad_hello",
                expected=f"concurrency from 1 to {MAX_CONCURRENCY}",
                got=str(hello.concurrency),
                where="hello",
            )
        known = [ladder.name for ladder in self._settings.ladders]
        unknown = [ladder for ladder in hello.ladders if ladder not in known]
        if unknown or not hello.ladders:
            got = repr(unknown[0][:40]) if unknown else "none"
            raise InputError("unknown_ladder", expected="a ladder", got=got, where="hello", available=known)
        admitted = await self._admit(hello, token)
        return Connection(
            socket=socket,
            agent_id=admitted.agent_id,
            name=admitted.name,
            version_id=admitted.version_id,
            version=admitted.version,
            house=admitted.house,
            ladders=tuple(dict.fromkeys(hello.ladders)),
            concurrency=hello.concurrency,
            since=self._monotonic(),
        )

    async def _serve(
        self, socket: web.WebSocketResponse, connection: Connection, bucket: TokenBucket
    ) -> None:
        replaced = self._presence.enter(connection)
        if replaced is not None:
            connection.rest_until, connection.no_shows = replaced.rest_until, replaced.no_shows
            await _refuse(replaced.socket, protocol.Error("replaced", "this agent connected once more"))
        connection.post(self._welcome(connection))
        writer = asyncio.create_task(connection.write_out())
        self._referee.agent_back(connection)
        self._wake()
        log.info("agent.connected", agent=connection.name, version=connection.version)
        try:
            while (text := await self._next_text(socket, bucket)) is not None:
                answer = self._take(connection, text, bucket)
                if answer is not None:
                    connection.post(answer)
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            if self._presence.leave(connection):
                self._referee.agent_lost(connection)
            log.info("agent.disconnected", agent=connection.name)

    def _welcome(self, connection: Connection) -> protocol.Welcome:
        limits = protocol.Limits(
            max_frame_bytes=protocol.MAX_FRAME_BYTES,
            max_info_bytes=protocol.MAX_INFO_BYTES,
            messages_per_s=self._settings.messages_per_s,
            burst=self._settings.burst,
            ready_ms=self._settings.ready_ms,
        )
        running = self._referee.running_of(connection.agent_id)
        return protocol.Welcome(protocol.VERSION, connection.name, connection.version, limits, running)

    async def _next_text(self, socket: web.WebSocketResponse, bucket: TokenBucket) -> str | None:
        """Return the next text frame; None when the connection is at its end."""
        while True:
            message = await socket.receive()
            bucket.take(self._monotonic())
            if message.type is WSMsgType.TEXT:
                return str(message.data)
            if message.type is WSMsgType.PING:
                await socket.pong(message.data)
            elif message.type is WSMsgType.BINARY:
                await _answer(socket, _error("bad_frame", "JSON text", "a binary frame"))
            elif message.type is not WSMsgType.PONG:
                return None

    def _take(self, connection: Connection, text: str, bucket: TokenBucket) -> protocol.Error | None:
        at = self._monotonic()
        message = _decode(text)
        match message:
            case protocol.Error():
                return message
            case protocol.Hello():
                return _error("repeated_hello", "one hello", "another one")
            case protocol.Leave():
                connection.leaving = True
                return None
            case protocol.Move(info=info) if info and len(protocol.encode(info)) > protocol.MAX_INFO_BYTES:
                return _error("info_too_big", f"info of at most {protocol.MAX_INFO_BYTES} bytes", "more")
        game = self._referee.find(message.match)
        seat = None if game is None else game.seat_of(connection.agent_id)
        if game is None or seat is None:
            running = ", ".join(map(str, sorted(connection.matches))) or "none"
            return _error("wrong_match", "a match of this agent", str(message.match), f"running: {running}")
        event = _event(message, seat, at)
        if game.expects(event):
            bucket.give_back()
        game.deliver(event)
        return None


def _event(
    message: protocol.Ready | protocol.Move | protocol.Resign, seat: int, at: float
) -> core.MatchEvent:
    match message:
        case protocol.Ready():
            return core.Ready(seat, at)
        case protocol.Resign():
            return core.Resign(seat, at)
        case protocol.Move():
            return core.Action(seat, message.ply, message.action, at, message.info)


def _decode(text: str) -> protocol.FromAgent | protocol.Error:
    message: protocol.FromAgent
    try:
        message = protocol.decode_from_agent(text)
    except msgspec.ValidationError as error:
        return protocol.Error("bad_message", str(error), where="message")
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return protocol.Error("bad_json", f"expected a JSON object, got {text[:60]!r}: {error}")
    return message


def _error(code: str, expected: str, got: str, where: str | None = None) -> protocol.Error:
    return protocol.Error(code, f"expected {expected}, got {got}", expected, got, where)


def to_message(error: InputError) -> protocol.Error:
    """Put an InputError on the wire."""
    return protocol.Error(error.code, str(error), error.expected, error.got, error.where or None)


async def _answer(socket: web.WebSocketResponse, message: protocol.Error) -> None:
    await socket.send_str(protocol.encode(message).decode())


async def _refuse(
    socket: web.WebSocketResponse, message: protocol.Error, close_code: int = POLICY_VIOLATION
) -> None:
    """Say why and close; whoever does not read is not waited for."""
    if socket.closed:
        return
    try:
        async with asyncio.timeout(1):
            await _answer(socket, message)
            await socket.close(code=close_code, message=message.code.encode(), drain=False)
    except (TimeoutError, ConnectionError, RuntimeError) as error:
        log.debug("agent.unreachable", error=repr(error))


def _bearer(request: web.Request) -> str | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None
