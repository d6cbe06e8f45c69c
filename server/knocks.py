"""Who knocked while the database let nobody in: such an agent is not to blame for its absence."""

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError

from server.core.names import name_key
from server.db.absence import Absence, is_away

KEPT = 10_000
"""Agents remembered at once; whoever was refused longest ago is forgotten first."""

COME_BACK_S = 20.0
"""An agent that was refused comes again within this time: our clients pause for 15 s at most."""

AT_ONCE_S = 2.0
"""An agent whose match goes on comes again within this time; later, it is by its own doing."""


@dataclass
class _Refused:
    first: float
    last: float


class Knocks:
    """The hellos that wait for an answer, and those that the database refused. Times in monotonic seconds.

    An agent goes by the name in its hello: whoever knocks in another's name can do that one no harm.
    """

    def __init__(self, absence: Absence, monotonic: Callable[[], float]) -> None:
        self._absence = absence
        self._monotonic = monotonic
        self._waiting: list[tuple[str, float]] = []
        self._refused: OrderedDict[str, _Refused] = OrderedDict()

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
                self._refuse(key, knock[1])
            raise
        else:
            self._refused.pop(key, None)
        finally:
            self._waiting.remove(knock)

    def _refuse(self, key: str, at: float) -> None:
        """Note a refusal of who knocked at this time; those in a row are one time of being kept away."""
        now, before = self._monotonic(), self._refused.pop(key, None)
        in_a_row = before is not None and at - before.last <= COME_BACK_S
        self._refused[key] = _Refused(before.first if before and in_a_row else at, now)
        if len(self._refused) > KEPT:
            self._refused.popitem(last=False)

    def kept_away(self, name: str, since: float) -> bool:
        """Whether the database refused this agent after `since`, or is why a hello of it still waits."""
        key = name_key(name)
        refused = self._refused.get(key)
        if refused is not None and refused.last > since:
            return True
        return any(who == key and self._absence.after(max(at, since)) for who, at in self._waiting)

    def kept_s(self, name: str) -> float:
        """Return for how long up to now the database has kept away the agent that is about to be let in."""
        key, now = name_key(name), self._monotonic()
        knocked = [at for who, at in self._waiting if who == key]
        begun = [at for at in knocked if self._absence.after(at)]
        refused = self._refused.get(key)
        if refused is not None and min(knocked, default=now) - refused.last <= AT_ONCE_S:
            begun.append(refused.first)
        return now - min(begun, default=now)
