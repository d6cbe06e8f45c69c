"""What `plyground connect` prints: a line for each event of the agent's matches."""

import math
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TextIO

import click

from agents.clock import now_ms
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

SAME_AGAIN_MS = 10_000
"""How long nothing is said of tries that fail as the one before them."""

LOOK_UP_MS = 3_000
"""How long a line may wait for the rating that it ends with."""

ERRORS_MS = 5_000
ERRORS_AT_ONCE = 5
"""So many errors at most are told in `ERRORS_MS`; of the others, only how many there were."""

TIMED = ("timeout", "disconnect")
"""Causes of a loss that the trace of the clock explains."""


class Reporter(Observer):
    """Prints events in order, in a thread of its own: looking up a rating must hold up no match."""

    def __init__(self, server: str, out: TextIO) -> None:
        self.online = False
        self._server = server
        self._out = out
        self._name = ""
        self._why = ""
        self._said_ms = 0.0
        self._matches: set[int] = set()
        self._outcomes: Counter[Outcome] = Counter()
        self._errors_ms = 0.0
        self._errors = 0
        self._program = program_here()
        self._look_up_until_ms = math.inf
        self._asking: threading.Thread | None = None
        self._printer = ThreadPoolExecutor(1, thread_name_prefix="plyground-printer")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._look_up_until_ms = min(self._look_up_until_ms, now_ms() + LOOK_UP_MS)
        self._printer.shutdown()

    @property
    def running(self) -> int:
        """Number of matches that go on."""
        return len(self._matches)

    def say(self, line: str) -> None:
        """Print a line."""
        self._printer.submit(click.echo, clean(line), self._out)

    def leaving(self) -> None:
        """Look up no more ratings: whoever leaves waits for nothing but matches."""
        self._look_up_until_ms = 0.0

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
        going_on = sorted(self._matches & set(welcome.running))
        matches = "match" if len(going_on) == 1 else "matches"
        more = f"; {matches} {', '.join(map(str, going_on))} to be played on" if going_on else ""
        self.say(f"connected {again}as {welcome.agent} v{welcome.version} to {self._server}{more}")

    def reconnecting(self, why: str, pause_ms: float) -> None:
        """Say that there is no connection, and when the next try is; the same again, now and then only."""
        now = now_ms()
        if not self.online and why == self._why and now - self._said_ms < SAME_AGAIN_MS:
            return
        self.online, self._why, self._said_ms = False, why, now
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
        """Print what the server could not use, or what it said that makes no sense; of a flood, a little."""
        now = now_ms()
        before = self._errors
        if now - self._errors_ms >= ERRORS_MS:
            self._errors_ms, self._errors = now, 0
        self._errors += 1
        if self._errors > ERRORS_AT_ONCE:
            return
        untold = before - ERRORS_AT_ONCE if self._errors == 1 else 0
        more = f" (and {untold} more before it)" if untold > 0 else ""
        self._printer.submit(click.echo, clean(f"the server says: {error.message}{more}"), err=True)

    def _say_with_rating(self, line: str, ladder: str) -> None:
        standing = self._standing(ladder)
        click.echo(clean(f"{line}; {ladder}: {standing}" if standing else line), self._out)

    def _standing(self, ladder: str) -> str:
        """Return Elo and record on a ladder; nothing where the server does not tell, or not soon.

        It is asked in a thread of its own, which is left alone while it waits: the parts of an answer may
        come one by one for ever, and nothing more is asked meanwhile.
        """
        left_ms = min(LOOK_UP_MS, self._look_up_until_ms - now_ms())
        if left_ms <= 0 or (self._asking is not None and self._asking.is_alive()):
            return ""
        told: list[str] = []
        self._asking = threading.Thread(target=lambda: told.append(self._look_up(ladder)), daemon=True)
        self._asking.start()
        self._asking.join(left_ms / 1000)
        return told[0] if told else ""

    def _look_up(self, ladder: str) -> str:
        try:
            agent = api.get(self._server, f"agents/{api.quoted(self._name)}")
            return next(_record(row) for row in agent["ladders"] if row["ladder"] == ladder)
        except (InputError, LookupError, TypeError, ValueError, OverflowError, StopIteration):
            return ""


def _record(row: dict[str, Any]) -> str:
    mark = "?" if row["provisional"] else ""
    return f"{row['elo']:.0f}{mark} Elo, {row['wins']} won {row['draws']} drawn {row['losses']} lost"
