"""Calling an agent's code, guarded: it may raise anything, exit, or never come back."""

import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from traceback import FrameSummary
from typing import TypeAlias

from agents.clock import Timer, now_ms, wait

Frames: TypeAlias = tuple[FrameSummary, ...]
"""Where a thread is, the innermost call last."""


@dataclass(frozen=True)
class Called:
    """How a call went. `frames` tell where it was when the limit passed, if it had not returned by then."""

    value: object
    error: BaseException | None
    elapsed_ms: float
    finished: bool = True
    frames: Frames = ()


class _Box:
    """Where the thread leaves what came of the call."""

    def __init__(self) -> None:
        self.value: object = None
        self.error: BaseException | None = None
        self.done_ms = 0.0
        self.done = threading.Event()


def call(work: Callable[[], object], limit_ms: float | None, timer: Timer = now_ms) -> Called:
    """Call `work` and wait at most `limit_ms` for it; None waits for ever, in this thread.

    Python cannot stop a thread: work that never returns goes on in a daemon thread until the process ends.
    """
    box = _Box()
    started_ms = timer()
    if limit_ms is None:
        try:
            box.value = work()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is handed on as the result
            box.error = error
        return Called(box.value, box.error, timer() - started_ms)
    thread = threading.Thread(target=_run, args=(work, box, timer), name="agent", daemon=True)
    thread.start()
    if wait(box.done, limit_ms):
        return Called(box.value, box.error, box.done_ms - started_ms)
    return Called(None, None, timer() - started_ms, finished=False, frames=frames_of(thread))


def _run(work: Callable[[], object], box: _Box, timer: Timer) -> None:
    try:
        box.value = work()
    except BaseException as error:  # noqa: BLE001 - it is handed on as the result
        box.error = error
    box.done_ms = timer()
    box.done.set()


def frames_of(thread: threading.Thread) -> Frames:
    """Tell where a running thread is; nothing if it has ended."""
    frame = sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - documented, for debuggers
    if frame is None or not thread.is_alive():
        return ()
    return tuple(traceback.extract_stack(frame))
