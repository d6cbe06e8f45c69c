"""The doctor finds nothing in healthy data, and every kind of damage by its name."""

import re
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from server.db import agents, doctor
from server.db.engine import Database


@pytest.fixture
def hurt(league):
    """A league with matches of every kind; returns what damages it by SQL, as nothing of ours would."""
    ada, bob, eve = (league.agent(name) for name in ("ada", "bob", "eve"))
    league.play(ada, bob, "win", "draw")  # matches 1, 2
    league.play(bob, eve, "loss", "win")  # 3, 4
    void = league.queue(ada, eve)[0]  # 5, and 6 stays queued
    attempt = league.run(void)
    league.move(void, attempt, 0)
    league.void(void, attempt, replay=True)  # 7
    agent_id = league.rows(f"SELECT agent_id FROM versions WHERE id = {ada}")[0].agent_id
    second = league.do(agents.ensure_version, agent_id, "f2", league.now())
    league.do(agents.join_ladder, league.ladder, second.id, league.now())
    assert codes(league.db) == []

    def damage(*statements):
        with unguarded(league.db) as conn:
            for statement in statements:
                assert conn.execute(text(statement)).rowcount != 0, f"no row: {statement}"

    return damage


@contextmanager
def unguarded(db):
    """A connection for which no reference and no check counts."""
    engine = create_engine(db.url)
    with engine.connect() as conn:
        if conn.dialect.name == "sqlite":
            conn.exec_driver_sql("PRAGMA foreign_keys = OFF")
            conn.exec_driver_sql("PRAGMA ignore_check_constraints = ON")
        yield conn
        conn.commit()
    engine.dispose()


def findings(db):
    return db.read_now(doctor.check)


def codes(db) -> list[str]:
    found = findings(db)
    assert all(finding.message and "\n" not in finding.message for finding in found)
    return sorted({finding.code for finding in found})


SAME_RATING_AGAIN = (
    "INSERT INTO results SELECT 99, match_id, ladder_id, finished_at FROM results WHERE match_id = 4"
)

