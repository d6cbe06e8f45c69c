"""A match in its shell with a real database: what is written down of it, whatever happens at once."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select
from sqlalchemy.exc import OperationalError

import games
from agents import protocol
from games.position import Position
from server import match_record
from server.core import match as core
from server.core.outcome import Cause
from server.db import agents, doctor, doctor_replay, ladders, matches, schema
from server.db.engine import Database
from server.db.resume import Seated
from server.running_match import RunningMatch, Shell
from server.wall_clock import WallClock

GAME = "connect_four"
TERMS = core.Terms(move_ms=5_000, margin_ms=200, ready_ms=20_000)
WON_BY_SEAT_0 = ["1", "2", "1", "2", "1", "2", "1"]
TEN_MOVES = ["4", "4", "4", "4", "4", "4", "1", "1", "1", "1"]


class Line:
    """Stands for an agent's connection; what it is told has been handed over at once."""

    round_trip_ms = None

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def post(self, message: Any, on_written: Callable[[], None] | None = None) -> None:
        self.heard.append(message)
        if on_written is not None:
            on_written()

    def ping(self) -> None:
        """Nobody measures this line."""

    def has_unread(self) -> bool:
        return False


class Unlucky:
    """A database whose connection is lost at the n-th commit of moves: it is done, and nobody hears of it."""

    def __init__(self, db: Database, lost_at: int) -> None:
        self.write = db.write
        self._db, self._left = db, lost_at

    def write_together(self, many: Any, item: Any, *, durable: bool = False) -> "asyncio.Future[Any]":
        return asyncio.ensure_future(self._write_together(many, item, durable=durable))

    async def _write_together(self, many: Any, item: Any, *, durable: bool) -> Any:
        answer = await self._db.write_together(many, item, durable=durable)
        self._left -= 1
        if self._left == 0:
            raise OperationalError("COMMIT", {}, Exception("server closed the connection unexpectedly"))
        return answer


