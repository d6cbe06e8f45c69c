"""Loading an agent from a person's Python file, and trying it before it plays anybody.

The file holds a function `choose(state, clock)`, or one class with such a method. Every fault is one
sentence that names the file and the line.
"""

import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec.structs import asdict

from agents import view
from agents.agent import Agent, read_choice
from agents.call import Called, call
from agents.clock import Clock
from agents.fault import headline, own_frame, own_line, written_note
from agents.plain import duration
from agents.protocol import MatchEnd, MatchStart, Player, TimeControl
from games import CHANCE, Game, InputError, Position

PATIENCE_MS = 20_000
"""A file that takes longer to import, or for a step of its trial, is refused."""

LIMITS = TimeControl(5_000, margin_ms=200)
"""The limits of a trial where no ladder sets them."""

LISTED = 12
"""So many legal actions are listed."""

ADVICE = "a function choose(state, clock), or one class with a method choose(self, state, clock)"


@dataclass(frozen=True)
class LoadedAgent:
    """An agent's file, loaded. `make` gives a fresh agent for each match; `line` is where choose stands."""

    path: Path
    fingerprint: str
    line: int
    make: Callable[[], Agent] = field(repr=False)

    def where(self, line: int | None = None) -> str:
        """Return file:line for messages."""
        return f"{self.path}:{line or self.line}"


class FunctionAgent(Agent):
    """An agent made of a module's functions: choose, and match_start and match_end if it has them."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def choose(self, state: Any, clock: Clock) -> Any:
        """Call the function."""
        return self._module.choose(state, clock)

    def match_start(self, start: MatchStart) -> None:
        """Call the function of this name, if there is one."""
        getattr(self._module, "match_start", _nothing)(start)

    def match_end(self, end: MatchEnd) -> None:
        """Call the function of this name, if there is one."""
        getattr(self._module, "match_end", _nothing)(end)


class ObjectAgent(Agent):
    """An agent that is an object of somebody's class, which need not know ours."""

    def __init__(self, player: Any) -> None:
        self._player = player

    def choose(self, state: Any, clock: Clock) -> Any:
        """Call the method, and take over what it says about itself."""
        action = self._player.choose(state, clock)
        self.info = getattr(self._player, "info", None)
        return action

    def match_start(self, start: MatchStart) -> None:
        """Call the method of this name, if there is one."""
        getattr(self._player, "match_start", _nothing)(start)

    def match_end(self, end: MatchEnd) -> None:
        """Call the method of this name, if there is one."""
        getattr(self._player, "match_end", _nothing)(end)


def _nothing(_message: object) -> None:
    """Stand in for a match_start or match_end that an agent does without."""


def load(path: str | Path, *, patience_ms: float = PATIENCE_MS) -> LoadedAgent:
    """Load an agent's file. Raises InputError, with file:line, for whatever is wrong with it."""
    file = Path(path)
    source = read(file)
    module = _import(file.resolve(), file, patience_ms)
    fingerprint = hashlib.sha256(source).hexdigest()
    function = vars(module).get("choose")
    if function is not None:
        line = _check_call(function, file, "choose")
        return LoadedAgent(file, fingerprint, line, lambda: FunctionAgent(module))
    player = _only_class(module, file)
    line = _check_call(player.choose, file, f"{player.__name__}.choose", bound=False)
    _check_constructor(player, file, patience_ms)
    return LoadedAgent(file, fingerprint, line, lambda: ObjectAgent(player()))


def read(path: str | Path) -> bytes:
    """Return an agent's file as it is. Raises InputError if there is none, or it is no Python file."""
    file = Path(path)
    if not file.exists():
        siblings = sorted(p.name for p in file.parent.glob("*.py") if p.is_file())
        raise InputError(
            "no_such_file", expected="an agent's Python file", got=f"no file {file}", available=siblings
        )
    if file.is_dir():
        raise InputError("bad_agent_file", expected="an agent's Python file", got=f"the folder {file}")
    if file.suffix != ".py":
        raise InputError("bad_agent_file", expected="an agent's file that ends in .py", got=str(file))
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(
            "bad_agent_file", expected="a readable file", got=str(error.strerror), where=str(file)
        ) from error


def _import(resolved: Path, shown: Path, patience_ms: float) -> ModuleType:
    """Run the file as a module of its own; its folder can be imported from."""
    name = f"plyground_agent_{resolved.stem}"
    spec = importlib.util.spec_from_file_location(name, resolved)
    if spec is None or spec.loader is None:
        raise InputError("bad_agent_file", expected="a Python file", got=str(shown))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(resolved.parent) not in sys.path:
        sys.path.insert(0, str(resolved.parent))
    loader = spec.loader
    called = call(lambda: loader.exec_module(module), patience_ms)
    if called.error is not None or not called.finished:
        del sys.modules[name]
        syntax = isinstance(called.error, SyntaxError)
        expected = "Python without syntax errors" if syntax else "a file that imports"
        raise _refused(called, resolved, shown, expected) from called.error
    return module


def _only_class(module: ModuleType, file: Path) -> Any:
    """Find the one class with a choose that the file defines."""
    players = [
        value
        for value in vars(module).values()
        if inspect.isclass(value)
        and value.__module__ == module.__name__
        and getattr(value, "choose", None) not in (None, Agent.choose)
    ]
    if len(players) == 1:
        return players[0]
    if players:
        got = f"{len(players)} classes ({', '.join(player.__name__ for player in players)})"
        raise InputError("no_choose", expected=ADVICE, got=got, where=f"{file}:{_line(players[1])}")
    found = [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    ]
    got = f"only {', '.join(found)}" if found else "neither"
    raise InputError("no_choose", expected=ADVICE, got=got, where=f"{file}:1")


