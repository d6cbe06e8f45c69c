"""kill -9 at random moments, start again: every match goes on, nothing told is lost, nothing is doubled."""

import random
import signal
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from harness import FAST, QUIET, Server, wait_for
from sqlalchemy import Connection, select

from agents.agent import Agent
from agents.client import Client, Timing
from agents.protocol import Ack, Leave, MatchEnd, MatchStart, Move, ToAgent, YourMove
from server.db import schema
from server.db.engine import Database

MakeServer = Callable[..., Server]

LADDERS = ("tic_tac_toe", "connect_four", "kuhn_poker")
MOVE_MS = 20_000
"""A limit that no kill comes near."""

SOON = Timing(first_pause_ms=50, longest_pause_ms=200, ack_ms=500)


@dataclass
class Told:
    """What the server has told one agent, by match and ply: the record must hold it, whatever is killed."""

    acked: set[tuple[int, int]] = field(default_factory=set)
    answers: dict[tuple[int, int], str] = field(default_factory=dict)
    actions: dict[tuple[int, int], str] = field(default_factory=dict)
    ends: dict[int, list[MatchEnd]] = field(default_factory=lambda: defaultdict(list))

    def note(self, message: ToAgent) -> None:
        match message:
            case Ack(match, ply):
                self.acked.add((match, ply))
            case MatchStart(match=match, history=history):
                self._note(match, 0, history)
            case YourMove(match=match, ply=ply, last_actions=last):
                self._note(match, ply - len(last), last)
            case MatchEnd(match=match):
                self.ends[match].append(message)

    def _note(self, match: int, first: int, actions: list[str]) -> None:
        for ply, action in enumerate(actions, first):
            before = self.actions.setdefault((match, ply), action)
            assert before == action, f"match {match}, ply {ply} was {before} and became {action}"


