"""An agent that is a program in any language, as an Agent of ours. What is said is in conversation.py."""

import hashlib
import os
import shlex
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from agents.agent import Agent, Resigned
from agents.clock import Clock
from agents.conversation import GRACE_MS, READY_MS, Conversation, ProgramError, last_lines
from agents.program import Program
from agents.protocol import MatchEnd, MatchStart, YourMove
from games import InputError, State

T = TypeVar("T")

UNBUFFERED = {"PYTHONUNBUFFERED": "1"}
"""Python holds back what it prints into a pipe, unless it is told not to."""


class Command:
    """A command line, and the programs of it that run: one a match, used again for the next match.

    Raises InputError if it is no command line. `end` ends them all.
    """

    def __init__(self, line: str) -> None:
        self.line = line
        self.arguments = _split(line)
        self._lock = threading.Lock()
        self._idle: list[Conversation] = []
        self._all: list[Conversation] = []

    def fingerprint(self) -> str:
        """Return a hash of the command line and of the files that it names."""
        digest = hashlib.sha256(self.line.encode())
        for argument in self.arguments:
            if os.path.isfile(argument):  # noqa: PTH113 - Path.is_file raises for code too long for a name
                digest.update(Path(argument).read_bytes())
        return digest.hexdigest()

    def agent(self) -> "CommandAgent":
        """Return an agent for a match. It takes an idle program, or starts one."""
        return CommandAgent(self)

    def start(self) -> Conversation:
        """Return a new program, for the caller to end. Raises InputError if it cannot be started."""
        return Conversation(Program(self.arguments, UNBUFFERED))

    def take(self) -> Conversation:
        """Return an idle program, or a new one. Raises InputError if it cannot be started."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
        started = self.start()
        with self._lock:
            self._all.append(started)
        return started

    def give_back(self, conversation: Conversation) -> None:
        """Keep a program for the next match."""
        with self._lock:
            self._idle.append(conversation)

    def end(self) -> None:
        """End every program."""
        with self._lock:
            running, self._all, self._idle = self._all, [], []
        for conversation in running:
            conversation.end(GRACE_MS)


class CommandAgent(Agent):
    """An agent that is another program, for one match."""

    def __init__(self, command: Command) -> None:
        self._command = command
        self._conversation: Conversation | None = None
        self._request: YourMove | None = None
        self._margin_ms = 0
        self._busy = threading.Lock()

    def match_start(self, start: MatchStart) -> None:
        """Announce the match to a program. Raises ProgramError if it does not get ready."""
        self._margin_ms = start.time_control.margin_ms
        self._conversation = conversation = self._command.take()
        with self._busy:
            limit_ms = start.time_control.ready_ms or READY_MS
            self._guarded(conversation, lambda: conversation.match_start(start, limit_ms))

    def asked(self, request: YourMove) -> None:
        """Keep the request: it goes to the program as it is."""
        self._request = request

    def choose(self, state: State, clock: Clock) -> int | str:  # noqa: ARG002 - the request tells the position
        """Ask the program. Raises Resigned, or ProgramError for what is no answer."""
        conversation, request = self._conversation, self._request
        assert conversation is not None
        assert request is not None
        # As long as its match can go on without an answer, a late program is not lost: the next one counts.
        limit_ms = clock.left_ms() + self._margin_ms + clock.strikes * clock.move_ms + GRACE_MS
        with self._busy:
            answer = self._guarded(conversation, lambda: conversation.your_move(request, limit_ms))
        if answer.action is None:
            raise Resigned
        self.info = answer.info
        return answer.action

    def match_end(self, end: MatchEnd) -> None:
        """Tell the program, and keep it for the next match; end one that still thinks, or has failed."""
        conversation, self._conversation = self._conversation, None
        if conversation is None:
            return
        if not self._busy.acquire(blocking=False):
            conversation.end(0)
            return
        try:
            self._guarded(conversation, lambda: conversation.match_end(end, GRACE_MS))
        finally:
            self._busy.release()
        self._command.give_back(conversation)

    def _guarded(self, conversation: Conversation, work: Callable[[], T]) -> T:
        """Do something with the program; end it if it fails, and show what it wrote to stderr."""
        try:
            return work()
        except ProgramError as fault:
            self._conversation = None
            fault.trace = last_lines(conversation.end(GRACE_MS).stderr)
            raise


def _split(line: str) -> list[str]:
    """Split a command line into its words."""
    try:
        words = shlex.split(line, posix=sys.platform != "win32")
    except ValueError as error:
        raise InputError("bad_command", expected="a command line", got=f"{line!r}: {error}") from error
    if not words:
        raise InputError("bad_command", expected="a command line", got="nothing")
    return words
