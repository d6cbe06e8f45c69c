"""One connection: aiohttp's protocol, and what the door has to know of it.

`_messages`, `_request_count` and `_upgraded` are not public in aiohttp: tests/server/test_visitor.py fails
if they change.
"""

import asyncio
import http
import sys
from typing import Any

import msgspec
import structlog
from aiohttp import StreamReader, web
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong

from games.errors import InputError
from server.door import Door
from server.http.errors import PROBLEM_TYPE, Handler, Problem, problem_of
from server.http.security import counted_as, secure

KEEPALIVE_S = 75.0
"""How long a connection may be kept for its next request, headers included."""

MAX_HEAD_BYTES = 32_768
"""A request line with all its headers; aiohttp allows 8 KB for each line."""

_CLIENTS_FAULT = (HttpProcessingError, web.RequestPayloadError, ConnectionError)

_receive = web.RequestHandler.data_received

log = structlog.get_logger()


class Visitor(web.RequestHandler):
    """A connection that the door knows, until it is a WebSocket that plays or watches."""

    def __init__(self, server: web.Server, door: Door, peer: str) -> None:
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # None is its word for none
            auto_decompress=False,
            keepalive_timeout=KEEPALIVE_S,
        )
        self.address = counted_as(peer)
        self._door = door
        self._body: StreamReader | None = None
        self._head_bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Come in."""
        self._door.enter(self)
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Be gone."""
        self._door.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, while the request's head is of a bearable size."""
        if self._upgraded:  # every frame of an agent comes this way
            _receive(self, data)
            return
        in_head, requests = self._body is None or self._body.is_eof(), self._request_count
        _receive(self, data)
        if self._request_count != requests:
            self._head_bytes = 0
            if self._messages:
                self._body = self._messages[-1][1]
        elif in_head:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse_head()
        elif self._body is not None and self._body.is_eof():
            self._door.served(self)

    def pause_writing(self) -> None:
        """Wait for a client that does not read."""
        super().pause_writing()
        self._door.stalls(self)

    def resume_writing(self) -> None:
        """Go on."""
        super().resume_writing()
        self._door.flows(self)

    def cut(self) -> None:
        """End the connection at once: whatever it was sent last, nobody waits for its arrival."""
        transport = self.transport
        self.force_close()
        if transport is not None:
            transport.abort()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what is no request as a problem, like any other bad input."""
        if not isinstance(exc, HttpProcessingError):
            return super().handle_error(request, status, exc, message)
        self._door.refuses(self, "malformed")
        log.info("request.malformed", address=self.address, error=type(exc).__name__)
        return _answer(_too_large() if _is_too_large(exc) else _malformed(exc))

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log a fault of ours as one, and one of the client's in a line."""
        given = kw.get("exc_info")
        error = given if isinstance(given, BaseException) else sys.exception()
        if isinstance(error, _CLIENTS_FAULT):
            log.info("request.broken", address=self.address, error=type(error).__name__)
        else:
            super().log_exception(*args, **kw)

    def _refuse_head(self) -> None:
        """Say why, if no answer is under way, and close."""
        self._door.refuses(self, "headers")
        log.info("request.headers_too_large", address=self.address)
        if self.transport is not None and not self._request_in_progress:
            self.transport.write(_raw(_answer(_too_large())))
        self.force_close()


def visitor_of(request: web.Request) -> Visitor:
    """Return the connection of a request to a server that has a door."""
    assert isinstance(request.protocol, Visitor), "all come in through the entrance"
    return request.protocol


def door_middleware(door: Door) -> Any:
    """Return the middleware that tells the door who has asked, and who is answered; it stands before all."""

    @web.middleware
    async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
        visitor = visitor_of(request)
        door.asks(visitor)
        if request.content.is_eof():
            door.served(visitor)
        try:
            return await handler(request)
        finally:
            door.waits(visitor)

    return note


def _malformed(error: HttpProcessingError) -> InputError:
    text = " ".join(error.message.split("\n")[0].split())
    return InputError("malformed_request", expected="an HTTP request", got=text, where="the request")


def _too_large() -> InputError:
    return InputError(
        "headers_too_large",
        expected=f"a line of at most 8,190 bytes, at most 128 of them and {MAX_HEAD_BYTES} bytes in all",
        got="more",
        where="the headers of the request",
    )


def _is_too_large(error: HttpProcessingError) -> bool:
    return isinstance(error, LineTooLong) or "Too many headers" in error.message


def _answer(fault: InputError) -> web.Response:
    """Answer outside of the application, with the headers that all its answers have."""
    problem: Problem = problem_of(fault)
    response = web.Response(
        status=problem.status,
        body=msgspec.json.encode(problem),
        content_type=PROBLEM_TYPE,
        headers={"Cache-Control": "no-store"},
    )
    secure(response)
    response.force_close()
    return response


def _raw(response: web.Response) -> bytes:
    """Write out an answer for a connection on which there is no request."""
    assert isinstance(response.body, bytes), "a problem is JSON"
    phrase = http.HTTPStatus(response.status).phrase
    headers = {**response.headers, "Content-Length": str(len(response.body)), "Connection": "close"}
    lines = [f"HTTP/1.1 {response.status} {phrase}", *(f"{name}: {text}" for name, text in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + response.body
