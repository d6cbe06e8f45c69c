"""Which agents are connected, with how many free hands."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import structlog
from aiohttp import web

from agents import protocol

OUTBOX_LIMIT = 512
STALLED_S = 10.0

log = structlog.get_logger()


@dataclass(eq=False)
class Connection:
    """One agent's socket. `post` never waits; a task of its own writes, so a slow reader delays nobody.

    `matches` are the ids of the running matches played over it.
    """

    socket: web.WebSocketResponse
    agent_id: int
    name: str
    version_id: int
    version: int
    house: bool
    ladders: tuple[str, ...]
    concurrency: int
    since: float
    matches: set[int] = field(default_factory=set)
    leaving: bool = False
    replaced: bool = False
    _outbox: deque[tuple[bytes, Callable[[], None] | None]] = field(default_factory=deque)
    _filled: asyncio.Event = field(default_factory=asyncio.Event)
    _stalled: bool = False

    def post(self, message: protocol.ToAgent, on_written: Callable[[], None] | None = None) -> None:
        """Queue a message; `on_written` is called when it is handed to the socket.

        With a client that does not read, that moment is now: nobody stops a clock by not reading.
        """
        if self._stalled or self.socket.closed or len(self._outbox) >= OUTBOX_LIMIT:
            if on_written is not None:
                on_written()
            on_written = None
        if len(self._outbox) < OUTBOX_LIMIT:
            self._outbox.append((protocol.encode(message), on_written))
            self._filled.set()

    async def write_out(self) -> None:
        """Write the outbox to the socket until it closes; a client that reads nothing is cut off."""
        try:
            while not self.socket.closed:
                await self._filled.wait()
                self._filled.clear()
                while self._outbox:
                    await self._write(*self._outbox.popleft())
        except (ConnectionError, RuntimeError, TimeoutError) as error:
            log.debug("agent.unwritable", agent=self.name, error=repr(error))
            await self.socket.close(code=1008, message=b"client does not read", drain=False)
        finally:
            self._release()

    async def _write(self, data: bytes, on_written: Callable[[], None] | None) -> None:
        send = asyncio.ensure_future(self.socket.send_str(data.decode()))
        try:
            await asyncio.sleep(0)  # the frame is in the transport's buffer after this step
        finally:
            if on_written is not None:
                on_written()
        if send.done():
            send.result()
            return
        self._stalled = True
        self._release()
        async with asyncio.timeout(STALLED_S):
            await send
        self._stalled = False

    def _release(self) -> None:
        for position, (data, on_written) in enumerate(self._outbox):
            if on_written is not None:
                on_written()
                self._outbox[position] = (data, None)

    def free(self) -> int:
        """Return how many more matches may start now."""
        return 0 if self.leaving else self.concurrency - len(self.matches)


class Presence:
    """The connected agents. The newest connection of an agent is the agent."""

    def __init__(self) -> None:
        self._by_agent: dict[int, Connection] = {}
        self._by_version: dict[int, Connection] = {}

    def __iter__(self) -> Iterator[Connection]:
        return iter(list(self._by_agent.values()))

    def of_agent(self, agent_id: int) -> Connection | None:
        """Return the connection of an agent, whatever its version."""
        return self._by_agent.get(agent_id)

    def get(self, version_id: int) -> Connection | None:
        """Return the connection of a version of an agent; another version of it does not count."""
        return self._by_version.get(version_id)

    def enter(self, connection: Connection) -> Connection | None:
        """Take the connection as its agent's; return the one it replaces."""
        replaced = self._by_agent.get(connection.agent_id)
        if replaced is not None:
            del self._by_version[replaced.version_id]
        self._by_agent[connection.agent_id] = connection
        self._by_version[connection.version_id] = connection
        return replaced

    def leave(self, connection: Connection) -> bool:
        """Forget the connection; False if another has taken its place already."""
        if self._by_agent.get(connection.agent_id) is not connection:
            return False
        del self._by_agent[connection.agent_id]
        del self._by_version[connection.version_id]
        return True
