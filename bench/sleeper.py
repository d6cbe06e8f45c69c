"""The control of deadlines: a process on the server's kind of loop that does nothing but sleep to them.

`python -m bench.sleeper FILE` has a deadline about every ten milliseconds, each made half a second before,
and notes how late it woke. Where a timer fires early, as whole milliseconds make it, it sleeps once more, as
a match does. It ends with its standard input.
"""

import asyncio
import random
import sys
import time

import uvloop

from bench.lateness import Trace

AHEAD_S = 0.5
EVERY_S = 0.01


class Sleeper:
    """Deadlines that are set and pass."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._draw = random.Random(1)

    async def run(self) -> None:
        """Set deadlines without end."""
        while True:
            self._sleep(time.monotonic() + AHEAD_S + self._draw.random() * EVERY_S)
            await asyncio.sleep(EVERY_S)

    def _sleep(self, due: float) -> None:
        asyncio.get_running_loop().call_later(max(0.0, due - time.monotonic()), self._wake, due)

    def _wake(self, due: float) -> None:
        now = time.monotonic()
        if now < due:
            self._sleep(due)
        else:
            self._trace.note(now, now - due)


async def main(path: str) -> None:
    """Sleep until standard input ends."""
    sleeping = asyncio.create_task(Sleeper(Trace(path)).run())
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    sleeping.cancel()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
