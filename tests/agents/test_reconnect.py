"""Connections that break off, stand still or are taken over, and the way back."""

import contextlib
import random
import socket
import threading
import time
from dataclasses import replace

import pytest

from agents import protocol
from agents.backoff import Backoff, asked_ms
from agents.client import Timing
from games import InputError

from .conftest import PATIENCE_S, QUICK, Diary


def fourth(state, clock):
    return 3


def one_match(talk):
    talk.welcome()
    talk.start()
    talk.end()
    talk.hear_the_end()


# pauses -------------------------------------------------------------------------------------------------


def test_pauses_grow_are_drawn_at_random_and_begin_again_after_a_success():
    backoff = Backoff(500, 15_000, random.Random(1))
    most = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]
    rounds = [[backoff.pause_ms() for _ in most] for _ in range(200) if not backoff.reset()]
    for limit_ms, pauses in zip(most, zip(*rounds, strict=True), strict=True):
        assert 0 <= min(pauses) < 0.1 * limit_ms, "full jitter: some come at once"
        assert 0.9 * limit_ms < max(pauses) <= limit_ms
        assert len(set(pauses)) > 190


def test_a_hundred_failures_are_no_overflow():
    backoff = Backoff(500, 15_000, random.Random(1))
    assert all(backoff.pause_ms() <= 15_000 for _ in range(5_000))


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("expected at most 30 in 60 s, got one more; the next is possible in 12 s", 12_000),
        ("expected the matches of the older version to be over; come again in 5 s", 5_000),
        ("come again in a moment", 0),
        ("30", 30_000),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 0),
        ("", 0),
    ],
)
def test_the_seconds_that_a_refusal_names_are_read(text, ms):
    assert asked_ms(text) == ms


class Pauses(Diary):
    def __init__(self):
        super().__init__()
        self.pauses_ms = []

    def reconnecting(self, why, pause_ms):
        super().reconnecting(why, pause_ms)
        self.pauses_ms.append(pause_ms)


@pytest.mark.parametrize(
    "refusal",
    [
        protocol.Error("too_many_requests", "expected at most 30 in 60 s; the next is possible in 1 s"),
        protocol.Error("server_full", "expected room for one more", retry_after_s=1.0),
        protocol.Error("full_moon", "a reason of a later server", retry_after_s=1.0),
    ],
    ids=lambda refusal: refusal.code,
)
def test_a_refusal_with_seconds_is_waited_for(server, run, scripted, refusal):
    def first(talk):
        talk.hear(protocol.Hello)
        talk.say(refusal)
        talk.socket.close(code=1013, reason=refusal.code)

    watching = Pauses()
    run(server(first, one_match).url, scripted(fourth), observer=watching).finish()
    (pause_ms,) = watching.pauses_ms
    assert 1_000 <= pause_ms <= 1_000 + QUICK.longest_pause_ms


def test_a_busy_server_that_says_when_is_waited_for_even_at_the_start(server, run, scripted):
    busy = [1]

    def refuse(connection, _request):
        if not busy:
            return None
        answer = connection.respond(503, "too many connections\n")
        answer.headers["Retry-After"] = str(busy.pop())
        return answer

    watching = Pauses()
    run(server(one_match, process_request=refuse).url, scripted(fourth), observer=watching).finish()
    (pause_ms,) = watching.pauses_ms
    assert pause_ms >= 1_000


def told_to_come_again(talk):
    talk.hear(protocol.Hello)
    talk.say(protocol.Error("server_stopping", "one that stops within 5 s; come again after its next start"))
    talk.socket.close(code=1013, reason="server_stopping")


def test_a_server_that_says_to_come_again_may_be_silent_while_it_restarts(server, run, scripted, diary):
    def away(talk):
        talk.cut()

    scripts = (told_to_come_again, away, away, told_to_come_again, away, one_match)
    assert run(server(*scripts).url, scripted(fourth)).finish().matches == 1
    assert diary.lines.count("reconnecting") == 5


def test_whoever_is_let_in_for_a_running_match_alone_leaves_after_it(server, run, scripted, diary):
    gone = protocol.Error("unknown_ladder", "expected a ladder, got 'old'; available: new")

    def let_in(talk):
        talk.welcome(running=(7,))
        talk.say(gone)
        talk.hear(protocol.Leave)
        talk.start()
        talk.end()
        talk.hear_the_end()

    assert run(server(let_in).url, scripted(fourth), matches=None).finish().matches == 1
    assert diary.errors == [gone]


