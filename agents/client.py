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
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from agents.address import check_token_is_safe, is_loopback, socket_url
from agents.backoff import Backoff, asked_ms
from agents.clock import now_ms, wait
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

MAX_FRAME_BYTES = 1 << 20
POLICY_VIOLATION = 1008
"""Close code of a server that will not have us, whatever we try."""

LATE_IN_A_ROW = 3
"""So many matches in a row lost on time end the run of an agent that ends at a fault."""

COME_AGAIN_STATUS = (429, 503)
"""HTTP answers to the opening that say when to come again, by the header `Retry-After`."""

REFUSED_STATUS = (400, 401, 403, 404, 426)
"""HTTP answers to the opening that another try would not change."""


@dataclass(frozen=True)
class Timing:
    """The client's own times in milliseconds.

    `tick_ms` between looks at what is overdue; `ack_ms` after which a move is sent again; `open_ms` for
    the opening and for `welcome`; the first pause before a reconnection, the longest while the clock of a
    match may run, and the longest of all; `linger_ms` for the end of a match that the agent has given up, and
    at the end of the run for its `match_end`.

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


class Client:
    """Plays one agent on some ladders of one server.

    `make_agent` makes a fresh agent for each match; `name` is what reports call it (its file). With
    `stop_on_fault` the first fault, or the third match in a row lost on time, ends the run after the running
    matches. `matches` ends it after so many. `thinking` is held while the agent thinks, so that several
    clients can share processor cores.
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
    ) -> None:
        self.server_url = server_url
        self._url = socket_url(server_url)
        self._token = token
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
        self._matches = Matches(self._around, self._observer, self._fault, self._timing.open_ms)
        self._socket: ClientConnection | None = None
        self._seen_ms = 0.0  # when the last connection that was welcomed ended
        self._welcomed_once = False
        self._untold: Error | None = None
        self._leaving = False
        self._left = False
        self._give_up_ms: float | None = None
        self._stop = threading.Event()

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

        A connection that was welcomed once is made again for ever when it drops. Raises InputError if the
        server cannot be reached at first, or refuses.
        """
        while not self._done():
            error = self._attempt()
            if error is not None:
                self._check_hope(error)
                self._tell_error()
                self._pause(error)
        self._tell_error()
        self._matches.finish(self._stop, self._timing.linger_ms)
        return self._matches.played

    # connection -------------------------------------------------------------------------------------

    def _attempt(self) -> Exception | None:
        """Connect and play; return what went wrong with the connection, or None when all is done."""
        with contextlib.ExitStack() as stack:
            try:
                socket = stack.enter_context(self._connect())
            except (OSError, EOFError, WebSocketException) as error:
                return error
            try:
                self._serve(socket)
            except (ConnectionClosed, NoWelcomeError, ComeAgainError) as error:
                return error
            finally:
                if self._socket is not None:
                    self._seen_ms = now_ms()
                self._socket = None
        return None

    def _connect(self) -> AbstractContextManager[ClientConnection]:
        return connect(
            self._url,
            additional_headers={"Authorization": f"Bearer {self._token}"} if self._token else None,
            compression=None,
            proxy=None if is_loopback(self.server_url) else True,
            open_timeout=self._timing.open_ms / 1000,
            close_timeout=2,
            ping_interval=self._timing.ping_ms / 1000,
            ping_timeout=self._timing.pong_ms / 1000,
            max_size=MAX_FRAME_BYTES,
        )

    def _check_hope(self, error: Exception) -> None:
        """Raise InputError where another try is of no use."""
        if isinstance(error, ConnectionClosed) and error.rcvd and error.rcvd.code == POLICY_VIOLATION:
            reason = error.rcvd.reason or "policy"
            said = self._untold
            if said is None or said.code != reason:
                self._tell_error()
                said = Error(reason, f"the server closed the connection: {reason}")
            raise RefusedError(said) from error
        if isinstance(error, ComeAgainError) or _asked_ms(error):
            return
        refused = isinstance(error, InvalidStatus) and error.response.status_code in REFUSED_STATUS
        if refused or not self._welcomed_once:
            raise InputError(
                "no_server", expected=f"a Plyground server at {self.server_url}", got=_reason(error)
            ) from error

    def _pause(self, error: Exception) -> None:
        """Wait before the next try."""
        most_ms = self._timing.playing_pause_ms if self._is_awaited() else self._timing.longest_pause_ms
        pause_ms = self._backoff.pause_ms(_asked_ms(error), most_ms)
        self._observer.reconnecting(_reason(error), pause_ms)
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
            self._say_leave()
        self._say_leave()

    def _await_welcome(self, socket: ClientConnection) -> tuple[Welcome, list[ToAgent]]:
        """Return the welcome, and what came before it: a match that goes on may have news at once."""
        early: list[ToAgent] = []
        until_ms = now_ms() + self._timing.open_ms
        while (left_ms := until_ms - now_ms()) > 0:
            message = self._next(socket, left_ms)
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
        except msgspec.DecodeError as error:
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
                self._look_at_limits(self._matches.played)
            case YourMove() | Ack() | Reject():
                self._matches.take(message)
            case Error(code=code) if code in FINAL:
                raise RefusedError(message)
            case Error():
                self._untold = message

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


def _asked_ms(error: Exception) -> float:
    """Return what the server asked to wait before the next try; 0 if it did not."""
    if isinstance(error, ComeAgainError):
        return error.asked_ms
    if isinstance(error, InvalidStatus) and error.response.status_code in COME_AGAIN_STATUS:
        return asked_ms(error.response.headers.get("Retry-After", ""))
    return 0.0


def _reason(error: Exception) -> str:
    """Say in a few words what went wrong with a connection."""
    if isinstance(error, InvalidStatus):
        return f"HTTP {error.response.status_code} from it"
    if isinstance(error, ConnectionClosed):
        return "a connection that was closed"
    if isinstance(error, ComeAgainError):
        return f"the server says: {error}"
    if isinstance(error, TimeoutError | NoWelcomeError):
        return "no answer in time"
    if isinstance(error, OSError):
        return error.strerror or str(error) or type(error).__name__
    return f"something else ({error})"