def _check_call(function: Any, file: Path, name: str, *, bound: bool = True) -> int:
    """Check that `function` can be called with a state and a clock; return its line."""
    line = _line(function)
    where = f"{file}:{line}"
    if not callable(function):
        raise InputError("no_choose", expected=ADVICE, got=f"{name} = {function!r}", where=where)
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        kind = "an async function" if inspect.iscoroutinefunction(function) else "a generator (it yields)"
        raise InputError("no_choose", expected=f"a plain function {name}", got=kind, where=where)
    signature = inspect.signature(function)
    arguments = ("state", "clock") if bound else ("self", "state", "clock")
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise InputError(
            "no_choose",
            expected=f"{name}({', '.join(arguments)})",
            got=f"{name}{signature}",
            where=where,
        ) from error
    return line


def _check_constructor(player: Any, file: Path, patience_ms: float) -> None:
    """Make one object to see that the class needs no arguments."""
    called = call(player, patience_ms)
    if called.error is not None or not called.finished:
        expected = f"a class {player.__name__} that is made without arguments"
        raise _refused(called, file.resolve(), file, expected, line=_line(player)) from called.error


def _refused(called: Called, resolved: Path, shown: Path, expected: str, line: int = 1) -> InputError:
    """Return the error for a call that failed or has not come back, with the line where that is."""
    if called.error is not None:
        got, at = headline(called.error), own_line(called.error, resolved)
    else:
        got = f"one that has not finished after {duration(called.elapsed_ms)}"
        at = own_frame(called.frames, resolved)
    return InputError("bad_agent_file", expected=expected, got=got, where=f"{shown}:{at or line}")


def _line(thing: Any) -> int:
    """First line of a function or class; 1 where Python does not know."""
    try:
        return inspect.getsourcelines(thing)[1]
    except (OSError, TypeError):
        return 1


def trial(
    loaded: LoadedAgent, game: Game, limits: TimeControl = LIMITS, *, patience_ms: float = PATIENCE_MS
) -> None:
    """Ask the agent for the first move of the game, and for an answer to a first move.

    Raises InputError with file:line if it crashes, answers with anything but a legal action, or takes longer
    than the limit for a move, or to set itself up.
    """
    first = _dealt(Position.start(game))
    for position in (first, *_after_a_move(first)):
        _Trial(loaded, position, limits, patience_ms).run()


def _after_a_move(first: Position) -> Iterator[Position]:
    """Find the first position with something to answer; none if every action ends the game."""
    following = (_dealt(first.play(text)) for text in first.legal())
    return islice((position for position in following if not position.is_terminal()), 1)


def _dealt(position: Position) -> Position:
    """Let chance move, always by its first outcome."""
    while position.to_move() == CHANCE:
        position = position.play(position.outcomes()[0][0])
    return position


@dataclass(frozen=True)
class _Trial:
    """The trial of an agent at one position."""

    loaded: LoadedAgent
    position: Position
    limits: TimeControl
    patience_ms: float

    def run(self) -> None:
        """Let a fresh agent set itself up and choose."""
        agent = self._done("match_start", self._start, self.limits.ready_ms).value
        assert isinstance(agent, Agent)
        clock = Clock(**asdict(view.trial_clock(self.limits)))
        limit_ms = view.first_clock(self.limits).move_ms
        called = self._done(
            "choose", lambda: agent.choose(self._shown, clock), limit_ms, self.limits.margin_ms
        )
        self._check_answer(called.value)

    @property
    def _shown(self) -> view.View:
        return view.of_position(self.position)

    def _start(self) -> Agent:
        game, seat = self.position.game, self.position.to_move()
        players = [Player(number, "trial", 1) for number in range(game.players)]
        begin = Position.start(game).text(seat)
        agent = self.loaded.make()
        agent.match_start(MatchStart(0, game.variant, "trial", seat, players, self.limits, begin, []))
        return agent

    def _done(self, name: str, work: Callable[[], object], limit_ms: int, margin_ms: int = 0) -> Called:
        """Call the agent's code, under a limit unless it is 0. Raises InputError for what it does wrong."""
        called = call(work, max(self.patience_ms, limit_ms + margin_ms))
        path = self.loaded.path.resolve()
        limit = f", the limit is {duration(limit_ms)}" if limit_ms else ""
        if not called.finished:
            got = f"none: {name} has not returned after {duration(called.elapsed_ms)}{limit}"
            raise self._failed("an answer in time", got, own_frame(called.frames, path))
        if called.error is not None:
            line = own_line(called.error, path)
            raise self._failed("an action", headline(called.error), line) from called.error
        if limit_ms and called.elapsed_ms > limit_ms + margin_ms:
            took = f"one too late: {name} took {duration(called.elapsed_ms)}"
            raise self._failed("an answer in time", f"{took}{limit}")
        return called

    def _check_answer(self, chosen: object) -> None:
        game, shown = self.position.game, self._shown
        choice = read_choice(game, shown, chosen)
        if choice.problem is None:
            return
        texts, actions = self.position.legal(), list(shown.actions())
        by_text = isinstance(chosen, str)
        listed = [repr(text) for text in texts] if by_text else [str(action) for action in actions]
        more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
        note = "" if by_text else written_note(actions[:LISTED], texts[:LISTED])
        raise self._failed(
            f"one of the legal actions {', '.join(listed[:LISTED])}{more}", choice.got, note=note
        )

    def _failed(self, expected: str, got: str, line: int | None = None, note: str = "") -> InputError:
        tried = f"trying it on {self.position.game.variant} ({self.position.text(self.position.to_move())})"
        where = f"{self.loaded.where(line)}{note}, {tried}"
        return InputError("trial_failed", expected=expected, got=got, where=where)
