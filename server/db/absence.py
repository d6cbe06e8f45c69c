"""When the database took nothing and why, as its writer sees it."""

import math
from collections.abc import Callable

from sqlalchemy import Connection, update
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from server.db.schema import ladders

SLOW_S = 5.0
"""A commit that takes longer is none: until it comes back, the database is away."""

_DISK_FULL = frozenset({"SQLITE_FULL", "53100"})
_DISK_FAILS = "SQLITE_IOERR"
_LOCKED = frozenset({"SQLITE_BUSY", "SQLITE_LOCKED", "55P03"})


def is_away(error: BaseException | None) -> bool:
    """Whether the database failed (away, locked, its disk full) and not what it was asked to do."""
    if isinstance(error, OperationalError | InterfaceError):
        return True
    return isinstance(error, DBAPIError) and error.connection_invalidated


def in_words(error: BaseException | None) -> str:
    """Say what is wrong with the database to anybody; the driver's own words may hold what is not theirs."""
    said = getattr(error, "orig", None)
    code = str(getattr(said, "sqlite_errorname", None) or getattr(said, "sqlstate", None) or "")
    if code in _DISK_FULL:
        return "disk full"
    if code.startswith(_DISK_FAILS):
        return "the disk could not be written"
    return "the database was locked" if code in _LOCKED else "the database was away"


def touch(conn: Connection) -> None:
    """Write something that changes nothing, to see whether anything can be written."""
    conn.execute(update(ladders).values(title=ladders.c.title))


class Absence:
    """Since when nothing can be written. Times in seconds of one monotonic clock.

    The writer's thread tells it of every commit, readers of their failures; any thread may ask.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._began: float | None = None
        self._failed: float | None = None
        self._last = -math.inf
        self._wrote = -math.inf
        self.why = ""

    def begin(self) -> None:
        """Hear that a commit begins."""
        self._began = self._monotonic()

    def end(self, error: BaseException | None) -> None:
        """Hear that it is done, or that the database failed."""
        now, began = self._monotonic(), self._began
        assert began is not None, "what ends has begun"
        if error is not None:
            self._fail(error, began)
        elif self._failed is not None or now - began > SLOW_S:
            self._failed = None
            self._last = now
        if error is None:
            self._wrote = now
        self._began = None

    def unread(self, error: BaseException) -> None:
        """Hear that the database failed when it was read. That is over when something could be written."""
        self._fail(error, self._monotonic())

    def _fail(self, error: BaseException, began: float) -> None:
        self.why = in_words(error)
        self._failed = began if self._failed is None else self._failed
        self._last = self._monotonic()

    @property
    def failed(self) -> bool:
        """Whether the last commit or a read since then failed."""
        return self._failed is not None

    def since(self) -> float | None:
        """Return since when nothing can be written; None if all is well."""
        if self._failed is not None:
            return self._failed
        began = self._began
        return began if began is not None and self._monotonic() - began > SLOW_S else None

    def idle_s(self) -> float:
        """Return how long ago the last commit was done; infinity if none was yet."""
        return self._monotonic() - self._wrote

    def check(self) -> None:
        """Raise OperationalError at once if nothing can be written: what waited could be done much later."""
        if self.since() is not None:
            raise OperationalError(None, None, TimeoutError(self.why or "no answer"))

    def after(self, at: float) -> bool:
        """Whether the database was away at any moment after `at`."""
        return self.since() is not None or self._last > at
