"""Ratings move with each result and are always what all results, rated anew, give."""

import asyncio
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from hypothesis.strategies import booleans, data, sampled_from
from sqlalchemy import make_url

from server.core import elo
from server.core.outcome import Cause, forfeit
from server.db import matches, resume
from server.db.doctor import check
from server.db.engine import Database
from server.db.matches import SeatResult, Stale

SCORES = {"win": 1.0, "draw": 0.5, "loss": 0.0}
PAIRS = (("win", "loss"), ("draw", "draw"), ("loss", "win"))


def recomputed(league, ladder: int) -> dict[int, elo.Entry]:
    """All results of a ladder rated anew, read by SQL of the test's own."""
    rows = league.rows(
        "SELECT r.match_id, s.version_id, s.outcome FROM results r JOIN seats s ON s.match_id = r.match_id "
        f"WHERE r.ladder_id = {ladder} ORDER BY r.seq, s.seat"
    )
    results = [
        elo.Result((one.version_id, other.version_id), (SCORES[one.outcome], SCORES[other.outcome]))
        for one, other in zip(rows[::2], rows[1::2], strict=True)
    ]
    starts = league.rows(f"SELECT version_id, start_elo FROM ratings WHERE ladder_id = {ladder}")
    return elo.recompute(results, {row.version_id: row.start_elo for row in starts})


def stored(league, ladder: int) -> dict[int, elo.Entry]:
    rows = league.rows(f"SELECT version_id, elo, games FROM ratings WHERE ladder_id = {ladder}")
    return {row.version_id: elo.Entry(row.elo, row.games) for row in rows}


def test_PB13_parallel_matches_start_from_the_rating_of_the_moment(league):
    """Two matches begin at 1500; the second to finish is rated from what the first one left."""
    ada, bob, eve = (league.agent(name) for name in ("ada", "bob", "eve"))
    first, second = league.queue(ada, bob)[0], league.queue(ada, eve)[0]
    attempts = {number: league.run(number) for number in (first, second)}
    after_loss = league.finish(first, attempts[first], "loss")[0]
    assert after_loss == pytest.approx(1420)
    after_win = league.finish(second, attempts[second], "win")[0]
    k = 160 / (1 + 1 / 8)
    assert after_win == pytest.approx(after_loss + k * (1 - 1 / (1 + 10 ** ((1500 - after_loss) / 400))))
    assert after_win != pytest.approx(1500, abs=1)
    seats = league.rows(f"SELECT elo_before, elo_after FROM seats WHERE match_id = {second} AND seat = 0")
    assert seats == [(after_loss, after_win)]
    assert stored(league, league.ladder) == recomputed(league, league.ladder)


def test_results_written_by_one_call_are_rated_one_after_another(league):
    """Two agents in all of them, a third in one; the ends come in another order than the matches."""
    ada, bob, eve = (league.agent(name) for name in ("ada", "bob", "eve"))
    numbers = [*league.queue(ada, bob), *league.queue(bob, ada), league.queue(eve, ada)[0]]
    attempts = {number: league.run(number) for number in numbers}
    ends = [
        matches.Ended(
            number,
            attempts[number],
            [SeatResult(outcome, "normal", SCORES[outcome]) for outcome in PAIRS[number % 3]],
            None,
            league.now(),
            last=[matches.MoveRow(0, 0, "4", 1, 1, None, league.now())] if number % 2 else (),
        )
        for number in reversed(numbers)
    ]
    after = league.do(matches.finish_all, ends)
    shown = league.rows("SELECT match_id, elo_after FROM seats WHERE elo_after IS NOT NULL ORDER BY 1, seat")
    by_match = {end.match_id: elos for end, elos in zip(ends, after, strict=True)}
    assert {
        number: [row.elo_after for row in shown if row.match_id == number] for number in numbers
    } == by_match
    order = league.rows("SELECT match_id FROM results ORDER BY seq")
    assert [row.match_id for row in order] == [end.match_id for end in ends]
    assert stored(league, league.ladder) == recomputed(league, league.ladder)
    assert league.db.read_now(check) == []