class Dawdler(Agent):
    """Plays at random after a moment's thought."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw

    def choose(self, state: Any, clock: Any) -> int:
        time.sleep(self._draw.uniform(0, 0.04))
        return int(self._draw.choice(list(state.actions())))


class Player(Client):
    """A client that reconnects as long as it takes, and remembers what it was told."""

    def __init__(self, server: Server, name: str, token: str, seed: int) -> None:
        draw = random.Random(seed)
        super().__init__(
            server.url,
            name,
            LADDERS,
            token,
            make_agent=lambda _start: Dawdler(draw),
            concurrency=4,
            timing=SOON,
            seed=seed,
        )
        self.told = Told()
        self.failed: BaseException | None = None
        self.thread = threading.Thread(target=self._play, daemon=True)

    def _play(self) -> None:
        try:
            self.run()
        except BaseException as error:
            self.failed = error

    def take_no_more(self) -> None:
        """Tell the server to begin nothing new; unlike `leave`, what it has begun meanwhile is played."""
        wait_for(lambda: self._socket is not None, "the player to be connected")
        self._send(Leave())

    def _take(self, message: ToAgent) -> None:
        self.told.note(message)
        super()._take(message)

    def _send(self, message: Any) -> None:
        if isinstance(message, Move):
            self.told.answers[message.match, message.ply] = message.action
        super()._send(message)


@contextmanager
def players(server: Server, number: int) -> Iterator[list[Player]]:
    """Connect players; at the end they finish their matches, take no more, and leave."""
    tokens = {f"player{n}": server.register(f"player{n}") for n in range(number)}
    made = [Player(server, name, token, seed) for seed, (name, token) in enumerate(tokens.items())]
    for player in made:
        player.thread.start()
    yield made
    for player in made:
        player.take_no_more()
    for state in ("starting", "running"):
        wait_for(partial(no_match_is, server, state), f"no match to be {state}")
    for player in made:
        player.leave()
    for player in made:
        player.thread.join(60)
        assert not player.thread.is_alive(), "a player does not come to an end"
        assert player.failed is None


def kill_at_random(server: Server, draw: random.Random, kills: int) -> None:
    """Kill a running server so many times, now and then before it is up again; in the end all play on."""
    for _ in range(kills):
        time.sleep(draw.uniform(0, 0.8))
        server.signal(signal.SIGKILL)
        server.wait()
        if draw.random() < 0.2:
            server.launch()
        else:
            server.start()
    server.wait_until_well()
    for match in server.items("matches?state=starting"):
        wait_for(partial(has_begun, server, match["id"]), f"match {match['id']} to go on")


def has_begun(server: Server, number: int) -> bool:
    return bool(server.match(number)["state"] != "starting")


def rows_of_matches(conn: Connection) -> tuple[list[Any], dict[int, list[Any]], dict[int, list[Any]]]:
    """All matches, and the rows of seats and of moves of each in their order."""
    by_match = [defaultdict(list), defaultdict(list)]
    for found, table, order in zip(by_match, (schema.seats, schema.moves), ("seat", "ply"), strict=True):
        for row in conn.execute(select(table).order_by(table.c.match_id, table.c[order])):
            found[row.match_id].append(row)
    return list(conn.execute(select(schema.matches))), *by_match


def assert_nothing_was_lost_or_doubled(
    server: Server, everybody: list[Player], move_ms: int = MOVE_MS
) -> int:
    """Hold what the players were told against the database; return how often a match was resumed."""
    database = Database.open(server.database_url)
    try:
        matches, seats, moves = database.read_now(rows_of_matches)
    finally:
        database.close()
    for match in matches:
        assert match.state in {"finished", "queued"}, (match.id, match.state, match.detail)
        assert [move.ply for move in moves[match.id]] == list(range(match.moves))
        if match.state == "finished":
            assert {seat.cause for seat in seats[match.id]} == {"normal"}, (match.id, match.detail)
        for move in moves[match.id]:
            assert move.charged_ms < move_ms
    recorded = {(row.match_id, row.ply): row for rows in moves.values() for row in rows}
    for player in everybody:
        for place in player.told.acked:
            assert recorded[place].action == player.told.answers[place], f"{place} was acknowledged and lost"
        for place, action in player.told.actions.items():
            assert recorded[place].action == action or action == "d?", f"{place} was told and changed"
        assert {match: len(ends) for match, ends in player.told.ends.items() if len(ends) > 1} == {}
    return sum(match.attempt - 1 for match in matches if match.state == "finished")


def no_match_is(server: Server, state: str) -> bool:
    return server.items(f"matches?state={state}") == []


def play_and_kill(server: Server, seed: int, kills: int) -> None:
    sys.stdout.write(f"seed {seed}\n")  # shown where the test fails
    server.open_ladders({name: name for name in LADDERS}, MOVE_MS)
    server.start()
    with players(server, 5) as everybody:
        wait_for(lambda: all(player.told.acked for player in everybody), "everybody to have played")
        kill_at_random(server, random.Random(seed), kills)
    resumed = assert_nothing_was_lost_or_doubled(server, everybody)
    assert resumed >= kills, "at that pace every kill comes in the middle of some match"
    server.stop()
    server.doctor()


def test_a_server_killed_in_mid_match(make_server: MakeServer) -> None:
    play_and_kill(make_server(**QUIET), seed=1, kills=3)


@pytest.mark.deep
def test_a_server_killed_fifty_times(make_server: MakeServer) -> None:
    play_and_kill(make_server(**QUIET), seed=random.randrange(10**6), kills=50)


def test_a_server_on_postgresql_killed_in_mid_match(make_server: MakeServer, postgres_url: str) -> None:
    play_and_kill(make_server(**QUIET, PLYGROUND_DATABASE_URL=postgres_url), seed=5, kills=3)


@pytest.mark.deep
def test_a_server_on_postgresql_killed_again_and_again(make_server: MakeServer, postgres_url: str) -> None:
    server = make_server(**QUIET, PLYGROUND_DATABASE_URL=postgres_url)
    play_and_kill(server, seed=random.randrange(10**6), kills=15)


OUTAGE_S = 6.0
SHORT_MS = 5_000
"""Less than an outage: whoever is charged for one has lost."""


def restart_at_random(server: Server, draw: random.Random, restarts: int) -> list[int]:
    """Kill and stop a server in turn, and keep it away for a while; return a spectator's versions."""
    seen = []
    for number in range(restarts):
        time.sleep(draw.uniform(0.5, 2))
        seen.append(server.watch(ladder=LADDERS[0])["version"])
        server.signal(signal.SIGTERM if number % 2 else signal.SIGKILL)
        assert server.wait() in ({0} if number % 2 else {-signal.SIGKILL})
        time.sleep(OUTAGE_S if number < 2 else draw.uniform(0, 1))
        server.start()
    return seen


@pytest.mark.deep
def test_restarts_under_load_cost_no_agent_a_game(make_server: MakeServer) -> None:
    server = make_server(**QUIET, PLYGROUND_DRAIN_S="1")
    server.open_ladders({name: name for name in LADDERS}, SHORT_MS)
    server.start()
    seed = random.randrange(10**6)
    sys.stdout.write(f"seed {seed}\n")
    with players(server, 40) as everybody:
        wait_for(lambda: all(player.told.acked for player in everybody), "everybody to have played")
        seen = restart_at_random(server, random.Random(seed), 8)
    assert seen == sorted(set(seen)), "a spectator's versions grow over restarts"
    resumed = assert_nothing_was_lost_or_doubled(server, everybody, SHORT_MS)
    assert resumed >= len(seen), "every restart comes in the middle of matches"
    server.stop()
    server.doctor()


@pytest.mark.parametrize("delay_s", [0.0, 0.2, 0.5, 1.0])
def test_a_server_killed_while_it_starts(make_server: MakeServer, delay_s: float) -> None:
    server = make_server(**FAST).launch()
    time.sleep(delay_s)
    server.signal(signal.SIGKILL)
    server.wait()
    server.assert_nothing_is_left()
    server.start()
    server.stop()
    server.doctor()
