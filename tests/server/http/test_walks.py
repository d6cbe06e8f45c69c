"""Walking through a list page by page gives each row once, in one order, also while rows are being added."""

import pytest
from sqlalchemy import update

from server.db import agents, matches, schema, tokens

SIZE = 7
CONTROL = {"move_ms": 5000, "margin_ms": 200, "ready_ms": 10000}
RATINGS = (1400.0, 1500.0, 1600.0)


@pytest.fixture
def walk(get, client):
    """Walk through a list in pages of seven; `between` is called after the third page."""

    async def step_by_step(path, key, between=None, **headers):
        found, cursor, page = [], None, 0
        while True:
            asked = {"limit": SIZE, **({"cursor": cursor} if cursor else {})}
            response = await client.get(f"/api/v1/{path}", params=asked, headers=headers)
            assert response.status == 200, await response.text()
            told = await response.json()
            assert len(told["items"]) <= SIZE
            found += [row[key] for row in told["items"]]
            page += 1
            if page == 3 and between is not None:
                between()
            cursor = told["next"]
            if cursor is None:
                return found

    return step_by_step


@pytest.fixture
def crowd(world, db, clock):
    """40 agents with 3 different ratings, and 500 matches of two of them, made at the same time."""
    versions = [world.agent(f"agent-{number:02}") for number in range(40)]

    def fill(conn):
        for place, version in enumerate(versions):
            rating = {"elo": RATINGS[place % 3]}
            conn.execute(update(schema.ratings).where(schema.ratings.c.version_id == version).values(rating))
        ladder = world.ladders["connect_four"].id
        for _ in range(250):
            matches.queue_table(conn, ladder, (versions[0], versions[1]), CONTROL, clock())

    db.write_now(fill)
    return versions


def whole_and_stable(before, during, after, added):
    """Each row that was there all the time came once; walks without a change agree."""
    assert len(set(during)) == len(during), "no row twice"
    assert set(before) <= set(during), "no row left out"
    assert [row for row in during if row in set(before)] == before, "the order of the others is the same"
    assert set(after) == set(before) | added
    assert [row for row in after if row not in added] == before


async def test_PB26_matches_of_one_moment(walk, crowd, world):
    before = await walk("matches", "id")
    assert len(before) == 500
    assert await walk("matches", "id") == before
    added = set()
    during = await walk("matches", "id", lambda: added.update(world.match(crowd[2], crowd[3])))
    whole_and_stable(before, during, await walk("matches", "id"), added)


@pytest.mark.parametrize("rating", RATINGS)
async def test_PB26_standings_with_equal_ratings(walk, crowd, world, db, rating):
    path = "ladders/connect_four/standings"
    before = await walk(path, "agent")
    assert len(before) == 40
    assert await walk(path, "agent") == before

    def come():
        version = world.agent("aaa")
        row = update(schema.ratings).where(schema.ratings.c.version_id == version).values(elo=rating)
        db.write_now(lambda conn: conn.execute(row) and None)

    during = await walk(path, "agent", come)
    whole_and_stable(before, during, await walk(path, "agent"), {"aaa"})


@pytest.mark.parametrize("name", ["AGENT-00a", "agent-19b", "zzz", "0"])
async def test_PB26_agents_whose_names_come_anywhere(walk, crowd, world, name):
    before = await walk("agents", "name")
    assert len(before) == 40
    during = await walk("agents", "name", lambda: world.agent(name))
    whole_and_stable(before, during, await walk("agents", "name"), {name})


async def test_PB26_tokens_of_one_moment(walk, world, db, clock):
    admin = db.write_now(tokens.issue, tokens.ADMIN, clock()).token
    held = {"Authorization": f"Bearer {admin}"}
    made = [db.write_now(tokens.issue, tokens.REGISTER, clock()).id for _ in range(40)]
    before = await walk("tokens", "id", **held)
    assert before == [*sorted(made, reverse=True), min(before)]
    added = set()

    def one_more():
        added.add(db.write_now(tokens.issue, tokens.REGISTER, clock()).id)
        db.write_now(tokens.revoke, made[0], clock())
        db.write_now(lambda conn: agents.register(conn, "ada", owner=None, house=False, now=clock()))

    during = await walk("tokens", "id", one_more, **held)
    after = await walk("tokens", "id", **held)
    whole_and_stable(before, during, after, set(after) - set(before))
    assert added < set(after)
