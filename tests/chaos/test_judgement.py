"""The judgement of a storm finds nothing in sound data, and every broken promise by its name."""

import dataclasses
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from sqlalchemy import create_engine, text

from agents.protocol import TimeControl
from server.core.match import Timing
from server.db import agents, ladders, matches
from server.db.engine import Database
from tests.chaos.evidence import Acked, Evidence, Over, Span, Told
from tests.chaos.judgement import Record, judge

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CONTROL = TimeControl(move_ms=2_000, margin_ms=200, ready_ms=4_000, strikes=1, lag_ms=1_000, grace_ms=500)
TOP_ROW = ("0", "3", "1", "4", "2")
IN_TIME = Timing(elapsed_ms=150, refunded_ms=40, charged_ms=110, limit_ms=2_000, round_trip_ms=40.0)
OVER = Timing(elapsed_ms=2_240, refunded_ms=40, charged_ms=2_200, limit_ms=2_000, round_trip_ms=40.0)
STRUCK = msgspec.structs.replace(OVER, timed_out=True)
WON, LOST = ("win", 1.0), ("loss", 0.0)

NORMAL, LATE, CRASHED, CHEATED, BROKEN_OFF, NO_SHOW, REPLAY = 1, 2, 3, 4, 5, 6, 7
"""The matches of the story below."""


