"""Loading an agent from a person's Python file, and trying it before it plays anybody.

The file holds a function `choose(state, clock)`, or one class with such a method. Every fault is one
sentence that names the file and the line.
"""

import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from agents.agent import Agent, read_choice
from agents.call import call
from agents.clock import Clock
from agents.fault import headline, own_line
from agents.protocol import MatchEnd, MatchStart
from games import Game, InputError, Position

TRIAL_MS = 20_000
"""A trial that lasts longer is refused."""

TRIAL_MOVE_MS = 1_000
"""The time for a move that the clock shows in a trial."""

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


def load(path: str | Path) -> LoadedAgent:
    """Load an agent's file. Raises InputError, with file:line, for whatever is wrong with it."""
    file = Path(path)
    source = _read(file)
    module = _import(file.resolve(), file)
    fingerprint = hashlib.sha256(source).hexdigest()
    function = vars(module).get("choose")
    if function is not None:
        line = _check_call(function, file, "choose")
        return LoadedAgent(file, fingerprint, line, lambda: FunctionAgent(module))
    player = _only_class(module, file)
    line = _check_call(player.choose, file, f"{player.__name__}.choose", bound=False)
    _check_constructor(player, file)
    return LoadedAgent(file, fingerprint, line, lambda: ObjectAgent(player()))


def _read(file: Path) -> bytes:
    if not file.exists():
        siblings = sorted(p.name for p in file.parent.glob("*.py")) if file.parent.is_dir() else []
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


def _import(resolved: Path, shown: Path) -> ModuleType:
    """Run the file as a module of its own; its folder can be imported from."""
    name = f"plyground_agent_{resolved.stem}"
    spec = importlib.util.spec_from_file_location(name, resolved)
    if spec is None or spec.loader is None:
        raise InputError("bad_agent_file", expected="a Python file", got=str(shown))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(resolved.parent) not in sys.path:
        sys.path.insert(0, str(resolved.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        expected = "Python without syntax errors" if isinstance(error, SyntaxError) else "a file that imports"
        line = own_line(error, resolved) or 1
        raise InputError(
            "bad_agent_file", expected=expected, got=headline(error), where=f"{shown}:{line}"
        ) from error
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


def _check_constructor(player: Any, file: Path) -> None:
    """Make one object to see that the class needs no arguments."""
    try:
        player()
    except (Exception, SystemExit) as error:
        line = own_line(error, file.resolve()) or _line(player)
        raise InputError(
            "bad_agent_file",
            expected=f"a class {player.__name__} that is made without arguments",
            got=headline(error),
            where=f"{file}:{line}",
        ) from error


def _line(thing: Any) -> int:
    """First line of a function or class; 1 where Python does not know."""
    try:
        return inspect.getsourcelines(thing)[1]
    except (OSError, TypeError):
        return 1


def trial(loaded: LoadedAgent, game: Game, *, limit_ms: float = TRIAL_MS) -> None:
    """Ask the agent for the first move of the game, and for an answer to a first move.

    Raises InputError with file:line if it crashes, answers with anything but a legal action, or takes
    longer than `limit_ms` in all.
    """
    first = Position.start(game)
    left_ms = limit_ms
    for position in (first, first.play(first.legal()[0])):
        agent = loaded.make()
        clock = Clock(TRIAL_MOVE_MS)
        called = call(lambda: agent.choose(position.state, clock), left_ms)  # noqa: B023 - called at once
        left_ms -= called.elapsed_ms
        trying = f"trying it on {game.variant} ({position.text()})"
        if not called.finished or left_ms < 0:
            raise InputError(
                "trial_failed",
                expected=f"two moves within {limit_ms / 1000:g} s",
                got="no answer",
                where=f"{loaded.where()}, {trying}",
            )
        if called.error is not None:
            line = own_line(called.error, loaded.path.resolve())
            raise InputError(
                "trial_failed",
                expected="an action",
                got=headline(called.error),
                where=f"{loaded.where(line)}, {trying}",
            ) from called.error
        choice = read_choice(game, position.state, called.value)
        if choice.problem is not None:
            raise InputError(
                "trial_failed",
                expected="a legal action",
                got=choice.problem,
                where=f"{loaded.where()}, {trying}",
                available=position.legal(),
            )