DAMAGE = {
    "a result is lost": (
        ["DELETE FROM results WHERE match_id = 4"],
        ["counters", "rating", "result_missing"],
    ),
    "a result of a void match": (
        ["INSERT INTO results SELECT 99, 5, ladder_id, finished_at FROM results WHERE match_id = 4"],
        ["result_stray"],
    ),
    "a result of a queued match": (
        ["INSERT INTO results SELECT 99, 6, ladder_id, finished_at FROM results WHERE match_id = 4"],
        ["result_stray"],
    ),
    "a result on another ladder": (
        ["UPDATE results SET ladder_id = 2 WHERE match_id = 4"],
        ["counters", "rating", "result_ladder", "unrated"],
    ),
    "a finished match that says void": (
        ["UPDATE matches SET state = 'void' WHERE id = 4"],
        ["rated", "replay", "result_stray"],
    ),
    "a void match that says finished": (
        ["UPDATE matches SET state = 'finished' WHERE id = 5"],
        ["outcome", "cause", "result_missing"],
    ),
    "a void match with a new rating": (
        ["UPDATE seats SET elo_before = 1500, elo_after = 1580 WHERE match_id = 5 AND seat = 0"],
        ["rated"],
    ),
    "a void match with a winner": (
        ["UPDATE seats SET outcome = 'win' WHERE match_id = 5 AND seat = 0"],
        ["outcome"],
    ),
    "a void match without a cause": (
        ["UPDATE seats SET cause = NULL WHERE match_id = 5 AND seat = 1"],
        ["cause"],
    ),
    "a queued match with an outcome": (
        ["UPDATE seats SET outcome = 'void', cause = 'infrastructure' WHERE match_id = 6"],
        ["outcome"],
    ),
    "a queued match with a cause": (["UPDATE seats SET cause = 'crash' WHERE match_id = 6"], ["cause"]),
    "ratings that nobody won": (["UPDATE ratings SET elo = elo + 1 WHERE version_id = 1"], ["rating"]),
    "a rating off by a thousandth": (
        ["UPDATE ratings SET elo = elo + 0.001 WHERE version_id = 1"],
        ["rating"],
    ),
    "a start that is not what it was": (
        ["UPDATE ratings SET start_elo = 1600 WHERE version_id = 1"],
        ["rating", "seat_elo", "start_elo"],
    ),
    "a rating that came from nothing": (["UPDATE ratings SET elo = 1700 WHERE version_id = 4"], ["rating"]),
    "a rating that is lost": (
        ["DELETE FROM ratings WHERE version_id = 3"],
        ["counters", "rating", "unrated"],
    ),
    "a game too many": (["UPDATE ratings SET games = games + 1 WHERE version_id = 1"], ["counters"]),
    "utilities that another has won by": (
        ["UPDATE seats SET utility = seat WHERE match_id = 1"],
        ["utility", "rating", "seat_elo", "utility_missing"],
    ),
    "one utility alone": (["UPDATE seats SET utility = 1 WHERE match_id = 4 AND seat = 0"], ["utility"]),
    "utilities of a game that was not played to its end": (
        [
            "UPDATE seats SET utility = 1 - seat WHERE match_id = 4",
            "UPDATE seats SET cause = 'timeout' WHERE match_id = 4 AND outcome = 'loss'",
        ],
        ["utility"],
    ),
    "a utility in a void match": (["UPDATE seats SET utility = 0 WHERE match_id = 5"], ["utility"]),
    "a utility in a queued match": (["UPDATE seats SET utility = 0 WHERE match_id = 6"], ["utility"]),
    "utilities that are lost, after others that are there": (
        ["UPDATE seats SET utility = 1 - seat WHERE match_id = 1"],
        ["utility_missing"],
    ),
    "wins for draws": (
        ["UPDATE ratings SET wins = wins + 1, draws = draws - 1 WHERE version_id = 1"],
        ["counters"],
    ),
    "losses of nobody": (["UPDATE ratings SET losses = 3, games = 3 WHERE version_id = 4"], ["counters"]),
    "a seat's new rating is wrong": (
        ["UPDATE seats SET elo_after = 1700 WHERE match_id = 1 AND seat = 0"],
        ["seat_elo"],
    ),
    "a seat's old rating is lost": (
        ["UPDATE seats SET elo_before = NULL WHERE match_id = 3 AND seat = 1"],
        ["seat_elo"],
    ),
    "results in another order": (
        ["UPDATE results SET seq = 99 WHERE match_id = 1"],
        ["rating", "seat_elo"],
    ),
    "two winners": (
        ["UPDATE seats SET outcome = 'win' WHERE match_id = 4"],
        ["counters", "outcome", "rating", "seat_elo"],
    ),
    "two losers": (
        ["UPDATE seats SET outcome = 'loss' WHERE match_id = 4"],
        ["counters", "outcome", "rating", "seat_elo"],
    ),
    "half a draw": (
        ["UPDATE seats SET outcome = 'draw' WHERE match_id = 4 AND seat = 0"],
        ["counters", "outcome"],
    ),
    "an outcome is lost": (
        ["UPDATE seats SET outcome = NULL WHERE match_id = 4 AND seat = 0"],
        ["counters", "outcome", "rating"],
    ),
    "a cause is lost": (["UPDATE seats SET cause = NULL WHERE match_id = 4 AND seat = 0"], ["cause"]),
    "a cause that never counts": (
        ["UPDATE seats SET cause = 'infrastructure' WHERE match_id = 4 AND seat = 0"],
        ["cause"],
    ),
    "a cause there is not": (["UPDATE seats SET cause = 'luck' WHERE match_id = 4 AND seat = 0"], ["cause"]),
    "a seat is lost": (
        ["DELETE FROM seats WHERE match_id = 4 AND seat = 1"],
        ["counters", "move_seat", "rating", "seats"],
    ),
    "seats that do not count from 0": (
        ["UPDATE seats SET seat = seat + 1 WHERE match_id = 6 AND seat = 1"],
        ["seats"],
    ),
    "no seats": (["DELETE FROM seats WHERE match_id = 6"], ["seats"]),
    "the last move is lost": (["DELETE FROM moves WHERE match_id = 1 AND ply = 2"], ["moves"]),
    "a move in between is lost": (["DELETE FROM moves WHERE match_id = 1 AND ply = 1"], ["moves", "plies"]),
    "a gap in the plies": (["UPDATE moves SET ply = 7 WHERE match_id = 1 AND ply = 2"], ["plies"]),
    "plies that count from 1": (
        ["UPDATE moves SET ply = 3 WHERE match_id = 1 AND ply = 0"],
        ["plies"],
    ),
    "moves of a void match are lost": (["DELETE FROM moves WHERE match_id = 5"], ["moves"]),
    "moves nobody made": (["UPDATE matches SET moves = 4 WHERE id = 6"], ["moves"]),
    "a finished match without an end": (["UPDATE matches SET finished_at = NULL WHERE id = 4"], ["times"]),
    "a void match without an end": (["UPDATE matches SET finished_at = NULL WHERE id = 5"], ["times"]),
    "a queued match with an end": (["UPDATE matches SET finished_at = created_at WHERE id = 6"], ["times"]),
    "a queued match with a start": (["UPDATE matches SET started_at = created_at WHERE id = 6"], ["times"]),
    "a finished match without a start": (["UPDATE matches SET started_at = NULL WHERE id = 4"], ["times"]),
    "an end before the start": (
        ["UPDATE matches SET finished_at = '2026-02-01T00:00:00.000000+00:00' WHERE id = 4"],
        ["times"],
    ),
    "a void match that does not say why": (["UPDATE matches SET detail = NULL WHERE id = 5"], ["detail"]),
    "a void match that says nothing": (["UPDATE matches SET detail = '' WHERE id = 5"], ["detail"]),
    "a void match whose replay is lost": (
        ["DELETE FROM seats WHERE match_id = 7", "DELETE FROM matches WHERE id = 7"],
        ["replay"],
    ),
    "a replay that is of another match": (["UPDATE matches SET replay_of = 4 WHERE id = 7"], ["replay"]),
    "a move in less than no time": (
        ["UPDATE moves SET elapsed_ms = -1, charged_ms = -2 WHERE match_id = 4 AND ply = 1"],
        ["timing"],
    ),
    "a move that gave time": (
        ["UPDATE moves SET charged_ms = -1 WHERE match_id = 4 AND ply = 1"],
        ["timing"],
    ),
    "a move charged with more than it took": (
        ["UPDATE moves SET charged_ms = elapsed_ms + 1 WHERE match_id = 5"],
        ["timing"],
    ),
    "a move of more than an hour": (
        ["UPDATE moves SET elapsed_ms = 3605001 WHERE match_id = 4 AND ply = 1"],
        ["timing"],
    ),
    "a move of more than an hour, and no limit to be read": (
        [
            "UPDATE moves SET elapsed_ms = 3600001 WHERE match_id = 4 AND ply = 1",
            "UPDATE matches SET time_control = 'soon' WHERE id = 4",
        ],
        ["timing"],
    ),
    "a move of a seat that is not there": (
        ["UPDATE moves SET seat = 2 WHERE match_id = 4 AND ply = 1"],
        ["move_seat"],
    ),
    "a chance outcome that took time": (
        ["UPDATE moves SET seat = -1 WHERE match_id = 4 AND ply = 1"],
        ["move_seat"],
    ),
    "a finished match that nobody took up": (["UPDATE matches SET attempt = 0 WHERE id = 4"], ["attempt"]),
    "a finished match of no server": (["UPDATE matches SET lease = NULL WHERE id = 4"], ["attempt"]),
    "a queued match that was taken up": (["UPDATE matches SET attempt = 1 WHERE id = 6"], ["attempt"]),
    "a first start with moves": (
        [
            "DELETE FROM seats WHERE match_id = 7",
            "DELETE FROM matches WHERE id = 7",
            "UPDATE seats SET outcome = NULL, cause = NULL WHERE match_id = 5",
            "UPDATE matches SET state = 'starting', finished_at = NULL, detail = NULL WHERE id = 5",
        ],
        ["attempt"],
    ),
    "an agent that cannot be found": (
        ["UPDATE agents SET name_key = 'Ada' WHERE name = 'ada'"],
        ["name_key"],
    ),
    "an agent with another name": (["UPDATE agents SET name = 'adam' WHERE name = 'ada'"], ["name_key"]),
    "a start out of nowhere": (
        ["UPDATE versions SET parent_id = NULL WHERE id = 4"],
        ["start_elo"],
    ),
    "a start after a parent that is not on the ladder": (
        ["UPDATE ratings SET ladder_id = 2 WHERE version_id = 4"],
        ["start_elo"],
    ),
    "ancestors that go round in circles": (
        ["UPDATE versions SET parent_id = id WHERE id = 4"],
        ["start_elo"],
    ),
}

