"""The conformance check of an agent: numbered steps, each with what was expected and what came.

The agent is a program that talks as conversation.py says; a Python file is one too, run by child.py. The
steps know it by the small port `Checked` alone.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Protocol

from agents import child, view
from agents.check_match import CheckedMatch, Spot, middle_spot, odd_spots
from agents.conversation import GRACE_MS, READY_MS, Answer, Parting, ProgramError, last_lines
from agents.plain import duration
from agents.program import KEPT_STDERR_BYTES
from agents.protocol import ClockView, MatchEnd, MatchStart, TimeControl, YourMove
from games import Game, InputError

START, READY, FIRST, TIME, GAMES, NEW, MIDDLE, ODD, ONCE, STDERR, END = range(1, 12)

STEPS = {
    START: ("it starts", "a program that starts and answers"),
    READY: ("it gets ready for a match", "ready, after match_start"),
    FIRST: ("its first move is legal", "a legal action"),
    TIME: ("it answers in time", "every answer within the limit"),
    GAMES: ("it plays a whole game in each seat", "a legal action at every turn"),
    NEW: ("it takes a new match after the last", "a match played like the first"),
    MIDDLE: ("it goes on with a match in the middle", "a match played on from its history"),
    ODD: ("it answers in odd positions, in each twice", "a legal action in each"),
    ONCE: ("it answers once, and only when asked", "one line for each question"),
    STDERR: ("it does not flood stderr", f"at most {KEPT_STDERR_BYTES} bytes a run: that many are kept"),
    END: ("it ends when its input ends", f"its end within {duration(GRACE_MS)}"),
}
"""The steps by number: what they are called, and what is expected."""

FATAL = {START, READY, FIRST, TIME}
"""An agent that fails these is not tried further."""

LOAD_MS = 20_000
"""A file may take so long to load before its first match; the start of a program is part of its start-up."""

OVERTIME = child.HUNG + 0.5
"""So many times its limit an agent may think before it is given up, to tell how late its answer is."""


class Checked(Protocol):
    """A run of the agent. All but `end` raise ProgramError."""

    def match_start(self, start: MatchStart, limit_ms: float) -> float:
        """Announce a match; return how long it took to get ready, in ms."""

    def your_move(self, request: YourMove, limit_ms: float) -> Answer:
        """Ask for a move."""

    def match_end(self, end: MatchEnd, limit_ms: float) -> None:
        """Tell how the match ended."""

    def end(self, patience_ms: float) -> Parting:
        """End the run."""


@dataclass(frozen=True)
class Step:
    """What came of a step.

    `where` is the match and ply, after file:line where that is known; `trace` has lines.
    """

    number: int
    result: Literal["passed", "failed", "skipped"]
    expected: str
    got: str
    where: str = ""
    trace: str = ""

    @property
    def title(self) -> str:
        """What the step is called."""
        return STEPS[self.number][0]


@dataclass(frozen=True)
class Report:
    """All steps in order, and what the agent wrote to stderr in the last run in which it wrote anything."""

    steps: tuple[Step, ...]
    stderr: str

    @property
    def passed(self) -> bool:
        """Whether no step failed."""
        return all(step.result != "failed" for step in self.steps)


class _Stop(Exception):  # noqa: N818 - it ends a run; the step is noted
    """A step has failed, and this run of the agent is over."""


def check(
    start: Callable[[], Checked],
    game: Game,
    limits: TimeControl,
    *,
    load_ms: float = 0,
    seed: int = 1,
    say: Callable[[str], None] = lambda _text: None,
) -> Report:
    """Check an agent at a game. `start` runs it anew; each run is ended here.

    `limits` are those of its matches; each of its moves is a first one under them, a bank is not kept. It may
    take `load_ms` more to load. The opponent and chance draw from `seed`. `say` is told what is being done.
    """
    checker = _Checker(start, game, limits, view.first_clock(limits), load_ms, random.Random(seed))
    for doing, run in checker.runs():
        say(doing)
        checker.run(run)
    return checker.report()


def trial(start: Callable[[], Checked], game: Game, limits: TimeControl) -> Step | None:
    """Ask an agent for its first move in each seat, and return the step that it failed.

    It is shown at most a second for the move, and may take as long as `limits` let it for its first one.
    """
    checker = _Checker(start, game, limits, view.trial_clock(limits), 0, random.Random(1))
    checker.run(checker.first_moves)
    return next((step for step in checker.report().steps if step.result == "failed"), None)


class _Checker:
    """The steps so far, and the runs of the agent that settle them."""

    def __init__(
        self,
        start: Callable[[], Checked],
        game: Game,
        limits: TimeControl,
        shown: ClockView,
        load_ms: float,
        rng: random.Random,
    ) -> None:
        self._start = start
        self._game = game
        self._limits = limits
        self._shown = shown
        self._limit_ms = view.first_clock(limits).move_ms
        self._load_ms = load_ms
        self._rng = rng
        self._steps: dict[int, Step] = {}
        self._ends: list[str] = []
        self._fresh = True
        self._matches = 0
        self._answers = 0
        self._slowest_ms = 0.0
        self._stderr = ""
        self._stderr_bytes = 0

    # runs -------------------------------------------------------------------------------------------

    def runs(self) -> Iterator[tuple[str, Callable[[Checked], None]]]:
        """Tell what is to be done, as long as it makes sense, each in a run of the agent of its own."""
        for seat in range(self._game.players):
            if not self._hopeless and not self._has_failed({GAMES}):
                yield f"a whole game in seat {seat + 1}", partial(self._whole_game, seat=seat)
        if not self._hopeless:
            yield "a match in the middle", self._middle
        if not self._hopeless:
            yield "odd positions", self._odd

    @property
    def _hopeless(self) -> bool:
        """Whether the agent has failed so early that nothing else can be seen."""
        return self._has_failed(FATAL) or (self._matches > 0 and FIRST not in self._steps)

    def run(self, run: Callable[[Checked], None]) -> None:
        """Start the agent, and end it. A step that fails ends this run."""
        try:
            player = self._start()
        except InputError as error:
            self._fail(START, error.expected, error.got)
            return
        self._fresh = True
        before = dict(self._steps)
        stopped = False
        try:
            run(player)
        except _Stop:
            stopped = True
        finally:
            self._part(player.end(GRACE_MS), before, stopped=stopped)

    def _whole_game(self, player: Checked, seat: int) -> None:
        """Play a game; in the last seat one more after it, in the same run."""
        self._ends.append(self._match(player, Spot.first(self._game, seat), GAMES))
        if seat == self._game.players - 1:
            self._pass(GAMES, "; ".join(self._ends))
            self._pass(NEW, self._match(player, Spot.first(self._game, 0), NEW))

    def first_moves(self, player: Checked) -> None:
        """Ask for the first move in each seat."""
        for seat in range(self._game.players):
            self._match(player, Spot.first(self._game, seat), GAMES, moves=1)

    def _middle(self, player: Checked) -> None:
        spot = middle_spot(self._game, self._rng)
        self._pass(MIDDLE, f"from ply {spot.position.ply} on: {self._match(player, spot, MIDDLE)}")

    def _odd(self, player: Checked) -> None:
        spots = odd_spots(self._game, self._rng)
        for spot in spots + spots:
            self._match(player, spot, ODD, moves=1)
        self._pass(ODD, f"a legal action in each of {len(spots)}, twice")

    def _match(self, player: Checked, spot: Spot, step: int, moves: int | None = None) -> str:
        """Play a match from a spot on, at most so many moves of the agent; return how it ended."""
        first = not self._matches
        self._matches += 1
        match = CheckedMatch(self._matches, spot, self._limits, self._shown, self._rng)
        ready_ms = (self._limits.ready_ms or READY_MS) + (self._load_ms if self._fresh else 0)
        limit_ms = OVERTIME * ready_ms + GRACE_MS
        self._fresh = False
        with self._guarded(READY if first else step, match, f"ready within {duration(ready_ms)}"):
            took_ms = player.match_start(match.start(), limit_ms)
            if took_ms > ready_ms:
                raise InputError("late", expected="", got=f"ready after {duration(took_ms)}")
        self._pass(START, "it started and answered")
        self._pass(READY, f"ready after {duration(took_ms)}")
        asked = 0
        while (moves is None or asked < moves) and (request := match.request()) is not None:
            asked += 1
            with self._guarded(FIRST if first and asked == 1 else step, match, match.legal()):
                waits_ms = OVERTIME * (self._limit_ms + self._limits.margin_ms) + GRACE_MS
                answer = player.your_move(request, waits_ms)
                self._look_at_time(answer, match)
                match.play(answer.action)
            self._pass(FIRST, f"{answer.action or 'a resignation'}, where {len(request.legal)} were legal")
        with self._guarded(step, match, "a program that takes match_end"):
            player.match_end(match.end(), limit_ms)
        return match.told()

    @property
    def _in_time(self) -> str:
        return f"an answer within {duration(self._limit_ms)}"

    def _look_at_time(self, answer: Answer, match: CheckedMatch) -> None:
        limit_ms = self._limit_ms + self._limits.margin_ms
        self._answers += 1
        self._slowest_ms = max(self._slowest_ms, answer.elapsed_ms)
        if answer.elapsed_ms > limit_ms:
            got = f"one after {duration(answer.elapsed_ms)}"
            self._fail(TIME, self._in_time, got, match.where())
            raise _Stop

    def _part(self, parting: Parting, before: dict[int, Step], *, stopped: bool) -> None:
        """Look at how the run ended; after a step that failed it need not end by itself."""
        self._stderr = parting.stderr or self._stderr
        self._stderr_bytes = max(self._stderr_bytes, parting.stderr_bytes)
        if parting.fault is not None and not stopped:
            self._note(parting.fault, ONCE, "nothing after its last match", "")
        if parting.stderr_bytes > KEPT_STDERR_BYTES:
            self._fail(STDERR, STEPS[STDERR][1], f"{parting.stderr_bytes} bytes")
        if not parting.by_itself and not stopped:
            self._fail(END, STEPS[END][1], "a program that had to be killed")
        for number in self._steps.keys() - before.keys():
            step = self._steps[number]
            if step.result == "failed" and not step.trace:
                self._steps[number] = replace(step, trace=last_lines(parting.stderr))

    # steps ------------------------------------------------------------------------------------------

    @contextmanager
    def _guarded(self, step: int, match: CheckedMatch, expected: str) -> Iterator[None]:
        """Note what goes wrong as a failure of the step, or of the one that it is about."""
        try:
            yield
        except ProgramError as fault:
            if fault.asked == "your_move" and fault.error and fault.error.code == child.FAULT:
                expected = match.legal(as_chosen=True) + self._about_observation(fault.got)
            self._note(fault, step, expected, match.where())
            raise _Stop from fault
        except InputError as error:
            self._fail(step, expected, error.got, match.where())
            raise _Stop from error

    def _about_observation(self, got: str) -> str:
        """Say what choose gets, where code took it for a state."""
        if "'Observation' object has no attribute" not in got:
            return ""
        name = self._game.name
        return f'; in {name} choose gets an observation, no state: docs/agents.md, "Hidden information"'

    def _note(self, fault: ProgramError, step: int, expected: str, where: str) -> None:
        """Note what a program did wrong."""
        number, error = self._step_of(fault, step), fault.error
        if number == TIME:
            expected = self._in_time
        if error is None:
            self._fail(number, expected if number == TIME else fault.expected, fault.got, where)
            return
        if number == START:
            self._fail(number, error.expected or expected, error.got or error.message, error.where or "")
            return
        if error.code == child.ENDED_CODE:
            expected = "a match_end that returns"
        places = [place for place in (error.where, where) if place]
        self._fail(number, expected, error.got or error.message, ", ".join(places), error.message)

    def _step_of(self, fault: ProgramError, step: int) -> int:
        """Return the step that a fault is about, if another than the one it was met in."""
        code = fault.error.code if fault.error else None
        if code == child.LOAD or (fault.kind == "ended" and START not in self._steps):
            return START
        if fault.kind == "unasked":
            return ONCE
        if fault.asked == "your_move" and (code == child.HUNG_CODE or fault.kind == "silent"):
            return TIME
        if code == child.ENDED_CODE:
            return GAMES
        return step

    def _pass(self, number: int, got: str) -> None:
        """Note a step as passed, unless it has failed, or was noted before."""
        self._steps.setdefault(number, Step(number, "passed", STEPS[number][1], got))

    def _fail(self, number: int, expected: str, got: str, where: str = "", trace: str = "") -> None:
        """Note the first failure of a step."""
        if not self._has_failed({number}):
            self._steps[number] = Step(number, "failed", expected, got, where, trace)

    def _has_failed(self, numbers: set[int]) -> bool:
        return any(step.result == "failed" for number, step in self._steps.items() if number in numbers)

    def report(self) -> Report:
        """Sum up. Steps about every run have passed if none showed otherwise, once the agent has moved."""
        failed = [number for number in STEPS if self._has_failed({number})]
        if FIRST in self._steps and not self._has_failed({FIRST}):
            slowest = f"the slowest of {self._answers} answers took {duration(self._slowest_ms)}"
            self._pass(TIME, slowest)
            self._pass(ONCE, f"{self._answers} questions, {self._answers} answers")
            self._pass(STDERR, f"{self._stderr_bytes} bytes in the longest run")
            if not failed:
                self._pass(END, "it ended by itself")
        why = f"not tried, since step {failed[0]} failed" if failed else "not tried"
        skipped = {number: Step(number, "skipped", STEPS[number][1], why) for number in STEPS}
        return Report(tuple((skipped | self._steps)[number] for number in STEPS), self._stderr)
