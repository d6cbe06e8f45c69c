"""Agents at `/ws/agent`: hello, then messages to and from their matches.

An unusable message gets one error and the connection stays open. Only an oversize frame, a flood, a refused
`hello` or none in time, and a newer connection of the same agent close it.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

import msgspec
import structlog
from aiohttp import web
from sqlalchemy.exc import DBAPIError

from agents import protocol
from games.errors import InputError
from server.agent_socket import AgentSocket
from server.core import match as core
from server.db.absence import is_away
from server.http.errors import LimitReachedError
from server.inbox import BadFrameError, Flood, Inbox, bad_json, limit_reached
from server.pings import Pings, is_awaited
from server.presence import Connection, Presence
from server.reception import LATER, Reception
from server.referee import Referee
from server.settings import Settings

POLICY_VIOLATION = 1008
TRY_AGAIN_LATER = 1013

CLOSE_S = 1.0
"""How long a client may take to answer a close."""

COME_AGAIN_S = 1.0
"""When whoever was refused for something that passes may try again."""

REPLACED = protocol.Error("replaced", "this agent connected once more")
REVOKED = protocol.Error("token_revoked", "this agent's token was revoked")
NO_DATABASE = protocol.Error(
    "database_unavailable", "expected a database that answers, got none; come again in a moment"
)
BINARY = protocol.Error("bad_frame", "expected JSON text, got a binary frame", "JSON text", "a binary frame")

log = structlog.get_logger()


class Gateway:
    """Handler of `/ws/agent`."""

    def __init__(
        self,
        settings: Settings,
        reception: Reception,
        presence: Presence,
        referee: Referee,
        monotonic: Callable[[], float],
        behind: Callable[[float], float],
        wake: Callable[[], None],
        stay: Callable[[web.Request], AbstractContextManager[None]],
    ) -> None:
        self._settings = settings
        self._reception = reception
        self._presence = presence
        self._referee = referee
        self._monotonic = monotonic
        self._behind = behind
        self._wake = wake
        self._stay = stay
        self._farewells: set[asyncio.Task[None]] = set()
        self.sockets: set[web.WebSocketResponse] = set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one agent."""
        socket = AgentSocket(timeout=CLOSE_S, max_msg_size=protocol.MAX_FRAME_BYTES + 1)
        await socket.prepare(request)
        self.sockets.add(socket)
        address = request.remote or "unknown"
        rate, burst = self._settings.messages_per_s, self._settings.burst
        try:
            inbox = Inbox(socket, request, rate, burst, self._monotonic)
            await self._converse(request, socket, inbox)
        except TimeoutError:
            await _refuse(socket, protocol.Error("no_hello", "expected hello in time, got nothing"))
            log.info("agent.no_hello", address=address)
        except InputError as error:
            later = error.code in LATER
            await _refuse(socket, _to_message(error), TRY_AGAIN_LATER if later else POLICY_VIOLATION)
            log.info("agent.refused", address=address, code=error.code)
        except Flood as flood:
            await _refuse(socket, flood.answer)
            log.warning("agent.flood", address=address)
        except DBAPIError as error:
            if not is_away(error):
                raise
            await _refuse(socket, NO_DATABASE, TRY_AGAIN_LATER)
            log.warning("agent.no_database", address=address)
        except ConnectionError as error:
            log.debug("agent.cut", address=address, error=repr(error))
        finally:
            self.sockets.discard(socket)
        return socket

    async def _converse(self, request: web.Request, socket: AgentSocket, inbox: Inbox) -> None:
        async with asyncio.timeout(self._settings.hello_s):
            hello = await self._hello(socket, inbox)
        if hello is not None:
            with self._stay(request):
                connection = await self._reception.enter(request, socket, hello, self._retire)
                await self._serve(connection, socket, inbox, self._reception.unknown_ladder(hello))

    async def _hello(self, socket: web.WebSocketResponse, inbox: Inbox) -> protocol.Hello | None:
        while (message := await _next(inbox)) is not None:
            match message:
                case protocol.Hello():
                    return message
                case protocol.Error():
                    await _answer(socket, message)
                case _:
                    await _answer(socket, _error("no_hello", "hello first", type(message).__name__.lower()))
        return None

    async def _serve(
        self, connection: Connection, socket: AgentSocket, inbox: Inbox, unknown: InputError | None
    ) -> None:
        connection.has_unread = inbox.has_unread
        connection.post(self._welcome(connection))
        if unknown is not None:
            connection.post(_to_message(unknown))
        self._take_place(connection)
        log.info("agent.connected", agent=connection.name, version=connection.version)
        pings = Pings(connection, inbox, partial(self._is_busy, connection), self._monotonic, self._behind)
        if not connection.house:
            pings.start()
        try:
            await inbox.listen(socket, partial(self._hear, connection, inbox))
        finally:
            pings.stop()
            if self._presence.leave(connection):
                self._referee.agent_lost(connection)
            log.info("agent.disconnected", agent=connection.name)

    def _is_busy(self, connection: Connection) -> bool:
        """Whether a match awaits something of the agent."""
        for game in map(self._referee.find, connection.matches):
            seat = None if game is None else game.seat_of(connection.version_id)
            if game is not None and seat is not None and is_awaited(game.match, seat):
                return True
        return False

    def _hear(self, connection: Connection, inbox: Inbox, text: bytes | None) -> None:
        if connection.replaced:
            return
        answer = self._take(connection, BINARY if text is None else _decode(text), inbox)
        if answer is not None:
            connection.post(answer)

    def _take_place(self, connection: Connection) -> None:
        """Become the agent's connection. What an older one is doing is over; it is told so aside."""
        older = self._presence.of_agent(connection.agent_id)
        if older is not None and older.version_id != connection.version_id:
            self._retire(older)
        replaced = self._presence.enter(connection)
        if replaced is not None:
            self._dismiss(replaced)
        self._referee.agent_back(connection)
        self._wake()

    def _retire(self, connection: Connection) -> None:
        """End a connection whose version of the agent plays no more."""
        if self._presence.leave(connection):
            self._referee.agent_lost(connection, gone=True)
        self._dismiss(connection)

    def revoked(self, token_id: int) -> None:
        """End the connection that was made with this token, which is worth nothing any more."""
        for connection in self._presence:
            if connection.token_id == token_id:
                if self._presence.leave(connection):
                    self._referee.agent_lost(connection)  # it may be back with a newer token
                self._dismiss(connection, REVOKED)

    def _dismiss(self, connection: Connection, reason: protocol.Error = REPLACED) -> None:
        connection.replaced = True
        farewell = _refuse(connection.socket, reason)
        task = asyncio.create_task(farewell)
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)

    def _welcome(self, connection: Connection) -> protocol.Welcome:
        limits = protocol.Limits(
            max_frame_bytes=protocol.MAX_FRAME_BYTES,
            max_info_bytes=protocol.MAX_INFO_BYTES,
            messages_per_s=self._settings.messages_per_s,
            burst=self._settings.burst,
            ready_ms=self._settings.ready_ms,
        )
        running = self._referee.running_of(connection.version_id)
        return protocol.Welcome(protocol.VERSION, connection.name, connection.version, limits, running)

    def _take(
        self, connection: Connection, message: protocol.FromAgent | protocol.Error, inbox: Inbox
    ) -> protocol.Error | None:
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
        seat = None if game is None else game.seat_of(connection.version_id)
        if game is None or seat is None:
            running = ", ".join(map(str, sorted(connection.matches))) or "none"
            return _error("wrong_match", "a match of this agent", str(message.match), f"running: {running}")
        event = _event(message, seat, inbox.heard_at)
        if game.expects(event):
            inbox.give_back()
        game.deliver(event)
        return None


