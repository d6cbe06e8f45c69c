"""A match whose database is away: how long it waits, and who is not blamed for it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

import games
from agents import protocol
from games.position import Position
from server import match_record, running_match
from server.core import match as core
from server.core.outcome import Cause
from server.db.ladders import Ladder
from server.db.resume import Seated
from server.running_match import KEPT_AWAY, RunningMatch, Shell

CONTROL = protocol.TimeControl(move_ms=300, margin_ms=50, ready_ms=500)
LADDER = Ladder(1, "tic_tac_toe", "Tic-tac-toe", "tic_tac_toe", CONTROL)
TERMS = core.Terms(move_ms=300, margin_ms=50, ready_ms=500)


class Line:
    """Stands for one agent's connection."""

    round_trip_ms: float | None = None

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def post(self, message: Any, *_: object) -> None:
        self.heard.append(message)

    def ping(self) -> None:
        """Measure nothing."""

    def has_unread(self) -> bool:
        """Say that all is read."""
        return False

    def kinds(self) -> list[str]:
        return [type(message).__name__ for message in self.heard]


class Outage:
    """A match of two agents, and a database that fails so many times."""

    def __init__(self) -> None:
        self.lines = {0: Line(), 1: Line()}
        self.failures = 0
        self.commits = 0
        self.asked: list[str] = []
        self.written: list[Any] = []
        self.kept_away: set[str] = set()
        shell = Shell(
            db=self,  # type: ignore[arg-type]
            draw=lambda outcomes: outcomes[0][0],
            presence=self,  # type: ignore[arg-type]
            show=lambda _match: None,
            count_move=lambda: None,
            ended=lambda _match: None,
            monotonic=time.monotonic,
            wall=lambda _at: datetime.now(UTC),
            lost=lambda _since, _at: 0.0,
            kept_away=self._kept_away,
        )
        seats = [Seated(n + 10, n, name, 1, False, 1500.0, 0) for n, name in enumerate(("ada", "bob"))]
        opened = core.start(Position.start(games.load("tic_tac_toe")), TERMS, time.monotonic())
        self.match = RunningMatch(shell, 7, 1, LADDER, seats, opened)

    def _kept_away(self, name: str) -> bool:
        self.asked.append(name)
        return name in self.kept_away

    def get(self, agent: int) -> Line | None:
        return self.lines.get(agent)

    def write(self, job: object, *args: object, durable: bool = False) -> asyncio.Future[None]:
        return asyncio.ensure_future(self._commit())

    def write_together(self, many: object, item: Any, *, durable: bool = False) -> asyncio.Future[None]:
        self.written.append(item)
        return self.write(many, durable=durable)

    async def _commit(self) -> None:
        if self.failures > 0:
            self.failures -= 1
            raise OperationalError("COMMIT", {}, Exception("server closed the connection"))
        self.commits += 1

    async def begin(self) -> None:
        for seat in (0, 1):
            self.match.deliver(core.Ready(seat, time.monotonic()))
        await until(lambda: self.match.match.open is not None)

    def lose(self, seat: int) -> None:
        del self.lines[seat]
        self.match.deliver(core.Lost(seat, time.monotonic()))

    def result(self) -> Any:
        assert self.match.match.result is not None
        return self.match.match.result


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


@pytest.fixture
async def outage(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Outage]:
    monkeypatch.setattr(match_record, "RETRY_S", 0.05)
    made = Outage()
    task = asyncio.create_task(made.match.run())
    yield made
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_after_too_long_an_outage_what_is_recorded_is_told_and_the_match_is_void(
    outage: Outage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await outage.begin()
    monkeypatch.setattr(match_record, "AWAY_S", 0.2)
    outage.failures = 10
    outage.match.deliver(core.Action(0, 0, "4", time.monotonic()))
    await until(lambda: outage.match.match.over)
    result = outage.result()
    assert set(result.causes) == {Cause.INFRASTRUCTURE}
    assert result.detail == "the database was away for 1 s; counts for nobody"
    assert outage.lines[0].kinds()[-2:] == ["Ack", "MatchEnd"], "the answer is not lost"
    assert outage.lines[1].kinds()[-1] == "MatchEnd"
    assert "YourMove" not in outage.lines[1].kinds(), "nobody is asked what is void already"


async def test_after_a_short_outage_the_match_goes_on(outage: Outage) -> None:
    await outage.begin()
    outage.failures = 3
    outage.match.deliver(core.Action(0, 0, "4", time.monotonic()))
    await until(lambda: "YourMove" in outage.lines[1].kinds())
    assert not outage.match.match.over


async def test_an_agent_that_the_database_keeps_away_is_waited_for(outage: Outage) -> None:
    await outage.begin()
    outage.kept_away = {"ada"}
    outage.lose(0)
    await until(lambda: time.monotonic() > outage.match.match.deadline + 0.3)
    assert not outage.match.match.over
    outage.lines[0] = Line()
    outage.match.deliver(core.Back(0, time.monotonic(), kept_s=5.0))
    outage.match.deliver(core.Action(0, 0, "4", time.monotonic()))
    await until(lambda: "Ack" in outage.lines[0].kinds())


async def test_an_agent_that_was_waited_for_and_does_not_come_loses_at_its_own_time(outage: Outage) -> None:
    await outage.begin()
    outage.kept_away = {"ada"}
    outage.lose(0)
    due = outage.match.match.deadline
    await until(lambda: time.monotonic() > due + 0.3)
    outage.kept_away = set()
    await until(lambda: outage.match.match.over)
    assert outage.result().causes[0] in {Cause.DISCONNECT, Cause.TIMEOUT}
    assert outage.written[-1].request["lag_ms"] >= 300, "what it was waited for is not charged"


async def test_an_agent_that_the_database_keeps_away_for_too_long_makes_the_match_void(
    outage: Outage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_match, "KEPT_AWAY_S", 0.2)
    await outage.begin()
    outage.kept_away = {"ada"}
    outage.lose(0)
    await until(lambda: outage.match.match.over)
    assert set(outage.result().causes) == {Cause.INFRASTRUCTURE}
    assert outage.result().detail == KEPT_AWAY


async def test_an_agent_that_stays_away_by_itself_loses(outage: Outage) -> None:
    await outage.begin()
    outage.lose(0)
    await until(lambda: outage.match.match.over)
    assert outage.result().causes[0] in {Cause.DISCONNECT, Cause.TIMEOUT}


async def test_an_agent_that_is_here_and_does_not_answer_loses_whatever_the_database_does(
    outage: Outage,
) -> None:
    await outage.begin()
    outage.kept_away = {"ada"}
    await until(lambda: outage.match.match.over)
    assert outage.result().causes[0] is Cause.TIMEOUT
    assert outage.asked == []


async def test_before_the_start_nobody_kept_away_is_taken_for_a_no_show(
    outage: Outage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_match, "KEPT_AWAY_S", 0.2)
    outage.kept_away = {"ada"}
    outage.match.deliver(core.Ready(1, time.monotonic()))
    outage.lose(0)
    await until(lambda: outage.match.match.over)
    assert outage.result().causes == (Cause.INFRASTRUCTURE, Cause.INFRASTRUCTURE)
