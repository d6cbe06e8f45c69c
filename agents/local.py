"""Matches without a server: the same rules, limits and causes of ends."""

import functools
import random
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from agents import view
from agents.agent import Agent, Resigned, info_json, read_choice
from agents.call import Called, call
from agents.clock import Clock, Timer, now_ms
from agents.fault import FaultReport, ToldError, headline, own_stack, own_traceback
from agents.outcome import by_rules, loss_of, scores
from agents.protocol import Cause, ClockView, MatchEnd, Outcome, TimeControl
from games import CHANCE, Game, InputError, Position

UNTIMED_MS = 24 * 3600 * 1000
"""What the clock shows where nothing is timed: a day."""


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
        """Mean scores against the other seats, as agents.outcome has them; None if void."""
        return tuple(scores(self.outcomes, self.utilities))

    @property
    def utilities(self) -> tuple[float, ...]:
        """What the game gave each seat; empty if it was not played to its end."""
        return self.position.utilities() if self.position.is_terminal() else ()


OnMove = Callable[[Position, PlayedMove | None], None]
"""Called with the position before the first move (and None) and after each; chance has moved by then."""


def play_match(
    game: Game,
    agents: Sequence[Agent],
    time_control: TimeControl | None = None,
    moves: Sequence[str] = (),
    *,
    names: Sequence[str] = (),
    rehearsing: Collection[int] = (),
    seed: int = 0,
    on_move: OnMove | None = None,
    timer: Timer = now_ms,
) -> LocalResult:
    """Play one match; `agents` by seat. `moves` are played first, for all; `seed` is that of chance.

    The seats `rehearsing` are asked for those of the moves that are theirs, and what they answer is ignored:
    an agent that remembers its earlier calls is then as it was when these moves were its own.

    Every move has the clock of a first one under the `time_control`: no bank is kept, and no strike forgiven.
    Without one nothing is timed, and the agents run in this thread (as a person at the terminal needs it).
    Raises InputError for moves that cannot be played, and for more or fewer agents than seats.
    """
    check_seats(game, len(agents))
    given = Position.start(game, moves=moves)
    names = names or [type(agent).__name__ for agent in agents]
    match = _LocalMatch(given, agents, time_control, names, rehearsing, random.Random(seed), timer)
    return match.tell_end(match.play(on_move))


