"""The threads that read: those for whoever looks on have a queue with an end."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy.exc import OperationalError

from games.errors import InputError

T = TypeVar("T")

READ_S = 10.0
"""How long a reader may take over its answer, from when it begins."""

QUEUED_S = 10.0
"""How long anybody waits until a reader begins."""

COME_AGAIN_S = 2
"""When whoever found no reader free may try again, in whole seconds."""


class BusyError(InputError):
    """More waits to be read than there may; `limit` names it, `retry_after_s` says when to come again."""

    def __init__(self, limit: str, allowance: str) -> None:
        self.limit = limit
        self.retry_after_s = COME_AGAIN_S
        got = f"one more; the next is possible in {COME_AGAIN_S} s"
        super().__init__("busy", expected=allowance, got=got, where=limit)


class _Job:
    """Notes when its reader begins, on the monotonic clock."""

    def __init__(self, answer: Callable[[], object]) -> None:
        self._answer = answer
        self.began: float | None = None

    def __call__(self) -> object:
        self.began = time.monotonic()
        return self._answer()


class Readers:
    """A few threads; `most` may be read or wait for it at once (None: no limit)."""

    def __init__(self, threads: int, name: str, most: int | None = None) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._most = most
        self._asked = 0

    async def read(self, answer: Callable[[], T]) -> T:
        """Return what `answer()` returns in a thread.

        Raises BusyError at once if too many wait, or if no reader began within QUEUED_S; OperationalError if
        one did, and had no answer within READ_S.
        """
        if self._most is not None and self._asked >= self._most:
            raise BusyError("reads_at_once", f"at most {self._most} at once")
        job = _Job(answer)
        asked = asyncio.get_running_loop().run_in_executor(self._pool, job)
        self._asked += 1
        asked.add_done_callback(self._answered)
        try:
            await self._wait(asked, job)
        finally:
            asked.cancel()  # nobody waits for it any more; one that has begun is read to its end
        return asked.result()  # type: ignore[return-value]

    def _answered(self, asked: "asyncio.Future[object]") -> None:
        self._asked -= 1
        if not asked.cancelled():
            asked.exception()  # heard, also where nobody waits for it any more

    async def _wait(self, asked: "asyncio.Future[object]", job: _Job) -> None:
        left_s = QUEUED_S
        while left_s > 0:
            done, _ = await asyncio.wait({asked}, timeout=left_s)
            if done:
                return
            if job.began is None:
                raise BusyError("reads_at_once", f"a reader within {QUEUED_S:g} s")
            left_s = job.began + READ_S - time.monotonic()
        raise OperationalError(None, None, TimeoutError(f"no answer within {READ_S} s"))

    def close(self) -> None:
        """Finish what has been asked."""
        self._pool.shutdown()