def test_a_server_known_to_be_there_may_be_silent_too(server, run, scripted, diary):
    def away(talk):
        talk.cut()

    assert run(server(away, one_match).url, scripted(fourth), known=True).finish().matches == 1
    assert diary.lines[0] == "reconnecting"


@pytest.mark.parametrize("code", [1001, 1012, 1013])
def test_a_server_that_closes_because_it_goes_or_restarts_is_tried_again(server, run, scripted, code):
    def closes(talk):
        talk.hear(protocol.Hello)
        talk.socket.close(code=code, reason="server stops")

    assert run(server(closes, one_match).url, scripted(fourth)).finish().matches == 1


def test_a_server_that_does_not_come_back_is_given_up(run, scripted, server, diary):
    alone = server(told_to_come_again, any_number=True)
    timing = replace(QUICK, restart_ms=200)
    going = run(alone.url, scripted(fourth), timing=timing)
    wait_until(lambda: "reconnecting" in diary.lines)
    alone.close()
    with pytest.raises(InputError) as dead:
        going.finish()
    assert dead.value.code == "no_server"


def test_what_is_no_server_of_ours_is_given_up_at_once(server, run, scripted, diary):
    def refuse(connection, _request):
        return connection.respond(503, "closed\n")  # and nothing about another try

    stranger = server(any_number=True, process_request=refuse)
    with pytest.raises(InputError, match="HTTP 503"):
        run(stranger.url, scripted(fourth)).finish()
    assert diary.lines == []


@pytest.mark.parametrize("says", [True, False], ids=["told to wait", "silence"])
def test_to_stop_ends_every_wait_for_a_server(server, run, scripted, diary, says):
    heard = threading.Event()

    def script(talk):
        talk.hear(protocol.Hello)
        if says:
            talk.say(protocol.Error("server_full", "no room", retry_after_s=3_600.0))
        heard.set()
        talk.hear_the_end()

    timing = replace(QUICK, open_ms=3_600_000)
    going = run(server(script).url, scripted(fourth), timing=timing)
    assert heard.wait(PATIENCE_S)
    if says:
        wait_until(lambda: "reconnecting" in diary.lines)
    going.client.stop()
    assert going.finish().matches == 0


# leaving ------------------------------------------------------------------------------------------------


def test_a_leaving_agent_plays_on_what_runs_already_though_it_has_not_heard_of_it(
    server, run, scripted, diary
):
    begun, cut = threading.Event(), threading.Event()

    def first(talk):
        talk.welcome()
        talk.start(match=7)
        begun.set()
        assert cut.wait(20)
        talk.cut()

    def second(talk):
        hello = talk.hear(protocol.Hello)
        talk.hear(protocol.Leave)
        talk.let_in(hello, running=(8,))
        talk.start(match=8, history=("4", "1"))
        talk.ask("4 1", match=8)
        talk.hear_move(ply=2, match=8)
        talk.announce(match=9)  # begun before the server heard of the leave: it is not played
        talk.end(match=8)
        talk.hears_no_more_than()

    going = run(server(first, second).url, scripted(fourth), matches=None, concurrency=2)
    assert begun.wait(20)
    going.client.leave()
    cut.set()
    assert going.finish().matches == 1
    assert sorted(diary.lines[-3:]) == ["end 8", "lost 7", "start 8"]


def test_a_leaving_agent_waits_no_longer_for_a_match_that_has_ended(server, run, scripted):
    begun, cut = threading.Event(), threading.Event()

    def first(talk):
        talk.welcome()
        talk.start(match=7)
        begun.set()
        assert cut.wait(20)
        talk.cut()

    def second(talk):
        hello = talk.hear(protocol.Hello)
        talk.let_in(hello, running=(8,))
        talk.end(match=8)
        talk.hear_the_end()

    timing = replace(QUICK, open_ms=50_000)
    going = run(server(first, second).url, scripted(fourth), matches=None, timing=timing)
    assert begun.wait(20)
    going.client.leave()
    cut.set()
    assert going.finish().matches == 0


