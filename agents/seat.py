"""One match as the client sees it: the agent in a thread of its own, what it was asked and answered.

The receiving thread calls `begin`, `resume`, `ask`, `ack`, `reject`, `tick` and `end`; the agent's code
runs in the seat's thread alone, one call after the other.
"""

import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from agents.agent import Agent, Choice, Resigned, info_json, read_choice
from agents.call import Called, call, stack_of
from agents.clock import Clock, now_ms
from agents.fault import FaultReport, headline, own_traceback
from agents.protocol import FromAgent, MatchEnd, MatchStart, Move, Ready, Resign, YourMove
from games import Game, InputError, State, load

MakeAgent = Callable[[MatchStart], Agent]
"""Makes a fresh agent for a match."""


@dataclass(frozen=True)
class Surroundings:
    """What a seat needs of its client. `name` is the agent's file or name, for reports."""

    name: str
    make_agent: MakeAgent
    send: Callable[[FromAgent], None]
    moved: Callable[[MatchStart, Move, float], None]
    fault: Callable[[FaultReport], None]
    thinking: AbstractContextManager[object]
    ack_ms: float

    @property
    def path(self) -> Path | None:
        """The agent's file, if it is one."""
        return Path(self.name).resolve() if self.name.endswith(".py") else None


class Seat:
    """A match of this agent.

    A request is known by its ply. The answer is kept until it is acknowledged: the same request again, or
    no acknowledgement in time, sends the same answer again, and the agent is not asked twice.
    """

    def __init__(self, start: MatchStart, around: Surroundings) -> None:
        self.start = start
        self.over = False
        self.fault: FaultReport | None = None
        self._around = around
        self._lock = threading.RLock()
        self._moves = list(start.history)
        self._ready = False
        self._asked: YourMove | None = None
        self._answer: Move | Resign | None = None
        self._sent_ms: float | None = None
        self._acked_ply = -1
        self._busy = False
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=f"match {start.match}", daemon=True)
        self._game: Game
        self._agent: Agent

    # the receiving thread ---------------------------------------------------------------------------

    def begin(self) -> None:
        """Let the agent set itself up, then tell the server that it is ready."""
        self._jobs.put(self._set_up)
        self._thread.start()

    def resume(self, start: MatchStart) -> None:
        """Go on after a reconnection."""
        with self._lock:
            self._moves = list(start.history)
            if self.fault is not None:
                self._send_answer()
            elif self._ready:
                self._around.send(Ready(start.match))

    def ask(self, request: YourMove, received_ms: float) -> None:
        """Take a request: think about a new one, answer a repeated one again, ignore a stale one."""
        with self._lock:
            latest = self._acked_ply if self._asked is None else max(self._acked_ply, self._asked.ply)
            repeated = self._asked is not None and request.ply == self._asked.ply
            if self.fault is not None or (repeated and request.ply > self._acked_ply):
                self._send_answer()
            elif request.ply > latest:
                self._asked, self._answer, self._sent_ms = request, None, None
                self._jobs.put(lambda: self._think(request, received_ms))

    def ack(self, ply: int) -> None:
        """Note that the answer to this ply is recorded."""
        with self._lock:
            self._acked_ply = max(self._acked_ply, ply)
            if isinstance(self._answer, Move) and self._answer.ply == ply:
                self._answer = self._sent_ms = None

    def reject(self, ply: int) -> None:
        """Stop sending this answer by itself: repeating what changed nothing would change nothing again."""
        with self._lock:
            if isinstance(self._answer, Move) and self._answer.ply == ply:
                self._sent_ms = None

    def tick(self) -> None:
        """Send the answer again if its acknowledgement is overdue."""
        with self._lock:
            overdue = self._sent_ms is not None and now_ms() - self._sent_ms >= self._around.ack_ms
            if overdue and not self.over:
                self._send_answer()

    def end(self, message: MatchEnd | None) -> None:
        """Close the match; None if the server forgot it while we were away."""
        with self._lock:
            self.over = True
            self._answer = self._sent_ms = None
        if message is not None:
            self._jobs.put(lambda: self._tell_end(message))
        self._jobs.put(None)

    @property
    def stuck(self) -> bool:
        """Whether the match is over and the agent's code has still not come back."""
        return self.over and self._busy

    def stuck_report(self) -> FaultReport:
        """Report where the agent's code is while it does not come back."""
        limit_ms = self.start.time_control.move_ms
        return self._report(f"no answer, long after {limit_ms} ms", stack_of(self._thread))

    # the agent's thread -----------------------------------------------------------------------------

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception as error:  # noqa: BLE001 - reported, and the thread must not die in silence
                self._fail(headline(error), own_traceback(error, self._around.path))

    def _call(self, work: Callable[[], object]) -> Called:
        self._busy = True
        try:
            return call(work, None)
        finally:
            self._busy = False

    def _set_up(self) -> None:
        def make() -> None:
            self._agent = self._around.make_agent(self.start)
            self._agent.match_start(self.start)

        try:
            self._game = load(self.start.game)
        except InputError as error:
            self._fail(f"a game this client does not know: {error}", "")
            return
        called = self._call(make)
        if called.error is not None:
            self._fail(headline(called.error), own_traceback(called.error, self._around.path))
            return
        with self._lock:
            self._ready = True
            self._around.send(Ready(self.start.match))

    def _think(self, request: YourMove, received_ms: float) -> None:
        with self._lock:
            before = self._moves[: request.ply - len(request.last_actions)]
            self._moves = [*before, *request.last_actions]
        state = self._game.parse_position(request.position)
        view = request.clock
        clock = Clock(view.move_ms, view.bank_ms, view.increment_ms, started_ms=received_ms)
        with self._around.thinking:
            if self.over:
                return
            called = self._call(lambda: self._agent.choose(state, clock))
        if self.over:
            return
        if isinstance(called.error, Resigned):
            self._give_up()
            return
        if called.error is not None:
            self._fail(headline(called.error), own_traceback(called.error, self._around.path))
            return
        choice = read_choice(self._game, state, called.value)
        if choice.problem is not None:
            self.fault = self._report(choice.problem, "")
            self._around.fault(self.fault)
        self._answer_with(request, choice, state, clock)

    def _answer_with(self, request: YourMove, choice: Choice, state: State, clock: Clock) -> None:
        info = info_json(self._agent, self._game, state)
        move = Move(self.start.match, request.ply, choice.text, info)
        with self._lock:
            if self.over or self._asked is not request:
                return
            self._moves.append(choice.text)
            self._answer = move
            self._send_answer()
        self._around.moved(self.start, move, clock.elapsed_ms())

    def _send_answer(self) -> None:
        if self._answer is not None:
            self._sent_ms = now_ms() if isinstance(self._answer, Move) else None
            self._around.send(self._answer)

    def _tell_end(self, message: MatchEnd) -> None:
        if self._ready:
            self._call(lambda: self._agent.match_end(message))

    # faults -----------------------------------------------------------------------------------------

    def _fail(self, got: str, traceback: str) -> None:
        """Report that the agent cannot go on, and give up the match."""
        self.fault = self._report(got, traceback)
        self._around.fault(self.fault)
        self._give_up()

    def _give_up(self) -> None:
        with self._lock:
            self._answer = Resign(self.start.match)
            self._send_answer()

    def _report(self, got: str, traceback: str) -> FaultReport:
        request, start = self._asked, self.start
        ply = len(start.history) if request is None else request.ply
        return FaultReport(
            match=start.match,
            game=start.game,
            agent=self._around.name,
            seat=start.seat,
            ply=ply,
            position=start.position if request is None else request.position,
            legal=() if request is None else tuple(request.legal),
            got=got,
            traceback=traceback,
            moves=tuple(self._moves[:ply]),
        )
