"""Which agents are connected, with how many free hands."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import structlog
from aiohttp import web

from agents import protocol
from server.frames import text_frame

UNREAD_BYTES = 65_536
"""A client with more than this unsent has stopped reading, or is about to."""

STALLED_S = 10.0
"""How long it may go on so."""

MAX_UNREAD_BYTES = 1_048_576
"""More is never kept for anybody."""

log = structlog.get_logger()


def _nothing_unread() -> bool:
    """Answer for a connection that is not read yet."""
    return False


def _unmeasured() -> None:
    """Measure nothing: agents of the house are given nothing for their line."""


@dataclass(eq=False)
class Connection:
    """One agent's socket. `post` never waits, so a slow reader delays nobody.

    `matches` are the ids of the running matches played over it. `round_trip_ms` is the estimate of its line's
    round trip, None as long as it is not measured; `ping` is called before each request, to measure it.
    `has_unread` says whether something has come in over it that nobody has heard yet. For `kept_s` before it
    was made, the server did not let the agent in.
    """

    socket: web.WebSocketResponse
    transport: asyncio.Transport
    agent_id: int
    name: str
    version_id: int
    version: int
    house: bool
    ladders: tuple[str, ...]
    concurrency: int
    since: float
    token_id: int | None = None
    kept_s: float = 0.0
    round_trip_ms: float | None = None
    ping: Callable[[], None] = _unmeasured
    has_unread: Callable[[], bool] = _nothing_unread
    matches: set[int] = field(default_factory=set)
    leaving: bool = False
    replaced: bool = False
    _patience: asyncio.TimerHandle | None = None

    def post(self, message: protocol.ToAgent) -> None:
        """Hand a message to the socket.

        That of a client that does not read has it too: nobody stops a clock by not reading.
        """
        transport = self.transport
        if self.socket.closed or transport.is_closing():
            return
        transport.write(text_frame(protocol.encode(message)))
        unread = transport.get_write_buffer_size()
        if unread > UNREAD_BYTES and self._patience is None:
            self._patience = asyncio.get_running_loop().call_later(STALLED_S, self._lose_patience)
        if unread > MAX_UNREAD_BYTES:
            self._cut()

    def _lose_patience(self) -> None:
        """Cut off a client that has read too little for too long."""
        self._patience = None
        if self.transport.get_write_buffer_size() > UNREAD_BYTES:
            self._cut()

    def _cut(self) -> None:
        """End the connection at once: who does not read would not read a farewell either."""
        log.info("agent.does_not_read", agent=self.name)
        self.transport.abort()

    def free(self) -> int:
        """Return how many more matches may start now."""
        return 0 if self.leaving else self.concurrency - len(self.matches)


class Presence:
    """The connected agents. The newest connection of an agent is the agent."""

    def __init__(self) -> None:
        self._by_agent: dict[int, Connection] = {}
        self._by_version: dict[int, Connection] = {}
        self._by_ladder: defaultdict[str, dict[int, Connection]] = defaultdict(dict)

    def __iter__(self) -> Iterator[Connection]:
        return iter(list(self._by_agent.values()))

    def of_agent(self, agent_id: int) -> Connection | None:
        """Return the connection of an agent, whatever its version."""
        return self._by_agent.get(agent_id)

    def get(self, version_id: int) -> Connection | None:
        """Return the connection of a version of an agent; another version of it does not count."""
        return self._by_version.get(version_id)

    def on_ladder(self, name: str) -> list[Connection]:
        """Return the connections that ask for a ladder."""
        return list(self._by_ladder[name].values()) if name in self._by_ladder else []

    def enter(self, connection: Connection) -> Connection | None:
        """Take the connection as its agent's; return the one it replaces."""
        replaced = self._by_agent.get(connection.agent_id)
        if replaced is not None:
            self._forget(replaced)
        self._by_agent[connection.agent_id] = connection
        self._by_version[connection.version_id] = connection
        for ladder in connection.ladders:
            self._by_ladder[ladder][connection.agent_id] = connection
        return replaced

    def leave(self, connection: Connection) -> bool:
        """Forget the connection; False if another has taken its place already."""
        if self._by_agent.get(connection.agent_id) is not connection:
            return False
        self._forget(connection)
        return True

    def _forget(self, connection: Connection) -> None:
        del self._by_agent[connection.agent_id]
        del self._by_version[connection.version_id]
        for ladder in connection.ladders:
            self._by_ladder[ladder].pop(connection.agent_id, None)
