"""What is said between us and an agent that is a program: a wire message a line, and one as its answer.

    match_start  ->  {"type": "ready", "match": 1}
    your_move    ->  {"type": "move", "match": 1, "ply": 0, "action": "4"}
                      or {"type": "resign", "match": 1}
    match_end        is not answered

The messages are those of protocol.py, on the program's stdin and stdout. What it writes to stderr is kept
for its author. An `error` in place of an answer says that it cannot go on, and why.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import msgspec

from agents.clock import now_ms
from agents.fault import ToldError
from agents.plain import duration, plain
from agents.program import Line, Program
from agents.protocol import (
    MAX_FRAME_BYTES,
    MAX_INFO_BYTES,
    Error,
    MatchEnd,
    MatchStart,
    Move,
    Ready,
    Resign,
    ToAgent,
    YourMove,
    encode,
)

READY_MS = 10_000
"""The start-up allowance where none is set."""

GRACE_MS = 1_000
"""A program that wrote nothing has so long to write it at the end of its input: it did not flush."""

SETTLE_MS = 200
"""Lines that belong together come within this time."""

SHOWN_CHARACTERS = 100
SHOWN_LINES = 10
"""So many of the last lines of stderr are shown with a fault."""

Kind: TypeAlias = Literal["ended", "silent", "deaf", "garbage", "other", "unasked", "said"]

_FromProgram: TypeAlias = Ready | Move | Resign | Error
_decode = msgspec.json.Decoder(_FromProgram).decode


class ProgramError(ToldError):
    """What a program did instead of its part. The sentence says what was expected and what came.

    `kind`: it ended; answered nothing; took no input; wrote what is no message; another message than was
    asked for; one that nothing had asked for; or said by an `error` message, kept here, that it cannot go on.
    """

    asked: str | None = None
    """The message that was to be answered, `match_start` or `your_move`; None if there was none."""

    def __init__(
        self, kind: Kind, expected: str, got: str, error: Error | None = None, sentence: str = ""
    ) -> None:
        super().__init__(sentence or f"expected {expected}, got {got}")
        self.kind = kind
        self.expected = expected
        self.got = got
        self.error = error


@dataclass(frozen=True)
class Answer:
    """What a program answered to `your_move`, and when; `action` is None if it resigned."""

    action: str | None
    elapsed_ms: float
    info: dict[str, Any] | None = None


@dataclass(frozen=True)
class Parting:
    """How a program ended, once its input had: by itself or not, and what it had still to say."""

    by_itself: bool
    lines: tuple[str, ...]
    fault: ProgramError | None
    stderr: str
    stderr_bytes: int


class Conversation:
    """What is said between us and one program: one match after the other.

    Raises ProgramError for whatever the program does wrong; after that it can only be ended.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._spoken = False
        self._match = 0
        self._done: set[tuple[int, int]] = set()

    def match_start(self, start: MatchStart, limit_ms: float) -> float:
        """Announce a match, and wait until the program is ready; return the milliseconds that took."""
        expected = f'{{"type":"ready","match":{start.match}}}'
        # A second answer is told from another one by what was answered, so that of the match before is kept.
        # This match may go on, or begin anew, with the same program: then it is asked the same again.
        self._done = {(match, ply) for match, ply in self._done if match == self._match != start.match}
        self._match = start.match
        message, elapsed_ms = self._ask(start, limit_ms, expected)
        if message != Ready(start.match):
            raise _other(expected, message)
        self._done.add((start.match, -1))
        return elapsed_ms

    def your_move(self, request: YourMove, limit_ms: float) -> Answer:
        """Ask for a move. It may be no legal one, and late up to `limit_ms`."""
        match, ply = request.match, request.ply
        expected = (
            f'{{"type":"move","match":{match},"ply":{ply},"action":"{request.legal[0]}"}}, or another action'
        )
        message, elapsed_ms = self._ask(request, limit_ms, expected)
        self._done.add((match, ply))
        if isinstance(message, Resign) and message.match == match:
            if message.reason is not None:
                raise _other(expected, message)
            return Answer(None, elapsed_ms)
        if not isinstance(message, Move) or (message.match, message.ply) != (match, ply):
            raise _other(expected, message)
        size = len(encode(message.info)) if message.info else 0
        if size > MAX_INFO_BYTES:
            raise ProgramError("garbage", f"info of at most {MAX_INFO_BYTES} bytes", f"info of {size} bytes")
        return Answer(message.action, elapsed_ms, message.info)

    def match_end(self, end: MatchEnd, limit_ms: float) -> None:
        """Tell how the match ended. Nothing is answered."""
        self._refuse_unasked()
        self._write(end, limit_ms)

    def end(self, patience_ms: float) -> Parting:
        """End the program, and return what it had still to say."""
        by_itself = self._program.end(patience_ms)
        lines = []
        fault = None
        while (line := self._program.read(0)) is not None:
            lines.append(_shown(line))
            fault = fault or self._unasked(line)
        return Parting(by_itself, tuple(lines), fault, self._program.stderr, self._program.stderr_bytes)

    # lines ------------------------------------------------------------------------------------------

    def _ask(self, message: ToAgent, limit_ms: float, expected: str) -> tuple[_FromProgram, float]:
        """Send a message, and return the answer and the milliseconds it took."""
        self._refuse_unasked()
        try:
            return self._answer(message, limit_ms, expected)
        except ProgramError as fault:
            fault.asked = _name(message)
            raise

    def _answer(self, message: ToAgent, limit_ms: float, expected: str) -> tuple[_FromProgram, float]:
        asked_ms = now_ms()
        self._write(message, limit_ms)
        line = self._program.read(asked_ms + limit_ms - now_ms())
        if line is None:
            raise self._nothing(expected, now_ms() - asked_ms)
        self._spoken = True
        answer = self._message(line, expected)
        if self._is_again(answer):
            raise _twice(line)
        if isinstance(answer, Error):
            raise _said(expected, answer)
        return answer, line.at_ms - asked_ms

    def _message(self, line: Line, expected: str) -> _FromProgram:
        """Decode an answer. One that is no message, with more lines after it, is chatter."""
        try:
            return _read(line, expected)
        except ProgramError as fault:
            if self._program.read(SETTLE_MS) is None:
                raise
            raise _chatter(line) from fault

    def _write(self, message: ToAgent, limit_ms: float) -> None:
        if not self._program.write(encode(message), limit_ms):
            got = f"one that has not read it after {duration(limit_ms)}"
            raise ProgramError("deaf", f"a program that takes {_name(message)}", got)

    def _refuse_unasked(self) -> None:
        """See that the program has said nothing since its last answer."""
        line = self._program.read(0)
        if line is not None:
            raise self._unasked(line)

    def _unasked(self, line: Line) -> ProgramError:
        """Return the fault of a line that nothing had asked for."""
        try:
            answer = _read(line, "")
        except ProgramError:
            return _chatter(line)
        if isinstance(answer, Error):
            return _said("no line where nothing was asked", answer)
        return _twice(line)

    def _is_again(self, answer: _FromProgram) -> bool:
        """Tell whether it answers what was answered before."""
        if isinstance(answer, Ready):
            return (answer.match, -1) in self._done
        return isinstance(answer, Move) and (answer.match, answer.ply) in self._done

    def _nothing(self, expected: str, waited_ms: float) -> ProgramError:
        """Return the fault of a program that has not answered: it has ended, does not flush, or thinks."""
        if self._program.finished:
            return self._ended(expected)
        got = f"nothing within {duration(waited_ms)}"
        if self._program.rest:
            return ProgramError(
                "silent", expected, f"{got} but a line without an end: {_cut(self._program.rest)}"
            )
        self._program.end(GRACE_MS)
        held_back = self._program.read(0)
        if held_back is None and not self._spoken:
            got += "; if it did write something: it must flush its output after each line"
        if held_back is not None and held_back.data:
            got += (
                f", and {_shown(held_back)} when its input was closed: "
                "it must flush its output after each line"
            )
        return ProgramError("silent", expected, got)

    def _ended(self, expected: str) -> ProgramError:
        before = "" if self._spoken else " before it had answered anything"
        how = self._program.exit_status()
        sentence = f"{how}{before or ' in place of an answer'}"
        return ProgramError("ended", expected, f"no line: {how}{before}", sentence=sentence)


