"""An agent's Python file on stdio: `python -m agents.child FILE`.

It speaks as conversation.py says, so that a file is driven just as a program in any language is, and can
hang, exit or crash without harm to whoever drives it. What the file prints goes to stderr.
"""

import os
import re
import sys
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO

import agents
from agents import student
from agents.clock import now_ms, wait
from agents.fault import FaultReport
from agents.protocol import Error, FromAgent, MatchEnd, MatchStart, YourMove, decode_to_agent, encode
from agents.seat import Seat, Surroundings
from agents.student import LoadedAgent
from games import InputError

LOAD = "load"
"""Code of the `error` for a file that cannot be loaded."""

FAULT = "fault"
"""Code of the `error` for code that crashed, or chose no legal action."""

ENDED_CODE = "match_end"
"""Code of the `error` for a match_end that crashed: it may come when the next match has begun."""

HUNG_CODE = "hung"
"""Code of the `error` for code that has not returned."""

HUNG = 2
"""An agent that takes so many times its limit is told to hang, with the line where it is."""


def command_of(file: str, load_ms: float = student.PATIENCE_MS) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs a file so, and the variables it needs; the file may load for `load_ms`."""
    # -P: a file named as one of our modules must not stand in for it.
    home = str(Path(agents.__file__).parents[1])
    path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
    return [sys.executable, "-P", "-m", "agents.child", file, str(load_ms)], {"PYTHONPATH": path}


def main(arguments: list[str]) -> int:
    """Play until the end of the input."""
    incoming, outgoing = _own_pipes()
    stage = _Stage(Path(arguments[0]), outgoing, float(arguments[1]))
    for line in incoming:
        stage.take(line)
    return 0


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Keep stdin and stdout for messages: the file reads nothing, and what it prints goes to stderr."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return incoming, outgoing


class _Stage:
    """The agent's file, and the match that it plays."""

    def __init__(self, file: Path, outgoing: BinaryIO, load_ms: float) -> None:
        self._file = file
        self._outgoing = outgoing
        self._lock = threading.Lock()
        self._asked = 0
        self._failed = False
        self._seat: Seat | None = None
        self._loaded: LoadedAgent | InputError
        try:
            self._loaded = student.load(file, patience_ms=load_ms)
        except InputError as error:
            self._loaded = error

    def take(self, line: bytes) -> None:
        """Take one message."""
        loaded = self._loaded
        if isinstance(loaded, InputError):
            self._write(Error(LOAD, str(loaded), loaded.expected, loaded.got, loaded.where))
            return
        message = decode_to_agent(line)
        match message:
            case MatchStart():
                self._seat = seat = Seat(message, self._surroundings(loaded))
                self._expect(seat, message.time_control.ready_ms)
                seat.begin()
            case YourMove() if self._seat is not None:
                self._expect(self._seat, message.clock.move_ms)
                self._seat.ask(message, now_ms())
            case MatchEnd() if self._seat is not None:
                self._seat.end(message)

    def _surroundings(self, loaded: LoadedAgent) -> Surroundings:
        return Surroundings(
            name=str(self._file),
            make_agent=lambda _start: loaded.make(),
            send=self._send,
            moved=lambda _start, _move, _elapsed_ms: None,
            fault=self._fault,
            thinking=nullcontext(),
            ack_ms=0,
        )

    # answers ----------------------------------------------------------------------------------------

    def _expect(self, seat: Seat, limit_ms: float) -> None:
        """Begin to wait for an answer, and tell where the code is if none comes for long."""
        with self._lock:
            self._asked += 1
            asked = self._asked

        def look() -> None:
            wait(threading.Event(), HUNG * limit_ms)
            with self._lock:
                overdue = self._asked == asked and not self._failed
            if overdue:
                self._fault(seat.late_report(), HUNG_CODE)

        threading.Thread(target=look, name="watch", daemon=True).start()

    def _send(self, message: FromAgent) -> None:
        with self._lock:
            self._asked += 1
            if not self._failed:
                self._write(message)

    def _fault(self, report: FaultReport, code: str = FAULT) -> None:
        """Tell what went wrong, in place of an answer."""
        if report.got.startswith("match_end "):
            code = ENDED_CODE
        with self._lock:
            if not self._failed:
                self._failed = True
                self._write(Error(code, report.traceback, None, report.got, self._where(report.traceback)))

    def _write(self, message: FromAgent | Error) -> None:
        self._outgoing.write(encode(message) + b"\n")
        self._outgoing.flush()

    def _where(self, trace: str) -> str:
        """Return file:line, the innermost line of the agent's file in a traceback; else that of choose."""
        lines = re.findall(rf'File "{re.escape(str(self._file.resolve()))}", line (\d+)', trace)
        if lines:
            return f"{self._file}:{lines[-1]}"
        return self._loaded.where() if isinstance(self._loaded, LoadedAgent) else str(self._file)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
