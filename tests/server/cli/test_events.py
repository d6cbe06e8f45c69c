"""What `plyground connect` prints of a match as it happens."""

import io
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from agents.clock import now_ms
from agents.protocol import Cause, Error, MatchEnd, MatchStart, TimeControl
from server.cli.events import ERRORS_AT_ONCE, ERRORS_MS, LOOK_UP_MS, Reporter

PATIENCE_S = 60.0

START = MatchStart(12, "connect_four", "four", 0, [], TimeControl(5_000, strikes=3), "", [])
END = MatchEnd(12, ["win", "loss"], ["normal", "normal"], [1.0, 0.0], "/record")
WON = "match 12 finished: won (normal)"


class Silent:
    """A server that takes what it is asked, and then says nothing, or never ends its answer."""

    def __init__(self, beginning: bytes) -> None:
        self.asked = threading.Semaphore(0)
        self.asks = 0
        self._beginning = beginning
        self._closed = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(0.05)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        held: list[socket.socket] = []
        while not self._closed.is_set():
            for connection in held:
                connection.sendall(b" " if self._beginning else b"")
            try:
                connection, _ = self._listening.accept()
            except TimeoutError:
                continue
            held.append(connection)
            connection.sendall(self._beginning)
            self.asks += 1
            self.asked.release()
        for connection in held:
            connection.close()

    def close(self) -> None:
        self._closed.set()
        self._thread.join(PATIENCE_S)
        self._listening.close()


@pytest.fixture(params=[b"", b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"], ids=["hangs", "drips"])
def silent(request: pytest.FixtureRequest) -> Iterator[Silent]:
    server = Silent(request.param)
    yield server
    server.close()


@pytest.mark.parametrize(("left", "words"), [(2, "2 strikes"), (1, "1 strike"), (0, "no strikes")])
def test_a_strike_is_told_in_one_line(left: int, words: str) -> None:
    out = io.StringIO()
    with Reporter("http://127.0.0.1:1", out) as reporter:
        reporter.struck(START, 4, left)
    assert out.getvalue() == f"match 12, ply 4: too late, a random action was played: {words} left\n"


@pytest.mark.parametrize(("cause", "told"), [("timeout", True), ("disconnect", True), ("resignation", False)])
def test_a_loss_on_time_comes_with_the_line_that_shows_its_clock(cause: Cause, told: bool) -> None:
    out = io.StringIO()
    with Reporter("http://127.0.0.1:1", out) as reporter:
        reporter.match_end(START, MatchEnd(12, ["loss", "win"], [cause, "normal"], [0.0, 1.0], "/record"))
    first, *more = out.getvalue().splitlines()
    assert first == f"match 12 finished: lost ({cause})"
    assert [line.endswith(" clock 12 --server http://127.0.0.1:1") for line in more] == [True] * told


# ratings ------------------------------------------------------------------------------------------------


def test_a_server_that_does_not_tell_the_rating_holds_up_few_lines(silent: Silent) -> None:
    out = io.StringIO()
    with Reporter(silent.url, out) as reporter:
        for _ in range(100):
            reporter.match_end(START, END)
        reporter.say("more")
        until_ms = now_ms() + PATIENCE_S * 1_000
        while "more" not in out.getvalue() and now_ms() < until_ms:
            time.sleep(0.01)
        assert "more" in out.getvalue()
    assert out.getvalue().splitlines() == [WON] * 100 + ["more"]
    assert silent.asks <= 2, "while it does not answer it is asked no more"


def test_whoever_leaves_waits_for_no_rating(silent: Silent) -> None:
    out = io.StringIO()
    with Reporter(silent.url, out) as reporter:
        reporter.match_end(START, END)
        assert silent.asked.acquire(timeout=PATIENCE_S)
        reporter.leaving()
        for _ in range(5):
            reporter.match_end(START, END)
        left_ms = now_ms()
        reporter.sum_up("")
    assert out.getvalue().splitlines() == [WON] * 6 + ["left: 6 matches played, 6 won 0 drawn 0 lost"]
    assert silent.asks == 1
    assert now_ms() - left_ms < 10 * LOOK_UP_MS


def test_whoever_leaves_asks_for_no_more_ratings(silent: Silent) -> None:
    out = io.StringIO()
    with Reporter(silent.url, out) as reporter:
        reporter.leaving()
        reporter.match_end(START, END)
    assert out.getvalue().splitlines() == [WON]
    assert silent.asks == 0


def test_the_end_waits_for_few_of_many_ratings(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def slow(server: str, path: str) -> dict[str, object]:
        asked.append((server, path))
        time.sleep(LOOK_UP_MS / 1_000 / 10)
        return {"ladders": []}

    monkeypatch.setattr("server.cli.events.api.get", slow)
    out = io.StringIO()
    with Reporter("http://127.0.0.1:1", out) as reporter:
        for _ in range(40):
            reporter.match_end(START, END)
    assert out.getvalue().splitlines() == [WON] * 40
    assert 1 <= len(asked) <= 20


# floods -------------------------------------------------------------------------------------------------


def test_a_flood_of_errors_is_told_in_a_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.StringIO()
    begun_ms = now_ms()
    with Reporter("http://127.0.0.1:1", out) as reporter:
        for number in range(20_000):
            reporter.error(Error("unknown_message", f"a message this client cannot read: {number}"))
    times = 2 + (now_ms() - begun_ms) // ERRORS_MS
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "the server says: a message this client cannot read: 0"
    assert ERRORS_AT_ONCE <= len(told) <= times * ERRORS_AT_ONCE


def test_an_error_after_a_flood_says_how_many_were_left_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [5_000.0]
    monkeypatch.setattr("server.cli.events.now_ms", lambda: clock[0])
    with Reporter("http://127.0.0.1:1", io.StringIO()) as reporter:
        for _ in range(ERRORS_AT_ONCE + 7):
            reporter.error(Error("x", "no"))
        clock[0] += ERRORS_MS
        for _ in range(2):
            reporter.error(Error("x", "no"))
    told = capsys.readouterr().err.splitlines()
    some = ["the server says: no"]
    assert told == [*some * ERRORS_AT_ONCE, "the server says: no (and 7 more before it)", *some]
