"""A report of what went wrong in an agent's code: where, what was legal, and how to repeat it."""

import shlex
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType


@dataclass(frozen=True)
class FaultReport:
    """A crash, an illegal action or an endless search of one agent at one ply.

    `match` is None for a match without a server. `agent` is the path of the agent's file, as it was given,
    or its name. `traceback` begins with the agent's own lines; it is empty for an illegal action.
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

    def text(self) -> str:
        """Write the report for people."""
        match = f"match {self.match} ({self.game})" if self.match is not None else self.game
        lines = [
            f"{self.agent} failed in {match} at ply {self.ply}, as seat {self.seat + 1}",
            f"  position  {self.position}",
            f"  legal     {' '.join(self.legal) or '(it was not asked yet)'}",
            f"  got       {self.got}",
        ]
        if self.traceback:
            lines.append("")
            lines.extend(self.traceback.rstrip().splitlines())
        lines += ["", "Repeat it here:", f"  {self.command()}"]
        return "\n".join(lines)

    def command(self) -> str:
        """Return the command that plays the same moves again, without a server."""
        seats = ["random", "random"]
        seats[self.seat] = shlex.quote(self.agent)
        command = f"plyground play {' '.join(seats)} --game {shlex.quote(self.game)}"
        return f'{command} --moves "{" ".join(self.moves)}"' if self.moves else command


def headline(error: BaseException) -> str:
    """Return the last line of a traceback: the error's type and message."""
    return traceback.format_exception_only(error)[-1].strip()


def own_traceback(error: BaseException, path: Path | None) -> str:
    """Format the traceback from the first line in the agent's own file on; all of it if there is none."""
    trace = error.__traceback__
    while trace is not None and not _is_in(trace, path):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace or error.__traceback__))


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


def _is_in(trace: TracebackType, path: Path | None) -> bool:
    return path is not None and trace.tb_frame.f_code.co_filename == str(path)
