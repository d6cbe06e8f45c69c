"""The shell around a match: nothing is told before it is committed, and no clock runs while we are away."""

import asyncio
import gc
import time
import weakref
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

import games
from agents import protocol
from games.position import Position
from server import match_record
from server.core import match as core
from server.core.outcome import Cause, Outcome
from server.db import matches
from server.db.ladders import Ladder
from server.db.resume import Seated
from server.running_match import RunningMatch, Shell

LADDER = Ladder(1, "tic_tac_toe", "Tic-tac-toe", "tic_tac_toe", protocol.TimeControl(500))
TERMS = core.Terms(move_ms=500, margin_ms=50, ready_ms=2_000)


class Line:
    """Stands for one agent's connection."""

    round_trip_ms: float | None = None
    unread = False

    def __init__(self, told: list[tuple[int, Any]], agent: int) -> None:
        self.told, self.agent = told, agent

    def post(self, message: Any) -> None:
        self.told.append((self.agent, message))

    def ping(self) -> None:
        """Take no time: there is no line to be measured."""

    def has_unread(self) -> bool:
        return self.unread


class Hall:
    """A match with two agents, a database that can be held up, and everything that was told."""

    def __init__(self, terms: core.Terms = TERMS) -> None:
        self.told: list[tuple[int, Any]] = []
        self.lines = {agent: Line(self.told, agent) for agent in (0, 1)}
        self.open = asyncio.Event()
        self.open.set()
        self.faults: list[Exception] = []
        self.lost_s = 0.0
        shell = Shell(
            db=self,  # type: ignore[arg-type]
            draw=lambda outcomes: outcomes[0][0],
            presence=self,  # type: ignore[arg-type]
            show=lambda _match: None,
            count_move=lambda: None,
            ended=lambda _match: None,
            monotonic=time.monotonic,
            wall=lambda _at: datetime.now(UTC),
            lost=self.lost,
            kept_away=lambda _name: False,
        )
        seats = [Seated(n + 10, n, name, 1, False, 1500.0, 0) for n, name in enumerate(("ada", "bob"))]
        opened = core.start(Position.start(games.load("tic_tac_toe")), terms, time.monotonic())
        self.match = RunningMatch(shell, 7, 1, LADDER, seats, opened)

    def get(self, agent: int) -> Line | None:
        return self.lines.get(agent)

    def write_together(self, many: object, item: object, *, durable: bool = False) -> asyncio.Future[None]:
        return self.write(many, durable=durable)

    def write(self, job: object, *args: object, durable: bool = False) -> asyncio.Future[None]:
        return asyncio.ensure_future(self.commit())

    async def commit(self) -> None:
        await self.open.wait()
        if self.faults:
            raise self.faults.pop()

    def lost(self, _since: float, _at: float) -> float:
        return self.lost_s

    def heard(self, kind: type) -> list[Any]:
        return [message for _, message in self.told if isinstance(message, kind)]

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                await asyncio.sleep(0.005)

    async def all_ready(self) -> None:
        for seat in (0, 1):
            self.match.deliver(core.Ready(seat, time.monotonic()))
        await self.until(lambda: self.match.match.open is not None)

    async def play(self, text: str) -> None:
        match = self.match.match
        assert match.to_move is not None
        self.match.deliver(core.Action(match.to_move, match.ply, text, time.monotonic()))
        await self.until(
            lambda: (
                self.match.match.over
                or (self.match.match.ply == match.ply + 1 and self.match.match.open is not None)
            )
        )


@pytest.fixture
async def hall(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Hall]:
    monkeypatch.setattr(match_record, "RETRY_S", 0.05)
    hall = Hall(getattr(request, "param", TERMS))
    task = asyncio.create_task(hall.match.run())
    yield hall
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_nothing_is_told_before_it_is_committed(hall: Hall):
    await hall.all_ready()
    hall.open.clear()
    hall.match.deliver(core.Action(0, 0, "4", time.monotonic()))
    await asyncio.sleep(0.1)
    assert hall.heard(protocol.Ack) == []
    assert len(hall.heard(protocol.YourMove)) == 1
    hall.open.set()
    await hall.until(lambda: hall.heard(protocol.Ack))
    assert len(hall.heard(protocol.YourMove)) == 2


async def test_a_database_that_is_away_costs_nobody_time(hall: Hall):
    await hall.all_ready()
    hall.faults = [OperationalError("", {}, Exception("disk full")) for _ in range(15)]
    hall.match.deliver(core.Action(0, 0, "4", time.monotonic()))
    await hall.until(lambda: hall.heard(protocol.Ack))  # 15 tries: longer than the limit and the margin
    assert not hall.match.match.over
    assert hall.heard(protocol.YourMove)[-1].clock.move_ms == TERMS.move_ms
    await hall.play("0")
    assert not hall.match.match.over


