"""What a match's server asked of an agent and what it was answered: what to think about, what to send again.

It knows neither sockets nor threads; whoever shares one between threads locks it. Times are milliseconds on
one monotonic clock.
"""

from enum import Enum
from typing import TypeAlias

from agents.protocol import Move, Resign, YourMove

Answer: TypeAlias = Move | Resign

TOO_EARLY = ("not_asked", "not_started")
"""Codes of `reject` for an answer that will count when the server has taken note of its own request."""

TIMED_OUT = "timed_out"
"""Code of `reject` for a request that has cost a strike: a random action is played in place of an answer."""


class News(Enum):
    """What a request is to the agent."""

    NEW = "new"
    REPEATED = "repeated"
    STALE = "stale"


class Exchange:
    """The latest request of a match, known by its ply, and the answer that stands.

    An answer stands until it is acknowledged, and is overdue when that takes `ack_ms`. A request is settled,
    so that no answer is wanted any more, once its answer is acknowledged or it has cost a strike.
    """

    def __init__(self, ack_ms: float) -> None:
        self.asked: YourMove | None = None
        self._ack_ms = ack_ms
        self._answer: Answer | None = None
        self._sent_ms: float | None = None
        self._acked_ply = -1
        self._struck_ply = -1

    # requests ---------------------------------------------------------------------------------------

    @property
    def open(self) -> YourMove | None:
        """The request that an answer is wanted for."""
        asked = self.asked
        return asked if asked is not None and asked.ply > self._settled_ply else None

    @property
    def _settled_ply(self) -> int:
        return max(self._acked_ply, self._struck_ply)

    def ask(self, request: YourMove) -> News:
        """Take a request. An older one than the latest is stale, and so is one that is settled."""
        if self.open is not None and request.ply == self.open.ply:
            return News.REPEATED
        latest = self._settled_ply if self.asked is None else max(self._settled_ply, self.asked.ply)
        if request.ply <= latest:
            return News.STALE
        self.asked = request
        self.drop_answer()
        return News.NEW

    def resume(self, plies: int) -> bool:
        """Go on in a match of so many plies; False if the server has lost what it acknowledged."""
        if plies <= self._acked_ply:
            return False
        if plies <= self._struck_ply:  # that strike is lost, and will be asked again
            self._struck_ply, self.asked = -1, None
        return True

    # answers ----------------------------------------------------------------------------------------

    def answer(self, answer: Answer) -> None:
        """Let this answer stand. The caller has seen that the request it is for is still `open`."""
        self._answer = answer

    def drop_answer(self) -> None:
        """Let no answer stand."""
        self._answer = self._sent_ms = None

    def to_send(self, now_ms: float) -> Answer | None:
        """Return the answer that stands, as sent now. A resignation is not acknowledged, so never overdue."""
        if self._answer is not None:
            self._sent_ms = now_ms if isinstance(self._answer, Move) else None
        return self._answer

    def is_overdue(self, now_ms: float) -> bool:
        """Whether the answer was sent so long ago that it should have been acknowledged."""
        return self._sent_ms is not None and now_ms - self._sent_ms >= self._ack_ms

    def ack(self, ply: int) -> None:
        """Note that the answer to this ply is recorded."""
        self._acked_ply = max(self._acked_ply, ply)
        if self._is_answered(ply):
            self.drop_answer()

    def reject(self, ply: int, code: str, now_ms: float) -> int | None:
        """Send an answer that came too early again later, and any other no more: it would change nothing.

        Return the strikes left if this is the news that the request has cost one.
        """
        if code == TIMED_OUT:
            return self._strike(ply)
        if self._is_answered(ply):
            self._sent_ms = now_ms if code in TOO_EARLY else None
        return None

    def _strike(self, ply: int) -> int | None:
        """Drop the answer to a request, also one that is still to come; None if that is known already."""
        struck = self.open
        if struck is None or struck.ply != ply:
            return None
        self._struck_ply = ply
        if self._is_answered(ply):
            self.drop_answer()
        return max(0, struck.clock.strikes - 1)

    def _is_answered(self, ply: int) -> bool:
        return isinstance(self._answer, Move) and self._answer.ply == ply
