"""A rough line between agents and a server: a TCP proxy that is slow, stalls, and breaks.

`Line` is for an event loop; `LineInThread` is the same for a test, which has none.
"""

import asyncio
import contextlib
import random
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

PIECE_BYTES = 65_536
PIECES_UNDER_WAY = 256
"""More are not read until some have arrived, as on a real line."""

NO_LINGER = struct.pack("ii", 1, 0)
"""A socket closed with this sends a reset in place of a farewell."""

LATE_S = 0.5
"""A piece so long after its time was kept back by a proxy that got no turn on the processor."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass
class Weather:
    """How long a piece of data takes, in seconds: `delay_s`, and up to `jitter_s` more by lot."""

    delay_s: float = 0.0
    jitter_s: float = 0.0


class Passage:
    """One connection through the line. `late` hears by how many seconds the proxy itself was late."""

    def __init__(self, near: Streams, far: Streams, weather: Weather, draw: random.Random) -> None:
        self.weather = weather
        self.late: Callable[[float], None] = lambda _seconds: None
        self._near, self._far = near, far
        self._draw = draw
        self._stalled_until = 0.0

    async def carry(self) -> None:
        """Carry data both ways until one side ends; then end the other."""
        ways = [
            asyncio.create_task(self._way(self._near[0], self._far[1])),
            asyncio.create_task(self._way(self._far[0], self._near[1])),
        ]
        try:
            done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            if any(way.exception() is not None for way in done):
                self.reset()
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            self.close()

    def stall(self, seconds: float) -> None:
        """Let nothing arrive for so long, either way."""
        self._stalled_until = max(self._stalled_until, asyncio.get_running_loop().time() + seconds)

    def close(self) -> None:
        """End the connection in an orderly way: both sides see its end."""
        for _, writer in (self._near, self._far):
            with contextlib.suppress(OSError):
                writer.close()

    def reset(self) -> None:
        """Break the connection: both sides see a reset, and what is under way is lost."""
        for _, writer in (self._near, self._far):
            with contextlib.suppress(OSError):
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
            writer.transport.abort()

    async def _way(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one way, each piece after its time and all in their order."""
        loop = asyncio.get_running_loop()
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(PIECES_UNDER_WAY)
        arriving = asyncio.create_task(self._arrive(under_way, writer))
        due = 0.0
        try:
            while not arriving.done():
                piece = await reader.read(PIECE_BYTES)
                takes_s = self.weather.delay_s + self._draw.uniform(0.0, self.weather.jitter_s)
                due = max(due, loop.time() + takes_s)
                await under_way.put((due, piece))
                if not piece:
                    break
            await arriving
        finally:
            arriving.cancel()

    async def _arrive(
        self, under_way: "asyncio.Queue[tuple[float, bytes]]", writer: asyncio.StreamWriter
    ) -> None:
        """Deliver what is under way; an empty piece is the end."""
        loop = asyncio.get_running_loop()
        while True:
            due, piece = await under_way.get()
            while (left_s := max(due, self._stalled_until) - loop.time()) > 0:
                await asyncio.sleep(left_s)
            late_s = loop.time() - max(due, self._stalled_until)
            if late_s > LATE_S:
                self.late(late_s)
            if not piece:
                return
            writer.write(piece)
            await writer.drain()


class Line:
    """A proxy to a port of this machine. `opened` hears of each new connection, `ended` of its end."""

    def __init__(
        self,
        far_port: int,
        weather: Callable[[], Weather],
        *,
        draw: random.Random | None = None,
        opened: Callable[[Passage], None] = lambda _passage: None,
        ended: Callable[[Passage], None] = lambda _passage: None,
    ) -> None:
        self.far_port = far_port
        self.passages: set[Passage] = set()
        self._weather = weather
        self._draw = draw or random.Random()
        self._opened, self._ended = opened, ended
        self._server: asyncio.Server | None = None

    async def open(self) -> int:
        """Listen; return the port."""
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    def reset(self) -> None:
        """Break every connection there is now; a new one gets through."""
        for passage in list(self.passages):
            passage.reset()

    def shut(self) -> None:
        """Listen no more, and break every connection."""
        if self._server is not None:
            self._server.close()
        self.reset()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far = await asyncio.open_connection("127.0.0.1", self.far_port)
        except OSError:  # no server there now: the agent hears so by its own connection's end
            writer.transport.abort()
            return
        passage = Passage((reader, writer), far, self._weather(), self._draw)
        self.passages.add(passage)
        self._opened(passage)
        try:
            await passage.carry()
        finally:
            self.passages.discard(passage)
            self._ended(passage)


class LineInThread:
    """A line for a test that has no event loop: `with LineInThread() as line: line.lead_to(server.port)`."""

    def __init__(self) -> None:
        self.weather = Weather()
        self._loop = asyncio.new_event_loop()
        self._line = Line(0, lambda: self.weather)
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        self._port = asyncio.run_coroutine_threadsafe(self._line.open(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._call(self._line.shut)
        asyncio.run_coroutine_threadsafe(self._wait_until_empty(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def url(self) -> str:
        """Where an agent finds the server by this line."""
        return f"http://127.0.0.1:{self._port}"

    def lead_to(self, far_port: int) -> None:
        """Have connections from now on lead to this port, which is another than the line's own."""
        self._line.far_port = far_port

    def reset(self) -> float:
        """Break every connection there is now; a new one gets through. Return when, by `time.monotonic`."""
        self._call(self._line.reset)
        return time.monotonic()

    def _call(self, work: Callable[[], object]) -> None:
        """Do something in the loop's thread, and wait until it is done."""
        done = threading.Event()

        def do() -> None:
            work()
            done.set()

        self._loop.call_soon_threadsafe(do)
        assert done.wait(10), "the line's thread does not answer"

    async def _wait_until_empty(self) -> None:
        while self._line.passages:
            await asyncio.sleep(0.01)
