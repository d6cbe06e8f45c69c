"""A report of what went wrong in an agent's code: where, what was legal, and how to repeat it."""

import shlex
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import games
from agents.call import Frames

PROGRAM = "plyground"


class ToldError(Exception):
    """An error that tells itself: a sentence, and in `trace` what its author sees for a traceback."""

    trace = ""


@dataclass(frozen=True)
class FaultReport:
    """A crash, an illegal action or a search too long of one agent at one ply.

    `match` is None for a match without a server. `agent` is the path of the agent's file, as it was given,
    or its name. `actions` are the legal actions as `choose` returns them, `legal` the same as written on the
    board. `traceback` begins with the agent's own lines; it is empty for an illegal action. `move_ms` is the
    limit, where time had to do with it.
    """

    match: int | None
    game: str
    agent: str
    seat: int
    ply: int
    position: str
    legal: tuple[str, ...]
    got: str
    traceback: str
    moves: tuple[str, ...]
    actions: tuple[int, ...] = ()
    move_ms: int | None = None

    def text(self, program: str = PROGRAM) -> str:
        """Write the report for people; `program` is what they type to run Plyground."""
        match = f"match {self.match} ({self.game})" if self.match is not None else self.game
        lines = [
            f"{self.agent} failed in {match} at ply {self.ply}, as seat {self.seat + 1}",
            f"  position  {self.position}",
            f"  legal     {self._legal_text()}",
            f"  got       {self.got}",
        ]
        if self.traceback:
            lines.append("")
            lines.extend(self.traceback.rstrip().splitlines())
        lines += ["", "Repeat it here:", f"  {self.command(program)}"]
        return "\n".join(lines)

    def _legal_text(self) -> str:
        if not self.legal:
            return "(it was not asked for an action)"
        numbers = [str(action) for action in self.actions] or list(self.legal)
        return f"{' '.join(numbers)}{written_note(self.actions, self.legal)}"

    def command(self, program: str = PROGRAM) -> str:
        """Return the command that plays the same moves again, without a server."""
        seats = ["random"] * games.load(self.game).players
        # A path that began with a hyphen would be taken for an option.
        seats[self.seat] = shlex.quote(f"./{self.agent}" if self.agent.startswith("-") else self.agent)
        command = f"{program} play {' '.join(seats)} --game {shlex.quote(self.game)}"
        if self.moves:
            command += f' --moves "{" ".join(self.moves)}"'
        return f"{command} --move-ms {self.move_ms}" if self.move_ms is not None else command


def written_note(actions: Sequence[int], texts: Sequence[str]) -> str:
    """Say how actions are written on the board, where that is another number than `choose` returns."""
    if not actions or [str(action) for action in actions] == list(texts):
        return ""
    return f" (on the board they are written {' '.join(texts)})"


def headline(error: BaseException) -> str:
    """Return the last line of a traceback: the error's type and message."""
    if isinstance(error, ToldError):
        return str(error)
    return traceback.format_exception_only(error)[-1].strip()


def own_traceback(error: BaseException, path: Path | None) -> str:
    """Format the traceback from the first line in the agent's own file on; all of it if there is none."""
    if isinstance(error, ToldError):
        return error.trace
    trace = error.__traceback__
    while trace is not None and not _is_in(trace, path):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace or error.__traceback__))


def own_stack(frames: Frames, path: Path | None) -> str:
    """Format where code is, from the first line in the agent's own file on; all of it if there is none."""
    own = next((n for n, frame in enumerate(frames) if frame.filename == str(path)), 0)
    return f"It was here:\n{''.join(traceback.format_list(frames[own:]))}" if frames else ""


def own_line(error: BaseException, path: Path) -> int | None:
    """Return the innermost line of the agent's own file that the error passed through."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno
    line = None
    trace = error.__traceback__
    while trace is not None:
        if _is_in(trace, path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def own_frame(frames: Frames, path: Path) -> int | None:
    """Return the innermost line of the agent's own file that is being run."""
    return next((frame.lineno for frame in reversed(frames) if frame.filename == str(path)), None)


def _is_in(trace: TracebackType, path: Path | None) -> bool:
    return path is not None and trace.tb_frame.f_code.co_filename == str(path)
