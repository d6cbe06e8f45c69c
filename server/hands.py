"""Who has a hand free for a match, who has waited longest for one, and whether the house may play alone."""

from collections import Counter
from collections.abc import Callable, Sequence

import structlog

from server.core.match import RESTART, Match, Phase
from server.core.outcome import Cause
from server.db.ladders import Ladder
from server.db.matches import QueuedMatch
from server.presence import Connection, Presence
from server.referee import Referee
from server.rests import Rests
from server.running_match import RunningMatch
from server.settings import Settings

MAX_STARTING = 4
"""Matches of one agent that wait for `ready` at once; one that never says it keeps no more waiting."""

log = structlog.get_logger()


class Hands:
    """The hands of the connected agents, each for one match at a time, and the rest they get between two.

    `monotonic` gives seconds.
    """

    def __init__(
        self, presence: Presence, referee: Referee, settings: Settings, monotonic: Callable[[], float]
    ) -> None:
        self._presence = presence
        self._referee = referee
        self._house_rest_s = settings.house_rest_s
        self._monotonic = monotonic
        self._rests = Rests(settings.rest_ms / 1000)
        self._house_started: dict[int, float] = {}
        self._last_started: dict[int, float] = {}

    def begun(self, ladder: Ladder, players: Sequence[Connection]) -> None:
        """Note that a match of these agents begins."""
        now = self._monotonic()
        if all(connection.house for connection in players):
            self._house_started[ladder.id] = now
        for connection in players:
            self._last_started[connection.version_id] = now

    def ended(self, match: RunningMatch) -> None:
        """Let the agents of a match rest, and longer those for whose sake it was not played."""
        result = match.match.result
        if result is None:
            return
        now = self._monotonic()
        for number, (seat, cause) in enumerate(zip(match.seats, result.causes, strict=True)):
            if cause is Cause.NO_SHOW or _would_not_go_on(match.match, number):
                pause_s = self._rests.no_show(seat.agent_id, now)
                log.info("agent.no_show", agent=seat.name, match=match.id, pause_s=pause_s)
            elif not seat.house and not result.void:
                self._rests.played(seat.agent_id, now)

    def free(self, connection: Connection) -> int:
        """Return how many matches the agent can begin now."""
        if not self._rests.over(connection.agent_id, self._monotonic()):
            return 0
        return self._free(connection)

    def _free(self, connection: Connection) -> int:
        """Return how many matches it could begin if it had rested."""
        mine = [self._referee.find(number) for number in connection.matches]
        starting = sum(
            match is not None and match.match.phase is Phase.STARTING and not match.match.resumed
            for match in mine
        )
        return min(connection.free(), MAX_STARTING - starting)

    def may_begin(self, ladder: Ladder, players: Sequence[Connection], matches: int = 1) -> bool:
        """Whether a queued match of these agents, or several at once, can begin now."""
        house_only = all(connection.house for connection in players)
        return all(self.free(c) >= matches for c in players) and (not house_only or self.house_is_due(ladder))

    def house_is_due(self, ladder: Ladder) -> bool:
        """Whether the ladder is due for a match of house agents alone."""
        if any(m.house_only and m.ladder.id == ladder.id for m in self._referee.running()):
            return False
        started = self._house_started.get(ladder.id)
        return started is None or self._monotonic() - started >= self._house_rest_s

    def candidates(self, ladder: Ladder, queue: Sequence[QueuedMatch]) -> list[Connection]:
        """Return the ladder's agents with a hand free that no match in the `queue` is about to take.

        The agents of those matches are here. A match that has to wait for one of them, longer than for the
        rest between two matches, takes nobody's hand meanwhile.
        """
        asking = self._presence.on_ladder(ladder.name)
        if not asking:
            return []
        startable = [q for q in queue if all(self._is_soon_free(version) for version in q.versions)]
        taken = Counter(version for q in startable for version in q.versions)
        return [c for c in asking if self.free(c) > taken[c.version_id]]

    def _is_soon_free(self, version: int) -> bool:
        """Whether the agent has a hand free now, or will have one after the rest between two matches."""
        connection = self._presence.get(version)
        if connection is None or self._free(connection) <= 0:
            return False
        return not self._rests.left_alone(connection.agent_id, self._monotonic())

    def waiting_s(self, connections: Sequence[Connection]) -> dict[int, float]:
        """Return for how long each version has waited: since its last match began, or since it came."""
        now = self._monotonic()
        begun = self._last_started
        return {c.version_id: now - max(c.since, begun.get(c.version_id, 0.0)) for c in connections}


def _would_not_go_on(match: Match, seat: int) -> bool:
    """Whether a seat came back after a restart and did not get ready, so that the match was given up.

    Who stayed away altogether has played nothing meanwhile, which is rest enough.
    """
    late = match.result is not None and match.result.detail.endswith(RESTART)
    return late and match.connected[seat] and not match.ready[seat]
