"""Who knocked while the database let nobody in: such an agent is not to blame for its absence."""

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator

from sqlalchemy.exc import DBAPIError

from server.core.names import name_key
from server.db.absence import Absence, is_away

KEPT = 10_000
"""Agents remembered at once; whoever was refused longest ago is forgotten first."""

AGAIN_S = 5.0
"""Who was refused for the database comes again within this time of that, or of the end of the outage; later,
it is away by its own doing."""

QUICK_S = 0.25
"""An answer of the database within this time keeps nobody away."""


class Knock:
    """One hello, until it is answered. Times in monotonic seconds."""

    def __init__(self, key: str, monotonic: Callable[[], float]) -> None:
        self.key = key
        self.at = monotonic()
        self.asked_s = 0.0
        self._asking_since: float | None = None
        self._monotonic = monotonic

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """Measure how long the database takes to answer."""
        self._asking_since = self._monotonic()
        try:
            yield
        finally:
            self.asked_s += self._monotonic() - self._asking_since
            self._asking_since = None

    def waits(self) -> bool:
        """Whether the database has owed an answer for some time."""
        return self._asking_since is not None and self._monotonic() - self._asking_since > QUICK_S


class Knocks:
    """The hellos that wait for an answer, and those that the database refused. Times in monotonic seconds.

    An agent goes by the name in its hello. Whoever knocks in another's name does that one no harm, and its
    opponent no more than to let it wait for `AGAIN_S`.
    """

    def __init__(self, absence: Absence, monotonic: Callable[[], float]) -> None:
        self._absence = absence
        self._monotonic = monotonic
        self._waiting: list[Knock] = []
        self._refused: OrderedDict[str, tuple[float, float]] = OrderedDict()

    @contextlib.contextmanager
    def knocking(self, name: str) -> Iterator[Knock]:
        """Note the hello of an agent until it is answered, and whether the database was the reason."""
        knock = Knock(name_key(name), self._monotonic)
        self._waiting.append(knock)
        try:
            yield knock
        except DBAPIError as error:
            if is_away(error):
                self._refuse(knock)
            raise
        else:
            self._refused.pop(knock.key, None)
        finally:
            self._waiting.remove(knock)

    def _refuse(self, knock: Knock) -> None:
        first = self._refused_since(knock.key, knock.at)
        self._refused.pop(knock.key, None)
        self._refused[knock.key] = (knock.at if first is None else first, self._monotonic())
        if len(self._refused) > KEPT:
            self._refused.popitem(last=False)

    def _refused_since(self, key: str, at: float) -> float | None:
        """Return when the agent first knocked of the refusals in a row that kept it away until `at`."""
        first, last = self._refused.get(key, (None, at))
        return first if at - last <= AGAIN_S or self._absence.after(at - AGAIN_S) else None

    def kept_away(self, name: str) -> bool:
        """Whether the database keeps the agent away: it owes its hello an answer, or has refused one."""
        key = name_key(name)
        if self._refused_since(key, self._monotonic()) is not None:
            return True
        return any(knock.key == key and knock.waits() for knock in self._waiting)

    def kept_s(self, knock: Knock) -> float:
        """Return for how long the database has kept away the agent that is about to be let in."""
        first = self._refused_since(knock.key, knock.at)
        if first is not None:
            return knock.at - first + knock.asked_s
        return knock.asked_s if knock.asked_s > QUICK_S else 0.0
