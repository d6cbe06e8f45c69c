"""All matches that run: starts them, finds them for the gateway, and shows them to spectators."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import datetime

import structlog

import games
from games.position import Position
from server.broadcast import Broadcast
from server.core import match as core
from server.core.outcome import Cause
from server.db import matches
from server.db.ladders import Ladder
from server.http.metrics import Metrics
from server.presence import Connection, Presence
from server.running_match import RunningMatch, Seated, Shell, Write
from server.settings import Settings
from server.views import view_of

KEPT_FINISHED = 512
"""Matches kept after their end, to answer repeated and late moves."""

HOUSE_LOST = "the house agent was lost; counts for nobody"

log = structlog.get_logger()


class Referee:
    """The running matches."""

    def __init__(
        self,
        settings: Settings,
        write: Write,
        presence: Presence,
        broadcast: Broadcast,
        metrics: Metrics,
        lease: str,
        monotonic: Callable[[], float],
        now: Callable[[], datetime],
    ) -> None:
        self._settings = settings
        self._shell = Shell(write, presence, self.show, metrics.moves.inc, self.ended, monotonic, now)
        self._broadcast = broadcast
        self._metrics = metrics
        self._lease = lease
        self._running: dict[int, RunningMatch] = {}
        self._finished: OrderedDict[int, RunningMatch] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self.on_end: Callable[[RunningMatch], None] = lambda _match: None

    async def start(self, match_id: int, ladder: Ladder, seats: Sequence[Seated]) -> None:
        """Begin a queued match between agents that are connected."""
        now = self._shell.now()
        attempt = await self._shell.write(lambda conn: matches.begin(conn, match_id, self._lease, now))
        house = all(seat.house for seat in seats)
        terms = core.Terms(
            move_ms=ladder.move_ms,
            margin_ms=self._settings.margin_ms,
            ready_ms=self._settings.ready_ms,
            pace_ms=self._settings.pace_ms if house else 0,
        )
        position = Position.start(games.load(ladder.game))
        opened = core.start(position, terms, self._shell.monotonic())
        match = RunningMatch(self._shell, match_id, attempt, ladder, seats, opened)
        self._running[match_id] = match
        for seat in seats:
            connection = self._shell.presence.get(seat.version_id)
            if connection is not None:
                connection.matches.add(match_id)
        task = asyncio.create_task(match.run(), name=f"match {match_id}")
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("match.crashed", address=task.get_name(), exc_info=task.exception())

    def ended(self, match: RunningMatch) -> None:
        """Take a match out of play."""
        self._running.pop(match.id, None)
        self._finished[match.id] = match
        if len(self._finished) > KEPT_FINISHED:
            self._finished.popitem(last=False)
        self._count(match)
        for seat in match.seats:
            connection = self._shell.presence.get(seat.version_id)
            if connection is not None:
                connection.matches.discard(match.id)
        self.on_end(match)

    def _count(self, match: RunningMatch) -> None:
        result = match.match.result
        if result is None:
            return
        self._metrics.running_matches.set(len(self._running))
        (self._metrics.matches_void if result.void else self._metrics.matches_finished).inc()
        for seat, cause in enumerate(result.causes):
            if cause not in {Cause.NORMAL, Cause.RULE_DRAW, Cause.AGREEMENT}:
                self._metrics.forfeits.labels(cause.value).inc()
                name = match.seats[seat].name
                log.info("match.cause", agent=name, match=match.id, cause=cause.value, detail=result.detail)

    def find(self, match_id: int) -> RunningMatch | None:
        """Return a match that runs or ended lately."""
        return self._running.get(match_id) or self._finished.get(match_id)

    def running(self) -> list[RunningMatch]:
        """Return the matches that run."""
        return list(self._running.values())

    def running_of(self, version_id: int) -> list[int]:
        """Return the ids of the running matches of a version of an agent."""
        return [match.id for match in self.running() if match.seat_of(version_id) is not None]

    def plays(self, agent_id: int) -> bool:
        """Whether any version of the agent plays now."""
        return any(seat.agent_id == agent_id for match in self.running() for seat in match.seats)

    def agent_lost(self, connection: Connection) -> None:
        """Hear that an agent's connection is gone; a house agent's was ours to keep: nobody loses by it."""
        if connection.house:
            self._tell(connection, lambda _seat, at: core.Abort(at, HOUSE_LOST))
        else:
            self._tell(connection, core.Lost)

    def agent_back(self, connection: Connection) -> None:
        """Hear that an agent is connected again, perhaps by a new connection beside the old one."""
        for match in self._tell(connection, core.Back):
            connection.matches.add(match.id)

    def _tell(
        self, connection: Connection, event: Callable[[int, float], core.MatchEvent]
    ) -> list[RunningMatch]:
        at = self._shell.monotonic()
        told = []
        for match in self.running():
            seat = match.seat_of(connection.version_id)
            if seat is not None:
                match.deliver(event(seat, at))
                told.append(match)
        return told

    async def abort_all(self, detail: str) -> None:
        """Make every running match void, to be played again, and wait until that is committed."""
        at = self._shell.monotonic()
        for match in self.running():
            match.deliver(core.Abort(at, detail))
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=3)

    def show(self, match: RunningMatch) -> None:
        """Show spectators a match as it is now."""
        self._metrics.running_matches.set(len(self._running))
        self._broadcast.publish(view_of(match, self._shell.monotonic(), self._shell.now()))
