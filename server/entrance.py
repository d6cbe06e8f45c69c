"""Accepts connections, some in each turn of the event loop, and asks the door to make room for them.

The event loop's own way of listening takes all who wait in one turn, and closes the listener for good when
no file is left. Here a crowd waits in the kernel's queue, and matches have their turns in between.
"""

import asyncio
import socket
from collections.abc import Callable

import structlog

from server.door import Door

AT_ONCE = 16
"""Connections taken in one turn of the event loop: 2 or 3 ms of work."""

SPARE = 16
"""Silent connections cut when no file is left."""

NO_FILES_S = 0.1
"""How long nobody is accepted then."""

log = structlog.get_logger()


class Entrance:
    """Takes connections from a listening socket."""

    def __init__(
        self, listener: socket.socket, door: Door, welcome: Callable[[str], asyncio.Protocol]
    ) -> None:
        self._listener = listener
        self._door = door
        self._welcome = welcome
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self._arrivals: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Accept from now on."""
        self._pause = None
        self._loop.add_reader(self._listener.fileno(), self._accept)

    def close(self) -> None:
        """Accept nobody any more; those inside stay."""
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self._listener.fileno())

    def _accept(self) -> None:
        closed_s = self._door.closed_s()
        if closed_s > 0:
            self._rest(closed_s)
            return
        for _ in range(AT_ONCE):
            try:
                connection, address = self._listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionError:
                continue  # it is gone already
            except OSError as error:
                self._free_files(error)
                return
            self._let_in(connection, str(address[0]))

    def _let_in(self, connection: socket.socket, peer: str) -> None:
        connection.setblocking(False)
        arrival = self._loop.create_task(self._begin(connection, peer))
        self._arrivals.add(arrival)
        arrival.add_done_callback(self._arrivals.discard)

    async def _begin(self, connection: socket.socket, peer: str) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: self._welcome(peer), connection)
        except OSError as error:
            log.debug("connection.lost", error=repr(error))
            connection.close()

    def _free_files(self, error: OSError) -> None:
        """Without a free file, cut some who are silent, and look again in a moment."""
        cut = self._door.cut_oldest("no_files", SPARE)
        log.warning("connections.no_files", address="listener", cut=cut, error=str(error))
        self._rest(NO_FILES_S)

    def _rest(self, seconds: float) -> None:
        self._loop.remove_reader(self._listener.fileno())
        self._pause = self._loop.call_later(seconds, self.open)