async def test_a_match_taken_over_by_another_attempt_tells_nobody_anything(hall: Hall):
    await hall.all_ready()
    hall.faults = [matches.Stale("taken over")]
    told = len(hall.told)
    hall.match.deliver(core.Action(0, 0, "4", time.monotonic()))
    await asyncio.sleep(0.1)
    assert len(hall.told) == told


async def test_a_silent_agent_is_ended_by_the_server_itself(hall: Hall):
    await hall.all_ready()
    request = hall.match.match.open
    await hall.until(lambda: hall.heard(protocol.MatchEnd))
    end = hall.heard(protocol.MatchEnd)[0]
    assert (end.outcome, end.cause) == (["loss", "win"], ["timeout", "normal"])
    assert request is not None
    assert time.monotonic() - request.at >= 0.55


async def test_a_frame_that_came_before_a_late_loop_looked_counts(hall: Hall):
    await hall.all_ready()
    time.sleep(0.7)  # the server itself is stuck past the deadline
    hall.lost_s = 0.7
    hall.match.deliver(core.Action(0, 0, "4", time.monotonic()))
    await hall.until(lambda: hall.heard(protocol.Ack))
    await hall.play("0")
    timing = hall.match.match.last[0]
    assert timing is not None
    assert timing.refunded_ms > 0
    assert timing.charged_ms <= TERMS.move_ms + TERMS.margin_ms


async def test_a_finished_match_answers_repeated_and_later_moves(hall: Hall):
    await hall.all_ready()
    for text in ("0", "3", "1", "4", "2"):
        await hall.play(text)
    await hall.until(lambda: hall.heard(protocol.MatchEnd))
    hall.match.deliver(core.Action(0, 4, "2", time.monotonic()))
    hall.match.deliver(core.Action(1, 5, "8", time.monotonic()))
    assert hall.heard(protocol.Ack)[-1].ply == 4
    assert hall.heard(protocol.Reject)[-1].code == "match_over"
    assert len(hall.heard(protocol.MatchEnd)) == 2  # one a seat


async def test_an_agent_that_comes_back_gets_everything_and_its_clock_ran_on(hall: Hall):
    await hall.all_ready()
    await hall.play("4")
    line = hall.lines.pop(1)
    hall.match.deliver(core.Lost(1, time.monotonic()))
    await asyncio.sleep(0.15)
    hall.lines[1] = line
    hall.match.deliver(core.Back(1, time.monotonic()))
    await hall.until(lambda: len(hall.heard(protocol.MatchStart)) == 3)
    assert hall.heard(protocol.MatchStart)[-1].history == ["4"]
    await hall.until(lambda: len(hall.heard(protocol.YourMove)) == 3)
    again = hall.heard(protocol.YourMove)[-1]
    assert (again.ply, again.last_actions) == (1, ["4"])
    assert again.clock.move_ms <= 360


async def test_an_abort_is_void_for_both(hall: Hall):
    await hall.all_ready()
    hall.match.deliver(core.Abort(time.monotonic(), "the server was stopped"))
    await hall.until(lambda: hall.heard(protocol.MatchEnd))
    result = hall.match.match.result
    assert result is not None
    assert result.outcomes == (Outcome.VOID, Outcome.VOID)
    assert result.causes == (Cause.INFRASTRUCTURE, Cause.INFRASTRUCTURE)
    assert hall.heard(protocol.MatchEnd)[0].scores == [None, None]


async def test_only_the_reply_that_was_asked_for_is_free_of_the_flood_limit(hall: Hall):
    now = time.monotonic()
    assert hall.match.expects(core.Ready(0, now))
    assert not hall.match.expects(core.Ready(0, now))
    await hall.all_ready()
    assert not hall.match.expects(core.Action(1, 0, "4", now))
    assert not hall.match.expects(core.Action(0, 5, "4", now))
    assert hall.match.expects(core.Action(0, 0, "4", now))
    assert not hall.match.expects(core.Action(0, 0, "4", now))


async def test_a_new_connection_is_told_of_the_match_before_it_is_asked(hall: Hall):
    """It takes its place just as the opponent's move is being committed."""
    await hall.all_ready()
    hall.open.clear()
    hall.match.deliver(core.Action(0, 0, "4", time.monotonic()))
    await asyncio.sleep(0.05)
    told = len(hall.told)
    hall.lines[1] = Line(hall.told, 1)
    hall.match.deliver(core.Back(1, time.monotonic()))
    hall.open.set()
    await hall.until(lambda: hall.match.match.ply == 1 and hall.match.match.open is not None)
    new = [type(message) for agent, message in hall.told[told:] if agent == 1]
    assert new == [protocol.MatchStart, protocol.YourMove]
    await hall.play("0")


