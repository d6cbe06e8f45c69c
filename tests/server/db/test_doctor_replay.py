"""The doctor plays recorded matches again and finds what the rules of their game contradict."""

import re
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from server.core.outcome import Cause, by_utilities, forfeit
from server.db import doctor, doctor_replay, matches

TOP_ROW = ("0", "3", "1", "4", "2")  # seat 0 wins
FULL_BOARD = ("0", "1", "2", "4", "3", "5", "7", "6", "8")
WON, LOST = ("win", 1.0), ("loss", 0.0)


@pytest.fixture
def played(league_type, db):
    """A league with matches as a server leaves them, by id from 1: won, drawn, timed out, running, void."""
    league = league_type(db, ("tic_tac_toe", "connect_four"))
    pairs = [league.queue(league.agent(f"a{n}"), league.agent(f"b{n}")) for n in range(3)]
    numbers = [number for pair in pairs for number in pair]
    attempts = {number: league.run(number) for number in numbers[:5]}

    def play(number, moves, *ends):
        for ply, action in enumerate(moves):
            league.move(number, attempts[number], ply, action)
        seats = [matches.SeatResult(outcome, cause, score) for (outcome, score), cause in ends]
        if seats:
            league.end(number, attempts[number], seats)

    play(1, TOP_ROW, (WON, "normal"), (LOST, "normal"))
    play(2, FULL_BOARD, (("draw", 0.5), "normal"), (("draw", 0.5), "normal"))
    play(3, TOP_ROW[:3], (WON, "normal"), (LOST, "timeout"))
    play(4, TOP_ROW[:4])
    play(5, TOP_ROW[:4])
    league.void(5, attempts[5], replay=True)
    assert db.read_now(doctor.check) == []
    assert codes(db) == []
    return league


def codes(db, newest=None) -> list[str]:
    found = db.read_now(doctor_replay.replay, newest)
    assert all(finding.message and "\n" not in finding.message for finding in found)
    return [finding.code for finding in found]


def hurt(db, *statements):
    engine = create_engine(db.url)
    with engine.begin() as conn:
        for statement in statements:
            assert conn.execute(text(statement)).rowcount != 0, f"no row: {statement}"
    engine.dispose()


INTO = "match_id, ply, seat, action, elapsed_ms, charged_ms, received_at, info"
COPIED = "elapsed_ms, charged_ms, received_at, info FROM moves WHERE match_id = 1 AND ply"
SWAP = "UPDATE seats SET outcome = CASE outcome WHEN 'win' THEN 'loss' ELSE 'win' END WHERE match_id = {}"
SIXTH = f"INSERT INTO moves ({INTO}) SELECT match_id, 5, 1, '5', {COPIED} = 3"

