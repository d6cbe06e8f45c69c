"""The peer of spectators: a bare server on uvloop that writes the same bytes to all who have connected.

`python -m bench.send_loop` prints its port, then takes a line of JSON for each run: the `size` of an event in
bytes, how many there are (`events`), and the `rate` a second at which they come. Events that come within
`coalesce_s` go out together, as the server's do. It answers with a line when all are sent.
"""

import asyncio
import json
import sys
from typing import cast

import msgspec
import uvloop


class Run(msgspec.Struct):
    """What the parent process asks for."""

    size: int
    events: int
    rate: float
    coalesce_s: float


class Sink(asyncio.Protocol):
    """Someone to write to."""

    def __init__(self, all_here: "set[asyncio.Transport]") -> None:
        self._all_here = all_here
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count in."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one by shape, not by class
        self._all_here.add(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Count out."""
        if self._transport is not None:
            self._all_here.discard(self._transport)


async def send(all_here: "set[asyncio.Transport]", run: Run) -> None:
    """Write each event to all, or several together."""
    frame = b"x" * run.size
    begun, sent = asyncio.get_running_loop().time(), 0
    while sent < run.events:
        now = asyncio.get_running_loop().time()
        new = min(run.events, int((now - begun) * run.rate) + 1) - sent
        if new > 0:
            sent += new
            for transport in all_here:
                transport.write(frame * new)
        await asyncio.sleep(max(run.coalesce_s, begun + sent / run.rate - now))


async def main() -> None:
    """Carry out runs until standard input ends."""
    loop = asyncio.get_running_loop()
    all_here: set[asyncio.Transport] = set()
    server = await loop.create_server(lambda: Sink(all_here), "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        await send(all_here, msgspec.json.decode(line, type=Run))
        sys.stdout.write(json.dumps({"here": len(all_here)}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    uvloop.run(main())