async def test_the_clock_of_an_absent_agent_runs_and_it_is_asked_when_it_comes_back(hall: Hall):
    await hall.all_ready()
    del hall.lines[1]
    hall.match.deliver(core.Lost(1, time.monotonic()))
    await hall.play("4")
    told = len(hall.told)
    hall.lines[1] = Line(hall.told, 1)
    hall.match.deliver(core.Back(1, time.monotonic()))
    await hall.until(lambda: len(hall.told) == told + 2)
    assert [type(message) for _, message in hall.told[told:]] == [protocol.MatchStart, protocol.YourMove]


async def test_a_fault_of_ours_makes_the_match_void_and_counts_for_nobody(hall: Hall):
    await hall.all_ready()
    hall.faults = [RuntimeError("a bug in the commit")]
    hall.match.deliver(core.Action(0, 0, "4", time.monotonic()))
    await hall.until(lambda: hall.heard(protocol.MatchEnd))
    assert hall.heard(protocol.MatchEnd)[0].cause == ["infrastructure", "infrastructure"]
    assert hall.heard(protocol.Ack) == []


async def test_a_fault_in_telling_makes_the_match_void_too(hall: Hall, monkeypatch: pytest.MonkeyPatch):
    await hall.all_ready()
    say, broken = hall.match._lines.say, [LookupError("a bug in the lines")]

    def fail_once(seat: int, message: Any) -> None:
        if broken:
            raise broken.pop()
        say(seat, message)

    monkeypatch.setattr(hall.match._lines, "say", fail_once)
    hall.match.deliver(core.Action(0, 0, "4", time.monotonic()))
    await hall.until(lambda: hall.heard(protocol.MatchEnd))
    assert hall.heard(protocol.MatchEnd)[0].cause == ["infrastructure", "infrastructure"]


async def test_a_fault_that_cannot_even_be_written_down_is_raised_by_the_match():
    hall = Hall()
    task = asyncio.create_task(hall.match.run())
    await hall.all_ready()
    hall.faults = [RuntimeError("the second"), RuntimeError("the first")]
    hall.match.deliver(core.Action(0, 0, "4", time.monotonic()))
    async with asyncio.timeout(20):
        with pytest.raises(RuntimeError, match="the second"):
            await task
    assert hall.heard(protocol.MatchEnd) == []


async def test_events_that_wait_for_a_commit_are_taken_in_their_order_and_after_the_end_answered(hall: Hall):
    await hall.all_ready()
    hall.open.clear()
    now = time.monotonic()
    hall.match.deliver(core.Action(0, 0, "4", now))
    hall.match.deliver(core.Action(0, 0, "4", now))
    hall.match.deliver(core.Resign(0, now))
    hall.match.deliver(core.Action(1, 1, "0", now))
    assert len(hall.heard(protocol.YourMove)) == 1
    hall.open.set()
    await hall.until(lambda: hall.heard(protocol.Reject))
    assert [ack.ply for ack in hall.heard(protocol.Ack)] == [0, 0]
    assert hall.heard(protocol.MatchEnd)[0].outcome == ["loss", "win"]
    assert hall.heard(protocol.Reject)[0].code == "match_over"


STRIKES = core.Terms(move_ms=150, margin_ms=50, ready_ms=20_000, strikes=2)


@pytest.mark.parametrize("hall", [STRIKES], indirect=True)
async def test_a_time_out_that_costs_a_strike_is_told_and_the_match_goes_on(hall: Hall):
    await hall.all_ready()
    await hall.until(lambda: hall.match.match.ply == 1)
    assert hall.heard(protocol.Ack) == []
    (told,) = hall.heard(protocol.Reject)
    assert (told.ply, told.code) == (0, "timed_out")
    hall.match.deliver(core.Action(1, 1, "8", time.monotonic()))
    await hall.until(lambda: hall.match.match.ply >= 2 and hall.match.match.open is not None)
    again = next(message for _, message in hall.told if getattr(message, "ply", None) == 2)
    assert again.clock.strikes == 1
    assert again.last.timed_out
    assert again.last_actions == ["0", "8"]  # what was drawn in its place, the agent has not seen


FISCHER = core.Terms(move_ms=0, bank_ms=60_000, increment_ms=2_000, ready_ms=20_000, lag_ms=1_000)


