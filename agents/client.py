"""The client: connects an agent to a server and plays its matches until told to stop.

Threads, not coroutines: an agent may think for as long as its limit without the connection going silent.
The calling thread receives; every match has a thread for the agent's code (see matches.py and seat.py).
"""

import contextlib
import random
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import msgspec
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection

from agents.address import check_token_is_safe, socket_url
from agents.backoff import Backoff
from agents.clock import now_ms, wait
from agents.connection import again_ms, is_final, open_socket, reason
from agents.ending import Endings
from agents.fault import FaultReport
from agents.matches import Matches, Played
from agents.observer import Observer
from agents.plain import plain
from agents.protocol import (
    VERSION,
    Ack,
    Error,
    FromAgent,
    Hello,
    Leave,
    MatchEnd,
    MatchStart,
    Reject,
    ToAgent,
    Welcome,
    YourMove,
    decode_to_agent,
    encode,
)
from agents.refusal import COME_AGAIN, FINAL, ComeAgainError, NoWelcomeError, RefusedError
from agents.seat import MakeAgent, Surroundings
from games import InputError

POLICY_VIOLATION = 1008
"""Close code of a server that will not have us, whatever we try."""

UNKNOWN_LADDER = "unknown_ladder"
"""Error of a server that lets us in for the sake of what runs, and has a ladder of ours no more."""

LATE_IN_A_ROW = 3
"""So many matches in a row lost on time end the run of an agent that ends at a fault."""


@dataclass(frozen=True)
class Timing:
    """The client's own times in milliseconds.

    `tick_ms` between looks at what is overdue; `ack_ms` after which a move is sent again; `open_ms` for
    the opening and for `welcome`; the first pause before a reconnection, the longest while the clock of a
    match may run, and the longest of all; `linger_ms` for the end of a match that the agent has given up, and
    at the end of the run for its `match_end`.

    `ending_ms` for the server to tell how matches ended while the connection was away; `restart_ms` in which
    a server that is there, as we know, but does not answer is taken to restart.

    `ping_ms` between two pings, each of which may take `pong_ms`: so a server that is gone without a word is
    noticed within their sum, and one that stands still for less than `pong_ms` is kept.
    """

    tick_ms: float = 250
    ack_ms: float = 3_000
    open_ms: float = 10_000
    first_pause_ms: float = 500
    playing_pause_ms: float = 1_000
    longest_pause_ms: float = 15_000
    linger_ms: float = 5_000
    ping_ms: float = 15_000
    pong_ms: float = 40_000
    ending_ms: float = 5_000
    restart_ms: float = 60_000