class _LocalMatch:
    """A match in progress."""

    def __init__(
        self,
        given: Position,
        agents: Sequence[Agent],
        time_control: TimeControl | None,
        names: Sequence[str],
        rehearsing: Collection[int],
        lots: random.Random,
        timer: Timer,
    ) -> None:
        self.game = given.game
        self.given = given
        self.position = Position.start(given.game)
        self.movers: list[int] = []
        self.rehearsing = rehearsing
        self.agents = agents
        self.time_control = time_control
        first = view.first_clock(time_control) if time_control else ClockView(UNTIMED_MS)
        self.clock = msgspec.structs.replace(first, strikes=0)
        self.move_ms = self.clock.move_ms
        self.names = names
        self.lots = lots
        self.timer = timer
        self.moves: list[PlayedMove] = []

    def play(self, on_move: OnMove | None) -> LocalResult:
        """Play to the end."""
        ended = self._start_all() or self._play_given()
        moved = None
        while ended is None:
            self._draw()
            if on_move is not None:
                on_move(self.position, moved)
            if self.position.is_terminal():
                break
            ended = self._move()
            moved = self.moves[-1] if ended is None else None
        if ended is not None:
            return ended
        return self._result(*by_rules(self.position), "the game was played to its end")

    def tell_end(self, result: LocalResult) -> LocalResult:
        """Tell every agent how the match ended. A failure there is a fault, and changes no outcome."""
        end = MatchEnd(
            match=0,
            outcome=list(result.outcomes),
            cause=list(result.causes),
            scores=list(result.scores),
            record="",
            detail=result.detail,
        )
        for seat, agent in enumerate(self.agents):
            called = self._call(functools.partial(agent.match_end, end))
            if result.fault is None and (called.error is not None or not called.finished):
                result = replace(result, fault=self._fault(seat, _went_wrong("match_end", called), called))
        return result

    def _call(self, work: Callable[[], object]) -> Called:
        """Call an agent outside its moves, under the start-up allowance."""
        limit = self.time_control.ready_ms if self.time_control else None
        return call(work, limit or None, self.timer)

    def _start_all(self) -> LocalResult | None:
        """Let the agents set themselves up; return the result if that ends the match."""
        for seat in range(len(self.agents)):
            called = self._start(seat)
            if called.error is not None:
                return self._forfeit(seat, "crash", _went_wrong("match_start", called), called)
            if not called.finished:
                return self._no_show(seat, called)
        return None

    def _start(self, seat: int) -> Called:
        position = self.position if seat in self.rehearsing else self.given
        control = self.time_control or TimeControl(move_ms=0)
        start = view.match_start(0, "local", position, seat, self.names, control)
        return self._call(lambda: self.agents[seat].match_start(start))

    def _play_given(self) -> LocalResult | None:
        """Play the moves given, rehearsed by those who are to; return the result if that ends the match."""
        for text in self.given.actions:
            if self.position.to_move() in self.rehearsing:
                called = self._ask()
                resigned = isinstance(called.error, Resigned)
                ended = None if resigned else self._failed(called)
                if ended is not None:
                    return ended
            self._play(text)
        return None

    def _play(self, text: str) -> None:
        self.movers.append(self.position.to_move())
        self.position = self.position.play(text)

    def _draw(self) -> None:
        """Let chance move as long as it is to move."""
        while not self.position.is_terminal() and self.position.to_move() == CHANCE:
            outcomes, probabilities = zip(*self.position.outcomes(), strict=True)
            (outcome,) = self.lots.choices(outcomes, probabilities)
            self._play(outcome)

    def _move(self) -> LocalResult | None:
        """Ask for one move; return the result if it ends the match."""
        position = self.position
        seat = position.to_move()
        called = self._ask()
        if isinstance(called.error, Resigned):
            return self._result(*loss_of(seat, "resignation", len(self.agents)), f"seat {seat + 1} resigned")
        ended = self._failed(called)
        if ended is not None:
            return ended
        shown = view.of_position(position)
        choice = read_choice(self.game, shown, called.value)
        if choice.problem is not None:
            return self._forfeit(seat, "illegal_action", choice.problem, called)
        info = info_json(self.agents[seat], self.game, shown)
        self._play(choice.text)
        self.moves.append(PlayedMove(position.ply, seat, choice.text, called.elapsed_ms, info))
        return None

    def _ask(self) -> Called:
        """Ask whose turn it is for an action, as long as the limit allows."""
        position, control = self.position, self.time_control
        agent = self.agents[position.to_move()]
        clock = Clock(**msgspec.structs.asdict(self.clock), timer=self.timer)
        limit = self.move_ms + control.margin_ms if control else None
        request = view.your_move(0, position, self.movers, self.clock)
        shown = view.of_position(position)

        def choose() -> object:
            agent.asked(request)
            return agent.choose(shown, clock)

        return call(choose, limit, self.timer)

    def _failed(self, called: Called) -> LocalResult | None:
        """Return the result if `choose` crashed or took too long."""
        control = self.time_control
        seat = self.position.to_move()
        if control and (not called.finished or called.elapsed_ms > self.move_ms + control.margin_ms):
            took = "choose took" if called.finished else "choose had not returned after"
            detail = f"no answer within {self.move_ms} ms, {took} {called.elapsed_ms:.0f} ms"
            return self._forfeit(seat, "timeout", detail, called, move_ms=self.move_ms)
        if called.error is not None:
            return self._forfeit(seat, "crash", headline(called.error), called)
        return None

    def _forfeit(
        self, seat: int, cause: Cause, detail: str, called: Called, move_ms: int | None = None
    ) -> LocalResult:
        outcomes, causes = loss_of(seat, cause, len(self.agents))
        fault = self._fault(seat, detail, called, move_ms)
        return self._result(outcomes, causes, f"seat {seat + 1}, ply {self.position.ply}: {detail}", fault)

    def _no_show(self, seat: int, called: Called) -> LocalResult:
        seats = range(len(self.agents))
        causes: tuple[Cause, ...] = tuple("no_show" if other == seat else "normal" for other in seats)
        outcomes: tuple[Outcome, ...] = tuple("void" for _ in self.agents)
        fault = self._fault(seat, _went_wrong("match_start", called), called)
        return self._result(outcomes, causes, f"seat {seat + 1} was not ready in time", fault)

    def _fault(self, seat: int, got: str, called: Called, move_ms: int | None = None) -> FaultReport:
        name, position = self.names[seat], self.position
        path = Path(name).resolve() if name.endswith(".py") else None
        trace = own_stack(called.frames, path)
        return FaultReport(
            match=None,
            game=self.game.variant,
            agent=name,
            seat=seat,
            ply=position.ply,
            position=position.text(seat),
            legal=tuple(position.legal()),
            got=got,
            traceback=trace if called.error is None else own_traceback(called.error, path),
            moves=position.seen_actions(seat),
            actions=tuple(position.state.actions()) if position.legal() else (),
            move_ms=move_ms,
        )

    def _result(
        self,
        outcomes: tuple[Outcome, ...],
        causes: tuple[Cause, ...],
        detail: str,
        fault: FaultReport | None = None,
    ) -> LocalResult:
        return LocalResult(outcomes, causes, self.position, tuple(self.moves), detail, fault)


def _went_wrong(name: str, called: Called) -> str:
    """Say what came of a call that failed or has not come back."""
    if called.error is not None:
        said = headline(called.error)
        return said if isinstance(called.error, ToldError) else f"{name} raised {said}"
    return f"{name} had not returned after {called.elapsed_ms:.0f} ms"


def check_seats(game: Game, agents: int) -> None:
    """Raise InputError for another number of agents than the game has seats."""
    if agents != game.players:
        expected = f"{game.players} agents, one a seat of {game.variant}"
        raise InputError("bad_agents", expected=expected, got=str(agents))


def seatings(players: int, games: int) -> Iterator[tuple[int, ...]]:
    """For each game, which player sits where: everybody moves up one seat after each game."""
    for number in range(games):
        yield tuple((seat + number) % players for seat in range(players))
