"""Seeds in the database, and matches that are closed until all of their set are over."""

import functools

import pytest

from server.core import seeds
from server.db import doctor_replay, matches, reads, resume

CARDS = [("d0", 1 / 3), ("d1", 1 / 3), ("d2", 1 / 3)]


@pytest.fixture
def poker(league_type, db):
    return league_type(db, ("kuhn_poker",))


def queue(league, *, sealed=False):
    number = len(league.rows("SELECT id FROM agents"))
    pair = league.agent(f"ada{number}"), league.agent(f"bob{number}")
    job = functools.partial(matches.queue_table, chance=True, sealed=sealed)
    return league.do(job, league.ladder, pair, {"move_ms": 5000}, league.now())


def seed_of(league, number):
    return league.rows(f"SELECT seed FROM matches WHERE id = {number}")[0][0]


def deal(league, number, attempt, cards):
    rows = [matches.MoveRow(ply, -1, card, 0, 0, None, league.now()) for ply, card in enumerate(cards)]
    league.do(matches.record_moves, [matches.Played(number, attempt, rows)])


def shown(league, number):
    row = league.db.read_now(reads.match, number)
    assert row is not None
    return row, league.db.read_now(reads.moves, number), league.db.read_now(reads.times, [number])


def end(league, number, attempt):
    ends = [matches.SeatResult("win", "normal", 1.0), matches.SeatResult("loss", "resignation", 0.0)]
    league.end(number, attempt, ends)


def test_each_match_of_chance_has_a_seed_of_its_own(poker):
    found = {seed_of(poker, number) for _ in range(3) for number in queue(poker)}
    assert len(found) == 6
    assert all(len(bytes.fromhex(seed)) == seeds.SEED_BYTES for seed in found)


def test_a_game_without_chance_has_none(league):
    for number in league.queue(league.agent("ada"), league.agent("bob")):
        assert seed_of(league, number) is None
        row, _, _ = shown(league, number)
        assert (row.seed_hash, row.seed, row.closed) == (None, None, False)


def test_the_seed_is_told_at_the_end_and_its_hash_before(poker):
    number, _ = queue(poker)
    seed, attempt = seed_of(poker, number), poker.run(number)
    row, _, _ = shown(poker, number)
    assert (row.seed_hash, row.seed) == (seeds.commitment(seed, number), None)
    end(poker, number, attempt)
    row, _, _ = shown(poker, number)
    assert (row.seed_hash, row.seed) == (seeds.commitment(seed, number), seed)


def test_a_match_played_again_has_other_cards_and_is_never_closed(poker):
    number, mate = queue(poker, sealed=True)
    again = poker.void(number, poker.run(number), replay=True)
    assert seed_of(poker, again) not in (seed_of(poker, number), None)
    assert shown(poker, mate)[0].closed
    assert not shown(poker, again)[0].closed
    end(poker, mate, poker.run(mate))
    row, _, _ = shown(poker, number)
    assert not row.closed, "the match played again is no part of the set"
    assert row.seed == seed_of(poker, number)


def test_all_of_a_set_is_closed_until_its_last_match_is_over(poker):
    first, second = queue(poker, sealed=True)
    assert seed_of(poker, first) == seed_of(poker, second)
    attempts = {number: poker.run(number) for number in (first, second)}
    for number, attempt in attempts.items():
        deal(poker, number, attempt, ["d2", "d0"])
    for state in ("both run", "one is over"):
        for number in (first, second):
            row, moves, times = shown(poker, number)
            told = (row.closed, row.moves, row.detail, row.last_request, row.seed, moves, times)
            assert told == (True, 0, None, None, None, [], {}), state
            page, _ = poker.db.read_now(reads.matches_page)
            assert {(one.closed, one.moves) for one in page} == {(True, 0)}
        if state == "both run":
            end(poker, first, attempts[first])
    [latest] = poker.db.read_now(reads.latest_results, 9)
    assert (latest.id, latest.closed, latest.moves) == (first, True, 0)
    end(poker, second, attempts[second])
    for number in (first, second):
        row, moves, times = shown(poker, number)
        assert (row.closed, row.moves, row.seed) == (False, 2, seed_of(poker, number))
        assert [move.action for move in moves] == ["d2", "d0"]
        assert list(times) == [number]


def test_a_set_begins_all_at_once_or_not_at_all(poker):
    first, second = queue(poker, sealed=True)
    poker.begin(second)
    with pytest.raises(matches.Stale):
        poker.do(matches.begin_all, [first, second], "server-1", poker.now())
    assert poker.rows(f"SELECT state FROM matches WHERE id = {first}") == [("queued",)]


def test_who_does_not_know_whether_a_set_was_begun_begins_it_once(poker):
    pair = queue(poker, sealed=True)
    for _ in range(2):
        begun = poker.do(matches.begin_all_again, pair, "server-1", poker.now())
        assert [one.attempt for one in begun] == [1, 1]
        assert {one.seed for one in begun} == {seed_of(poker, pair[0])}


def test_a_match_that_cannot_begin_with_its_set_gets_cards_of_its_own(poker):
    first, second = queue(poker, sealed=True)
    poker.run(first)
    poker.do(matches.unseal, second)
    assert seed_of(poker, second) != seed_of(poker, first)
    waiting = {one.id: one for one in poker.db.read_now(matches.queued)}
    assert (waiting[second].sealed, waiting[second].pair_id) == (False, first)
    assert not shown(poker, second)[0].closed
    with pytest.raises(matches.Stale):
        poker.do(matches.unseal, first)


def test_a_restart_takes_up_a_set_under_one_seal(poker):
    first, second = queue(poker, sealed=True)
    for number in (first, second):
        poker.run(number)
    alone, _ = queue(poker)
    poker.run(alone)
    found = {one.id: one for one in poker.do(resume.resume, "server-2")}
    assert found[first].sealed_with == found[second].sealed_with == (first, second)
    assert found[first].seed == found[second].seed == seed_of(poker, first)
    assert (found[alone].sealed_with, found[alone].seed) == ((), seed_of(poker, alone))


def test_the_doctor_draws_every_outcome_again(poker):
    number, _ = queue(poker)
    seed, attempt = seed_of(poker, number), poker.run(number)
    first = seeds.outcome(seed, 0, CARDS)
    left = [(card, 1 / 2) for card, _ in CARDS if card != first]
    second = seeds.outcome(seed, 1, left)
    deal(poker, number, attempt, [first, second])
    assert poker.db.read_now(doctor_replay.replay) == []
    other = next(card for card, _ in left if card != second)
    poker.do(lambda conn: conn.exec_driver_sql(f"UPDATE moves SET action = '{other}' WHERE ply = 1").close())
    [finding] = poker.db.read_now(doctor_replay.replay)
    assert (finding.code, finding.message) == (
        "chance",
        f"match {number}, ply 1: {other!r} is on record, and its seed gives {second!r}",
    )
