"""The peers of the server: bare `websockets` servers on uvloop, which do no more than the sockets need.

`python -m bench.echo BYTES` answers every frame with one of BYTES. With a second number it also sends one
of so many to the other side: connections are paired as they come. With `--compression` the library
compresses, as it does unless told otherwise, for clients that offer it. It prints its port, and ends with
its standard input.
"""

import asyncio
import sys
from contextlib import suppress

import uvloop
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

LIKE_A_REQUEST = (
    '{"type":"your_move","match":1207,"ply":17,'
    '"position":"......./......./...o.../..xx.../.xoo..o/oxxo.xx o",'
    '"last_actions":["3"],"legal":["1","2","3","4","5","6","7"],"clock":{"move_ms":1000},"last":null}'
)


class Echo:
    """Answers of given sizes: to the sender, and perhaps to its other side."""

    def __init__(self, sizes: list[int]) -> None:
        self._answer, *self._others = [(LIKE_A_REQUEST * 8)[:size] for size in sizes]
        self._lines: list[ServerConnection] = []

    async def serve(self, socket: ServerConnection) -> None:
        """Serve one connection."""
        other = len(self._lines) ^ 1
        self._lines.append(socket)
        with suppress(ConnectionClosed):
            async for _ in socket:
                await socket.send(self._answer)
                for text in self._others:
                    await self._lines[other].send(text)


async def main(sizes: list[int], compression: str | None) -> None:
    """Serve until standard input ends."""
    echo = Echo(sizes)
    async with serve(echo.serve, "127.0.0.1", 0, compression=compression, ping_interval=None) as server:
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    uvloop.run(main(numbers, "deflate" if "--compression" in sys.argv else None))
