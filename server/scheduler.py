"""Decides which matches start: queued ones first, then new pairs on each ladder."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from heapq import nlargest

import msgspec
import structlog

from agents.protocol import TimeControl
from server.core.match import Phase
from server.core.outcome import Cause, Result
from server.core.pairing import Candidate, choose_pair
from server.db import ladders as ladder_table
from server.db import matches
from server.db.engine import Database
from server.db.ladders import Ladder
from server.db.matches import QueuedMatch
from server.db.resume import Seated
from server.presence import Connection, Presence
from server.referee import Referee
from server.rests import Rests
from server.running_match import RunningMatch
from server.settings import Settings

TICK_S = 0.5
STOP_S = 2.0
MAX_STARTING = 4
"""Matches of one agent that wait for `ready` at once; one that never says it keeps no more waiting."""

MAX_CANDIDATES = 48
"""Agents considered for a pair: those who have waited longest. Every pair of them is weighed."""

KEEP_QUEUED = timedelta(minutes=10)
"""A queued match whose agents do not come back is dropped after this time."""

log = structlog.get_logger()


class Scheduler:
    """Fills free hands. House agents rest: alone, they start one match a ladder per `house_rest_s`."""

    def __init__(
        self,
        db: Database,
        presence: Presence,
        referee: Referee,
        settings: Settings,
        draw: Callable[[], float],
        monotonic: Callable[[], float],
        now: Callable[[], datetime],
    ) -> None:
        self._db = db
        self._presence = presence
        self._referee = referee
        self._settings = settings
        self._draw = draw
        self._monotonic = monotonic
        self._now = now
        self._wake = asyncio.Event()
        self._stopped = asyncio.Event()
        self._stopping = False
        self._ladders: dict[int, Ladder] = {}
        self._queue: list[QueuedMatch] = []
        self._together: dict[int, dict[frozenset[int], int]] = {}
        self._house_started: dict[int, float] = {}
        self._last_started: dict[int, float] = {}
        self._rests = Rests(settings.rest_ms / 1000)
        referee.on_end = self._on_end

    def wake(self) -> None:
        """Look again now."""
        self._wake.set()

    async def stop(self) -> None:
        """Start no more matches; return when none is being started, or the database does not answer."""
        self._stopping = True
        self.wake()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_S):
                await self._stopped.wait()

    async def run(self) -> None:
        """Schedule until stopped."""
        for ladder in await self._db.read(ladder_table.all_ladders):
            self._ladders[ladder.id] = ladder
            self._together[ladder.id] = await self._db.read(matches.together, ladder.id)
        while not self._stopping:
            try:
                await self._tick()
            except matches.Stale as error:  # a queued match was dropped meanwhile: read the queue again
                log.debug("scheduler.stale", error=str(error))
            except Exception:  # a fault here must not end all play
                log.exception("scheduler.fault", address="scheduler")
                await asyncio.sleep(TICK_S)
            try:
                async with asyncio.timeout(TICK_S):
                    await self._wake.wait()
            except TimeoutError:
                continue
            finally:
                self._wake.clear()
        self._stopped.set()

    def _on_end(self, match: RunningMatch) -> None:
        result = match.match.result
        if result is not None:
            self._give_rest(match, result)
        games = self._together.get(match.ladder.id)  # None: one of a closed ladder was resumed
        if games is not None and result is not None and not result.void:
            pair = frozenset(seat.version_id for seat in match.seats)
            games[pair] = games.get(pair, 0) + 1
        self.wake()

    def _give_rest(self, match: RunningMatch, result: Result) -> None:
        now = self._monotonic()
        for seat, cause in zip(match.seats, result.causes, strict=True):
            if cause is Cause.NO_SHOW:
                pause_s = self._rests.no_show(seat.agent_id, now)
                log.info("agent.no_show", agent=seat.name, match=match.id, pause_s=pause_s)
            elif not seat.house and not result.void:
                self._rests.played(seat.agent_id, now)

    async def _tick(self) -> None:
        self._queue = await self._db.read(matches.queued)
        await self._start_queued()
        while not self._stopping and await self._pair_next():
            await self._start_queued()

    async def _pair_next(self) -> bool:
        """Queue a pair on the first ladder that has one; it is asked last next time, so that none starves."""
        for ladder in list(self._ladders.values()):
            pair = await self._choose(ladder)
            if pair is not None:
                self._ladders[ladder.id] = self._ladders.pop(ladder.id)
                await self._queue_pair(ladder, pair)
                return True
        return False

    async def _start_queued(self) -> None:
        here = {connection.version_id: connection for connection in self._presence}
        for queued in list(self._queue):
            if self._stopping:
                return
            ladder = self._ladders.get(queued.ladder_id)
            connections = [here.get(version) for version in queued.versions]
            present = [connection for connection in connections if connection is not None]
            if ladder is None or len(present) < len(connections):
                await self._drop_if_old(queued)
            elif self._may_begin(ladder, present):
                await self._start(queued, ladder, present)

    async def _drop_if_old(self, queued: QueuedMatch) -> None:
        now = self._now()
        if now - queued.created_at > KEEP_QUEUED:
            detail = "an agent did not come back in time; counts for nobody"
            await self._db.write(lambda conn: matches.drop_queued(conn, queued.id, detail, now))
            self._queue.remove(queued)

    async def _start(self, queued: QueuedMatch, ladder: Ladder, present: list[Connection]) -> None:
        versions = [connection.version_id for connection in present]
        ratings = await self._db.read(ladder_table.ratings_on, ladder.id, versions)
        seats = [
            Seated(c.agent_id, c.version_id, c.name, c.version, c.house, *ratings[c.version_id])
            for c in present
        ]
        self._queue.remove(queued)
        now = self._monotonic()
        if all(c.house for c in present):
            self._house_started[ladder.id] = now
        for connection in present:
            self._last_started[connection.version_id] = now
        await self._referee.start(queued.id, ladder, seats)

    def _hands(self, connection: Connection) -> int:
        """Return how many matches the agent can begin now."""
        if not self._rests.over(connection.agent_id, self._monotonic()):
            return 0
        mine = [self._referee.find(number) for number in connection.matches]
        starting = sum(
            match is not None and match.match.phase is Phase.STARTING and not match.match.resumed
            for match in mine
        )
        return min(connection.free(), MAX_STARTING - starting)

    def _may_begin(self, ladder: Ladder, present: list[Connection]) -> bool:
        house_only = all(connection.house for connection in present)
        return all(self._hands(c) > 0 for c in present) and (not house_only or self._house_is_due(ladder))

    def _house_is_due(self, ladder: Ladder) -> bool:
        """Whether the ladder is due for a match of house agents alone."""
        if any(m.house_only and m.ladder.id == ladder.id for m in self._referee.running()):
            return False
        started = self._house_started.get(ladder.id)
        return started is None or self._monotonic() - started >= self._settings.house_rest_s

    async def _choose(self, ladder: Ladder) -> tuple[int, int] | None:
        candidates = self._candidates(ladder)
        if len(candidates) < 2:
            return None
        house_pairs = self._house_is_due(ladder) and not self._house_queued(ladder)
        if not house_pairs and all(connection.house for connection in candidates):
            return None
        now = self._monotonic()
        candidates = nlargest(MAX_CANDIDATES, candidates, key=lambda one: self._waiting_s(one, now))
        versions = [connection.version_id for connection in candidates]
        ratings = await self._db.read(ladder_table.ratings_on, ladder.id, versions)
        choices = [
            Candidate(
                version=c.version_id,
                elo=ratings[c.version_id][0],
                games=ratings[c.version_id][1],
                waiting_s=self._waiting_s(c, now),
                house=c.house,
            )
            for c in candidates
            if c.version_id in ratings
        ]
        return choose_pair(choices, self._together[ladder.id], self._draw, house_pairs=house_pairs)

    def _candidates(self, ladder: Ladder) -> list[Connection]:
        """Agents with a hand free that no queued match is about to take."""
        now = self._monotonic()
        here = {c.version_id for c in self._presence if not self._rests.left_alone(c.agent_id, now)}
        startable = [q for q in self._queue if here.issuperset(q.versions)]
        taken = Counter(version for q in startable for version in q.versions)
        return [
            c for c in self._presence if ladder.name in c.ladders and self._hands(c) > taken[c.version_id]
        ]

    def _waiting_s(self, connection: Connection, now: float) -> float:
        return now - max(connection.since, self._last_started.get(connection.version_id, 0.0))

    def _house_queued(self, ladder: Ladder) -> bool:
        house = {connection.version_id for connection in self._presence if connection.house}
        return any(q.ladder_id == ladder.id and house.issuperset(q.versions) for q in self._queue)

    async def _queue_pair(self, ladder: Ladder, pair: tuple[int, int]) -> None:
        now = self._now()
        terms = msgspec.to_builtins(
            TimeControl(ladder.move_ms, margin_ms=self._settings.margin_ms, ready_ms=self._settings.ready_ms)
        )
        ids = await self._db.write(lambda conn: matches.queue_pair(conn, ladder.id, pair, terms, now))
        first, second = ids
        self._queue.append(QueuedMatch(first, ladder.id, pair, now))
        self._queue.append(QueuedMatch(second, ladder.id, (pair[1], pair[0]), now))
