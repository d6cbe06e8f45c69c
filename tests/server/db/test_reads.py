"""What pages and API read: standings, matches, agents; and pages of lists that grow while they are read."""

from dataclasses import asdict
from datetime import UTC

import pytest
from sqlalchemy import text

from games.errors import InputError
from server.db import agents, matches, reads
from server.db import cursor as cursors


def pages(read, step=lambda: None, **options):
    """Walk a list to its end; `step` happens after each page."""
    found, cursor = [], None
    while True:
        rows, cursor = read(cursor=cursor, **options)
        found.append(rows)
        if cursor is None:
            return found
        step()


def flat(found):
    return [row for page in found for row in page]


def reader(league, fn, *args):
    return lambda **options: league.db.read_now(lambda conn: fn(conn, *args, **options))


def retire(league, name):
    league.do(
        lambda conn: (
            conn.execute(text(f"UPDATE agents SET retired_at = created_at WHERE name = '{name}'")).rowcount
        )
    )


def test_standings_have_every_column(league):
    ada, bob = league.agent("ada"), league.agent("bob")
    league.agent("eve", ladder=league.ladders["tic_tac_toe"])
    league.play(ada, bob, "win", "draw")
    rows = league.db.read_now(reads.standings, league.ladder)
    assert [(row.rank, row.agent, row.games, row.wins, row.draws, row.losses) for row in rows] == [
        (1, "ada", 2, 1, 1, 0),
        (2, "bob", 2, 0, 1, 1),
    ]
    columns = (
        "rank tier agent version owner rating rating_low rating_high elo provisional games wins draws losses"
    )
    assert " ".join(asdict(rows[0])) == f"{columns} los_next"
    assert rows[0].rating == rows[0].elo > 1500
    assert rows[0].provisional


def test_standings_show_the_newest_version_that_joined(league):
    ada = league.agent("ada", "f1")
    bob = league.agent("bob")
    league.play(ada, bob, "win", "loss")
    agent_id = league.rows(f"SELECT agent_id FROM versions WHERE id = {ada}")[0].agent_id
    second = league.do(agents.ensure_version, agent_id, "f2", league.now())

    def versions():
        return {
            row.agent: (row.version, row.games) for row in league.db.read_now(reads.standings, league.ladder)
        }

    assert versions() == {"ada": (1, 2), "bob": (1, 2)}
    league.do(agents.join_ladder, league.ladder, second.id, league.now())
    assert versions() == {"ada": (2, 0), "bob": (1, 2)}
    retire(league, "bob")
    assert versions() == {"ada": (2, 0)}


def test_PB26_pages_of_standings_with_ties_hold_everybody_once(league):
    """40 agents with three different ratings, pages of seven, somebody joins meanwhile."""
    for number in range(40):
        version = league.agent(f"agent-{number:02}")
        league.do(
            lambda conn, v=version, n=number: (
                conn.execute(
                    text(f"UPDATE ratings SET elo = {1400 + 100 * (n % 3)} WHERE version_id = {v}")
                ).rowcount
            )
        )
    page = reader(league, reads.standings_page, league.ladder)
    whole = league.db.read_now(reads.standings, league.ladder)
    first = flat(pages(page, limit=7))
    assert first == whole == flat(pages(page, limit=7))
    assert [len(rows) for rows in pages(page, limit=7)] == [7, 7, 7, 7, 7, 5]
    assert {row.rank for row in whole} == {1, 14, 27}

    newcomers = iter(["aaa", "mmm", "zzz", "b", "c", "d", "e"])
    second = flat(pages(page, lambda: league.agent(next(newcomers)), limit=7))
    names = [row.agent for row in second]
    assert len(names) == len(set(names))
    assert [name for name in names if name.startswith("agent-")] == [row.agent for row in first]


