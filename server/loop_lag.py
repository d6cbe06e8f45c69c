"""How late the server's own loop is: what nobody's clock is charged, and what new matches wait for.

A beat is due every `BEAT_S`. From the moment it was due until it came the loop read nothing, and some steps
longer: a late loop may take the beat before or after the frames that waited with it. An instant in such a
stall was late by the time since the beat was due. A stall can have begun up to a beat earlier than is seen,
so what is measured is never more than was.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

BEAT_S = 0.02
SLACK_S = 0.005
"""What is less late than this is on time: timers come to the millisecond, and turns of the loop take some."""

DRAIN_STEPS = 4
"""Steps of the loop after a late beat in which frames that waited with it are read."""

RECENT_S = 2.0
"""How long a stall is remembered."""

STILL_S = 0.25
"""In a stall of at least so long the server stood still: nobody's clock runs meanwhile."""

SETTLE_S = 0.25
"""So much longer it takes until all is heard that waited: moves, and agents that come back."""

KEPT = 1_000
"""Stalls in which the server stood still that are remembered."""


class Stall(NamedTuple):
    """The loop should have woken at `since`, and had read all that waited by `until`."""

    since: float
    until: float


class LoopLag:
    """Measures the loop it runs in. `observe` hears how late each beat was, in seconds.

    What clients send is limited (server.inbox), so the lateness that one of them can cause is.
    """

    def __init__(self, monotonic: Callable[[], float], observe: Callable[[float], None]) -> None:
        self._monotonic = monotonic
        self._observe = observe
        self._due = float("inf")
        self._stalls: deque[Stall] = deque()
        self._still: deque[Stall] = deque(maxlen=KEPT)
        self._beating: asyncio.Handle | None = None

    async def run(self) -> None:
        """Measure until cancelled."""
        self._rest(self._monotonic())
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            if self._beating is not None:
                self._beating.cancel()
            self._due = float("inf")

    def behind(self, at: float) -> float:
        """Return by how many seconds the loop was late at an instant of the last seconds; 0 if it was not."""
        late_s = at - self._due
        if late_s >= 0:
            return late_s if late_s > SLACK_S else 0.0
        for stall in reversed(self._stalls):
            if stall.since <= at:
                return at - stall.since if at <= stall.until else 0.0
        return 0.0

    def lost(self, since: float, at: float) -> float:
        """Return by how many seconds what happened at an instant is late through the loop alone.

        That is what the loop was behind then, and all the time since `since` in which the server stood still.
        """
        behind_s = self.behind(at)
        begun = at - behind_s
        stood_s = sum(max(0.0, min(stall.until, begun) - max(stall.since, since)) for stall in self._still)
        return min(max(0.0, at - since), behind_s + stood_s)

    @property
    def recent_s(self) -> float:
        """The worst lateness of the last `RECENT_S` seconds, that of now included."""
        now = self._monotonic()
        self._forget(now)
        worst_s = max((stall.until - stall.since for stall in self._stalls), default=0.0)
        return max(worst_s, self.behind(now))

    def _rest(self, now: float) -> None:
        self._due = now + BEAT_S
        self._beating = asyncio.get_running_loop().call_later(BEAT_S, self._beat)

    def _beat(self) -> None:
        now = self._monotonic()
        late_s = max(0.0, now - self._due)
        self._observe(late_s)
        if late_s > SLACK_S:
            self._drain(DRAIN_STEPS)
        else:
            self._rest(now)

    def _drain(self, steps: int) -> None:
        """Be late still, until what waited is read."""
        if steps > 0:
            self._beating = asyncio.get_running_loop().call_soon(self._drain, steps - 1)
            return
        now = self._monotonic()
        self._stalls.append(Stall(self._due, now))
        if now - self._due >= STILL_S:
            self._still.append(Stall(self._due, now + SETTLE_S))
        self._forget(now)
        self._rest(now)

    def _forget(self, now: float) -> None:
        while self._stalls and self._stalls[0].until < now - RECENT_S:
            self._stalls.popleft()