WELL = {
    "matches of before there were utilities": [
        "UPDATE seats SET utility = CASE outcome WHEN 'win' THEN 9 ELSE -1 END WHERE match_id = 4",
    ],
    "a forfeit after matches with utilities": [
        "UPDATE seats SET utility = CASE outcome WHEN 'win' THEN 9 ELSE -1 END WHERE match_id = 3",
        "UPDATE seats SET cause = 'crash' WHERE match_id = 4 AND outcome = 'loss'",
    ],
    "a clock set back a little": [
        "UPDATE matches SET started_at = '2026-03-01T12:01:00.000000+00:00' WHERE id = 4",
        "UPDATE matches SET finished_at = '2026-03-01T12:00:30.000000+00:00' WHERE id = 4",
    ],
    "a move that took its limit and an hour": [
        "UPDATE moves SET elapsed_ms = 3605000 WHERE match_id = 4 AND ply = 1"
    ],
    "a move for which nothing was charged": ["UPDATE moves SET charged_ms = 0 WHERE match_id = 4"],
    "a void match without moves that is not played again": [
        "DELETE FROM moves WHERE match_id = 5",
        "UPDATE matches SET moves = 0 WHERE id = 5",
        "UPDATE matches SET replay_of = NULL WHERE id = 7",
    ],
    "a chance outcome": [
        "UPDATE moves SET seat = -1, elapsed_ms = 0, charged_ms = 0 WHERE match_id = 4 AND ply = 1"
    ],
    "a resumed match that starts with moves, and one that runs": [
        "DELETE FROM seats WHERE match_id = 7",
        "DELETE FROM matches WHERE id = 7",
        "UPDATE seats SET outcome = NULL, cause = NULL WHERE match_id = 5",
        "UPDATE matches SET state = 'starting', attempt = 2, finished_at = NULL WHERE id = 5",
        "UPDATE matches SET state = 'running', attempt = 3, lease = 's' WHERE id = 6",
        "UPDATE matches SET started_at = created_at WHERE id = 6",
    ],
    "a start from a grandparent": [
        "INSERT INTO versions SELECT 99, agent_id, 99, fingerprint, 1, created_at FROM versions WHERE id = 4",
        "UPDATE versions SET parent_id = 99 WHERE id = 4",
    ],
}
"""What looks odd and is not damage."""


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_found(league, hurt, what):
    statements, expected = DAMAGE[what]
    hurt(*statements)
    assert codes(league.db) == sorted(expected)