def test_PB26_pages_of_matches_hold_each_once_while_matches_are_added(league):
    """500 matches of one instant, pages of seven, a pair is added after each page."""
    ada, bob = league.agent("ada"), league.agent("bob")
    now = league.now()

    def queue(conn, pairs):
        for _ in range(pairs):
            matches.queue_table(conn, league.ladder, (ada, bob), {}, now)

    league.do(queue, 250)
    page = reader(league, reads.matches_page)
    found = flat(pages(page, lambda: league.do(queue, 1), limit=7))
    ids = [row.id for row in found]
    assert ids == list(range(500, 0, -1))
    again = [row.id for row in flat(pages(page, limit=7))]
    assert again[-500:] == ids
    assert len(again) == len(set(again)) == 500 + 2 * 71
    exact = pages(reader(league, reads.matches_page), limit=642)
    assert [len(rows) for rows in exact] == [642]


def test_matches_by_ladder_agent_and_state(league):
    ada, bob, eve = (league.agent(name) for name in ("Ada", "bob", "eve"))
    league.play(ada, bob, "win", "draw")
    waiting = league.queue(eve, bob)
    page = reader(league, reads.matches_page)

    def ids(**options):
        return [row.id for row in flat(pages(page, limit=1, **options))]

    assert ids() == [4, 3, 2, 1]
    assert ids(agent="ada") == ids(state="finished") == ids(agent="ADA", ladder="connect_four") == [2, 1]
    assert ids(agent="bob", state="queued") == ids(agent="eve") == sorted(waiting, reverse=True)
    assert ids(ladder="tic_tac_toe") == ids(state="void") == ids(agent="eve", state="finished") == []


@pytest.mark.parametrize(
    ("options", "code", "available"),
    [
        ({"ladder": "chess"}, "unknown_ladder", ("connect_four", "tic_tac_toe")),
        ({"agent": "nobody"}, "unknown_agent", ()),
        ({"agent": "\0"}, "unknown_agent", ()),
        ({"agent": "\ud800"}, "unknown_agent", ()),
        ({"state": "lost"}, "bad_state", ("queued", "starting", "running", "finished", "void")),
        ({"cursor": ""}, "bad_cursor", ()),
        ({"cursor": "WzFd!"}, "bad_cursor", ()),
        ({"cursor": "é"}, "bad_cursor", ()),
        ({"cursor": "WyJhIl0"}, "bad_cursor", ()),
        ({"cursor": cursors.encode(10**30)}, "bad_cursor", ()),
        ({"cursor": cursors.encode(-1)}, "bad_cursor", ()),
        ({"cursor": "W" * 100_000}, "bad_cursor", ()),
    ],
)
def test_a_filter_that_means_nothing_is_refused(league, options, code, available):
    with pytest.raises(InputError) as raised:
        league.db.read_now(lambda conn: reads.matches_page(conn, **options))
    assert raised.value.code == code
    assert raised.value.available == available
    assert len(str(raised.value)) < 300


def test_a_match_shows_current_ratings_until_its_end(league):
    ada, bob = league.agent("ada"), league.agent("bob")
    waiting = league.queue(ada, bob)[0]
    league.play(ada, bob, "win", "loss")
    elo = {row.agent: row.elo for row in league.db.read_now(reads.standings, league.ladder)}
    row = league.db.read_now(reads.match, waiting)
    assert [(seat.agent, seat.elo, seat.elo_after, seat.games) for seat in row.seats] == [
        ("ada", elo["ada"], None, 2),
        ("bob", elo["bob"], None, 2),
    ]
    assert (row.title, row.game, row.started_at, row.finished_at) == (
        "Connect_Four",
        "connect_four",
        None,
        None,
    )
    assert row.created_at.tzinfo is UTC


@pytest.mark.parametrize("number", [0, -1, 99, 2**31, 2**63, 10**30])
def test_a_match_that_is_not_there_is_none(league, number):
    assert league.db.read_now(reads.match, number) is None
    assert league.db.read_now(reads.moves, number) == []


