"""Decides which matches start: queued ones first, then those of new tables on each ladder."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from heapq import nlargest
from itertools import combinations

import msgspec
import structlog

import games
from server.core.pairing import Candidate, choose_table, seatings
from server.db import ladders as ladder_table
from server.db import matches
from server.db.absence import is_away
from server.db.engine import Database
from server.db.ladders import Ladder
from server.db.matches import QueuedMatch
from server.db.resume import Seated
from server.gate import Gate
from server.hands import Hands
from server.presence import Connection, Presence
from server.referee import Referee
from server.running_match import RunningMatch
from server.settings import Settings

TICK_S = 0.5
STOP_S = 2.0
MAX_CANDIDATES = 48
"""Agents considered for a table: those who have waited longest. Every pair of them is weighed."""

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
        gate: Gate,
        settings: Settings,
        draw: Callable[[], float],
        monotonic: Callable[[], float],
        now: Callable[[], datetime],
    ) -> None:
        self._db = db
        self._presence = presence
        self._referee = referee
        self._gate = gate
        self._duplicate = {spec.name for spec in settings.ladders if spec.duplicate}
        self._hands = Hands(presence, referee, settings, monotonic)
        self._draw = draw
        self._now = now
        self._wake = asyncio.Event()
        self._stopped = asyncio.Event()
        self._stopping = False
        self._ladders: dict[int, Ladder] = {}
        self._queue: list[QueuedMatch] = []
        self._together: dict[int, dict[frozenset[int], int]] = {}
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
        known = False
        while not self._stopping:
            try:
                if not known:
                    await self._look_at_ladders()
                    known = True
                await self._tick()
            except matches.Stale as error:  # a queued match was dropped meanwhile: read the queue again
                log.debug("scheduler.stale", error=str(error))
            except Exception as error:  # a fault here must not end all play
                if is_away(error):
                    log.warning("scheduler.database_away", address="scheduler", error=type(error).__name__)
                else:
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

    async def _look_at_ladders(self) -> None:
        for ladder in await self._db.read_for_play(ladder_table.all_ladders):
            self._ladders[ladder.id] = ladder
            # A thread of its own: what reads every result takes longer than a reader is given.
            self._together[ladder.id] = await asyncio.to_thread(
                self._db.read_now, matches.together, ladder.id
            )

    def _on_end(self, match: RunningMatch) -> None:
        self._hands.ended(match)
        result = match.match.result
        together = self._together.get(match.ladder.id)  # None: one of a closed ladder was resumed
        if together is not None and result is not None and not result.void:
            for pair in combinations((seat.version_id for seat in match.seats), 2):
                together[frozenset(pair)] = together.get(frozenset(pair), 0) + 1
        self.wake()

    async def _tick(self) -> None:
        self._queue = await self._db.read_for_play(matches.queued)
        await self._start_queued()
        while self._may_start() and await self._set_next():
            await self._start_queued()

    def _may_start(self) -> bool:
        """Whether matches start at all now: they wait while the server is too late to measure them well."""
        return not self._stopping and self._gate.is_open()

    async def _set_next(self) -> bool:
        """Queue a table on the first ladder that has one; that is asked last next time: none starves."""
        for ladder in list(self._ladders.values()):
            table = await self._choose(ladder)
            if table is not None:
                self._ladders[ladder.id] = self._ladders.pop(ladder.id)
                await self._queue_table(ladder, table)
                return True
        return False

    async def _start_queued(self) -> None:
        for queued in list(self._queue):
            if not self._may_start():
                return
            if queued not in self._queue:  # begun with another one of its set
                continue
            ladder = self._ladders.get(queued.ladder_id)
            players = self._players(queued, ladder)
            if ladder is None or not players:
                await self._drop_if_old(queued)
                continue
            together = self._set_of(queued)
            if queued.sealed and len(together) < len(queued.versions):
                await self._unseal(queued)
            elif self._hands.may_begin(ladder, players, len(together)):
                await self._start(together, ladder)

    def _set_of(self, queued: QueuedMatch) -> list[QueuedMatch]:
        """Return the queued matches that begin together with this one, itself among them."""
        if not queued.sealed:
            return [queued]
        return [other for other in self._queue if other.sealed and other.pair_id == queued.pair_id]

    async def _unseal(self, queued: QueuedMatch) -> None:
        """Let a match be played alone whose set was not begun, or went on, without it."""
        await self._db.write(matches.unseal, queued.id)
        self._queue[self._queue.index(queued)] = queued._replace(sealed=False)

    def _players(self, queued: QueuedMatch, ladder: Ladder | None) -> list[Connection]:
        """Return the agents of a queued match; nobody if not all are here and ask for its ladder."""
        if ladder is None:
            return []
        found = [self._presence.get(version) for version in queued.versions]
        players = [connection for connection in found if connection and ladder.name in connection.ladders]
        return players if len(players) == len(found) else []

    async def _drop_if_old(self, queued: QueuedMatch) -> None:
        now = self._now()
        if now - queued.created_at > KEEP_QUEUED:
            detail = "an agent did not come back in time; counts for nobody"
            await self._db.write(lambda conn: matches.drop_queued(conn, queued.id, detail, now))
            self._queue.remove(queued)

    async def _start(self, queued: Sequence[QueuedMatch], ladder: Ladder) -> None:
        """Begin a match, or all of a set; their agents are here."""
        present = {version: self._presence.get(version) for match in queued for version in match.versions}
        ratings = await self._db.read_for_play(ladder_table.ratings_on, ladder.id, list(present))
        seats = [
            [
                Seated(c.agent_id, c.version_id, c.name, c.version, c.house, *ratings[c.version_id])
                for c in (present[version] for version in match.versions)
                if c is not None
            ]
            for match in queued
        ]
        for match in queued:
            self._queue.remove(match)
        self._hands.begun(ladder, [c for c in present.values() if c is not None])
        await self._referee.start([match.id for match in queued], ladder, seats)

    async def _choose(self, ladder: Ladder) -> tuple[int, ...] | None:
        startable = [q for q in self._queue if self._players(q, self._ladders.get(q.ladder_id))]
        candidates = self._hands.candidates(ladder, startable)
        players = games.load(ladder.game).players
        if len(candidates) < players:
            return None
        house_tables = self._hands.house_is_due(ladder) and not self._house_queued(ladder)
        if not house_tables and all(connection.house for connection in candidates):
            return None
        waiting_s = self._hands.waiting_s(candidates)
        candidates = nlargest(MAX_CANDIDATES, candidates, key=lambda one: waiting_s[one.version_id])
        versions = [connection.version_id for connection in candidates]
        ratings = await self._db.read_for_play(ladder_table.ratings_on, ladder.id, versions)
        choices = [
            Candidate(
                version=c.version_id,
                elo=ratings[c.version_id][0],
                games=ratings[c.version_id][1],
                waiting_s=waiting_s[c.version_id],
                house=c.house,
            )
            for c in candidates
            if c.version_id in ratings
        ]
        return choose_table(
            choices, self._together[ladder.id], self._draw, seats=players, house_tables=house_tables
        )

    def _house_queued(self, ladder: Ladder) -> bool:
        house = {connection.version_id for connection in self._presence if connection.house}
        return any(q.ladder_id == ladder.id and house.issuperset(q.versions) for q in self._queue)

    async def _queue_table(self, ladder: Ladder, table: tuple[int, ...]) -> None:
        now = self._now()
        terms = msgspec.to_builtins(ladder.time_control)
        chance = games.load(ladder.game).has_chance
        sealed = ladder.name in self._duplicate and self._are_house(table)
        ids = await self._db.write(
            partial(matches.queue_table, chance=chance, sealed=sealed), ladder.id, table, terms, now
        )
        for match_id, versions in zip(ids, seatings(table), strict=True):
            self._queue.append(QueuedMatch(match_id, ladder.id, versions, now, ids[0], sealed))

    def _are_house(self, versions: Sequence[int]) -> bool:
        """Whether all of these are house agents: nobody else plays the same dice or cards twice."""
        present = [self._presence.get(version) for version in versions]
        return all(connection is not None and connection.house for connection in present)
