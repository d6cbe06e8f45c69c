import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

import games
from agents import protocol
from agents.agent import Agent
from agents.client import Client, Played, Timing
from agents.observer import Observer
from games.protocol import LISTED

PATIENCE_S = 30.0
QUICK = Timing(tick_ms=10, ack_ms=150, open_ms=5_000, first_pause_ms=10, longest_pause_ms=50, linger_ms=2_000)


# time -----------------------------------------------------------------------------------------------


class FakeTimer:
    """A clock that stands still unless it is told to go on; each look may cost something."""

    def __init__(self, ms_a_look: float = 0.0) -> None:
        self.ms = 1_000.0
        self.ms_a_look = ms_a_look

    def __call__(self) -> float:
        self.ms += self.ms_a_look
        return self.ms

    def advance(self, ms: float) -> None:
        self.ms += ms


@pytest.fixture
def timer() -> FakeTimer:
    return FakeTimer()


@pytest.fixture
def ticking_timer() -> FakeTimer:
    """A clock that goes on by 10 ms whenever it is looked at."""
    return FakeTimer(ms_a_look=10.0)


# toy games ------------------------------------------------------------------------------------------


class Nothing(NamedTuple):
    """No features at all."""


class Pile(NamedTuple):
    """Take one, two or three stones; taking two moves again. Whoever takes the last stone wins."""

    stones: int
    mover: int

    def to_move(self) -> int:
        return self.mover

    def actions(self) -> Iterator[int]:
        yield from range(1, min(3, self.stones) + 1)

    def playout_action(self, rng: int) -> int:
        return LISTED

    def result(self, a: int) -> "Pile":
        left = self.stones - a
        again = a == 2 and left > 0
        return Pile(left, self.mover if again else 1 - self.mover)

    def is_terminal(self) -> bool:
        return self.stones == 0

    def utility(self, p: int) -> float:
        return -1.0 if p == self.mover else 1.0

    def features(self, p: int) -> Nothing:
        return Nothing()

    def evaluate(self, p: int, w: object) -> float:
        return 0.0

    def key(self) -> int:
        return self.stones * 2 + self.mover

    def chance(self) -> Iterator[tuple[int, float]]:
        yield from ()

    def players(self) -> int:
        return 2


@pytest.fixture
def pile() -> type[Pile]:
    return Pile


# a server that follows a script ---------------------------------------------------------------------

WELCOME = protocol.Welcome(
    protocol=1,
    agent="ada",
    version=1,
    limits=protocol.Limits(
        max_frame_bytes=65_536, max_info_bytes=4_096, messages_per_s=50, burst=100, ready_ms=10_000
    ),
    running=[],
)


