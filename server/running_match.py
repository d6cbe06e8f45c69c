"""One match being played: carries out what the state machine in server.core.match decides.

Events are taken one at a time, at once if none waits. What an event changes is committed first; only then
is anybody told, so that nothing a client has seen can be undone by a crash.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeAlias

import structlog
from msgspec.structs import replace

from agents import protocol
from games.protocol import CHANCE
from server import wire
from server.core import match as core
from server.core import seeds
from server.db import matches
from server.db.ladders import Ladder
from server.db.resume import Seated
from server.deadline import Deadline
from server.lines import Lines
from server.match_record import MatchRecord, Store
from server.presence import Presence
from server.seal import Seal

UNREAD_S = 0.005
"""So much later it is looked again whether all is read that an agent has sent."""

GLANCE_S = 0.05
"""What comes in so soon after a deadline, before that takes effect, came with it."""

KEPT_AWAY_S = 60.0
"""An agent that the database keeps away is waited for so much longer than its time lasts."""

KEPT_AWAY = "the database was away when an agent wanted to come back; counts for nobody"
FAULT = "a fault of the server; counts for nobody"

log = structlog.get_logger()


Lots: TypeAlias = Callable[[Sequence[tuple[str, float]]], str]
"""`draw(outcomes)` draws one of the outcomes (text, probability)."""


@dataclass(frozen=True)
class Shell:
    """What a match needs of the server around it.

    `monotonic` in seconds, `wall` the time of day of an instant of that clock; `lost` says how many seconds
    between two of them were lost through the server's own loop. `kept_away` says whether the database keeps
    an agent, by its name, from coming back.
    """

    db: Store
    draw: Lots
    presence: Presence
    show: Callable[["RunningMatch"], None]
    count_move: Callable[[], None]
    ended: Callable[["RunningMatch"], None]
    monotonic: Callable[[], float]
    wall: Callable[[float], datetime]
    lost: Callable[[float, float], float]
    kept_away: Callable[[str], bool]


class RunningMatch:
    """A match, its seats and the events that wait."""

    def __init__(
        self,
        shell: Shell,
        match_id: int,
        attempt: int,
        ladder: Ladder,
        seats: Sequence[Seated],
        opened: core.Step,
        seed: str | None = None,
        seal: Seal | None = None,
    ) -> None:
        """Chance is drawn from the `seed`; one that is old has none."""
        self.id = match_id
        self.attempt = attempt
        self.ladder = ladder
        self.seats = list(seats)
        self._seat_of = {seat.version_id: n for n, seat in enumerate(seats)}
        self.match, self._first_effects = opened
        self.seal = seal
        self._seed = seed
        self._shell = shell
        self._record = MatchRecord(shell.db, shell.wall, match_id, attempt)
        self._lines = Lines(shell.presence, [seat.version_id for seat in seats])
        self._waiting: deque[core.MatchEvent | None] = deque()
        self._busy = True
        self._faulty = False
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._replied: set[tuple[int, int]] = set()
        self._deadline = Deadline(shell.monotonic, self._deadline_passed)
        self._asking: asyncio.TimerHandle | None = None

    @property
    def house_only(self) -> bool:
        """Whether only house agents play."""
        return all(seat.house for seat in self.seats)

    def has(self, agent_id: int) -> bool:
        """Whether any version of the agent plays."""
        return any(seat.agent_id == agent_id for seat in self.seats)

    def seat_of(self, version_id: int) -> int | None:
        """Return the seat that a version of an agent plays."""
        return self._seat_of.get(version_id)

    def expects(self, event: core.MatchEvent) -> bool:
        """Whether the event is the one reply to something asked of its seat; true once for each."""
        match event:
            case core.Ready(seat):
                asked = (seat, -1)
                open_now = self.match.phase is core.Phase.STARTING
            case core.Action(seat, ply):
                asked = (seat, ply)
                open_now = self.match.open is not None and (self.match.to_move, self.match.ply) == asked
            case _:
                return False
        if not open_now or asked in self._replied:
            return False
        self._replied.add(asked)
        return True

    def deliver(self, event: core.MatchEvent) -> None:
        """Take an event at once, or after those that wait. A match that is over answers."""
        request = self.match.open
        if isinstance(event, core.Action) and request is not None:
            # A deadline that has not taken effect is late itself, though by less than anybody notices.
            late_s = min(GLANCE_S, event.at - self.match.deadline)
            lag_s = max(late_s, self._shell.lost(request.at, event.at))
            if lag_s > 0.0:
                event = replace(event, lag_s=lag_s)
        self._waiting.append(event)
        self._go_on()

    def stop(self) -> None:
        """Let go of the match where it stands, after what has come in; another server can go on with it."""
        self._waiting.append(None)
        self._go_on()

    async def run(self) -> None:
        """Play the match to its end."""
        try:
            self._carry_out(self._first_effects)
            self._shell.show(self)
            self._busy = False
            self._go_on()
            await self._over
        finally:
            if not self.match.over:  # one that is over goes on answering
                self._waiting = deque(maxlen=0)
            self._record.abandon()
            self._stop_timers()
            self._shell.ended(self)

    def _go_on(self) -> None:
        """Take the events that wait, each when what the one before it changed is committed and told."""
        while self._waiting and not self._busy:
            event = self._waiting.popleft()
            self._busy = True
            if event is None:
                self._finish()
                return
            try:
                self._step(event)
            except Exception as error:  # noqa: BLE001 - logged, and it ends the match
                self._fail(error)

    def _step(self, event: core.MatchEvent) -> None:
        match, effects = core.advance(self.match, event)
        if not self._record.write(match, effects, partial(self._written, match, effects)):
            self._become(match, effects)

    def _written(self, match: core.Match, effects: Sequence[core.Effect], error: Exception | None) -> None:
        overdue = self._record.overdue() if error is None and not match.over else None
        if overdue is not None:  # what is recorded is told, and nothing more is asked
            effects = [effect for effect in effects if not isinstance(effect, core.Ask | core.Draw)]
            self._waiting.appendleft(core.Abort(self._shell.monotonic(), overdue))
        if error is None:
            try:
                self._become(match, effects)
            except Exception as fault:  # noqa: BLE001 - logged, and it ends the match
                error = fault
        if error is not None:
            self._fail(error)
        self._go_on()

    def _fail(self, error: Exception) -> None:
        """End a match that cannot go on: void by a fault of ours. If that fails too, `run` raises it."""
        if isinstance(error, matches.Stale):
            log.warning("match.stale", match=self.id, attempt=self.attempt)
            self._finish()
            return
        log.error("match.fault", address="match", match=self.id, exc_info=error)
        if self._faulty:
            self._finish(error)
            return
        self._faulty = True
        try:
            self._step(core.Abort(self._shell.monotonic(), FAULT))
        except Exception as again:  # noqa: BLE001 - raised by `run`
            self._finish(again)

    def _become(self, match: core.Match, effects: Sequence[core.Effect]) -> None:
        """Be in the next state, and tell of it."""
        before, self.match = self.match, match
        self._carry_out(effects)
        if before.connected != match.connected:
            self._shell.show(self)
        self._busy = False
        if match.over:
            self._finish()

    def _finish(self, error: Exception | None = None) -> None:
        """Let `run` return, or raise."""
        if self._over.done():
            return
        if error is None:
            self._over.set_result(None)
        else:
            self._over.set_exception(error)

    def _carry_out(self, effects: Sequence[core.Effect]) -> None:
        for effect in effects:
            match effect:
                case core.SetDeadline(at):
                    self._deadline.set(at)
                case core.Ask():
                    self._ask(effect)
                case core.Accept(seat, ply, _, timing):
                    self._shell.count_move()
                    if not timing.timed_out:
                        self._lines.say(seat, protocol.Ack(self.id, ply))
                    self._shell.show(self)
                case core.Announce(seat):
                    players = [protocol.Player(n, s.name, s.version) for n, s in enumerate(self.seats)]
                    start = wire.match_start(self.id, self.ladder, players, seat, self.match, self._seed)
                    self._lines.announce(seat, start)
                case core.Draw(ply, outcomes):
                    outcome = _drawn(self.match, self._seed, self._shell.draw, outcomes)
                    self.deliver(core.Drawn(ply, outcome, self._shell.monotonic()))
                case core.Begin() | core.Record():
                    self._shell.show(self)
                case core.Acknowledge(seat, ply):
                    self._lines.say(seat, protocol.Ack(self.id, ply))
                case core.Reject(seat, ply, code, message):
                    self._lines.say(seat, protocol.Reject(self.id, ply, code, message))
                case core.Finish(result):
                    seed = None if self.seal is not None else self._seed
                    for seat in range(len(self.seats)):
                        self._lines.say(seat, wire.match_end(self.id, result, seed))
                    self._shell.show(self)

    def _ask(self, ask: core.Ask) -> None:
        if ask.again:
            self._lines.say(ask.seat, self._request(ask))
            return
        delay = ask.not_before - self._shell.monotonic()
        if delay <= 0:
            self._hand_over(ask)
        else:
            self._asking = asyncio.get_running_loop().call_later(delay, self._hand_over, ask)

    def _hand_over(self, ask: core.Ask) -> None:
        self._lines.ask(
            ask.seat,
            lambda: self._request(ask),
            lambda trip_ms: self.deliver(core.HandedOver(ask.ply, self._shell.monotonic(), trip_ms)),
        )

    def _request(self, ask: core.Ask) -> protocol.YourMove:
        now, request = self._shell.monotonic(), self.match.open
        lost_s = 0.0 if request is None else self._shell.lost(request.at, now)
        return wire.your_move(self.id, ask, self.match, now - lost_s)

    def _deadline_passed(self) -> None:
        """Take the end of somebody's time, unless the server itself has not listened for all of it."""
        match = self.match
        if match.over:
            return
        at = self._shell.monotonic()
        lost_s = 0.0 if match.waiting_since is None else self._shell.lost(match.waiting_since, at)
        if at - lost_s < match.deadline and (match.open is None or lost_s <= core.OVERLOAD_S):
            self._deadline.set(match.deadline + lost_s)
            self._shell.show(self)  # spectators do not know that it has some time yet
        elif match.to_move is not None and self._lines.has_unread(match.to_move):
            self._deadline.set(at + UNREAD_S)
        elif any(self._shell.kept_away(self.seats[n].name) for n in match.absent_awaited):
            if at - match.deadline > KEPT_AWAY_S:
                self.deliver(core.Abort(at, KEPT_AWAY))
            else:
                self._deadline.set(at + GLANCE_S)
        else:
            waited_s = at - match.deadline
            if waited_s > GLANCE_S:  # for who was kept away: it is not charged for that
                lost_s = max(lost_s, min(waited_s, core.OVERLOAD_S))
            self.deliver(core.DeadlinePassed(at, lost_s))

    def _stop_timers(self) -> None:
        self._deadline.end()
        if self._asking is not None:
            self._asking.cancel()


def _drawn(match: core.Match, seed: str | None, lots: Lots, outcomes: seeds.Outcomes) -> str:
    """Draw an outcome of chance from the seed, or lots for an action that came too late."""
    if seed is None or match.open is not None:
        return lots(outcomes)
    return seeds.outcome(seed, match.movers.count(CHANCE), outcomes)
