"""The lag bank against every trick of a client: it may delay pongs, send none, guess, claim and flood.

A client on a fake clock plays seat 0 over a line with a true round trip, pinged by the server's own Pings. It
chooses when it answers pings and what else it sends; it cannot make a frame arrive before it could.
"""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from games import load
from games.position import Position
from server.core.clock import LAG_REGAIN
from server.core.match import Terms, advance, start
from server.core.match_events import Accept, Action, Back, HandedOver, Lost, Ready, Resign, Timing
from server.core.round_trip import CAP_MS
from server.pings import APART_S, Pings

LAG_MS = 1000
GRACE_MS = 300
TERMS = Terms(move_ms=60_000, lag_ms=LAG_MS, grace_ms=GRACE_MS)
COLUMNS = "547125662261271266215743771576315353334444"
"""A whole game that nobody wins."""


@dataclass(frozen=True)
class Turn:
    """What the client does with one request. Times in milliseconds; `pong_ms` of None answers no ping.

    The server's loop is late by `lag_ms` in taking the answer, and the client is away for `away_ms`, the last
    `kept_ms` of it because the server did not let it in.
    """

    think_ms: float = 300.0
    pong_ms: float | None = 0.0
    rest_ms: float = 1500.0
    lag_ms: float = 0.0
    away_ms: float = 0.0
    kept_ms: float = 0.0
    guesses: tuple[bytes, ...] = ()
    info: dict | None = None
    flood: int = 0


class Play:
    """A match between the client and an opponent next door."""

    def __init__(self, trip_ms: float, terms: Terms = TERMS) -> None:
        self.trip_ms = trip_ms
        self.now = 1000.0
        self.timings: list[Timing] = []
        self.pongs: list[tuple[float, bytes]] = []
        self.inbox = SimpleNamespace(heard_at=self.now)
        self.connection = SimpleNamespace(transport=self, round_trip_ms=None)
        self.pings = Pings(self.connection, self.inbox, lambda: False, lambda: self.now, lambda _at: 0.0)
        self.sent: bytes | None = None
        self.match, _ = start(Position.start(load("connect_four")), terms, self.now)
        for seat in (0, 1):
            self.tell(Ready(seat, self.now))

    # the transport

    def is_closing(self) -> bool:
        return False

    def write(self, frame: bytes) -> None:
        self.sent = frame[2:]

    # the server

    def tell(self, event) -> None:
        self.match, effects = advance(self.match, event)
        self.timings += [e.timing for e in effects if isinstance(e, Accept) and e.seat == 0]

    def ping(self, pong_ms: float | None) -> None:
        """Ping if it is time; the client sends its pong so much later than it could."""
        self.sent = None
        self.pings.ping()
        if self.sent is not None and pong_ms is not None:
            self.pongs.append((self.now + (self.trip_ms + pong_ms) / 1000, self.sent))

    def wait_until(self, at: float) -> None:
        """Let time pass; pongs come in when they are due."""
        for due, payload in sorted(pong for pong in self.pongs if pong[0] <= at):
            self.now = self.inbox.heard_at = max(self.now, due)
            assert self.pings._take(payload)
        self.pongs = [pong for pong in self.pongs if pong[0] > at]
        self.now = max(self.now, at)

    # the client

    def welcome(self, pong_ms: float | None = 0.0) -> "Play":
        self.ping(pong_ms)
        self.wait_until(self.now + self.trip_ms / 1000)
        return self

    def take(self, turn: Turn) -> "Play":
        """Play one move of the client, and one of its opponent after a rest."""
        at, ply = self.now, self.match.ply
        round_trip_ms = self.connection.round_trip_ms
        self.ping(turn.pong_ms)
        self.tell(HandedOver(ply, at, round_trip_ms))
        if turn.away_ms:
            self.tell(Lost(0, at))
            self.wait_until(at + turn.away_ms / 1000)
            self.tell(Back(0, self.now, turn.kept_ms / 1000))
        for guess in turn.guesses:
            self.inbox.heard_at = self.now
            assert not self.pings._take(guess), "nobody guesses a payload"
        self.flood(turn.flood)
        came_s = (self.trip_ms + max(turn.think_ms, turn.away_ms)) / 1000
        self.wait_until(at + came_s)
        self.now += turn.lag_ms / 1000
        self.inbox.heard_at = self.now
        self.tell(Action(0, ply, COLUMNS[ply], self.now, turn.info, turn.lag_ms / 1000))
        self.oppose(turn.rest_ms)
        return self

    def flood(self, messages: int) -> None:
        """Send what changes nothing, and what was sent before."""
        for n in range(messages):
            for ply in (n - 3, self.match.ply + 1 + n):
                self.tell(Action(0, ply, "1", self.now))
            self.tell(Action(1, self.match.ply, "1", self.now))
            self.tell(Ready(0, self.now))

    def oppose(self, rest_ms: float) -> None:
        ply = self.match.ply
        self.tell(HandedOver(ply, self.now))
        self.wait_until(self.now + rest_ms / 1000)
        self.tell(Action(1, ply, COLUMNS[ply], self.now))

    @property
    def given_ms(self) -> list[int]:
        """What the lag bank gave for each move."""
        return [t.trip_ms for t in self.timings]


def play(trip_ms: float, turns: list[Turn], first_pong_ms: float | None = 0.0, terms: Terms = TERMS) -> Play:
    game = Play(trip_ms, terms).welcome(first_pong_ms)
    for turn in turns:
        game.take(turn)
    assert len(game.timings) == len(turns), "the match goes on"
    return game


