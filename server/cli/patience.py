"""Patience with a server that says to come again, or that restarts."""

import random
import threading
from collections.abc import Callable
from typing import TypeVar

from agents.backoff import Backoff
from agents.client import Timing
from agents.clock import now_ms, wait
from agents.refusal import NotNowError
from games.errors import InputError

T = TypeVar("T")

STEP_MS = 100
"""Pauses are made of such steps: between two of them Python notices Ctrl-C."""

SILENT = frozenset({"no_server", "no_plyground"})
"""Codes of errors that say that no server of ours has answered."""


class Patience:
    """Does again what a server refuses for now, as long as it asks for that; `say` is told each time.

    The times are the client's own: a server that has answered once, or has said to come again, may then be
    silent for `restart_ms`.
    """

    def __init__(self, say: Callable[[str], None], timing: Timing | None = None) -> None:
        self._say = say
        self._timing = timing or Timing()
        self._known = False

    def with_server(self, work: Callable[[], T]) -> T:
        """Return what `work` returns once the server lets it. Raises InputError for any other refusal."""
        pauses = (self._timing.first_pause_ms, self._timing.longest_pause_ms)
        backoff = Backoff(*pauses, random.Random())
        silent_ms = None
        while True:
            try:
                done = work()
            except NotNowError as error:
                self._known, silent_ms = True, None
                self._pause(f"the server says: {error}", backoff.pause_ms(error.asked_ms))
            except InputError as error:
                if error.code not in SILENT or not self._known:
                    raise
                silent_ms = now_ms() if silent_ms is None else silent_ms
                if now_ms() - silent_ms >= self._timing.restart_ms:
                    raise
                self._pause(error.got.partition(";")[0], backoff.pause_ms())
            else:
                self._known = True
                return done

    def _pause(self, why: str, pause_ms: float) -> None:
        self._say(f"not connected ({why}); next try in {pause_ms / 1000:.1f} s")
        until_ms = now_ms() + pause_ms
        while (left_ms := until_ms - now_ms()) > 0:
            wait(threading.Event(), min(STEP_MS, left_ms))