class Client:
    """Plays one agent on some ladders of one server.

    `make_agent` makes a fresh agent for each match; `name` is what reports call it (its file). With
    `stop_on_fault` the first fault, or the third match in a row lost on time, ends the run after the running
    matches. `matches` ends it after so many. `thinking` is held while the agent thinks, so that several
    clients can share processor cores. With `known` the server has answered already: it is there.
    """

    def __init__(
        self,
        server_url: str,
        agent: str,
        ladders: Sequence[str],
        token: str | None = None,
        *,
        make_agent: MakeAgent,
        concurrency: int = 1,
        fingerprint: str | None = None,
        observer: Observer | None = None,
        name: str | None = None,
        stop_on_fault: bool = True,
        matches: int | None = None,
        thinking: AbstractContextManager[object] | None = None,
        timing: Timing | None = None,
        seed: int | None = None,
        known: bool = False,
    ) -> None:
        self.server_url = server_url
        self._token = token
        socket_url(server_url)  # see at once that it is an address
        if token is not None:
            check_token_is_safe(server_url)
        self._hello = Hello(
            protocol=VERSION,
            agent=agent,
            ladders=list(ladders),
            concurrency=concurrency,
            fingerprint=fingerprint,
            client=_client_name(),
        )
        self._observer = observer or Observer()
        self._stop_on_fault = stop_on_fault
        self._limit = matches
        self._timing = timing or Timing()
        pauses = (self._timing.first_pause_ms, self._timing.longest_pause_ms)
        self._backoff = Backoff(*pauses, random.Random(seed))
        self._around = Surroundings(
            name=name or agent,
            make_agent=make_agent,
            send=self._send,
            moved=self._observer.moved,
            fault=self._fault,
            thinking=thinking or contextlib.nullcontext(),
            ack_ms=self._timing.ack_ms,
        )
        endings = Endings(server_url, self._timing.ending_ms)
        self._matches = Matches(self._around, self._observer, self._fault, self._timing.open_ms, endings)
        self._socket: ClientConnection | None = None
        self._seen_ms = 0.0  # when the last connection that was welcomed ended
        self._welcomed_once = False
        self._known = known
        self._silent_ms: float | None = None  # since when a server that is there has not answered
        self._untold: Error | None = None
        self._leaving = False
        self._left = False
        self._give_up_ms: float | None = None
        self._stop = threading.Event()

    @property
    def played(self) -> Played:
        """What it has played so far."""
        return self._matches.played

    def leave(self) -> None:
        """Finish the running matches, take no more, and let `run` return. Callable from any thread.

        From now on no match is begun: one that the server begins before it hears of it never starts. One that
        runs when a connection is made again is played on, whether this process has heard of it or not.
        """
        self._leaving = True

    def stop(self) -> None:
        """Let `run` return at once. Callable from any thread."""
        self._stop.set()

    def run(self) -> Played:
        """Play until `leave`, `stop`, the limit of matches or a fault.

        A connection that was welcomed once is made again for ever when it drops, and so is one of which the
        server says to come again. Raises InputError if the server cannot be reached at first, or refuses.
        """
        while not self._done():
            error = self._attempt()
            if error is not None and not self._stop.is_set():
                self._check_hope(error)
                self._tell_error()
                self._pause(error)
        self._tell_error()
        self._matches.finish(self._stop, self._timing.linger_ms)
        return self.played

    # connection -------------------------------------------------------------------------------------

    def _attempt(self) -> Exception | None:
        """Connect and play; return what went wrong with the connection, or None when all is done."""
        times = self._timing
        try:
            socket = open_socket(
                self.server_url,
                self._token,
                open_ms=times.open_ms,
                ping_ms=times.ping_ms,
                pong_ms=times.pong_ms,
            )
        except (OSError, EOFError, WebSocketException) as error:
            return error
        with socket:
            try:
                self._serve(socket)
            except (ConnectionClosed, NoWelcomeError, ComeAgainError) as error:
                return error
            finally:
                if self._socket is not None:
                    self._seen_ms = now_ms()
                self._socket = None
        return None

    def _check_hope(self, error: Exception) -> None:
        """Raise InputError where another try is of no use."""
        if isinstance(error, ConnectionClosed) and error.rcvd and error.rcvd.code == POLICY_VIOLATION:
            code = error.rcvd.reason or "policy"
            said = self._untold
            if said is None or said.code != code:
                self._tell_error()
                said = Error(code, f"the server closed the connection: {code}")
            raise RefusedError(said) from error
        if again_ms(error) is not None:
            self._known, self._silent_ms = True, None
            return
        if is_final(error) or not (self._welcomed_once or self._may_restart()):
            raise InputError(
                "no_server", expected=f"a Plyground server at {self.server_url}", got=reason(error)
            ) from error

    def _may_restart(self) -> bool:
        """Tell whether a server that does not answer has been there, and not for long been silent."""
        if self._silent_ms is None:
            self._silent_ms = now_ms()
        return self._known and now_ms() - self._silent_ms < self._timing.restart_ms

    def _pause(self, error: Exception) -> None:
        """Wait before the next try."""
        most_ms = self._timing.playing_pause_ms if self._is_awaited() else self._timing.longest_pause_ms
        pause_ms = self._backoff.pause_ms(again_ms(error) or 0.0, most_ms)
        self._observer.reconnecting(reason(error), pause_ms)
        wait(self._stop, pause_ms)

    def _is_awaited(self) -> bool:
        """Whether a match may still be lost, or saved, by how soon we are back."""
        away_ms = now_ms() - self._seen_ms
        return any(
            away_ms < seat.limit_ms + seat.start.time_control.margin_ms + seat.start.time_control.grace_ms
            for seat in self._matches.seats.values()
        )

    def _serve(self, socket: ClientConnection) -> None:
        """Say hello, then take messages until the work is done."""
        socket.send(encode(self._hello).decode())
        self._left = self._leaving  # read once: `leave` may be called from another thread at any moment
        if self._left:  # it comes back to finish what runs, and wants nothing new meanwhile
            socket.send(encode(Leave()).decode())
        welcome, early = self._await_welcome(socket)
        self._welcomed_once = True
        self._backoff.reset()
        self._socket = socket
        self._observer.connected(welcome)
        self._matches.connected(welcome.running)
        for message in early:
            self._take(message)
        while not self._done():
            received = self._next(socket, self._timing.tick_ms)
            self._tell_error()
            if received is not None:
                self._take(received)
            self._matches.tick()
            self._look_at_limits(self.played)
            self._say_leave()
        self._say_leave()

    def _await_welcome(self, socket: ClientConnection) -> tuple[Welcome, list[ToAgent]]:
        """Return the welcome, and what came before it: a match that goes on may have news at once."""
        early: list[ToAgent] = []
        until_ms = now_ms() + self._timing.open_ms
        while (left_ms := until_ms - now_ms()) > 0 and not self._stop.is_set():
            message = self._next(socket, min(left_ms, self._timing.tick_ms))
            if isinstance(message, Error):
                later = message.code in COME_AGAIN or message.retry_after_s is not None
                raise ComeAgainError(message) if later else RefusedError(message)
            if isinstance(message, Welcome):
                return message, early
            if message is not None:
                early.append(message)
        raise NoWelcomeError

    def _next(self, socket: ClientConnection, timeout_ms: float) -> ToAgent | None:
        """Return the next message; None if there was none in time, or one of a later protocol."""
        try:
            frame = socket.recv(timeout=timeout_ms / 1000)
        except TimeoutError:
            return None
        try:
            message: ToAgent = decode_to_agent(frame)
        except (msgspec.DecodeError, RecursionError) as error:
            self._observer.error(
                Error("unknown_message", f"a message this client cannot read: {plain(error)}")
            )
            return None
        return message

    def _send(self, message: FromAgent) -> None:
        """Send if connected. What is lost here is asked for again, or sent again when overdue."""
        socket = self._socket
        if socket is not None:
            with contextlib.suppress(ConnectionClosed, OSError):
                socket.send(encode(message).decode())

    def _say_leave(self) -> None:
        """Tell the server that we leave, once a connection."""
        if self._leaving and not self._left:
            self._left = True
            self._send(Leave())

    # messages ---------------------------------------------------------------------------------------

    def _take(self, message: ToAgent) -> None:
        match message:
            case MatchStart():
                self._matches.start(message, new=not self._leaving)
            case MatchEnd():
                self._matches.end(message)
                self._look_at_limits(self.played)
            case YourMove() | Ack() | Reject():
                self._matches.take(message)
            case Error(code=code) if code in FINAL:
                raise RefusedError(message)
            case Error():
                self._untold = message
                if message.code == UNKNOWN_LADDER:
                    self.leave()

    def _look_at_limits(self, played: Played) -> None:
        late = self._stop_on_fault and played.late >= LATE_IN_A_ROW
        if late or (self._limit is not None and played.matches >= self._limit):
            self.leave()

    def _tell_error(self) -> None:
        """Tell of an error that did not end the connection; one that did is told by the end of the run."""
        if self._untold is not None:
            self._observer.error(self._untold)
            self._untold = None

    def _fault(self, report: FaultReport) -> None:
        self._matches.played.faults.append(report)
        self._observer.fault(report)
        if self._stop_on_fault:
            self._give_up_ms = now_ms() + self._timing.linger_ms
            self._leaving = True  # said after the answer that is at fault, which is still to be sent

    def _done(self) -> bool:
        if self._stop.is_set():
            return True
        if not self._leaving:
            return False
        seats = self._matches.seats
        waiting = [seat for seat in seats.values() if seat.fault is None]
        overdue = self._give_up_ms is not None and now_ms() > self._give_up_ms
        return (not seats and not self._matches.awaits) or (not waiting and overdue)


def _client_name() -> str:
    try:
        return f"plyground {version('plyground')}"
    except PackageNotFoundError:
        return "plyground"