class Talk:
    """The server's end of one connection, in the words of the protocol."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket
        self.authorization = socket.request.headers.get("Authorization") if socket.request else None

    def say(self, message: Any) -> None:
        self.socket.send(protocol.encode(message).decode())

    def say_raw(self, text: str) -> None:
        self.socket.send(text)

    def hear(self, kind: type, timeout_s: float = PATIENCE_S) -> Any:
        """Return the next message, which must be of this kind and valid."""
        message = protocol.decode_from_agent(self.socket.recv(timeout=timeout_s))
        assert isinstance(message, kind), f"expected {kind.__name__}, got {message}"
        return message

    def hears_nothing(self, for_s: float) -> None:
        with pytest.raises(TimeoutError):
            self.socket.recv(timeout=for_s)

    def welcome(self, running: tuple[int, ...] = ()) -> protocol.Hello:
        hello: protocol.Hello = self.hear(protocol.Hello)
        self.let_in(hello, running)
        return hello

    def let_in(self, hello: protocol.Hello, running: tuple[int, ...] = ()) -> None:
        self.say(protocol.Welcome(1, hello.agent, 1, WELCOME.limits, list(running)))

    def start(self, match: int = 7, history: tuple[str, ...] = (), seat: int = 0) -> None:
        """Begin a match, or go on with it, and wait until the agent is ready."""
        self.announce(match, history, seat)
        assert self.hear(protocol.Ready).match == match

    def announce(
        self, match: int = 7, history: tuple[str, ...] = (), seat: int = 0, move_ms: int = 5_000
    ) -> None:
        position = games.Position.start(games.load("connect_four"), moves=history)
        self.say(
            protocol.MatchStart(
                match=match,
                game="connect_four",
                ladder="connect_four",
                seat=seat,
                players=[protocol.Player(0, "ada", 1), protocol.Player(1, "bob", 1)],
                time_control=protocol.TimeControl(move_ms, margin_ms=200, ready_ms=10_000),
                position=position.text(),
                history=list(history),
            )
        )

    def ask(self, moves: str = "", match: int = 7, move_ms: int = 5_000, **clock: int) -> None:
        """Ask for the action after these moves; `clock` has more fields of it."""
        position = games.Position.start(games.load("connect_four"), moves=moves.split())
        self.say(
            protocol.YourMove(
                match=match,
                ply=position.ply,
                position=position.text(),
                last_actions=list(position.actions[-1:]),
                legal=position.legal(),
                clock=protocol.ClockView(move_ms, **clock),
            )
        )

    def hear_move(self, ply: int, match: int = 7) -> protocol.Move:
        move = self.hear(protocol.Move)
        assert (move.match, move.ply) == (match, ply)
        return move

    def ack(self, ply: int, match: int = 7) -> None:
        self.say(protocol.Ack(match, ply))

    def strike(self, ply: int, match: int = 7) -> None:
        """Say that a random action is played in place of an answer."""
        self.say(protocol.Reject(match, ply, "timed_out", "expected an answer in time"))

    def end(self, match: int = 7, cause: str = "normal") -> None:
        self.say(
            protocol.MatchEnd(
                match=match,
                outcome=["loss", "win"],
                cause=[cause, "normal"],
                scores=[0.0, 1.0],
                record=f"/api/v1/matches/{match}/record",
            )
        )

    def hears_no_more_than(self, *kinds: type) -> None:
        """Wait until the client closes the connection; until then it may say these kinds alone."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                message = protocol.decode_from_agent(self.socket.recv(timeout=PATIENCE_S))
                assert isinstance(message, kinds), f"unexpected: {message}"

    def hear_the_end(self) -> None:
        """Wait until the client closes the connection; whatever it says meanwhile is of no interest."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                self.socket.recv(timeout=PATIENCE_S)

    def cut(self) -> None:
        """End the connection without a word, as a pulled cable does."""
        self.socket.close_socket()


Script = Callable[[Talk], None]


class ScriptedServer:
    """Plays one script for each connection, in order; or one for each of any number of connections.

    A failed script fails the test.
    """

    def __init__(self, *scripts: Script, any_number: bool = False, **options: Any) -> None:
        self.any_number = any_number
        self.failures: list[BaseException] = []
        self.connections = 0
        self._scripts = list(scripts)
        self._lock = threading.Lock()
        self._server = serve(self._serve, "127.0.0.1", 0, compression=None, **options)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.socket.getsockname()[1]}"

    def _serve(self, socket: ServerConnection) -> None:
        with self._lock:
            number = 0 if self.any_number else self.connections
            script = self._scripts[number] if number < len(self._scripts) else None
            self.connections += 1
        try:
            assert script is not None, "a connection that no script is for"
            script(Talk(socket))
        except BaseException as error:
            self.failures.append(error)

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join(PATIENCE_S)


@pytest.fixture
def server() -> Iterator[Callable[..., ScriptedServer]]:
    """Start scripted servers; at the end every script must have run to its end."""
    started: list[ScriptedServer] = []

    def start(*scripts: Script, **options: Any) -> ScriptedServer:
        started.append(ScriptedServer(*scripts, **options))
        return started[-1]

    yield start
    for one in started:
        one.close()
        if one.failures:
            raise one.failures[0]
        assert one.any_number or one.connections == len(one._scripts), "not every script was played"


class Diary(Observer):
    """An observer that writes down what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.errors: list[protocol.Error] = []
        self.moves: list[str] = []
        self.reports: list[Any] = []

    def connected(self, welcome: protocol.Welcome) -> None:
        self.lines.append("connected")

    def reconnecting(self, why: str, pause_ms: float) -> None:
        self.lines.append("reconnecting")

    def match_start(self, start: protocol.MatchStart) -> None:
        self.lines.append(f"start {start.match}")

    def moved(self, start: protocol.MatchStart, move: protocol.Move, elapsed_ms: float) -> None:
        self.moves.append(move.action)

    def struck(self, start: protocol.MatchStart, ply: int, strikes: int) -> None:
        self.lines.append(f"struck {start.match} {ply} {strikes}")

    def match_end(self, start: protocol.MatchStart, end: protocol.MatchEnd) -> None:
        self.lines.append(f"end {end.match}")

    def match_lost(self, start: protocol.MatchStart) -> None:
        self.lines.append(f"lost {start.match}")

    def fault(self, report: Any) -> None:
        self.lines.append("fault")

    def timed_out(self, report: Any) -> None:
        self.lines.append(f"timed out {report.match}")
        self.reports.append(report)

    def error(self, error: protocol.Error) -> None:
        self.errors.append(error)


class Scripted(Agent):
    """An agent that answers with what a function says, and remembers what it was asked."""

    def __init__(self, choose: Callable[[Any, Any], Any]) -> None:
        self._choose = choose
        self.chosen = 0
        self.started = 0
        self.ended = 0

    def choose(self, state: Any, clock: Any) -> Any:
        self.chosen += 1
        return self._choose(state, clock)

    def match_start(self, start: protocol.MatchStart) -> None:
        self.started += 1

    def match_end(self, end: protocol.MatchEnd) -> None:
        self.ended += 1


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted


class Run:
    """A client running in a thread; `finish` waits for it and returns what it did or raises its error."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.played: Played | None = None
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.played = self.client.run()
        except BaseException as error:
            self.error = error

    def finish(self) -> Played:
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "the client does not come to an end"
        if self.error is not None:
            raise self.error
        assert self.played is not None
        return self.played


@pytest.fixture
def diary() -> Diary:
    return Diary()


@pytest.fixture
def run(diary: Diary) -> Iterator[Callable[..., Run]]:
    """Run a client for a url with an agent; whatever happens it is stopped at the end."""
    runs: list[Run] = []

    def start(url: str, agent: Agent, **options: Any) -> Run:
        settings: dict[str, Any] = {
            "token": "ply_secret",
            "fingerprint": "f00",
            "observer": diary,
            "timing": QUICK,
            "make_agent": lambda start: agent,
            "matches": 1,
        } | options
        runs.append(Run(Client(url, "ada", ["connect_four"], **settings)))
        return runs[-1]

    yield start
    for one in runs:
        one.client.stop()
        one._thread.join(PATIENCE_S)
