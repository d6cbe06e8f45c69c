"""Whoever `connect` brings to a ladder: an agent's file, or a program that talks over stdio."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

import games
from agents import student
from agents.agent import Agent
from agents.check import trial
from agents.command import Command
from agents.protocol import TimeControl
from games.errors import InputError

COMMAND = "command:"
"""Before a command line where an agent's name or file is expected too."""


@dataclass(frozen=True)
class Entrant:
    """An agent that has been tried. `name` is what reports call it; `make` gives a fresh one for a match."""

    name: str
    fingerprint: str
    make: Callable[[], Agent]


def check_one_given(file: str | None, line: str | None) -> None:
    """Refuse an agent's file and a command line together, and neither of them."""
    if (file is None) == (line is None):
        got = "neither" if file is None else "both"
        raise InputError("bad_usage", expected="an agent's FILE or --command", got=got)


def tried_file(file: str, ladders: Sequence[dict[str, Any]]) -> Entrant:
    """Load an agent's file and try it under the rules and limits of each ladder.

    What is returned is loaded afresh: a match must not depend on what the trial left in the file's globals.
    Raises InputError with file:line for whatever is wrong.
    """
    for ladder in ladders:
        student.trial(student.load(file), games.load(ladder["game"]), _limits(ladder))
    loaded = student.load(file)
    return Entrant(str(loaded.path), loaded.fingerprint, loaded.make)


def tried_command(line: str, ladders: Sequence[dict[str, Any]], stack: contextlib.ExitStack) -> Entrant:
    """Try a program under the rules and limits of each ladder; `stack` ends those that run at the end.

    Raises InputError for whatever is wrong.
    """
    command = Command(line)
    for ladder in ladders:
        game = games.load(ladder["game"])
        failed = trial(command.start, game, _limits(ladder))
        if failed is not None:
            where = f"{line}, trying it on {failed.where or game.variant}"
            said = failed.trace.rstrip().splitlines()[-1:]
            got = failed.got + "".join(f"; it wrote {last!r} to stderr" for last in said)
            raise InputError("trial_failed", expected=failed.expected, got=got, where=where)
    stack.callback(command.end)
    return Entrant(f"{COMMAND}{line}", command.fingerprint(), command.agent)


def _limits(ladder: dict[str, Any]) -> TimeControl:
    """Return a ladder's limits. Raises InputError for an answer that does not tell them."""
    try:
        return msgspec.convert(ladder.get("time_control"), TimeControl)
    except msgspec.ValidationError as error:
        raise InputError(
            "bad_answer", expected="a ladder's time_control", got=str(error), where="the server's answer"
        ) from error