def _event(
    message: protocol.Ready | protocol.Move | protocol.Resign, seat: int, at: float
) -> core.MatchEvent:
    match message:
        case protocol.Ready():
            return core.Ready(seat, at)
        case protocol.Resign():
            return core.Resign(seat, at, crashed=message.reason == "crash")
        case protocol.Move():
            return core.Action(seat, message.ply, message.action, at, message.info)


async def _next(inbox: Inbox) -> protocol.FromAgent | protocol.Error | None:
    """Return the next message, or the error that answers an unusable one; None at the end."""
    try:
        text = await inbox.text()
    except BadFrameError:
        return BINARY
    return None if text is None else _decode(text)


def _decode(text: bytes) -> protocol.FromAgent | protocol.Error:
    message: protocol.FromAgent
    try:
        message = protocol.decode_from_agent(text)
    except msgspec.ValidationError as error:
        return protocol.Error("bad_message", str(error), where="message")
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return bad_json(text, error)
    return message


def _error(code: str, expected: str, got: str, where: str | None = None) -> protocol.Error:
    return protocol.Error(code, f"expected {expected}, got {got}", expected, got, where)


def _to_message(error: InputError) -> protocol.Error:
    """Put an InputError on the wire."""
    if isinstance(error, LimitReachedError):
        return limit_reached(error)
    later_s = COME_AGAIN_S if error.code in LATER else None
    return protocol.Error(error.code, str(error), error.expected, error.got, error.where or None, later_s)


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