def ms(most: int) -> st.SearchStrategy[float]:
    return st.integers(0, 10 * most).map(lambda tenths: tenths / 10)


PONGS = st.none() | ms(8000)
TURNS = st.lists(
    st.builds(
        Turn,
        think_ms=ms(4000),
        pong_ms=PONGS,
        rest_ms=ms(3000),
        lag_ms=st.just(0.0) | ms(700),
        away_ms=st.just(0.0) | ms(900),
        kept_ms=st.just(0.0) | ms(900),
        guesses=st.lists(st.binary(max_size=7) | st.just(bytes(8)), max_size=2).map(tuple),
        info=st.none() | st.just({"elapsed_ms": 0, "round_trip_ms": 9000, "lag_ms": 9000}),
        flood=st.integers(0, 3),
    ),
    min_size=1,
    max_size=8,
)
TRIPS = ms(900)


@settings(max_examples=50)
@given(TRIPS, TURNS, PONGS, st.sampled_from([0, 40, LAG_MS, 5000]))
def test_no_move_is_refunded_more_than_it_took_nor_a_match_more_than_the_bank_holds(
    trip_ms, turns, first_pong_ms, lag_ms
):
    game = play(trip_ms, turns, first_pong_ms, replace(TERMS, lag_ms=lag_ms))
    for timing, turn in zip(game.timings, turns, strict=True):
        assert 0 <= timing.refunded_ms <= timing.elapsed_ms
        assert timing.charged_ms == timing.elapsed_ms - timing.refunded_ms
        kept_ms = min(turn.kept_ms, turn.away_ms)
        assert timing.lag_ms <= turn.lag_ms + kept_ms + 2, "no more than the server was late"
        assert timing.away_ms <= turn.away_ms + 1, "no more than it was away"
    assert sum(t.away_ms for t in game.timings) <= GRACE_MS
    for moves in range(1, len(turns) + 1):
        assert sum(game.given_ms[:moves]) <= lag_ms + moves * (lag_ms / LAG_REGAIN)


@settings(max_examples=50)
@given(TRIPS, TURNS, PONGS, st.data())
def test_delaying_the_pong_of_a_move_changes_nothing_for_that_move(trip_ms, turns, first_pong_ms, data):
    number = data.draw(st.integers(0, len(turns) - 1), "move")
    changed = list(turns)
    changed[number] = replace(turns[number], pong_ms=data.draw(PONGS, "its pong instead"))
    as_it_was, otherwise = play(trip_ms, turns, first_pong_ms), play(trip_ms, changed, first_pong_ms)
    assert otherwise.timings[: number + 1] == as_it_was.timings[: number + 1]


@settings(max_examples=50)
@given(TRIPS, TURNS, PONGS)
def test_one_honest_pong_brings_the_estimate_back_to_the_truth(trip_ms, turns, first_pong_ms):
    game = play(trip_ms, turns, first_pong_ms)
    if game.pings._payload is not None:  # answer what is out, however late that is
        game.inbox.heard_at = game.now
        assert game.pings._take(game.pings._payload)
    assert game.connection.round_trip_ms >= min(trip_ms, CAP_MS) - 1e-6, "no pong is faster than the line"
    game.pongs = []
    game.wait_until(game.now + APART_S)
    game.welcome()
    assert game.connection.round_trip_ms == pytest.approx(trip_ms, abs=1e-6)


@settings(max_examples=50)
@given(ms(LAG_MS // LAG_REGAIN), TURNS)
def test_an_honest_client_on_a_steady_line_is_charged_its_own_thinking(trip_ms, turns):
    honest = [replace(turn, pong_ms=0.0, away_ms=0.0) for turn in turns]
    for timing, turn in zip(play(trip_ms, honest).timings, honest, strict=True):
        # Elapsed, lateness and round trip are rounded to whole milliseconds, each for itself.
        assert timing.charged_ms == pytest.approx(turn.think_ms, abs=1.5)


@settings(max_examples=50)
@given(TRIPS, TURNS)
def test_whoever_sends_no_pongs_gets_nothing(trip_ms, turns):
    mute = [replace(turn, pong_ms=None) for turn in turns]
    game = play(trip_ms, mute, first_pong_ms=None)
    assert game.given_ms == [0] * len(turns)
    assert {timing.round_trip_ms for timing in game.timings} == {None}


@settings(max_examples=50)
@given(TRIPS, TURNS, PONGS)
def test_claims_guesses_and_floods_change_no_timing(trip_ms, turns, first_pong_ms):
    plain = [replace(turn, guesses=(), info=None, flood=0) for turn in turns]
    loud = play(trip_ms, turns, first_pong_ms)
    assert loud.timings == play(trip_ms, plain, first_pong_ms).timings


def test_a_client_that_delays_all_pongs_has_the_bank_once_and_then_what_is_regained():
    game = play(20.0, [Turn(pong_ms=8000.0, think_ms=3000.0, rest_ms=9000.0)] * 12, first_pong_ms=8000.0)
    assert max(game.given_ms) <= LAG_MS
    assert sum(game.given_ms) <= LAG_MS + 12 * LAG_MS // LAG_REGAIN
    game.take(Turn(pong_ms=0.0, rest_ms=9000.0))
    game.take(Turn())
    assert game.given_ms[-1] == 20, "one honest pong ends it"


def test_a_flood_never_ends_a_match():
    game = Play(0.0).welcome()
    game.take(Turn(flood=3))
    assert not game.match.over
    game.tell(Resign(0, game.now))
    assert game.match.over