DAMAGE = {
    "an action that is no action": (
        ["UPDATE moves SET action = 'e4' WHERE match_id = 1 AND ply = 1"],
        ["illegal"],
    ),
    "an action that was played before": (
        ["UPDATE moves SET action = '0' WHERE match_id = 2 AND ply = 8"],
        ["illegal"],
    ),
    "an illegal action of a running match": (
        ["UPDATE moves SET action = '0' WHERE match_id = 4 AND ply = 3"],
        ["illegal"],
    ),
    "an illegal action of a void match": (
        ["UPDATE moves SET action = '0' WHERE match_id = 5 AND ply = 3"],
        ["illegal"],
    ),
    "a move of the other seat": (
        ["UPDATE moves SET seat = 1 WHERE match_id = 1 AND ply = 2"],
        ["mover"],
    ),
    "seats changed": (["UPDATE moves SET seat = 1 - seat WHERE match_id = 3"], ["mover"]),
    "a move after the end": ([SIXTH, "UPDATE matches SET moves = 6 WHERE id = 1"], ["after_end"]),
    "the loser has won": ([SWAP.format(1)], ["utilities"]),
    "a draw was won": (
        ["UPDATE seats SET outcome = CASE seat WHEN 0 THEN 'win' ELSE 'loss' END WHERE match_id = 2"],
        ["utilities"],
    ),
    "a win was a draw": (["UPDATE seats SET outcome = 'draw' WHERE match_id = 1"], ["utilities"]),
    "another action, so that the game is not over": (
        ["UPDATE moves SET action = '8' WHERE match_id = 1 AND ply = 4"],
        ["unended"],
    ),
    "the last move is lost, and its count": (
        ["DELETE FROM moves WHERE match_id = 1 AND ply = 4", "UPDATE matches SET moves = 4 WHERE id = 1"],
        ["unended"],
    ),
    "a game without a fault that is not over": (
        ["UPDATE seats SET cause = 'normal' WHERE match_id = 3"],
        ["unended"],
    ),
    "a forfeit when the game was over": (
        ["UPDATE seats SET cause = 'timeout' WHERE match_id = 1 AND seat = 1"],
        ["over"],
    ),
    "a running match whose game is over": (
        [
            f"INSERT INTO moves ({INTO}) SELECT 4, ply, seat, action, {COPIED} = 4",
            "UPDATE matches SET moves = 5 WHERE id = 4",
        ],
        ["over"],
    ),
    "a void match whose game was over": (
        [
            "UPDATE seats SET outcome = 'void', cause = 'infrastructure' WHERE match_id = 1",
            "UPDATE matches SET state = 'void' WHERE id = 1",
        ],
        ["over"],
    ),
    "who was too slow has won": ([SWAP.format(3)], ["forfeit"]),
    "too slow when the other was to move": (
        [
            "UPDATE seats SET cause = CASE seat WHEN 0 THEN 'timeout' ELSE 'normal' END WHERE match_id = 3",
            SWAP.format(3),
        ],
        ["forfeit"],
    ),
    "a game that is gone": (["UPDATE matches SET game = 'halma' WHERE id IN (1, 3)"], ["game"]),
    "a game of more players": (["UPDATE matches SET game = 'share_out' WHERE id = 4"], ["players"]),
    "a draw by a rule that is none": (
        ["UPDATE seats SET cause = 'rule_draw' WHERE match_id = 2"],
        ["rule_draw"],
    ),
    "utilities that the final position does not give": (
        ["UPDATE seats SET utility = CASE seat WHEN 0 THEN 3 ELSE -1 END WHERE match_id = 1"],
        ["utilities"],
    ),
    "one utility that is lost": (
        ["UPDATE seats SET utility = 1 WHERE match_id = 1 AND seat = 0"],
        ["utilities"],
    ),
    "options that do not exist": (["UPDATE matches SET game = 'tic_tac_toe(rows=9)' WHERE id = 1"], ["game"]),
    "another game": (["UPDATE matches SET game = 'connect_four' WHERE id = 1"], ["illegal"]),
}


@pytest.mark.parametrize("what", DAMAGE)
@pytest.mark.usefixtures("share_out")
def test_damage_is_found(played, what):
    statements, expected = DAMAGE[what]
    hurt(played.db, *statements)
    assert codes(played.db) == expected


def test_every_code_has_its_damage():
    written = set(re.findall(r'Finding\(\s*"(\w+)"', Path(doctor_replay.__file__).read_text()))
    assert written == {code for _, expected in DAMAGE.values() for code in expected} | {"chance"}


WELL = {
    "resignation when the other was to move": [
        "UPDATE seats SET cause = CASE seat WHEN 0 THEN 'resignation' ELSE 'normal' END WHERE match_id = 3",
        SWAP.format(3),
    ],
    "agreement": ["UPDATE seats SET outcome = 'draw', cause = 'agreement' WHERE match_id = 3"],
    "the utilities that the final position gives": [
        "UPDATE seats SET utility = 1 - 2 * seat WHERE match_id = 1",
        "UPDATE seats SET utility = 0 WHERE match_id = 2",
    ],
    # `doctor.check` tells these, and nothing could be said of their moves.
    "a move is missing": ["DELETE FROM moves WHERE match_id = 1 AND ply = 1"],
    "the last move is missing": ["DELETE FROM moves WHERE match_id = 1 AND ply = 4"],
}


@pytest.mark.parametrize("what", WELL)
def test_what_the_rules_allow_is_not_reported(played, what):
    hurt(played.db, *WELL[what])
    assert codes(played.db) == []