class Table:
    """Two agents, a database, and matches between them one after the other."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.store: Any = db
        self.wall_s = 1_767_225_600.0
        self.clock = WallClock(lambda: self.wall_s + time.monotonic(), time.monotonic)
        self.now = self.clock.now
        (self.ladder,) = db.write_now(
            ladders.sync, [ladders.LadderSpec("four", "Four", GAME, protocol.TimeControl(5_000))]
        )
        self.versions = (self._version("ada"), self._version("bob"))
        self.lines = {version: Line() for version in self.versions}

    def _version(self, name: str) -> int:
        agent = self.db.write_now(agents.ensure_house, name, self.now())
        version = self.db.write_now(agents.ensure_version, agent.agent_id, "f1", self.now()).id
        self.db.write_now(agents.join_ladder, self.ladder.id, version, self.now())
        return version

    def get(self, version_id: int) -> Line | None:
        return self.lines.get(version_id)

    async def open(self, number: int) -> RunningMatch:
        """Begin a queued match; both are ready, and the first request is out."""
        attempt = (await self.db.write(matches.begin, number, "lease", self.now())).attempt
        shell = Shell(
            db=self.store,
            draw=lambda outcomes: outcomes[0][0],
            presence=self,  # type: ignore[arg-type]
            show=lambda _match: None,
            count_move=lambda: None,
            ended=lambda _match: None,
            monotonic=time.monotonic,
            wall=self.clock.at,
            lost=lambda _since, _at: 0.0,
            kept_away=lambda _name: False,
        )
        seats = [Seated(n, v, f"agent{n}", 1, False, 1500.0, 0) for n, v in enumerate(self.versions)]
        opened = core.start(Position.start(games.load(GAME)), TERMS, time.monotonic())
        match = RunningMatch(shell, number, attempt, self.ladder, seats, opened)
        self.running = asyncio.create_task(match.run())
        for seat in (0, 1):
            match.deliver(core.Ready(seat, time.monotonic()))
        await until(lambda: match.match.open is not None)
        return match

    async def queue(self) -> tuple[int, int]:
        """Queue two matches."""
        return await self.db.write(
            matches.queue_table, self.ladder.id, self.versions, {"move_ms": 5000}, self.now()
        )

    def ends_told(self) -> list[int]:
        return [
            sum(isinstance(said, protocol.MatchEnd) for said in line.heard) for line in self.lines.values()
        ]

    def assert_sound(self) -> None:
        assert self.db.read_now(doctor.check) == []
        assert self.db.read_now(doctor_replay.replay) == []


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.002)


async def play(match: RunningMatch, *texts: str) -> None:
    """Play these actions, each when its request is out."""
    for asked_for, text in enumerate(texts, match.match.ply + 1):
        match.deliver(answer(match, text))
        await until(partial(waits_for, match, asked_for))


def waits_for(match: RunningMatch, ply: int) -> bool:
    return match.match.over or (match.match.ply == ply and match.match.open is not None)


def answer(match: RunningMatch, text: str) -> core.Action:
    assert match.match.to_move is not None
    return core.Action(match.match.to_move, match.match.ply, text, time.monotonic())


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Table]:
    db = Database.open(f"sqlite:///{tmp_path / 'plyground.db'}")
    db.migrate()
    yield Table(db)
    db.close()


def results_of(conn: Connection, number: int) -> list[Any]:
    return list(conn.execute(select(schema.results).where(schema.results.c.match_id == number)))


def games_counted(conn: Connection) -> list[int]:
    return list(conn.execute(select(schema.ratings.c.games).order_by(schema.ratings.c.version_id)).scalars())


ENDINGS = ["move", "deadline", "lost", "abort"]


@pytest.mark.parametrize("order", list(permutations(ENDINGS))[::4], ids="-".join)
async def test_PB12_endings_of_one_tick_make_one_result(table: Table, order: tuple[str, ...]) -> None:
    number, _ = await table.queue()
    match = await table.open(number)
    await play(match, *WON_BY_SEAT_0[:-1])
    at = match.match.deadline + 0.001
    events = {
        "move": answer(match, WON_BY_SEAT_0[-1]),
        "deadline": core.DeadlinePassed(at),
        "lost": core.Lost(0, at),
        "abort": core.Abort(at, "an admin ended it"),
    }
    for name in order:
        match.deliver(events[name])
    await table.running
    void = order.index("abort") < min(order.index("move"), order.index("deadline"))
    assert len(table.db.read_now(results_of, number)) == (0 if void else 1)
    assert table.db.read_now(games_counted) == ([0, 0] if void else [1, 1])
    assert table.ends_told() == [1, 1]
    result = match.match.result
    assert result is not None
    if order.index("move") < min(order.index("deadline"), order.index("abort")):
        assert result.causes == (Cause.NORMAL, Cause.NORMAL), "a move received first decides"
    table.assert_sound()


@pytest.mark.parametrize("lost_at", [1, 4, len(WON_BY_SEAT_0)])
async def test_a_commit_that_nobody_heard_of_is_not_done_twice(
    table: Table, lost_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_record, "RETRY_S", 0.01)
    table.store = Unlucky(table.db, lost_at)
    number, _ = await table.queue()
    match = await table.open(number)
    await play(match, *WON_BY_SEAT_0)
    await table.running
    acks = [
        said.ply for line in table.lines.values() for said in line.heard if isinstance(said, protocol.Ack)
    ]
    assert sorted(acks) == list(range(len(WON_BY_SEAT_0)))
    assert table.ends_told() == [1, 1]
    assert table.db.read_now(games_counted) == [1, 1]
    table.assert_sound()


@pytest.mark.parametrize("jumps", list(product((3600, -3600), repeat=2)), ids=str)
async def test_PB05_a_wall_clock_that_jumps_ends_no_match(table: Table, jumps: tuple[int, int]) -> None:
    numbers = await table.queue()
    for number in numbers:
        match = await table.open(number)
        for jump, moves in zip(jumps, (TEN_MOVES[:5], TEN_MOVES[5:]), strict=True):
            await play(match, *moves)
            table.wall_s += jump
        assert not match.match.over
        assert match.match.ply == 10
        match.deliver(core.Resign(0, time.monotonic()))
        await table.running
    later = await table.queue()
    rows = table.db.read_now(
        lambda conn: list(conn.execute(select(schema.matches).order_by(schema.matches.c.id)))
    )
    assert [row.id for row in rows] == [*numbers, *later]
    created = [row.created_at for row in rows]
    finished = table.db.read_now(
        lambda conn: list(
            conn.execute(select(schema.results.c.finished_at).order_by(schema.results.c.seq)).scalars()
        )
    )
    assert created == sorted(created)
    assert finished == sorted(finished)
    assert len(finished) == 2
    moves = table.db.read_now(lambda conn: list(conn.execute(select(schema.moves))))
    assert len(moves) == 20
    assert all(0 <= move.charged_ms <= move.elapsed_ms < TERMS.move_ms for move in moves)
    table.assert_sound()
