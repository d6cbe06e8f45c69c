"""Who knocked while the database let nobody in: such an agent is not to blame for its absence."""

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator

from sqlalchemy.exc import DBAPIError

from server.core.names import name_key
from server.db.absence import Absence, is_away

KEPT = 10_000
"""Agents remembered at once; whoever was refused longest ago is forgotten first."""


class Knocks:
    """The hellos that wait for an answer, and those that the database refused. Times in monotonic seconds."""

    def __init__(self, absence: Absence, monotonic: Callable[[], float]) -> None:
        self._absence = absence
        self._monotonic = monotonic
        self._waiting: list[tuple[str, float]] = []
        self._refused: OrderedDict[str, float] = OrderedDict()

    @contextlib.contextmanager
    def knocking(self, name: str) -> Iterator[None]:
        """Note the hello of an agent until it is answered, and whether the database was the reason."""
        key = name_key(name)
        knock = key, self._monotonic()
        self._waiting.append(knock)
        try:
            yield
        except DBAPIError as error:
            if is_away(error):
                self._refuse(key)
            raise
        finally:
            self._waiting.remove(knock)

    def _refuse(self, key: str) -> None:
        self._refused.pop(key, None)
        self._refused[key] = self._monotonic()
        if len(self._refused) > KEPT:
            self._refused.popitem(last=False)

    def kept_away(self, name: str, since: float) -> bool:
        """Whether the database refused this agent after `since`, or is why a hello of it still waits."""
        key = name_key(name)
        if self._refused.get(key, since) > since:
            return True
        return any(who == key and self._absence.after(max(at, since)) for who, at in self._waiting)