@pytest.mark.parametrize("hall", [FISCHER], indirect=True)
async def test_a_request_tells_what_is_left_and_how_the_last_move_was_measured(hall: Hall):
    hall.lines[0].round_trip_ms = 40.0
    await hall.all_ready()
    assert hall.heard(protocol.MatchStart)[0].time_control == protocol.TimeControl(
        0, 60_000, 2_000, 200, 20_000, lag_ms=1_000
    )
    first = hall.heard(protocol.YourMove)[0].clock
    assert (first.move_ms, first.bank_ms, first.increment_ms) == (60_000, 60_000, 2_000)
    request = hall.match.match.open
    assert request is not None
    hall.match.deliver(core.Action(0, 0, "4", request.at + 1.04))
    await hall.until(lambda: hall.match.match.ply == 1 and hall.match.match.open is not None)
    await hall.play("0")
    second = hall.heard(protocol.YourMove)[2]
    assert (second.clock.move_ms, second.clock.bank_ms) == (61_000, 61_000)
    assert second.last == protocol.LastMove(1040, 40, 1000, limit_ms=60_000, round_trip_ms=40.0)


@pytest.mark.parametrize("hall", [FISCHER], indirect=True)
async def test_a_repeated_request_tells_what_is_left_without_what_the_server_lost(hall: Hall):
    await hall.all_ready()
    hall.match.deliver(core.Lost(0, time.monotonic()))
    hall.lost_s = 1_000.0  # more than can have passed: nothing of the bank is used
    hall.match.deliver(core.Back(0, time.monotonic()))
    await hall.until(lambda: len(hall.heard(protocol.YourMove)) == 2)
    assert hall.heard(protocol.YourMove)[1].clock.move_ms == 60_000
    await asyncio.sleep(0.01)
    hall.lost_s = 0.0
    hall.match.deliver(core.Back(0, time.monotonic()))
    await hall.until(lambda: len(hall.heard(protocol.YourMove)) == 3)
    assert hall.heard(protocol.YourMove)[2].clock.move_ms < 60_000


async def test_lateness_of_the_loop_is_not_charged_to_whoever_answers(hall: Hall):
    await hall.all_ready()
    hall.lost_s = 0.3
    hall.match.deliver(core.Action(0, 0, "4", time.monotonic() + 0.4))
    await hall.until(lambda: hall.heard(protocol.Ack))
    timing = hall.match.match.last[0]
    assert timing is not None
    assert (timing.lag_ms, timing.refunded_ms) == (300, 300)


async def test_a_time_in_which_the_server_stood_still_is_given_back_at_its_end(hall: Hall):
    """What was sent meanwhile may take a while to be heard, and who was cut off has to come back first."""
    await hall.all_ready()
    request = hall.match.match.open
    assert request is not None
    hall.lost_s = 0.6
    await hall.until(lambda: time.monotonic() > request.at + 0.55 + 0.3)
    assert not hall.match.match.over
    await hall.until(lambda: hall.match.match.over)
    end = hall.heard(protocol.MatchEnd)[0]
    assert end.cause == ["timeout", "normal"]
    assert time.monotonic() - request.at >= 0.55 + 0.6


async def test_spectators_are_told_when_a_time_is_not_over_that_should_be(hall: Hall):
    shown: list[bool] = []
    hall.match._shell = replace(hall.match._shell, show=lambda match: shown.append(match.match.over))
    await hall.all_ready()
    shown.clear()
    hall.lost_s = 0.6
    await hall.until(lambda: hall.match.match.over)
    assert shown == [False, True]


async def test_a_server_that_stood_still_for_too_long_ends_the_match_void_though_nobody_answered(hall: Hall):
    await hall.all_ready()
    hall.lost_s = 12.5
    await hall.until(lambda: hall.match.match.over)
    assert hall.heard(protocol.MatchEnd)[0].cause == ["infrastructure", "infrastructure"]
    assert hall.heard(protocol.MatchEnd)[0].detail == "overload: the server was 12.5 s late"


async def test_no_time_ends_while_something_of_its_agent_is_still_to_be_read(hall: Hall):
    await hall.all_ready()
    asked = hall.match.match.open
    assert asked is not None
    hall.lines[0].unread = True
    await hall.until(lambda: time.monotonic() > asked.at + 0.55 + 0.2)
    hall.match.deliver(core.Action(0, 0, "4", asked.at + 0.5))  # it had come in time
    await hall.until(lambda: hall.heard(protocol.Ack))
    hall.lines[0].unread = False
    await hall.play("0")
    assert not hall.match.match.over


async def test_a_match_that_is_over_needs_no_garbage_collection():
    hall = Hall()  # cycles are looked for so rarely that thousands of matches would wait for it
    task = asyncio.create_task(hall.match.run())
    await hall.all_ready()
    for text in ("0", "3", "1", "4", "2"):
        await hall.play(text)
    await task
    gc.disable()
    try:
        match = weakref.ref(hall.match)
        del hall.match, task
        await hall.until(lambda: match() is None)
    finally:
        gc.enable()