def test_of_results_written_by_one_call_all_count_or_none(league):
    ada, bob = league.agent("ada"), league.agent("bob")
    numbers = league.queue(ada, bob)
    attempts = {number: league.run(number) for number in numbers}
    drawn = [SeatResult("draw", "normal", 0.5)] * 2
    ends = [matches.Ended(number, attempts[number], drawn, None, league.now()) for number in numbers]
    before = league.everything()
    late = ends[1]._replace(attempt=99)
    too_many = ends[1]._replace(by_seat=[*drawn, drawn[0]])
    for bad, error in ((late, Stale), (too_many, ValueError), (ends[0], Stale)):
        with pytest.raises(error):
            league.do(matches.finish_all, [ends[0], bad])
        assert league.everything() == before
    league.do(matches.finish_all, ends)
    assert league.db.read_now(check) == []


async def test_hundreds_of_random_results_add_up(league):
    seed = random.randrange(2**32)
    draw = random.Random(seed)
    ladders = list(league.ladders.values())
    players = {
        ladder: [league.agent(f"a{ladder}-{n}", ladder=ladder) for n in range(6)] for ladder in ladders
    }
    now, expected = league.now(), Counter()

    async def play(ladder: int) -> None:
        one, other = draw.sample(players[ladder], 2)
        for number in await league.db.write(matches.queue_table, ladder, (one, other), {}, now):
            attempt = (await league.db.write(matches.begin, number, "test", now)).attempt
            outcomes = draw.choice(PAIRS)
            if draw.random() < 0.1:
                causes = ["infrastructure"] * 2
                await league.db.write(
                    lambda conn, n=number, a=attempt, c=causes: matches.void(
                        conn, n, a, c, "broken", now, replay=False
                    )
                )
                continue
            seats = [SeatResult(outcome, "normal", SCORES[outcome]) for outcome in outcomes]
            expected[ladder] += 1
            end = matches.Ended(number, attempt, seats, None, now)
            await league.db.write_together(matches.finish_all, end)

    await asyncio.gather(*(play(draw.choice(ladders)) for _ in range(200)))
    for ladder in ladders:
        assert stored(league, ladder) == recomputed(league, ladder), f"seed {seed}"
        assert sum(entry.games for entry in stored(league, ladder).values()) == 2 * expected[ladder]
    assert league.db.read_now(check) == [], f"seed {seed}"


