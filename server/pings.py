"""Measures the line to an agent by ping frames of the server's own, and whether anybody is at its other end.

Liveness, presence and forfeit are three separate clocks. *Liveness* is this: a connection of which no frame
is heard for a minute, though it was pinged, is cut; an agent that has a move to make is left alone, since a
program that thinks need not answer. *Presence* is whether an agent has a connection (server.presence); it
gives no match away. *Forfeit* is the clock of the match (server.core.clock), which alone loses games.
"""

import asyncio
import secrets
from collections.abc import Callable

import structlog

from server.core import match as core
from server.core.round_trip import RoundTrip
from server.frames import ping_frame
from server.inbox import Inbox
from server.presence import Connection

APART_S = 1.0
"""The least time between two pings."""

LOOK_S = 20.0
"""A connection that is asked for nothing is pinged so often."""

SILENT_LOOKS = 3
"""A connection of which nothing was heard in so many looks is cut. Looks are counted and not seconds: a
server that stood for a minute has heard nobody."""

PAYLOAD_BYTES = 8

log = structlog.get_logger()


class Pings:
    """Pings one connection, one ping at a time, and keeps its `round_trip_ms`.

    `behind` tells how late the loop was at an instant, `is_busy` whether the agent has something to do for a
    match. A pong counts only with the payload of the ping that is out, which nobody can guess.
    """

    def __init__(
        self,
        connection: Connection,
        inbox: Inbox,
        is_busy: Callable[[], bool],
        monotonic: Callable[[], float],
        behind: Callable[[float], float],
    ) -> None:
        self._connection = connection
        self._inbox = inbox
        self._is_busy = is_busy
        self._monotonic = monotonic
        self._behind = behind
        self._line = RoundTrip()
        self._payload: bytes | None = None
        self._sent_at = float("-inf")
        self._heard_at = inbox.heard_at
        self._silent_looks = 0
        self._looking: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Ping now, and from now on."""
        self._inbox.pong = self._take
        self._connection.ping = self.ping
        self.ping()
        self._look_later()

    def stop(self) -> None:
        """Ping no more."""
        self._connection.ping = _not_any_more
        if self._looking is not None:
            self._looking.cancel()

    def ping(self) -> None:
        """Measure the line again, unless a ping is out or the last one is too fresh."""
        now = self._monotonic()
        transport = self._connection.transport
        if self._payload is None and now - self._sent_at >= APART_S and not transport.is_closing():
            self._payload = secrets.token_bytes(PAYLOAD_BYTES)
            self._sent_at = now
            transport.write(ping_frame(self._payload))

    def _take(self, payload: bytes) -> bool:
        """Take a pong; False if it answers no ping."""
        if payload != self._payload:
            return False
        self._payload = None
        at = self._inbox.heard_at
        most_ms = (at - self._sent_at) * 1000
        self._line = self._line.sampled(most_ms, most_ms - self._behind(at) * 1000)
        self._connection.round_trip_ms = self._line.ms
        return True

    def _look_later(self) -> None:
        self._looking = asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def _look(self) -> None:
        """See whether anything was heard since the last look; ping if nothing is going on."""
        busy = self._is_busy()
        heard = self._inbox.heard_at > self._heard_at
        self._heard_at = self._inbox.heard_at
        self._silent_looks = 0 if busy or heard else self._silent_looks + 1
        if self._silent_looks >= SILENT_LOOKS:
            log.info("agent.silent", agent=self._connection.name, looks=self._silent_looks)
            self._connection.transport.abort()
            return
        if not busy:
            self.ping()
        self._look_later()


def is_awaited(match: core.Match, seat: int) -> bool:
    """Whether something is awaited of a seat: a move, or that it is ready."""
    return match.to_move == seat or (match.phase is core.Phase.STARTING and not match.ready[seat])


def _not_any_more() -> None:
    """Ping nothing: the connection is over."""
