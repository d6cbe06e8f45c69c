"""The house agents' process: started, watched and ended by the server.

Its standard input is its life line: when the server ends, in whatever way, the pipe closes and the
process exits by itself.
"""

import asyncio
import sys
from collections.abc import Sequence

import structlog

from server.settings import LadderSpec

STOP_S = 2.0
MAX_PAUSE_S = 30.0

log = structlog.get_logger()


class House:
    """Keeps `python -m agents.house` running. The token is this process's word for all house agents."""

    def __init__(self, url: str, token: str, ladders: Sequence[LadderSpec]) -> None:
        self._token = token
        self._arguments = ["-m", "agents.house", "--server", url]
        for ladder in ladders:
            self._arguments += ["--ladders", f"{ladder.name}={ladder.game}"]
        self._process: asyncio.subprocess.Process | None = None

    async def run(self) -> None:
        """Start the process, and start it again if it ends, until cancelled."""
        pause_s = 1.0
        loop = asyncio.get_running_loop()
        try:
            while True:
                started = loop.time()
                code = await self._run_once()
                log.error("house.ended", address="house", code=code, again_in_s=pause_s)
                await asyncio.sleep(pause_s)
                pause_s = 1.0 if loop.time() - started > 60 else min(MAX_PAUSE_S, pause_s * 2)
        finally:
            await self._stop()

    async def _run_once(self) -> int:
        # Its own session: Ctrl-C is the server's to handle.
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, *self._arguments, stdin=asyncio.subprocess.PIPE, start_new_session=True
        )
        assert self._process.stdin is not None
        self._process.stdin.write(self._token.encode() + b"\n")
        log.info("house.started", pid=self._process.pid)
        return await self._process.wait()

    async def _stop(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(STOP_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