class Ladder(RuleBasedStateMachine):
    """Whatever happens to matches in whatever order, late and repeated calls too, the data stay whole."""

    take: Callable[[], str]
    give_back: Callable[[str], None]
    league_type: type

    def __init__(self) -> None:
        super().__init__()
        self.url = self.take()
        self.db = Database.open(self.url)
        self.league = self.league_type(self.db)
        self.agents = [self.league.agent(f"agent-{n}") for n in range(3)]
        self.known: dict[int, tuple[str, int, int]] = {}  # match -> state, attempt, moves, as they must be

    def teardown(self) -> None:
        self.db.close()
        self.give_back(self.url)

    def expect(self, allowed: bool, change, *args, **kwargs):
        if allowed:
            return change(*args, **kwargs)
        with pytest.raises(Stale):
            change(*args, **kwargs)
        return None

    def pick(self, values):
        number = values.draw(sampled_from(sorted(self.known)))
        return number, *self.known[number]

    @rule(values=data())
    def queue(self, values):
        one = values.draw(sampled_from(self.agents))
        other = values.draw(sampled_from([agent for agent in self.agents if agent != one]))
        self.known |= dict.fromkeys(self.league.queue(one, other), ("queued", 0, 0))

    @precondition(lambda self: self.known)
    @rule(values=data())
    def begin(self, values):
        number, state, attempt, moves = self.pick(values)
        if self.expect(state == "queued", self.league.begin, number) is not None:
            self.known[number] = ("starting", attempt + 1, moves)

    @precondition(lambda self: self.known)
    @rule(values=data())
    def set_running(self, values):
        number, state, attempt, moves = self.pick(values)
        allowed = state == "starting"
        self.expect(allowed, self.league.do, matches.set_running, number, attempt, self.league.now())
        if allowed:
            self.known[number] = ("running", attempt, moves)

    @precondition(lambda self: self.known)
    @rule(values=data(), skip=booleans(), late=booleans())
    def move(self, values, skip, late):
        number, state, attempt, moves = self.pick(values)
        allowed = state == "running" and not skip and not late
        self.expect(allowed, self.league.move, number, attempt - late, moves + skip)
        if allowed:
            self.known[number] = (state, attempt, moves + 1)

    @precondition(lambda self: self.known)
    @rule(values=data(), result=sampled_from(["win", "draw", "loss"]), late=booleans())
    def finish(self, values, result, late):
        number, state, attempt, moves = self.pick(values)
        allowed = state in ("starting", "running") and not late
        self.expect(allowed, self.league.finish, number, attempt - late, result)
        if allowed:
            self.known[number] = ("finished", attempt, moves)

    @precondition(lambda self: self.known)
    @rule(values=data(), replay=booleans())
    def void(self, values, replay):
        number, state, attempt, moves = self.pick(values)
        allowed = state in ("starting", "running")
        # What was broken off in play is always played again.
        new = self.expect(allowed, self.league.void, number, attempt, replay=replay or moves > 0)
        if allowed:
            self.known[number] = ("void", attempt, moves)
        if new is not None:
            self.known[new] = ("queued", 0, 0)

    @precondition(lambda self: self.known)
    @rule(values=data())
    def drop(self, values):
        number, state, attempt, moves = self.pick(values)
        allowed = state == "queued"
        self.expect(allowed, self.league.do, matches.drop_queued, number, "dropped", self.league.now())
        if allowed:
            self.known[number] = ("void", attempt, moves)

    @rule()
    def restart(self):
        self.db.close()
        self.db = self.league.db = Database.open(self.url)
        taken = self.league.do(resume.resume, "server-2")
        in_play = [number for number, known in self.known.items() if known[0] in ("starting", "running")]
        assert [match.id for match in taken] == sorted(in_play)
        for match in taken:
            _, attempt, moves = self.known[match.id]
            assert (match.attempt, len(match.moves)) == (attempt + 1, moves)
            self.known[match.id] = ("starting", attempt + 1, moves)

    @invariant()
    def data_are_whole(self):
        assert self.db.read_now(check) == []
        rows = self.league.rows("SELECT id, state, attempt, moves FROM matches")
        assert {row.id: (row.state, row.attempt, row.moves) for row in rows} == self.known
        assert stored(self.league, self.league.ladder) == recomputed(self.league, self.league.ladder)


@pytest.mark.parametrize("examples", [6, pytest.param(100, marks=pytest.mark.deep)])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_matches_in_any_order_of_events(request, kind, sqlite_template, league_type, examples):
    def copy() -> str:
        folder = tempfile.mkdtemp()
        return f"sqlite:///{shutil.copy(sqlite_template, folder)}"

    def remove(url: str) -> None:
        shutil.rmtree(Path(make_url(url).database).parent)

    if kind == "sqlite":
        Ladder.take, Ladder.give_back = staticmethod(copy), staticmethod(remove)
    else:
        postgres = request.getfixturevalue("postgres")
        Ladder.take, Ladder.give_back = staticmethod(postgres.take), staticmethod(postgres.give_back)
    Ladder.league_type = league_type
    run_state_machine_as_test(
        Ladder,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_three_players_are_rated_by_their_places(league):
    """A better place is a game won against each worse one, at half the stake; equal places are a draw."""
    table = [league.agent(name) for name in ("ada", "bob", "eve")]
    first, second, third = league.queue_table(*table)
    assert league.play_out(first, 4.0, 2.0, 1.0) == pytest.approx([1580.0, 1500.0, 1420.0])
    expected = elo.update([elo.Entry(r, 1) for r in (1500.0, 1420.0, 1580.0)], (0.75, 0.75, 0.0))
    assert league.play_out(second, 3.0, 3.0, 1.0) == pytest.approx(expected)
    forfeited = forfeit(3, 1, Cause.TIMEOUT, "late")
    league.decide(third, league.run(third), forfeited)
    rows = league.rows("SELECT games, wins, draws, losses FROM ratings ORDER BY version_id")
    assert rows == [(3, 1, 0, 2), (3, 0, 2, 1), (3, 0, 2, 1)]
    assert league.db.read_now(check) == []
