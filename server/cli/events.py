"""What `plyground connect` prints: a line for each event of the agent's matches."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TextIO

import click

from agents.fault import FaultReport
from agents.observer import Observer
from agents.protocol import Error, MatchEnd, MatchStart, Outcome, Welcome
from games.errors import InputError
from server.cli import api
from server.cli.program import program_here
from server.cli.terminal import clean, clean_lines

WORDS = {"win": "won", "draw": "drawn", "loss": "lost", "void": "void"}
REPORTED = ("illegal_action", "crash", "timeout")
"""Causes of a loss that a report explains, in the agent's own values."""

TIMED = ("timeout", "disconnect")
"""Causes of a loss that the trace of the clock explains."""


class Reporter(Observer):
    """Prints events in order, in a thread of its own: looking up a rating must hold up no match."""

    def __init__(self, server: str, out: TextIO) -> None:
        self.online = False
        self._server = server
        self._out = out
        self._name = ""
        self._matches: set[int] = set()
        self._outcomes: Counter[Outcome] = Counter()
        self._program = program_here()
        self._printer = ThreadPoolExecutor(1, thread_name_prefix="plyground-printer")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._printer.shutdown()

    @property
    def running(self) -> int:
        """Number of matches that go on."""
        return len(self._matches)

    def say(self, line: str) -> None:
        """Print a line."""
        self._printer.submit(click.echo, clean(line), self._out)

    def sum_up(self, advice: str) -> None:
        """Print the last line: what was played; and what to do about it, if there is anything to do."""
        counts = [f"{self._outcomes[outcome]} {WORDS[outcome]}" for outcome in ("win", "draw", "loss")]
        if self._outcomes["void"]:
            counts.append(f"{self._outcomes['void']} void")
        total = self._outcomes.total()
        matches = "1 match" if total == 1 else f"{total} matches"
        self.say(f"left: {matches} played, {' '.join(counts)}")
        if advice:
            self._printer.submit(click.echo, clean(advice), err=True)

    def connected(self, welcome: Welcome) -> None:
        """Say who is connected."""
        again = "again " if self._name else ""
        self.online = True
        self._name = welcome.agent
        self.say(f"connected {again}as {welcome.agent} v{welcome.version} to {self._server}")

    def reconnecting(self, why: str, pause_ms: float) -> None:
        """Say that there is no connection, and when the next try is."""
        self.online = False
        self.say(f"not connected ({why}); next try in {pause_ms / 1000:.1f} s")

    def match_start(self, start: MatchStart) -> None:
        """Say whom the agent plays, and where to watch."""
        self._matches.add(start.match)
        rivals = " and ".join(player.agent for player in start.players if player.seat != start.seat)
        url = f"{self._server}/matches/{start.match}"
        self.say(f"match {start.match} vs {rivals} (seat {start.seat + 1}) on {start.ladder} started  {url}")

    def struck(self, start: MatchStart, ply: int, strikes: int) -> None:
        """Say that an answer came too late, and how often it may."""
        left = "1 strike" if strikes == 1 else f"{strikes or 'no'} strikes"
        self.say(f"match {start.match}, ply {ply}: too late, a random action was played: {left} left")

    def match_end(self, start: MatchStart, end: MatchEnd) -> None:
        """Say how a match ended, and where the agent stands now."""
        self._matches.discard(start.match)
        outcome, cause = end.outcome[start.seat], end.cause[start.seat]
        self._outcomes[outcome] += 1
        rival_causes = [
            other for seat, other in enumerate(end.cause) if seat != start.seat and other != "normal"
        ]
        how = f"rival: {rival_causes[0]}" if cause == "normal" and rival_causes else cause
        line = f"match {start.match} finished: {WORDS[outcome]} ({how})"
        if how != "normal" and how not in REPORTED and end.detail:
            line += f", {end.detail}"
        self._printer.submit(self._say_with_rating, line, start.ladder)
        if cause in TIMED:
            trace = f"{self._program} clock {start.match} --server {self._server}"
            self.say(f"match {start.match}, how it was timed: {trace}")

    def match_lost(self, start: MatchStart) -> None:
        """Say that a match ended unseen."""
        self._matches.discard(start.match)
        self.say(f"match {start.match} ended while the connection was lost")

    def fault(self, report: FaultReport) -> None:
        """Print the report on stderr."""
        self._printer.submit(click.echo, f"\n{clean_lines(report.text(self._program))}\n", err=True)

    def timed_out(self, report: FaultReport) -> None:
        """Print the report on stderr."""
        self.fault(report)

    def error(self, error: Error) -> None:
        """Print what the server could not use."""
        self._printer.submit(click.echo, clean(f"the server says: {error.message}"), err=True)

    def _say_with_rating(self, line: str, ladder: str) -> None:
        standing = self._standing(ladder)
        click.echo(clean(f"{line}; {ladder}: {standing}" if standing else line), self._out)

    def _standing(self, ladder: str) -> str:
        """Return Elo and record on a ladder; nothing where the server does not tell."""
        try:
            agent = api.get(self._server, f"agents/{api.quoted(self._name)}")
            return next(_record(row) for row in agent["ladders"] if row["ladder"] == ladder)
        except (InputError, LookupError, TypeError, ValueError, StopIteration):
            return ""


def _record(row: dict[str, Any]) -> str:
    mark = "?" if row["provisional"] else ""
    return f"{row['elo']:.0f}{mark} Elo, {row['wins']} won {row['draws']} drawn {row['losses']} lost"
