"""A program that talks in lines: started, written to, listened to and ended, each within a time.

It runs on a leash (leash.py), a process that ends it and all that it started when we let go of it, and also
when this process is killed. On Windows there is none, and the program alone is ended.
"""

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from agents.call import call
from agents.clock import now_ms
from agents.protocol import MAX_FRAME_BYTES
from games import InputError

KEPT_LINES = 64
"""So many lines wait to be read; a program that writes more is left waiting itself."""

KEPT_STDERR_BYTES = 65_536
CHUNK_BYTES = 65_536
END_MS = 2_000
"""A program has so long to end by itself once its input has ended."""

LEASH = Path(__file__).with_name("leash.py")
LEASHED = sys.platform != "win32"
KILL_S = 10.0
"""A leash has so long to kill all that it holds: milliseconds, on a machine that is not overloaded."""


@dataclass(frozen=True)
class Line:
    """A line that the program wrote, without its end; not `whole` if it was cut at MAX_FRAME_BYTES."""

    data: bytes
    at_ms: float
    whole: bool = True


class Program:
    """A running program; `pid` is its number. Use it from one thread, and `end` it.

    Raises InputError if the program cannot be started.
    """

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        lifeline, self._lifeline = os.pipe()
        told, telling = os.pipe()
        before = [sys.executable, "-I", "-S", str(LEASH), str(lifeline), str(telling)] if LEASHED else []
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own program
                [*before, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=None if environment is None else {**os.environ, **environment},
                start_new_session=True,
                pass_fds=(lifeline, telling) if LEASHED else (),
            )
        except (OSError, ValueError) as error:
            os.close(told)
            os.close(self._lifeline)
            raise _not_started(arguments, getattr(error, "strerror", None) or str(error)) from error
        finally:
            os.close(lifeline)
            os.close(telling)
        self.pid = self._started(told, arguments)
        self._ending = threading.Lock()
        self._changed = threading.Condition()
        self._lines: deque[Line] = deque()
        self._rest = b""
        self._closed = False
        self._over = False
        self._by_itself: bool | None = None
        self._stderr = b""
        self.stderr_bytes = 0
        self._readers = [
            threading.Thread(target=work, name=name, daemon=True)
            for work, name in ((self._read_stdout, "program stdout"), (self._read_stderr, "program stderr"))
        ]
        for reader in self._readers:
            reader.start()

    def _started(self, told: int, arguments: Sequence[str]) -> int:
        """Return the program's number. Raises InputError with the reason if there is none."""
        with os.fdopen(told, "rb") as said:
            answer = said.read().decode(errors="replace").strip() if LEASHED else str(self._process.pid)
        if answer.isdecimal():
            return int(answer)
        os.close(self._lifeline)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._process.wait()
        raise _not_started(arguments, answer)

    def write(self, line: bytes, limit_ms: float) -> bool:
        """Write a line; false if it was not taken in time. A program that has ended shows in `read`."""
        return call(lambda: self._write(line + b"\n"), limit_ms).finished

    def read(self, limit_ms: float) -> Line | None:
        """Return the next line; None if there is none in time, or none will come any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self._closed, max(0.0, limit_ms) / 1000)
            line = self._lines.popleft() if self._lines else None
            self._changed.notify_all()
            return line

    @property
    def finished(self) -> bool:
        """Whether the program has closed its output, and all of it was read."""
        with self._changed:
            return self._closed and not self._lines

    @property
    def rest(self) -> str:
        """The start of a line that the program has not ended yet."""
        return self._rest.decode(errors="replace")

    @property
    def stderr(self) -> str:
        """The last 64 KB that the program wrote to stderr."""
        return self._stderr.decode(errors="replace")

    def exit_status(self) -> str:
        """Say how a program that has closed its output has ended."""
        try:
            code = self._process.wait(END_MS / 1000)
        except subprocess.TimeoutExpired:
            return "it closed its output and went on"
        if code >= 0:
            return f"it ended with exit code {code}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return f"it was ended by signal {name}"

    def end(self, patience_ms: float = END_MS) -> bool:
        """End the program's input, and after a time the whole group; tell whether it ended by itself.

        What it wrote until then can still be read. Callable from any thread; the first call counts.
        """
        with self._ending:
            if self._by_itself is None:
                self._by_itself = self._end(patience_ms)
            return self._by_itself

    def _end(self, patience_ms: float) -> bool:
        with self._changed:
            self._over = True
            self._changed.notify_all()
        _stdin(self._process).close()
        try:
            self._process.wait(patience_ms / 1000)
        except subprocess.TimeoutExpired:
            return False
        finally:
            self._kill()
        return True

    def _kill(self) -> None:
        """Kill it with all that it started, and leave no zombie."""
        os.close(self._lifeline)
        if not LEASHED:
            self._process.kill()
        try:
            self._process.wait(KILL_S)
        except subprocess.TimeoutExpired:
            self._process.kill()  # the program ends with its leash
            self._process.wait()
        for reader, stream in zip(self._readers, (self._process.stdout, self._process.stderr), strict=True):
            reader.join(END_MS / 1000)  # a process that left the group may hold the pipe open
            if stream is not None and not reader.is_alive():
                stream.close()

    # other threads ----------------------------------------------------------------------------------

    def _write(self, data: bytes) -> None:
        stream, left = _stdin(self._process), memoryview(data)
        while left:
            left = left[stream.write(left) :]

    def _read_stdout(self) -> None:
        assert self._process.stdout is not None
        while chunk := _chunk(self._process.stdout):
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            at_ms = now_ms()
            if len(self._rest) > MAX_FRAME_BYTES:
                lines, self._rest = [*lines, self._rest], b""
            for data in lines:
                whole = len(data) <= MAX_FRAME_BYTES
                self._keep(Line(data.rstrip(b"\r")[:MAX_FRAME_BYTES], at_ms, whole))
                if not whole:
                    self._drain()
                    break
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _drain(self) -> None:
        """Take what follows a line that was too long, and listen no more."""
        assert self._process.stdout is not None
        while _chunk(self._process.stdout):
            pass

    def _keep(self, line: Line) -> None:
        """Keep a line, when there is room for it; once the program is being ended, drop what is too much."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._lines) < KEPT_LINES or self._over)
            if len(self._lines) < KEPT_LINES:
                self._lines.append(line)
                self._changed.notify_all()

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        while chunk := _chunk(self._process.stderr):
            self.stderr_bytes += len(chunk)
            self._stderr = (self._stderr + chunk)[-KEPT_STDERR_BYTES:]


def _not_started(arguments: Sequence[str], reason: str) -> InputError:
    got = f"{arguments[0]!r}: {reason}"
    return InputError("no_program", expected="a program that can be run", got=got)


def _chunk(stream: IO[bytes]) -> bytes:
    """Return what a pipe holds; nothing at its end."""
    try:
        return os.read(stream.fileno(), CHUNK_BYTES)
    except (OSError, ValueError):  # closed meanwhile
        return b""


def _stdin(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdin is not None
    return process.stdin