class Story:
    """A database in which ada and bob have played matches of all kinds, each a minute after the other."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.db = Database.open(url)
        self.db.migrate()
        row = ladders.LadderSpec("tic_tac_toe", "Tic-tac-toe", "tic_tac_toe", CONTROL)
        (self.ladder,) = (ladder.id for ladder in self.do(ladders.sync, [row]))
        self.versions = tuple(self.do(self._agent, name) for name in ("ada", "bob"))
        control = msgspec.to_builtins(CONTROL)
        for _ in range(3):
            self.do(matches.queue_table, self.ladder, self.versions, control, START)

    def do(self, job, *args):
        return self.db.write_now(job, *args, durable=False)

    def _agent(self, conn, name):
        agent = agents.register(conn, name, owner=None, house=False, now=START)
        version = agents.ensure_version(conn, agent.agent_id, "chaos", START)
        agents.join_ladder(conn, self.ladder, version.id, START)
        return version.id

    def play(self, number, *timings):
        """Begin a match and record so many moves."""
        at = START + timedelta(minutes=number)
        attempt = self.do(matches.begin, number, "server", at).attempt
        self.do(matches.set_running, number, attempt, at)
        for ply, (action, timing) in enumerate(zip(TOP_ROW, timings, strict=False)):
            more = {
                name: getattr(timing, name)
                for name in ("waited_ms", "round_trip_ms", "lag_ms", "away_ms", "limit_ms", "timed_out")
            }
            at = at + timedelta(seconds=3)
            row = matches.MoveRow(
                ply, ply % 2, action, timing.elapsed_ms, timing.charged_ms, None, at, **more
            )
            self.do(matches.record_moves, [matches.Played(number, attempt, [row])])
        return attempt, at + timedelta(seconds=3)

    def end(self, number, attempt, at, seats, request=None):
        rows = [matches.SeatResult(outcome, cause, score) for (outcome, score), cause in seats]
        ended = matches.Ended(number, attempt, rows, "over", at, request=request)
        self.do(matches.finish_all, [ended])

    def void(self, number, causes, *, replay):
        at = START + timedelta(minutes=number, seconds=30)
        attempt = self.do(
            lambda conn: conn.execute(text(f"SELECT attempt FROM matches WHERE id = {number}")).scalar()
        )
        self.do(lambda conn: matches.void(conn, number, attempt, causes, "broken off", at, replay=replay))

    def hurt(self, *statements):
        """Change the database as nothing of ours would."""
        engine = create_engine(self.url)
        with engine.begin() as conn:
            for statement in statements:
                conn.execute(text(statement))
        engine.dispose()

    def broken(self, evidence):
        """Names of the promises that are broken."""
        return {finding.promise for finding in judge(self.db.read_now(Record.read), evidence)}


def request(seat, ply, timing, at, *, received):
    return {
        "seat": seat,
        "ply": ply,
        "received": received,
        "at": at.isoformat(),
        **msgspec.to_builtins(timing),
    }


@pytest.fixture
def story(tmp_path):
    told = Story(f"sqlite:///{tmp_path / 'plyground.db'}")
    attempt, at = told.play(NORMAL, *[IN_TIME] * 5)
    told.end(NORMAL, attempt, at, ((WON, "normal"), (LOST, "normal")))
    attempt, at = told.play(LATE, STRUCK, IN_TIME)
    late = request(0, 2, OVER, at, received=False)
    told.end(LATE, attempt, at, ((LOST, "timeout"), (WON, "normal")), late)
    attempt, at = told.play(CRASHED, IN_TIME)
    told.end(CRASHED, attempt, at, ((LOST, "crash"), (WON, "normal")))
    attempt, at = told.play(CHEATED, IN_TIME, IN_TIME)
    cheat = request(0, 2, IN_TIME, at, received=True)
    told.end(CHEATED, attempt, at, ((LOST, "illegal_action"), (WON, "normal")), cheat)
    told.play(BROKEN_OFF, IN_TIME, IN_TIME)
    told.void(BROKEN_OFF, ["infrastructure"] * 2, replay=True)
    told.do(matches.begin, NO_SHOW, "server", START)
    told.void(NO_SHOW, ["no_show", "normal"], replay=False)
    yield told
    told.db.close()


@pytest.fixture
def evidence(story):
    """What the agents of the story wrote down: ada has seat 0 in odd matches, bob in even ones."""
    record = story.db.read_now(Record.read)
    assert record.agent(record.matches[NORMAL], 0) == record.agent(record.matches[LATE], 1)
    first, second = record.agent(record.matches[NORMAL], 0), record.agent(record.matches[LATE], 0)
    return Evidence(
        acked={Acked(first, NORMAL, 0, "0"), Acked(first, NORMAL, 2, None)},
        told={Told(second, NORMAL, 0, "0"), Told(first, NORMAL, 1, "d?")},
        over=[Over(first, NORMAL, ["win", "loss"], ["normal", "normal"])],
        faults={(first, CRASHED, 1): "crashed", (second, CHEATED, 2): "cheated"},
    )


def test_sound_data_break_no_promise(story, evidence):
    assert judge(story.db.read_now(Record.read), evidence) == []


RESULTS_WITHOUT_GUARD = ("CREATE TABLE copied AS SELECT * FROM results", "DROP TABLE results")
RESULTS_WITHOUT_GUARD += ("ALTER TABLE copied RENAME TO results",)
ONE_RESULT = "every_match_has_one_result"
VOID = "a_void_match_has_its_cause_and_is_replayed"
RATINGS = "ratings_are_what_the_results_give"
TRACE = "a_forfeit_has_its_own_fault_in_the_clock_trace"
ACKNOWLEDGED = "what_was_acknowledged_is_on_record"


def last_request(number, **changes):
    pairs = ", ".join(f"'$.{name}', {value}" for name, value in changes.items())
    return f"UPDATE matches SET last_request = json_set(last_request, {pairs}) WHERE id = {number}"


DAMAGE = {
    "a match that still runs": (
        ["UPDATE matches SET state = 'running' WHERE id = 7"],
        {"every_match_is_settled"},
    ),
    "a result twice": (
        [
            *RESULTS_WITHOUT_GUARD,
            "INSERT INTO results SELECT 99, match_id, ladder_id, finished_at FROM results WHERE match_id = 1",
        ],
        {ONE_RESULT, RATINGS},
    ),
    "no result": (["DELETE FROM results WHERE match_id = 1"], {ONE_RESULT, RATINGS}),
    "a result of a void match": (
        ["INSERT INTO results SELECT 99, 5, ladder_id, finished_at FROM results WHERE match_id = 1"],
        {ONE_RESULT},
    ),
    "two winners": (
        ["UPDATE seats SET outcome = 'win' WHERE match_id = 1"],
        {ONE_RESULT, "an_end_that_was_told_stands"},
    ),
    "a rating that was changed": (["UPDATE ratings SET elo = elo + 0.01 WHERE version_id = 1"], {RATINGS}),
    "a game too many": (["UPDATE ratings SET games = games + 1 WHERE version_id = 2"], {RATINGS}),
    "a void match that nobody replays": (["UPDATE matches SET replay_of = NULL WHERE id = 7"], {VOID}),
    "a void match without a word": (["UPDATE matches SET detail = NULL WHERE id = 6"], {VOID}),
    "a void match by the fault of an agent": (
        ["UPDATE seats SET cause = 'timeout' WHERE match_id = 6 AND seat = 0"],
        {VOID},
    ),
    "a time-out without a trace": (["UPDATE matches SET last_request = NULL WHERE id = 2"], {TRACE}),
    "a time-out in time": ([last_request(LATE, elapsed_ms=1_000, charged_ms=960)], {TRACE}),
    "a time-out by the server's lateness": (
        [last_request(LATE, lag_ms=1_000, refunded_ms=1_040, charged_ms=1_200)],
        {TRACE},
    ),
    "a refund that was withheld": ([last_request(LATE, refunded_ms=0, charged_ms=2_240)], {TRACE}),
    "a sum that is wrong": ([last_request(LATE, charged_ms=2_230)], {TRACE}),
    "a shorter limit than the control's": (
        [
            last_request(LATE, limit_ms=1_000),
            "UPDATE moves SET limit_ms = 1000 WHERE match_id = 2 AND ply = 1",
        ],
        {TRACE},
    ),
    "the opponent's request": ([last_request(LATE, seat=1)], {TRACE}),
    "a loss before the strikes were used": (
        ["UPDATE moves SET timed_out = 0 WHERE match_id = 2 AND ply = 0"],
        {TRACE},
    ),
    "a strike in time": (
        ["UPDATE moves SET elapsed_ms = 900, charged_ms = 860 WHERE match_id = 2 AND ply = 0"],
        {TRACE},
    ),
    "an illegal action that never came": ([last_request(CHEATED, received="json('false')")], {TRACE}),
    "a move that is gone": (
        ["DELETE FROM moves WHERE match_id = 1 AND ply = 2"],
        {ACKNOWLEDGED},
    ),
    "a move that was changed": (
        ["UPDATE moves SET action = '8' WHERE match_id = 1 AND ply = 0"],
        {ACKNOWLEDGED, "what_was_told_is_on_record"},
    ),
    "another end than was told": (
        ["UPDATE seats SET cause = 'rule_draw' WHERE match_id = 1"],
        {"an_end_that_was_told_stands"},
    ),
}


@pytest.mark.parametrize(("statements", "promises"), DAMAGE.values(), ids=DAMAGE)
def test_damage_to_the_database_is_found(story, evidence, statements, promises):
    story.hurt(*statements)
    assert story.broken(evidence) == promises


def late_span(story):
    """From when to when the request was open that was answered too late."""
    match = story.db.read_now(Record.read).matches[LATE]
    return match.last_request.handed_over_at, match.last_request.at


def test_an_outage_that_was_charged_is_found(story, evidence):
    start, _ = late_span(story)
    evidence.outages.append(Span(start + 0.5, start + 0.7, "no server"))
    assert story.broken(evidence) == {"no_outage_is_charged"}


def test_an_answer_in_time_that_counted_as_late_is_found(story, evidence):
    start, end = late_span(story)
    record = story.db.read_now(Record.read)
    late = record.agent(record.matches[LATE], 0)
    evidence.sent[late, LATE, 2].append(start - 4.0)
    assert story.broken(evidence) == set(), "an answer to an earlier server"
    evidence.sent[late, LATE, 2].append(start + 0.3)
    assert story.broken(evidence) == {"nobody_is_late_who_was_in_time"}
    evidence.troubles[late].append(Span(start + 0.2, end + 5.0, "its line stalled"))
    assert story.broken(evidence) == set(), "the line kept it"


def test_an_agent_that_came_back_and_was_not_asked_again_is_found(story, evidence):
    start, _ = late_span(story)
    record = story.db.read_now(Record.read)
    late = record.agent(record.matches[LATE], 0)
    evidence.back[late].append(start + 0.5)
    evidence.troubles[late].append(Span(start + 0.2, start + 0.5, "it was away"))
    assert story.broken(evidence) == {"whoever_comes_back_is_asked_again"}
    evidence.asked[late, LATE, 2].append(start + 0.6)
    assert story.broken(evidence) == set()


def test_a_crash_and_an_illegal_action_that_were_none_are_found(story, evidence):
    assert story.broken(dataclasses.replace(evidence, faults={})) == {"other_forfeits_were_meant"}


def test_an_agent_that_was_shut_out_is_found(story, evidence):
    evidence.gave_up["ada"] = "RefusedError('bad_token')"
    assert story.broken(evidence) == {"nobody_is_shut_out"}
