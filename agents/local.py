"""Matches without a server: the same rules, limits and causes of ends."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.agent import Agent, Resigned, info_json, read_choice
from agents.call import Called, call
from agents.clock import Clock, Timer, now_ms
from agents.fault import FaultReport, headline, own_traceback
from agents.protocol import Cause, MatchEnd, MatchStart, Outcome, Player, TimeControl
from games import Game, Position

SCORES: dict[Outcome, float | None] = {"win": 1.0, "draw": 0.5, "loss": 0.0, "void": None}


@dataclass(frozen=True)
class PlayedMove:
    """A move as it was played; `elapsed_ms` is its thinking time, `info` what the agent said about it."""

    ply: int
    seat: int
    action: str
    elapsed_ms: float
    info: dict[str, Any] | None = None


@dataclass(frozen=True)
class LocalResult:
    """How a match ended, all by seat. `position` is the last one; `moves` are those played by agents."""

    outcomes: tuple[Outcome, ...]
    causes: tuple[Cause, ...]
    position: Position
    moves: tuple[PlayedMove, ...]
    detail: str
    fault: FaultReport | None = None

    @property
    def scores(self) -> tuple[float | None, ...]:
        """1 for a win, 1/2 for a draw, 0 for a loss; None if void."""
        return tuple(SCORES[outcome] for outcome in self.outcomes)


OnMove = Callable[[Position, PlayedMove], None]
"""Called after each move with the position reached."""


def play_match(
    game: Game,
    agents: Sequence[Agent],
    time_control: TimeControl | None = None,
    moves: Sequence[str] = (),
    *,
    names: Sequence[str] = (),
    on_move: OnMove | None = None,
    timer: Timer = now_ms,
) -> LocalResult:
    """Play one match; `agents` by seat. `moves` are played first, for both.

    Without a `time_control` nothing is timed, and the agents run in this thread (as a person at the
    terminal needs it). Raises InputError for moves that cannot be played.
    """
    position = Position.start(game, moves=moves)
    names = names or [type(agent).__name__ for agent in agents]
    match = _LocalMatch(position, agents, time_control, names, timer)
    result = match.play(on_move)
    match.tell_end(result)
    return result


class _LocalMatch:
    """A match in progress."""

    def __init__(
        self,
        position: Position,
        agents: Sequence[Agent],
        time_control: TimeControl | None,
        names: Sequence[str],
        timer: Timer,
    ) -> None:
        self.position = position
        self.game = position.game
        self.agents = agents
        self.time_control = time_control
        self.names = names
        self.timer = timer
        self.moves: list[PlayedMove] = []

    def play(self, on_move: OnMove | None) -> LocalResult:
        """Play to the end."""
        for seat in range(len(self.agents)):
            called = self._start(seat)
            if called.error is not None:
                return self._forfeit(seat, "crash", f"match_start raised {headline(called.error)}", called)
            if not called.finished:
                return self._no_show(seat)
        while not self.position.is_terminal():
            ended = self._move()
            if ended is not None:
                return ended
            if on_move is not None:
                on_move(self.position, self.moves[-1])
        outcomes = by_utilities(self.position.utilities())
        causes: tuple[Cause, ...] = tuple("normal" for _ in outcomes)
        return self._result(outcomes, causes, "the game was played to its end")

    def tell_end(self, result: LocalResult) -> None:
        """Tell every agent how the match ended; what goes wrong there changes nothing any more."""
        end = MatchEnd(
            match=0,
            outcome=list(result.outcomes),
            cause=list(result.causes),
            scores=list(result.scores),
            record="",
            detail=result.detail,
        )
        for agent in self.agents:
            self._call(functools.partial(agent.match_end, end))

    def _call(self, work: Callable[[], object]) -> Called:
        """Call an agent outside its moves, under the start-up allowance."""
        limit = self.time_control.ready_ms if self.time_control else None
        return call(work, limit or None, self.timer)

    def _start(self, seat: int) -> Called:
        start = MatchStart(
            match=0,
            game=self.game.variant,
            ladder="local",
            seat=seat,
            players=[Player(number, name, 1) for number, name in enumerate(self.names)],
            time_control=self.time_control or TimeControl(move_ms=0),
            position=self.position.text(),
            history=list(self.position.actions),
        )
        return self._call(lambda: self.agents[seat].match_start(start))

    def _move(self) -> LocalResult | None:
        """Ask for one move; return the result if it ends the match by a fault."""
        position = self.position
        seat = position.to_move()
        agent = self.agents[seat]
        control = self.time_control
        clock = Clock(control.move_ms if control else UNTIMED_MS, timer=self.timer)
        limit = control.move_ms + control.margin_ms if control else None
        called = call(lambda: agent.choose(position.state, clock), limit, self.timer)
        if control and (not called.finished or called.elapsed_ms > control.move_ms + control.margin_ms):
            detail = f"no answer to ply {position.ply} within {control.move_ms} ms"
            return self._forfeit(seat, "timeout", detail, called)
        if isinstance(called.error, Resigned):
            return self._result(*loss_of(seat, "resignation", len(self.agents)), f"seat {seat + 1} resigned")
        if called.error is not None:
            return self._forfeit(seat, "crash", headline(called.error), called)
        choice = read_choice(self.game, position.state, called.value)
        if choice.problem is not None:
            return self._forfeit(seat, "illegal_action", choice.problem, called)
        info = info_json(agent, self.game, position.state)
        self.position = position.play(choice.text)
        self.moves.append(PlayedMove(position.ply, seat, choice.text, called.elapsed_ms, info))
        return None

    def _forfeit(self, seat: int, cause: Cause, detail: str, called: Called) -> LocalResult:
        outcomes, causes = loss_of(seat, cause, len(self.agents))
        fault = self._fault(seat, detail, called)
        return self._result(outcomes, causes, f"seat {seat + 1}, ply {self.position.ply}: {detail}", fault)

    def _no_show(self, seat: int) -> LocalResult:
        seats = range(len(self.agents))
        causes: tuple[Cause, ...] = tuple("no_show" if other == seat else "normal" for other in seats)
        outcomes: tuple[Outcome, ...] = tuple("void" for _ in self.agents)
        return self._result(outcomes, causes, f"seat {seat + 1} was not ready in time")

    def _fault(self, seat: int, got: str, called: Called) -> FaultReport:
        name = self.names[seat]
        path = Path(name).resolve() if name.endswith(".py") else None
        trace = own_traceback(called.error, path) if called.error is not None else called.stack
        return FaultReport(
            match=None,
            game=self.game.variant,
            agent=name,
            seat=seat,
            ply=self.position.ply,
            position=self.position.text(),
            legal=tuple(self.position.legal()),
            got=got,
            traceback=trace,
            moves=self.position.actions,
        )

    def _result(
        self,
        outcomes: tuple[Outcome, ...],
        causes: tuple[Cause, ...],
        detail: str,
        fault: FaultReport | None = None,
    ) -> LocalResult:
        return LocalResult(outcomes, causes, self.position, tuple(self.moves), detail, fault)


UNTIMED_MS = 24 * 3600 * 1000
"""What the clock shows where nothing is timed: a day."""


def loss_of(seat: int, cause: Cause, players: int) -> tuple[tuple[Outcome, ...], tuple[Cause, ...]]:
    """Return outcomes and causes where one seat loses and every other wins."""
    outcomes: tuple[Outcome, ...] = tuple("loss" if other == seat else "win" for other in range(players))
    causes: tuple[Cause, ...] = tuple(cause if other == seat else "normal" for other in range(players))
    return outcomes, causes


def by_utilities(utilities: Sequence[float]) -> tuple[Outcome, ...]:
    """Return the outcomes of a game played to its end: the highest utility wins, a shared one is a draw."""
    best = max(utilities)
    top: Outcome = "draw" if utilities.count(best) > 1 else "win"
    return tuple(top if utility == best else "loss" for utility in utilities)


def seatings(players: int, games: int) -> Iterator[tuple[int, ...]]:
    """For each game, which player sits where: everybody moves up one seat after each game."""
    for number in range(games):
        yield tuple((seat + number) % players for seat in range(players))
