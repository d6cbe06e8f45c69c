"""All matches that run: starts them, finds them for the gateway, and shows them to spectators."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import datetime

import structlog
from sqlalchemy.exc import DBAPIError

import games
from games.errors import InputError
from games.position import Position
from server import resumption, time_controls
from server.broadcast import Broadcast, Sight
from server.core import match as core
from server.core.outcome import Cause
from server.db import matches, resume
from server.db.absence import is_away
from server.db.ladders import Ladder
from server.db.resume import Interrupted, Seated
from server.http.metrics import Metrics
from server.match_record import RETRY_S, Store
from server.presence import Connection, Presence
from server.running_match import Lots, RunningMatch, Shell
from server.seal import Seal, closed
from server.settings import Settings
from server.views import view_of

KEPT_FINISHED = 512
"""Matches kept after their end, to answer repeated and late moves."""

STOP_S = 3.0

HOUSE_LOST = "the house agent was lost; counts for nobody"

log = structlog.get_logger()


class Referee:
    """The running matches."""

    def __init__(
        self,
        settings: Settings,
        db: Store,
        draw: Lots,
        presence: Presence,
        broadcast: Broadcast,
        metrics: Metrics,
        lease: str,
        monotonic: Callable[[], float],
        wall: Callable[[float], datetime],
        lost: Callable[[float, float], float],
        kept_away: Callable[[str], bool],
    ) -> None:
        self._settings = settings
        self._shell = Shell(
            db,
            draw,
            presence,
            self.show,
            metrics.moves.inc,
            self.ended,
            monotonic,
            wall,
            lost,
            kept_away,
        )
        self._broadcast = broadcast
        self._metrics = metrics
        self._lease = lease
        self._running: dict[int, RunningMatch] = {}
        self._finished: OrderedDict[int, RunningMatch] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self.on_end: Callable[[RunningMatch], None] = lambda _match: None

    async def start(
        self, match_ids: Sequence[int], ladder: Ladder, seats: Sequence[Sequence[Seated]]
    ) -> None:
        """Begin queued matches between agents that are connected, `seats` of each; several are one set."""
        begun = await self._begin(match_ids, self._now())
        seal = Seal(match_ids) if len(match_ids) > 1 else None
        for match_id, taken, sitting in zip(match_ids, begun, seats, strict=True):
            house = all(seat.house for seat in sitting)
            terms = time_controls.terms(
                taken.time_control,
                pace_ms=self._settings.pace_ms if house else 0,
                resume_ms=round(self._settings.resume_s * 1000),
            )
            position = Position.start(games.load(ladder.game))
            opened = core.start(position, terms, self._shell.monotonic())
            for seat in sitting:
                connection = self._shell.presence.get(seat.version_id)
                if connection is not None:
                    connection.matches.add(match_id)
            self._play(
                RunningMatch(self._shell, match_id, taken.attempt, ladder, sitting, opened, taken.seed, seal)
            )

    async def _begin(self, match_ids: Sequence[int], now: datetime) -> list[matches.Begun]:
        """Take up queued matches; a try that was lost with the database's connection may have been done."""
        job = matches.begin_all
        while True:
            try:
                return await self._shell.db.write(job, match_ids, self._lease, now)
            except DBAPIError as error:
                if not is_away(error):
                    raise
            await asyncio.sleep(RETRY_S)
            job = matches.begin_all_again

    async def resume(self) -> None:
        """Go on with what an earlier server left in play. To be done before any agent is let in."""
        left = await self._shell.db.write(lambda conn: resume.resume(conn, self._lease), durable=True)
        seals: dict[tuple[int, ...], Seal] = {}
        for found in left:
            seal = seals.setdefault(found.sealed_with, Seal(found.sealed_with)) if found.sealed_with else None
            try:
                opened = resumption.reopen(found, self._settings, self._shell.monotonic())
            except InputError as error:
                await self._void(found, f"cannot go on after a restart of the server: {error}")
                if seal is not None:
                    seal.end(found.id)
            else:
                self._play(
                    RunningMatch(
                        self._shell,
                        found.id,
                        found.attempt,
                        found.ladder,
                        found.seats,
                        opened,
                        found.seed,
                        seal,
                    )
                )
        if left:
            log.warning("matches.resumed", found=len(left), resumed=len(self._running))

    def _now(self) -> datetime:
        return self._shell.wall(self._shell.monotonic())

    async def _void(self, found: Interrupted, detail: str) -> None:
        """Give up a match that the rules of today do not go on with; it is played again if it can be."""
        causes = [Cause.INFRASTRUCTURE] * len(found.seats)
        now = self._now()
        log.error("match.lost", address="match", match=found.id, detail=detail)
        await self._shell.db.write(
            lambda conn: matches.void(conn, found.id, found.attempt, causes, detail, now, replay=True),
            durable=True,
        )

    def _play(self, match: RunningMatch) -> None:
        self._running[match.id] = match
        self._metrics.running_matches.set(len(self._running))
        task = asyncio.create_task(match.run(), name=f"match {match.id}")
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
        if match.seal is not None and match.match.over:
            for number in match.seal.end(match.id):
                opened = self.find(number)
                if opened is not None:
                    self.show(opened)
        self.on_end(match)

    def _count(self, match: RunningMatch) -> None:
        self._metrics.running_matches.set(len(self._running))
        result = match.match.result
        if result is None:
            return
        (self._metrics.matches_void if result.void else self._metrics.matches_finished).inc()
        for seat, cause in enumerate(result.causes):
            if cause not in {Cause.NORMAL, Cause.RULE_DRAW, Cause.AGREEMENT}:
                if not result.void:  # nobody loses a match that counts for nobody
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
        return any(match.has(agent_id) for match in self.running())

    def agent_lost(self, connection: Connection, *, gone: bool = False) -> None:
        """Hear that an agent's connection is lost, and perhaps that this version of it will not be back.

        A house agent's was ours to keep: nobody loses by it.
        """
        if connection.house:
            self._tell(connection, lambda _seat, at: core.Abort(at, HOUSE_LOST))
        else:
            self._tell(connection, lambda seat, at: core.Lost(seat, at, gone=gone))

    def agent_back(self, connection: Connection) -> None:
        """Hear that an agent is connected again, perhaps by a new connection beside the old one."""
        for match in self._tell(connection, lambda seat, at: core.Back(seat, at, connection.kept_s)):
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

    def outdate(self, agent_id: int) -> None:
        """Give up what was resumed and waits for a version of the agent that will not come back."""
        at = self._shell.monotonic()
        for match in self.running():
            state = match.match
            if state.resumed and state.phase is core.Phase.STARTING and match.has(agent_id):
                match.deliver(core.Abort(at, matches.OUTDATED))

    async def stop(self) -> None:
        """Let go of all matches where they stand; the next server goes on with them."""
        for match in self.running():
            match.stop()
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=STOP_S)

    def show(self, match: RunningMatch) -> None:
        """Show spectators a match as it is now."""
        state, at = match.match, self._shell.monotonic()
        now, hides = self._shell.wall(at), closed(match.seal)
        counted = at if state.open is None else at - self._shell.lost(state.open.at, at)
        self._broadcast.publish(
            Sight(
                match.id,
                match.ladder.name,
                lambda: view_of(match, state, counted, now, closed=hides),
                over=state.over,
            )
        )
