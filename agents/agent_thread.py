"""The thread that an agent's code runs in, one call after the other, and what it is at."""

import queue
import threading
from collections.abc import Callable

from agents.call import Called, Frames, call, frames_of
from agents.clock import now_ms


class AgentThread:
    """Does jobs in order. `failed` is called, in the thread, with what a job raised; the thread goes on."""

    def __init__(self, name: str, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._running = ""
        self._since_ms = 0.0

    def start(self) -> None:
        """Begin with the jobs."""
        self._thread.start()

    def put(self, job: Callable[[], None]) -> None:
        """Add a job."""
        self._jobs.put(job)

    def finish(self) -> None:
        """End when the jobs so far are done."""
        self._jobs.put(None)

    def call(self, name: str, work: Callable[[], object]) -> Called:
        """Call a function of the agent, from a job; `name` is what it is called in reports."""
        self._since_ms, self._running = now_ms(), name
        try:
            return call(work, None)
        finally:
            self._running = ""

    @property
    def doing(self) -> str | None:
        """The agent's function that runs, "" between two, None when the thread has ended or not begun."""
        return self._running if self._thread.is_alive() else None

    @property
    def running_ms(self) -> float:
        """For how long the agent's function has run that runs."""
        return now_ms() - self._since_ms

    def frames(self) -> Frames:
        """Tell where the thread is; nothing if it has ended."""
        return frames_of(self._thread)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception as error:  # noqa: BLE001 - reported, and the thread must not die in silence
                self._failed(error)