def _read(line: Line, expected: str) -> _FromProgram:
    """Decode a line. Raises ProgramError if it is no message that an agent sends."""
    if not line.whole:
        got = f"one that is longer: {_shown(line)}"
        raise ProgramError("garbage", f"a line of at most {MAX_FRAME_BYTES} bytes", got)
    try:
        message: _FromProgram = _decode(line.data)
    except msgspec.DecodeError as error:
        raise ProgramError("garbage", expected, f"{_shown(line)} ({_why(line, error)})") from error
    return message


def _name(message: ToAgent) -> str:
    """Return the type of a message."""
    return str(message.__struct_config__.tag)


def _why(line: Line, error: msgspec.DecodeError) -> str:
    """Say why a line is no message."""
    words = [word for word in ("NaN", "-Infinity", "Infinity") if word.encode() in line.data]
    if words and not isinstance(error, msgspec.ValidationError):
        return f"{words[0]} is no JSON"
    return plain(error)


def _other(expected: str, message: _FromProgram) -> ProgramError:
    return ProgramError("other", expected, _cut(encode(message).decode()))


def _said(expected: str, error: Error) -> ProgramError:
    return ProgramError("said", expected, f"error {error.code}: {error.got or error.message}", error)


def _chatter(line: Line) -> ProgramError:
    got = f"another one: {_shown(line)}; what is no answer belongs on stderr"
    return ProgramError("unasked", "one line for each question", got)


def _twice(line: Line) -> ProgramError:
    return ProgramError("unasked", "one line for each question", f"a second answer: {_shown(line)}")


def _shown(line: Line) -> str:
    return _cut(line.data.decode(errors="replace")) or "an empty line"


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}... ({len(text)} characters)"


def last_lines(stderr: str) -> str:
    """Return the last lines that a program wrote to stderr, under a heading; nothing if there are none."""
    lines = [_cut(line) for line in stderr.rstrip().splitlines()[-SHOWN_LINES:]]
    return "\n".join(["It wrote to stderr:", *lines]) if lines else ""
