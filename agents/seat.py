"""One match as the client sees it: the agent in a thread of its own, what it was asked and answered.

The receiving thread calls `begin`, `resume`, `ask`, `ack`, `reject`, `tick` and `end`; the agent's code
runs in the seat's thread alone, one call after the other.

No message is waited for that may never come: an answer stands until it is acknowledged, and goes out again
when it is asked for again, when the acknowledgement is overdue, and when the server was not ready for it.
"""

import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from agents import view
from agents.agent import Agent, Choice, Resigned, info_json, read_choice
from agents.call import Called, call, frames_of
from agents.clock import Clock, now_ms
from agents.fault import FaultReport, headline, own_stack, own_traceback
from agents.protocol import FromAgent, MatchEnd, MatchStart, Move, Ready, Resign, YourMove
from agents.view import View
from games import Game, InputError, load

TOO_EARLY = ("not_asked", "not_started")
"""Codes of `reject` for an answer that will count when the server has taken note of its own request."""

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
        self._running = ""
        self._since_ms = 0.0
        self._thought_ms: float | None = None
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=f"match {start.match}", daemon=True)
        self._game: Game
        self._agent: Agent

    # the receiving thread ---------------------------------------------------------------------------

    def begin(self) -> None:
        """Let the agent set itself up, then tell the server that it is ready."""
        self._jobs.put(self._set_up)
        self._thread.start()

    def resume(self, start: MatchStart) -> bool:
        """Go on after a reconnection; False if a server that lost this match has begun it anew."""
        with self._lock:
            if len(start.history) <= self._acked_ply:
                return False
            self._moves = list(start.history)
            if self.fault is not None:
                self._send_answer()
            elif self._ready:
                self._around.send(Ready(start.match))
            return True

    def ask(self, request: YourMove, received_ms: float) -> None:
        """Take a request: think about a new one, answer a repeated one again, ignore a stale one."""
        with self._lock:
            latest = self._acked_ply if self._asked is None else max(self._acked_ply, self._asked.ply)
            repeated = self._asked is not None and request.ply == self._asked.ply
            if self.fault is not None or (repeated and request.ply > self._acked_ply):
                self._send_answer()
            elif request.ply > latest:
                self._asked, self._answer, self._sent_ms = request, None, None
                self._thought_ms = None
                self._jobs.put(lambda: self._think(request, received_ms))

    def ack(self, ply: int) -> None:
        """Note that the answer to this ply is recorded."""
        with self._lock:
            self._acked_ply = max(self._acked_ply, ply)
            if isinstance(self._answer, Move) and self._answer.ply == ply:
                self._answer = self._sent_ms = None

    def reject(self, ply: int, code: str) -> None:
        """Send an answer that came too early again later, and any other no more: it would change nothing."""
        with self._lock:
            if isinstance(self._answer, Move) and self._answer.ply == ply:
                self._sent_ms = now_ms() if code in TOO_EARLY else None

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
    def doing(self) -> str | None:
        """The agent's function that runs, "" between two, None when it is done with the match for good."""
        return self._running if self._thread.is_alive() else None

    def late_report(self) -> FaultReport:
        """Report how long the agent's code took, or where it is while it does not come back."""
        limit_ms, running = self.start.time_control.move_ms, self._running
        limit = f"no answer within {limit_ms} ms"
        if running:
            took = f"{running} had not returned after {now_ms() - self._since_ms:.0f} ms"
            stack = own_stack(frames_of(self._thread), self._around.path)
            return self._report(f"{limit}, {took}" if running == "choose" else took, stack, limit_ms)
        if self._thought_ms is None or self._asked is None or self._asked.ply <= self._acked_ply:
            return self._report(f"{limit}: the request did not come through", "", limit_ms)
        got = f"{limit}, choose took {self._thought_ms:.0f} ms"
        if self._thought_ms < limit_ms:
            got += ": the answer was late on its way"
        return self._report(got, "", limit_ms)

    # the agent's thread -----------------------------------------------------------------------------

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception as error:  # noqa: BLE001 - reported, and the thread must not die in silence
                self._fail(headline(error), own_traceback(error, self._around.path))

    def _call(self, name: str, work: Callable[[], object]) -> Called:
        """Call a function of the agent; `name` is what it is called in reports."""
        self._since_ms, self._running = now_ms(), name
        try:
            return call(work, None)
        finally:
            self._running = ""

    def _set_up(self) -> None:
        def make() -> None:
            self._agent = self._around.make_agent(self.start)
            self._agent.match_start(self.start)

        try:
            self._game = load(self.start.game)
        except InputError as error:
            self._fail(f"a game this client does not know: {error}", "")
            return
        called = self._call("match_start", make)
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
        shown = view.of_request(self._game, self.start.seat, request)
        left = request.clock
        clock = Clock(left.move_ms, left.bank_ms, left.increment_ms, started_ms=received_ms)

        def choose() -> object:
            try:
                self._agent.asked(request)
                return self._agent.choose(shown, clock)
            finally:
                self._thought_ms = clock.elapsed_ms()

        with self._around.thinking:
            if self.over:
                return
            called = self._call("choose", choose)
        if self.over:
            return
        if isinstance(called.error, Resigned):
            self._give_up(Resign(self.start.match))
            return
        if called.error is not None:
            self._fail(headline(called.error), own_traceback(called.error, self._around.path))
            return
        choice = read_choice(self._game, shown, called.value)
        if choice.problem is not None:
            self.fault = self._report(choice.problem, "")
            self._around.fault(self.fault)
        self._answer_with(request, choice, shown, clock)

    def _answer_with(self, request: YourMove, choice: Choice, shown: View, clock: Clock) -> None:
        info = info_json(self._agent, self._game, shown)
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
        if not self._ready:
            return
        called = self._call("match_end", lambda: self._agent.match_end(message))
        if called.error is not None:
            trace = own_traceback(called.error, self._around.path)
            self._fail(f"match_end raised {headline(called.error)}", trace)

    # faults -----------------------------------------------------------------------------------------

    def _fail(self, got: str, traceback: str) -> None:
        """Report that the agent cannot go on, and give up the match."""
        self.fault = self._report(got, traceback)
        self._around.fault(self.fault)
        self._give_up(Resign(self.start.match, reason="crash"))

    def _give_up(self, resign: Resign) -> None:
        with self._lock:
            if not self.over:
                self._answer = resign
                self._send_answer()

    def _report(self, got: str, traceback: str, move_ms: int | None = None) -> FaultReport:
        request, start = self._asked, self.start
        ply = len(start.history) if request is None else request.ply
        position = start.position if request is None else request.position
        return FaultReport(
            match=start.match,
            game=start.game,
            agent=self._around.name,
            seat=start.seat,
            ply=ply,
            position=position,
            legal=() if request is None else tuple(request.legal),
            got=got,
            traceback=traceback,
            moves=tuple(self._moves[:ply]),
            actions=() if request is None else _actions(start, request),
            move_ms=move_ms,
        )


def _actions(start: MatchStart, request: YourMove) -> tuple[int, ...]:
    """Return the legal actions as the agent knows them; none for what this client cannot read."""
    try:
        game = load(start.game)
        shown = view.of_request(game, start.seat, request)
        return tuple(game.parse_action(shown, text) for text in request.legal)
    except InputError:
        return ()