@pytest.mark.parametrize("what", WELL)
def test_what_is_no_damage_is_not_reported(league, hurt, what):
    hurt(*WELL[what])
    assert codes(league.db) == []


def test_a_match_tells_its_badly_timed_moves_once(league, hurt):
    hurt("UPDATE moves SET charged_ms = 4000 WHERE match_id IN (3, 4)")
    assert [finding.code for finding in findings(league.db)] == ["timing", "timing"]
    assert all("(3 such moves" in finding.message for finding in findings(league.db))


@pytest.mark.parametrize("state", ["starting", "running"])
def test_a_match_in_play_has_a_start_and_no_end(league, hurt, state):
    hurt(
        f"UPDATE matches SET state = '{state}', attempt = 1, lease = 's' WHERE id = 6",
        "UPDATE matches SET finished_at = created_at WHERE id = 6",
    )
    assert codes(league.db) == ["times"]
    hurt("UPDATE matches SET finished_at = NULL WHERE id = 6")
    assert codes(league.db) == ["times"]
    hurt("UPDATE matches SET started_at = created_at WHERE id = 6")
    assert codes(league.db) == []


def test_every_code_has_its_damage():
    """A code without a case here could be one that is never reported."""
    written = set(re.findall(r'Finding\(\s*"(\w+)"', Path(doctor.__file__).read_text()))
    elsewhere = {"corrupt", "orphan", "result_doubled"}  # the tests below
    assert written - elsewhere <= {code for _, expected in DAMAGE.values() for code in expected}


def test_a_doubled_result_is_found(league, hurt):
    if league.db.url.drivername == "sqlite":
        hurt(
            "CREATE TABLE copy AS SELECT * FROM results",
            "DROP TABLE results",
            "ALTER TABLE copy RENAME TO results",
        )
    else:
        hurt("ALTER TABLE results DROP CONSTRAINT uq_results_match_id")
    hurt(SAME_RATING_AGAIN)
    assert codes(league.db) == ["counters", "rating", "result_doubled", "seat_elo"]


def test_a_reference_to_nothing_is_found(sqlite_url, league_type):
    """SQLite forgets references when a program does not ask for them; PostgreSQL never does."""
    database = Database.open(sqlite_url)
    league = league_type(database)
    league.play(league.agent("ada"), league.agent("bob"), "win", "draw")
    with unguarded(database) as conn:
        conn.execute(text("UPDATE versions SET agent_id = 99 WHERE id = 1"))
    assert [(finding.code, "versions row 1" in finding.message) for finding in findings(database)] == [
        ("orphan", True)
    ]
    database.close()


def test_a_damaged_file_is_found(sqlite_url, league_type):
    database = Database.open(sqlite_url)
    league = league_type(database)
    ada, bob = league.agent("ada"), league.agent("bob")
    for _ in range(20):
        league.play(ada, bob, "win", "draw")
    root = league.rows("SELECT rootpage FROM sqlite_master WHERE name = 'ix_seats_version_id_match_id'")[
        0
    ].rootpage
    size = league.rows("PRAGMA page_size")[0].page_size
    path = Path(database.url.database)
    database.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * size + size // 2)
        file.write(b"\xff" * (size // 2))
    database = Database.open(sqlite_url)
    assert codes(database) == ["corrupt"]
    database.close()


def test_only_the_first_wrong_seat_is_told(league, hurt):
    hurt("UPDATE ratings SET start_elo = 1900 WHERE version_id = 1")
    assert [finding.code for finding in findings(league.db)].count("seat_elo") == 1


def test_an_empty_database_is_healthy(db):
    assert codes(db) == []
