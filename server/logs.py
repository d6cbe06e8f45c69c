"""Logs: one line an event on stderr, at most ten a minute about any one agent or address."""

import contextlib
import logging
import sys
from collections.abc import Callable, MutableMapping
from typing import Any, TextIO

import structlog

LINES_A_MINUTE = 10
_WINDOW_S = 60.0
_KEYS = ("agent", "address")

EventDict = MutableMapping[str, Any]


class Throttle:
    """Drops what one agent or address causes beyond its share; the last line let through says so."""

    def __init__(self, now: Callable[[], float], limit: int = LINES_A_MINUTE) -> None:
        self._now = now
        self._limit = limit
        self._counts: dict[tuple[str, str], tuple[float, int]] = {}

    def __call__(self, _logger: object, _method: str, event: EventDict) -> EventDict:
        """Pass the event on, or drop it."""
        for key in _KEYS:
            if key in event and not self._admit((key, str(event[key])), event):
                raise structlog.DropEvent
        return event

    def _admit(self, who: tuple[str, str], event: EventDict) -> bool:
        now = self._now()
        since, count = self._counts.get(who, (now, 0))
        if now - since >= _WINDOW_S:
            since, count = now, 0
        if len(self._counts) > 10_000:
            self._counts = {k: v for k, v in self._counts.items() if now - v[0] < _WINDOW_S}
        self._counts[who] = (since, count + 1)
        if count + 1 == self._limit:
            event["throttled"] = f"no more about this {who[0]} for {_WINDOW_S - (now - since):.0f} s"
        return count < self._limit


class _Unfailing:
    """Where the lines go: one that cannot be written (a full disk, a reader that is gone) is lost alone."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()


class _Forward(logging.Handler):
    """Sends what libraries log through the same pipe."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log one record of a library."""
        error = record.exc_info[1] if record.exc_info else None
        structlog.get_logger().log(
            record.levelno,
            record.getMessage()[:500],
            address=f"library {record.name}",
            **({"error": _place(error)} if error else {}),
        )


def configure(level: str, now: Callable[[], float]) -> None:
    """Set up the logs of this process. `now` is a monotonic clock in seconds."""
    lines: Any = _Unfailing(sys.stderr)
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            Throttle(now),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=lambda *_: structlog.PrintLogger(lines),
        cache_logger_on_first_use=False,
    )
    logging.basicConfig(handlers=[_Forward()], level=max(number, logging.WARNING), force=True)


def _place(error: BaseException) -> str:
    """Say what kind of error it was, and where; its text may hold what belongs in no log."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = "" if frame is None else f" at {frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}"
    return f"{type(error).__name__}{where}"