# taken over ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["replaced", "token_revoked"])
def test_who_is_dismissed_does_not_come_back_though_the_closing_frame_is_lost(server, run, scripted, code):
    def script(talk):
        talk.welcome()
        talk.say(protocol.Error(code, "this agent connected once more"))
        time.sleep(3 * QUICK.tick_ms / 1000)
        talk.cut()

    with pytest.raises(InputError) as refused:
        run(server(script).url, scripted(fourth)).finish()
    assert refused.value.code == code


# silence ------------------------------------------------------------------------------------------------


class Relay:
    """Stands between a client and a server, and can keep all that comes to itself: neither side notices."""

    def __init__(self, url):
        self._port = int(url.rpartition(":")[2])
        self._flows = threading.Event()
        self._flows.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self.connections += 1
                far = socket.create_connection(("127.0.0.1", self._port))
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                self._flows.wait()
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def freeze(self):
        self._flows.clear()

    def thaw(self):
        self._flows.set()

    def close(self):
        self.thaw()
        self._listener.close()


@pytest.fixture
def relay():
    """Put a relay before a server."""
    made = []

    def make(url):
        made.append(Relay(url))
        return made[-1]

    yield make
    for one in made:
        one.close()


def wait_until(what):
    end = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_a_server_that_is_gone_without_a_word_is_noticed(server, run, scripted, diary, relay):
    """No packet comes through, and nobody closes the connection: only pings tell."""

    def first(talk):
        talk.welcome()
        talk.start()
        talk.hear_the_end()

    def second(talk):
        talk.welcome(running=(7,))
        talk.start()
        talk.ask("")
        assert talk.hear_move(ply=0).action == "4"
        talk.end()
        talk.hear_the_end()

    between = relay(server(first, second).url)
    timing = replace(QUICK, ping_ms=500, pong_ms=3_000)  # longer than a busy machine needs
    going = run(between.url, scripted(fourth), timing=timing)
    wait_until(lambda: "start 7" in diary.lines)
    between.freeze()
    wait_until(lambda: "reconnecting" in diary.lines)
    between.thaw()
    assert going.finish().matches == 1
    assert diary.lines[-1] == "end 7"


def test_a_server_that_stands_still_for_a_while_is_kept(server, run, scripted, diary, relay):
    frozen = threading.Event()

    def script(talk):
        talk.welcome()
        talk.start()
        assert frozen.wait(20)
        talk.ask("")
        assert talk.hear_move(ply=0).action == "4"
        talk.end()
        talk.hear_the_end()

    between = relay(server(script).url)
    timing = replace(QUICK, ping_ms=50, pong_ms=20_000)
    going = run(between.url, scripted(fourth), timing=timing)
    wait_until(lambda: "start 7" in diary.lines)
    between.freeze()
    time.sleep(1)  # twenty pings without an answer
    frozen.set()
    between.thaw()
    assert going.finish().matches == 1
    assert between.connections == 1
    assert "reconnecting" not in diary.lines


def test_silence_is_noticed_within_a_minute_and_short_silence_is_borne():
    timing = Timing()
    assert timing.ping_ms + timing.pong_ms <= 60_000
    assert timing.pong_ms > 20_000


# back in time -------------------------------------------------------------------------------------------


def test_while_the_clock_of_a_match_may_run_no_try_is_far_from_the_next(server, run, scripted):
    """A line that is cut for 3 s must not cost the 5 s that are forgiven."""

    def first(talk):
        talk.welcome()
        talk.start(match=7)
        talk.ask(match=7)
        talk.cut()

    def refuse(talk):
        talk.hear(protocol.Hello)
        talk.cut()

    def last(talk):
        talk.let_in(talk.hear(protocol.Hello), running=(7,))
        talk.start(match=7)
        talk.end(match=7)
        talk.hear_the_end()

    watching = Pauses()
    timing = replace(QUICK, first_pause_ms=2, playing_pause_ms=20, longest_pause_ms=20_000)
    scripts = (first, *[refuse] * 12, last)
    run(server(*scripts).url, scripted(fourth), observer=watching, timing=timing).finish()
    assert len(watching.pauses_ms) == 13
    assert max(watching.pauses_ms) <= 20