def test_latest_results_follow_the_order_of_finishing(league):
    ada, bob = league.agent("ada"), league.agent("bob")
    numbers = [*league.queue(ada, bob), *league.queue(bob, ada)]
    attempts = {number: league.run(number) for number in numbers}
    order = [numbers[2], numbers[0], numbers[3], numbers[1]]
    for number in order:
        league.finish(number, attempts[number], "draw")
    latest = league.db.read_now(reads.latest_results, 3)
    assert [row.id for row in latest] == order[::-1][:3]
    assert len(league.db.read_now(reads.latest_results, 9, "connect_four")) == 4
    assert league.db.read_now(reads.latest_results, 9, "tic_tac_toe") == []
    with pytest.raises(InputError, match="available: connect_four, tic_tac_toe"):
        league.db.read_now(reads.latest_results, 9, "chess")


def test_an_agent_with_its_records(league):
    ada = league.agent("Ada", "f1")
    bob = league.agent("bob")
    league.play(ada, bob, "win", "loss")
    agent_id = league.rows(f"SELECT agent_id FROM versions WHERE id = {ada}")[0].agent_id
    second = league.do(agents.ensure_version, agent_id, "f2", league.now())
    league.do(agents.join_ladder, league.ladders["tic_tac_toe"], second.id, league.now())
    row = league.db.read_now(reads.agent, "ADA")
    assert (row.name, row.version, row.house, row.owner, row.retired_at) == ("Ada", 2, False, None, None)
    assert [(record.ladder, record.version, record.games, record.wins) for record in row.ladders] == [
        ("connect_four", 1, 2, 2),
        ("tic_tac_toe", 2, 0, 0),
    ]
    versions = league.db.read_now(reads.versions, "ada")
    assert [[record.ladder for record in version.ladders] for version in versions] == [
        ["tic_tac_toe"],
        ["connect_four"],
    ]
    league.do(agents.join_ladder, league.ladder, second.id, league.now())
    assert [record.version for record in league.db.read_now(reads.agent, "ada").ladders] == [2, 2]


@pytest.mark.parametrize("name", ["nobody", "", "\0", "\ud800", "a'; DROP TABLE agents; --"])
def test_an_agent_that_is_not_there_is_none(league, name):
    assert league.db.read_now(reads.agent, name) is None
    assert league.db.read_now(reads.versions, name) == []
    assert league.db.read_now(reads.ladder, name) is None


def test_pages_of_agents_by_name_while_agents_register(league):
    names = ["Zoë", "ada", "Bob", "李", "éa", "eve", "a-1", "a1", "A_1", "house"]
    for name in names:
        league.agent(name)
    page = reader(league, reads.agents_page)
    first = [row.name for row in flat(pages(page, limit=3))]
    assert sorted(first) == sorted(names)
    newcomers = iter(["aa", "zz", "m", "b", "c", "d"])
    second = [row.name for row in flat(pages(page, lambda: league.agent(next(newcomers)), limit=3))]
    assert [name for name in second if name in names] == first
    assert len(second) == len(set(second))


def test_losses_are_counted_by_cause_over_all_versions(league):
    ada, bob = league.agent("ada"), league.agent("bob")
    league.play(ada, bob, "loss", "draw")
    for match in league.queue(ada, bob):
        league.finish(match, league.run(match), "loss", "timeout")
    for match in league.queue(ada, bob):
        league.finish(match, league.run(match), "loss", "timeout")
    assert list(league.db.read_now(reads.losses, "ADA").items()) == [("timeout", 2), ("normal", 1)]
    assert league.db.read_now(reads.losses, "bob") == {"timeout": 2}
    assert league.db.read_now(reads.losses, "nobody") == {}


def test_a_void_match_knows_its_replay(league):
    first, second = league.queue(league.agent("ada"), league.agent("bob"))
    again = league.void(first, league.begin(first), replay=True)
    assert league.db.read_now(reads.replay_of_match, first) == again
    assert league.db.read_now(reads.replay_of_match, second) is None
    assert league.db.read_now(reads.replay_of_match, 2**40) is None