@pytest.mark.parametrize("chunk", [1, 2, 500])
def test_only_the_newest_are_replayed_unless_all_are_asked_for(played, monkeypatch, chunk):
    monkeypatch.setattr(doctor_replay, "CHUNK", chunk)
    hurt(
        played.db,
        "UPDATE moves SET action = 'e4' WHERE match_id IN (1, 4) AND ply = 0",
        "UPDATE moves SET seat = 7 WHERE match_id = 3 AND ply = 0",
    )
    found = {newest: codes(played.db, newest) for newest in (None, 1, 2, 3, 4, 5, 99)}
    assert found == {
        None: ["illegal", "mover", "illegal"],
        1: [],  # match 5; 6 and its replay were never begun
        2: ["illegal"],
        3: ["mover", "illegal"],
        4: ["mover", "illegal"],
        5: ["illegal", "mover", "illegal"],
        99: ["illegal", "mover", "illegal"],
    }


def test_an_empty_database_has_nothing_to_replay(db):
    assert codes(db) == []
    assert codes(db, 5) == []


def test_outcomes_of_chance_are_replayed_as_moves_of_nobody(league_type, db):
    league = league_type(db, ("kuhn_poker",))  # its chance has no seed, as in old records
    first, second = league.queue(league.agent("ada"), league.agent("bob"))
    for number, seats in ((first, (-1, -1, 0, 1)), (second, (-1, 0, 0, 1))):
        rows = [
            matches.MoveRow(ply, seat, action, 0, 0, None, league.now())
            for ply, (seat, action) in enumerate(zip(seats, ("d2", "d0", "b", "p"), strict=True))
        ]
        attempt = league.run(number)
        league.do(matches.record_moves, [matches.Played(number, attempt, rows)])
        ends = [matches.SeatResult(outcome, "normal", score) for outcome, score in (WON, LOST)]
        league.end(number, attempt, ends)
    assert db.read_now(doctor.check) == []
    [finding] = db.read_now(doctor_replay.replay)
    assert (finding.code, finding.message) == (
        "mover",
        f"match {second}, ply 1 is of seat 0, and seat -1 was to move",
    )


def sealed(league, number, actions, result):
    """A match of three, its moves and its end."""
    attempt = league.run(number)
    rows = [
        matches.MoveRow(ply, ply % 3, action, 0, 0, None, league.now()) for ply, action in enumerate(actions)
    ]
    league.do(matches.record_moves, [matches.Played(number, attempt, rows)])
    league.decide(number, attempt, result)


@pytest.fixture
def three(db, league_type, share_out):
    """Matches of three as a server leaves them: won, drawn by rule, forfeited by seat 2."""
    league = league_type(db, (share_out.name,))
    won, drawn, lost = league.queue_table(*(league.agent(name) for name in ("ada", "bob", "eve")))
    sealed(league, won, "21121", by_utilities((4.0, 2.0, 1.0)))
    sealed(league, drawn, "2000", by_utilities((0.0, 0.0, 0.0), rule_draw=True))
    sealed(league, lost, "21", forfeit(3, 2, Cause.TIMEOUT, "late"))
    assert db.read_now(doctor.check) == []
    assert codes(db) == []
    return league


DAMAGE_TO_THREE = {
    "the second place was the third": (
        ["UPDATE seats SET utility = seat WHERE match_id = 1 AND seat > 0"],
        ["utilities"],
    ),
    "utilities are lost": (["UPDATE seats SET utility = NULL WHERE match_id = 1"], ["utilities"]),
    "a draw by rule that was one by play": (
        ["UPDATE seats SET cause = 'normal' WHERE match_id = 2"],
        ["rule_draw"],
    ),
    "one of the others has won by a forfeit": (
        ["UPDATE seats SET outcome = CASE seat WHEN 0 THEN 'win' ELSE 'loss' END WHERE match_id = 3"],
        ["forfeit"],
    ),
    "a seat is gone": (["DELETE FROM seats WHERE match_id = 3 AND seat = 2"], ["players"]),
}


@pytest.mark.parametrize("what", DAMAGE_TO_THREE)
def test_damage_to_a_match_of_three_is_found(three, what):
    statements, expected = DAMAGE_TO_THREE[what]
    hurt(three.db, *statements)
    assert codes(three.db) == expected
