"""The matches of a client: whose turn a message is for, and what came of each.

The receiving thread calls everything here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event

from agents import view
from agents.clock import now_ms, wait
from agents.ending import Endings
from agents.fault import FaultReport
from agents.observer import Observer
from agents.protocol import Ack, Error, MatchEnd, MatchStart, Reject, YourMove
from agents.seat import Seat, Surroundings

MAX_EARLY = 64
"""Requests kept for matches not announced yet: as many as a connection may play at once."""

ENDING = frozenset({"", "match_end"})
"""What an agent is at whose match is over, unless it still chooses: about to hear so, or hearing it."""

POLL_MS = 10
"""Between looks at whether the agent's code is done."""


@dataclass
class Played:
    """What a client has done: matches that ended, how many of the last were lost on time, and faults."""

    matches: int = 0
    late: int = 0
    faults: list[FaultReport] = field(default_factory=list)


class Matches:
    """The matches of one client. `fault` is called for code that does not come back after its match.

    Those that a server says run are waited for `patience_ms` to be announced. Of those that ended while the
    connection was away, `endings` is asked how.
    """

    def __init__(
        self,
        around: Surroundings,
        observer: Observer,
        fault: Callable[[FaultReport], None],
        patience_ms: float,
        endings: Endings,
    ) -> None:
        self.seats: dict[int, Seat] = {}
        self.played = Played()
        self._around = around
        self._observer = observer
        self._fault = fault
        self._early: dict[int, tuple[YourMove, float]] = {}
        self._closing: dict[Seat, tuple[float, bool]] = {}
        self._patience_ms = patience_ms
        self._awaited: set[int] = set()
        self._awaited_until_ms = 0.0
        self._endings = endings
        self._unseen: dict[int, Seat] = {}
        self._unseen_until_ms = 0.0

    @property
    def awaits(self) -> bool:
        """Whether a match that ran when the connection was made is still to be announced, or an end told."""
        return (bool(self._awaited) and now_ms() < self._awaited_until_ms) or self._awaits_ends

    @property
    def _awaits_ends(self) -> bool:
        return bool(self._unseen) and now_ms() < self._unseen_until_ms

    def start(self, start: MatchStart, *, new: bool) -> None:
        """Begin a match, if `new` ones are wanted or it ran when we came, or go on after a reconnection.

        One without a seat for us is only told of: there is nothing to play.
        """
        seats = sorted(player.seat for player in start.players)
        if start.seat not in seats or seats != list(range(len(seats))):
            self._awaited.discard(start.match)
            self._tell_nonsense("match_start", f"match {start.match}, seat {start.seat} of seats {seats[:9]}")
            return
        known = self.seats.get(start.match)
        if known is not None and known.resume(start):
            return
        if known is not None:
            self._lose(self.seats.pop(start.match))
        if start.match in self._unseen:  # it was not over: a server that lost its end has begun it anew
            self._lose(self._unseen.pop(start.match))
        if not new and start.match not in self._awaited:
            return
        self._awaited.discard(start.match)
        self.seats[start.match] = seat = Seat(start, self._around)
        self._observer.match_start(start)
        seat.begin()
        early = self._early.pop(start.match, None)
        if early is not None:
            seat.ask(*early)

    def take(self, message: YourMove | Ack | Reject) -> None:
        """Hand a message to its match. A request may come before the match is announced again."""
        seat = self.seats.get(message.match)
        match message:
            case YourMove() if seat is not None:
                seat.ask(message, now_ms())
            case YourMove() if len(self._early) < MAX_EARLY:
                self._early[message.match] = (message, now_ms())
            case Ack(ply=ply) if seat is not None:
                seat.ack(ply)
            case Reject(ply=ply, code=code) if seat is not None:
                strikes = seat.reject(ply, code)
                if strikes is not None:
                    self._observer.struck(seat.start, ply, strikes)

    def end(self, end: MatchEnd) -> None:
        """Close a match, and report it if it was lost on time."""
        self._awaited.discard(end.match)
        self._early.pop(end.match, None)
        seat = self.seats.pop(end.match, None) or self._unseen.pop(end.match, None)
        if seat is not None:
            self._end(seat, end)

    def _end(self, seat: Seat, end: MatchEnd) -> None:
        seats = len(seat.start.players)
        if {len(end.outcome), len(end.cause), len(end.scores)} != {seats}:
            wrong = f"match {end.match} has {seats} seats, its lists are of other lengths"
            self._tell_nonsense("match_end", wrong)
            self._lose(seat)
            return
        self._observer.match_end(seat.start, end)
        late = end.cause[seat.start.seat] == "timeout"
        self.played.matches += 1
        self.played.late = self.played.late + 1 if late else 0
        self._close(seat, end, late=late)

    def _tell_nonsense(self, kind: str, why: str) -> None:
        self._observer.error(Error("bad_message", f"a {kind} that makes no sense: {why}"))

    def connected(self, running: Sequence[int]) -> None:
        """Ask for the matches that ended while the connection was away, and expect those not heard of yet."""
        self._early.clear()
        self._awaited = set(running) - set(self.seats)
        self._awaited_until_ms = now_ms() + self._patience_ms
        for match in set(self.seats) - set(running):
            self._unseen[match] = self.seats.pop(match)
            self._unseen[match].end(None, told=False)
        if self._unseen:
            self._unseen_until_ms = now_ms() + self._endings.patience_ms
            self._endings.ask([seat.start for seat in self._unseen.values()])

    def tick(self) -> None:
        """Look after what is overdue: answers without acknowledgement, ends, code that does not come back."""
        self._hear_ends()
        for seat in self.seats.values():
            seat.tick()
        for seat, (until_ms, late) in list(self._closing.items()):
            if seat.doing is None:
                del self._closing[seat]
                if late:
                    self._observer.timed_out(seat.late_report())
            elif now_ms() > until_ms:
                del self._closing[seat]
                self._fault(seat.late_report())

    def finish(self, stop: Event, patience_ms: float) -> None:
        """Let the agent hear how its last matches ended, then report what is left to report.

        Code that is still choosing is not waited for: it has had its time.
        """
        while self._awaits_ends and not wait(stop, POLL_MS):
            self._hear_ends()
        self._unseen_until_ms = 0.0
        self._hear_ends()
        until_ms = now_ms() + patience_ms
        while (
            not stop.is_set() and now_ms() < until_ms and any(seat.doing in ENDING for seat in self._closing)
        ):
            wait(stop, POLL_MS)
        self.tick()
        for seat, (_, late) in self._closing.items():
            if late:
                self._observer.timed_out(seat.late_report())
            elif seat.doing in ENDING and not stop.is_set():
                self._fault(seat.late_report())
        self._closing.clear()

    def _hear_ends(self) -> None:
        """End the matches of which the server has told how they ended; lose those of which it cannot."""
        for start, end in self._endings.told():
            seat = self._unseen.get(start.match)
            if seat is None or seat.start is not start:
                continue
            del self._unseen[start.match]
            if end is None:
                self._lose(seat)
            else:
                self._end(seat, end)
        if not self._awaits_ends:
            for match in list(self._unseen):
                self._lose(self._unseen.pop(match))

    def _lose(self, seat: Seat) -> None:
        self._observer.match_lost(seat.start)
        self._close(seat, None, late=False)

    def _close(self, seat: Seat, end: MatchEnd | None, *, late: bool) -> None:
        """End a match. Its report waits for the agent's code, to say how long it took, but not for ever."""
        seat.end(end)
        self._closing[seat] = (now_ms() + min(seat.limit_ms, view.UNTIMED_MS), late)
