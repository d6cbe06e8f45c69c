"""Agents, versions and ladders as rows."""

import pytest

from agents.protocol import TimeControl
from games.errors import InputError
from server.db import agents, ladders, reads


def register(league, name, *, house=False):
    now = league.now()
    return league.db.write_now(lambda conn: agents.register(conn, name, owner=None, house=house, now=now))


def version(league, agent_id, fingerprint):
    return league.do(agents.ensure_version, agent_id, fingerprint, league.now())


def refused(code, do):
    with pytest.raises(InputError) as raised:
        do()
    assert raised.value.code == code
    return str(raised.value)


@pytest.mark.parametrize("again", ["Ada", "ada", "ADA", "Ａda"])
def test_a_name_is_taken_in_whatever_case_and_form(league, again):
    register(league, "Ada")
    sentence = refused("name_taken", lambda: register(league, again))
    assert sentence == "expected a name nobody has, got 'Ada'"
    assert len(league.rows("SELECT * FROM agents")) == 1


def test_a_bad_name_is_refused(league):
    refused("bad_name", lambda: register(league, "=SUM(A1)"))


def test_house_agents_are_made_once_and_have_no_token(league):
    first = league.do(agents.ensure_house, "mcts", league.now())
    assert league.do(agents.ensure_house, "mcts", league.now()) == first
    assert first.house
    assert league.rows("SELECT * FROM tokens") == []
    refused("name_taken", lambda: register(league, "MCTS"))


def test_a_house_agent_does_not_take_over_somebodys_name(league):
    register(league, "mcts")
    refused("name_taken", lambda: league.do(agents.ensure_house, "mcts", league.now()))


def test_a_changed_fingerprint_makes_a_version(league):
    ada = register(league, "ada").agent_id
    first = version(league, ada, "f1")
    assert first.number == 1
    assert version(league, ada, "f1") == first
    assert version(league, ada, None) == first
    second = version(league, ada, "f2")
    assert second.number == 2
    assert version(league, ada, "f1").number == 3
    rows = league.db.read_now(reads.versions, "ADA")
    assert [(row.number, row.parent, row.fingerprint) for row in rows] == [
        (3, 2, "f1"),
        (2, 1, "f2"),
        (1, None, "f1"),
    ]


def test_an_agent_without_fingerprints_stays_at_version_1(league):
    bob = register(league, "bob").agent_id
    assert version(league, bob, None) == version(league, bob, None)


def test_texts_that_postgres_cannot_hold_are_kept_as_far_as_they_go(league):
    ada = register(league, "ada").agent_id
    assert version(league, ada, "a\0b\udfff").number == 1
    assert version(league, ada, "a\0b\udfff").number == 1
    assert league.rows("SELECT fingerprint FROM versions WHERE number = 1") == [("a\ufffdb\ufffd",)]


def test_a_version_starts_from_its_nearest_ancestor_on_the_ladder(league):
    one, other = league.ladders.values()
    first, bob = league.agent("ada", "f1"), league.agent("bob")
    league.play(first, bob, "win", "loss")
    elo = league.rows(f"SELECT elo FROM ratings WHERE version_id = {first}")[0].elo
    assert elo > 1600
    agent_id = league.rows(f"SELECT agent_id FROM versions WHERE id = {first}")[0].agent_id
    second, third = version(league, agent_id, "f2"), version(league, agent_id, "f3")
    league.do(agents.join_ladder, other, second.id, league.now())
    league.do(agents.join_ladder, one, third.id, league.now())
    league.do(agents.join_ladder, one, third.id, league.now())
    rows = league.rows(f"SELECT version_id, start_elo, elo, games FROM ratings WHERE version_id > {bob}")
    assert sorted(rows) == [(second.id, 1500, 1500, 0), (third.id, elo, elo, 0)]


def spec(name, game="go", title=""):
    return ladders.LadderSpec(name, title, game, TimeControl(1000))


def test_ladders_follow_the_settings(db):
    db.write_now(ladders.sync, [spec("b"), spec("a", title="The A")])
    made = db.write_now(ladders.sync, [spec("a", title="An A"), spec("c"), spec("b", game="chess")])
    assert [(ladder.name, ladder.title, ladder.game) for ladder in made] == [
        ("a", "An A", "go"),
        ("c", "c", "go"),
        ("b", "b", "chess"),
    ]
    assert db.read_now(ladders.all_ladders) == made
    left = db.write_now(ladders.sync, [spec("b", game="chess")])
    assert left == [made[2]]
    assert db.read_now(reads.ladder, "a").title == "An A"
    assert db.read_now(reads.ladder, "z") is None
    assert [ladder.id for ladder in db.write_now(ladders.sync, [spec("a")])] == [made[0].id]


def test_a_ladder_with_matches_cannot_change_its_game(league):
    ada, bob = league.agent("ada"), league.agent("bob")
    league.queue(ada, bob)
    sentence = refused(
        "ladder_changed", lambda: league.db.write_now(ladders.sync, [spec("connect_four", game="othello")])
    )
    assert "got othello in ladder connect_four" in sentence
    assert [ladder.name for ladder in league.db.read_now(ladders.all_ladders)] == [
        "connect_four",
        "tic_tac_toe",
    ]
