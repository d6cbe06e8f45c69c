"""One match as the client sees it: the agent in a thread of its own, and the server that asks it.

The receiving thread calls `begin`, `resume`, `ask`, `ack`, `reject`, `tick` and `end`; the agent's code
runs in the seat's thread alone, one call after the other.

No message is waited for that may never come: an answer stands until it is acknowledged, and goes out again
when it is asked for again, when the acknowledgement is overdue, and when the server was not ready for it.
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import asdict

from agents import view
from agents.agent import Agent, Choice, Resigned, info_json, read_choice
from agents.agent_thread import AgentThread
from agents.clock import Clock, now_ms
from agents.exchange import Exchange, News
from agents.fault import FaultReport, headline, own_stack, own_traceback
from agents.protocol import FromAgent, MatchEnd, MatchStart, Move, Ready, Resign, YourMove
from agents.view import View
from games import Game, InputError, load

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

    The same request again, or no acknowledgement in time, sends the same answer again, and the agent is not
    asked twice. An answer to a request that has cost a strike is dropped, whenever it comes; only then is the
    agent asked the next. What both threads know of requests and answers, `_lock` guards.
    """

    def __init__(self, start: MatchStart, around: Surroundings) -> None:
        self.start = start
        self.over = False
        self.fault: FaultReport | None = None
        self._around = around
        self._lock = threading.RLock()
        self._moves = list(start.history)
        self._ready = False
        self._exchange = Exchange(around.ack_ms)
        self._thought_ms: float | None = None
        self._thread = AgentThread(f"match {start.match}", lambda error: self._fail(headline(error), error))
        self._game: Game
        self._agent: Agent

    # the receiving thread ---------------------------------------------------------------------------

    def begin(self) -> None:
        """Let the agent set itself up, then tell the server that it is ready."""
        self._thread.put(self._set_up)
        self._thread.start()

    def resume(self, start: MatchStart) -> bool:
        """Go on after a reconnection; False if a server that lost this match has begun it anew."""
        with self._lock:
            if not self._exchange.resume(len(start.history)):
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
            if self.fault is not None:
                self._send_answer()
                return
            news = self._exchange.ask(request)
            if news is News.REPEATED:
                self._send_answer()
            elif news is News.NEW:
                self._thought_ms = None
                self._thread.put(lambda: self._think(request, received_ms))

    def ack(self, ply: int) -> None:
        """Note that the answer to this ply is recorded."""
        with self._lock:
            self._exchange.ack(ply)

    def reject(self, ply: int, code: str) -> int | None:
        """Send an answer that came too early again later, and any other no more: it would change nothing.

        Return the strikes left if this is the news that the request has cost one.
        """
        with self._lock:
            return self._exchange.reject(ply, code, now_ms())

    def tick(self) -> None:
        """Send the answer again if its acknowledgement is overdue."""
        with self._lock:
            if self._exchange.is_overdue(now_ms()) and not self.over:
                self._send_answer()

    def end(self, message: MatchEnd | None, *, told: bool = True) -> None:
        """Close the match; None if nobody can say how it ended.

        If that is still to be told, only say no more to the server; this is called again then.
        """
        with self._lock:
            self.over = True
            self._exchange.drop_answer()
        if not told:
            return
        if message is not None:
            self._thread.put(lambda: self._tell_end(message))
        self._thread.finish()

    @property
    def limit_ms(self) -> int:
        """What the move could take that was asked for last; before any, what the first one can."""
        asked = self._exchange.asked
        return asked.clock.move_ms if asked else view.first_clock(self.start.time_control).move_ms

    @property
    def doing(self) -> str | None:
        """The agent's function that runs, "" between two, None when it is done with the match for good."""
        return self._thread.doing

    def late_report(self) -> FaultReport:
        """Report how long the agent's code took, or where it is while it does not come back."""
        limit_ms, running = self.limit_ms, self._thread.doing
        asked = self._exchange.asked
        bank = ", all that was left" if asked and asked.clock.bank_ms == limit_ms else ""
        limit = f"no answer within {limit_ms} ms{bank}"
        if running:
            took = f"{running} had not returned after {self._thread.running_ms:.0f} ms"
            stack = own_stack(self._thread.frames(), self._around.path)
            return self._report(f"{limit}, {took}" if running == "choose" else took, stack, limit_ms)
        with self._lock:
            thought_ms = self._thought_ms if self._exchange.open is not None else None
        if thought_ms is None:
            return self._report(f"{limit}: the request did not come through", "", limit_ms)
        got = f"{limit}, choose took {thought_ms:.0f} ms"
        if thought_ms < limit_ms:
            got += ": the answer was late on its way"
        return self._report(got, "", limit_ms)

    # the agent's thread -----------------------------------------------------------------------------

    def _set_up(self) -> None:
        def make() -> None:
            self._agent = self._around.make_agent(self.start)
            self._agent.match_start(self.start)

        try:
            self._game = load(self.start.game)
        except InputError as error:
            self._fail(f"a game this client does not know: {error}")
            return
        called = self._thread.call("match_start", make)
        if called.error is not None:
            self._fail(headline(called.error), called.error)
            return
        with self._lock:
            self._ready = True
            if not self.over:
                self._around.send(Ready(self.start.match))

    def _think(self, request: YourMove, received_ms: float) -> None:
        with self._lock:
            before = self._moves[: request.ply - len(request.last_actions)]
            self._moves = [*before, *request.last_actions]
        shown = view.of_request(self._game, self.start.seat, request)
        left = request.clock
        clock = Clock(**asdict(left), started_ms=received_ms)

        def choose() -> object:
            try:
                self._agent.asked(request)
                return self._agent.choose(shown, clock)
            finally:
                with self._lock:
                    if self._exchange.asked is request:
                        self._thought_ms = clock.elapsed_ms()

        with self._around.thinking:
            if self._is_stale(request):  # it waited for the answer before, or for other matches, too long
                return
            called = self._thread.call("choose", choose)
        if self.over:
            return
        if isinstance(called.error, Resigned):
            self._give_up(Resign(self.start.match))
            return
        if called.error is not None:
            self._fail(headline(called.error), called.error)
            return
        if self._is_stale(request):
            return
        choice = read_choice(self._game, shown, called.value)
        if choice.problem is not None:
            self.fault = self._report(choice.problem, "")
            self._around.fault(self.fault)
        self._answer_with(request, choice, shown, clock)

    def _is_stale(self, request: YourMove) -> bool:
        """Tell whether no answer to a request is wanted any more."""
        with self._lock:
            return self.over or self._exchange.open is not request

    def _answer_with(self, request: YourMove, choice: Choice, shown: View, clock: Clock) -> None:
        info = info_json(self._agent, self._game, shown)
        move = Move(self.start.match, request.ply, choice.text, info)
        with self._lock:
            if self._is_stale(request):
                return
            self._moves.append(choice.text)
            self._exchange.answer(move)
            self._send_answer()
        self._around.moved(self.start, move, clock.elapsed_ms())

    def _send_answer(self) -> None:
        answer = self._exchange.to_send(now_ms())
        if answer is not None:
            self._around.send(answer)

    def _tell_end(self, message: MatchEnd) -> None:
        if not self._ready:
            return
        called = self._thread.call("match_end", lambda: self._agent.match_end(message))
        if called.error is not None:
            self._fail(f"match_end raised {headline(called.error)}", called.error)

    # faults -----------------------------------------------------------------------------------------

    def _fail(self, got: str, error: BaseException | None = None) -> None:
        """Report that the agent cannot go on, by the error that it raised, and give up the match."""
        self.fault = self._report(got, own_traceback(error, self._around.path) if error is not None else "")
        self._around.fault(self.fault)
        self._give_up(Resign(self.start.match, reason="crash"))

    def _give_up(self, resign: Resign) -> None:
        with self._lock:
            if not self.over:
                self._exchange.answer(resign)
                self._send_answer()

    def _report(self, got: str, traceback: str, move_ms: int | None = None) -> FaultReport:
        request, start = self._exchange.asked, self.start
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
