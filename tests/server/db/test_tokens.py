"""Tokens as rows: what each is good for, until when, and that nothing in the database gives one away."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from games.errors import InputError
from server.db import agents, tokens


@pytest.fixture
def ada(league):
    now = league.now()
    return league.do(lambda conn: agents.register(conn, "Ada", owner=None, house=False, now=now))


def issue(league, scope, **options):
    now = league.now()
    return league.do(lambda conn: tokens.issue(conn, scope, now, **options))


def find(league, token, now=None):
    return league.db.read_now(tokens.find, token, now or league.now())


def test_the_token_of_an_agent_finds_it_and_is_not_stored(league, ada):
    assert ada.token.startswith("ply_")
    found = find(league, ada.token)
    assert (found.scope, found.agent_id, found.name, found.house) == ("play", ada.agent_id, "Ada", False)
    assert ada.token not in repr(league.rows("SELECT * FROM tokens"))
    assert len({ada.token, *(issue(league, "admin").token for _ in range(20))}) == 21


@pytest.mark.parametrize("scope", ["admin", "register", "link"])
def test_a_token_of_nobody_has_its_scope_and_label(league, scope):
    made = issue(league, scope, label="for the lab, 200 students")
    assert find(league, made.token) == tokens.Bearer(
        made.id, scope, None, None, house=False, label="for the lab, 200 students"
    )
    assert made.token not in repr(league.rows("SELECT * FROM tokens"))


@pytest.mark.parametrize("token", ["", "ply_", "ply_wrong", "ply_\0", "ply_\ud800", "x" * 100_000])
def test_an_unknown_token_finds_nobody(league, ada, token):
    assert find(league, token) is None
    assert league.do(tokens.spend_link, token, league.now()) is None


def test_only_tokens_to_play_are_an_agents(league, ada):
    for scope, agent_id in (("play", None), ("admin", ada.agent_id), ("link", ada.agent_id)):
        with pytest.raises(ValueError, match="an agent for the scope play only"):
            issue(league, scope, agent_id=agent_id)
    for change in ("scope = 'admin'", "agent_id = NULL", "scope = 'everything'"):
        with pytest.raises(IntegrityError):
            league.do(lambda conn, sql=f"UPDATE tokens SET {change}": conn.execute(text(sql)))
    assert find(league, ada.token).scope == "play"


def test_a_revoked_token_is_nobodys_and_the_others_stay(league, ada):
    extra = issue(league, "play", agent_id=ada.agent_id)
    assert league.do(tokens.revoke, extra.id, league.now())
    assert find(league, extra.token) is None
    assert find(league, ada.token).name == "Ada"
    assert not league.do(tokens.revoke, extra.id, league.now())
    for nothing in (0, -1, 99, 2**31, 10**30):
        assert not league.do(tokens.revoke, nothing, league.now())


def test_a_retired_agents_token_is_nobodys(league, ada):
    league.do(lambda conn: conn.execute(text("UPDATE agents SET retired_at = created_at")).close())
    assert find(league, ada.token) is None


@pytest.mark.parametrize("scope", ["admin", "link"])
def test_a_token_is_good_until_it_expires(league, scope):
    end = league.now() + timedelta(hours=1)
    made = issue(league, scope, expires_at=end)
    instant = timedelta(microseconds=1)
    assert find(league, made.token, end - instant).scope == scope
    assert find(league, made.token, end) is None
    assert find(league, made.token, end + instant) is None
    assert league.do(tokens.spend_link, made.token, end) is None


def test_a_link_is_spent_once(league):
    link = issue(league, "link", label="first start")
    assert find(league, link.token).scope == "link"
    assert league.do(tokens.spend_link, link.token, league.now()).label == "first start"
    assert league.do(tokens.spend_link, link.token, league.now()) is None
    assert find(league, link.token) is None


async def test_of_all_who_open_a_link_at_once_one_gets_in(league):
    link = issue(league, "link")
    now = league.now()
    answers = await asyncio.gather(
        *(league.db.write(lambda conn: tokens.spend_link(conn, link.token, now)) for _ in range(20))
    )
    assert [answer.token_id for answer in answers if answer is not None] == [link.id]


def test_only_links_are_spent(league, ada):
    for token in (ada.token, issue(league, "admin").token, issue(league, "register").token):
        assert league.do(tokens.spend_link, token, league.now()) is None
        assert find(league, token) is not None
    revoked = issue(league, "link")
    league.do(tokens.revoke, revoked.id, league.now())
    assert league.do(tokens.spend_link, revoked.token, league.now()) is None


def test_pages_of_tokens_while_tokens_are_issued(league, ada):
    ids = [issue(league, "register", label=f"seat {number}").id for number in range(20)]
    found, cursor = [], None
    while cursor is not None or not found:
        page, cursor = league.db.read_now(
            lambda conn, at=cursor: tokens.tokens_page(conn, cursor=at, limit=6)
        )
        found += page
        issue(league, "admin")
    assert [row.id for row in found] == [*reversed(ids), found[-1].id]
    assert (found[-1].agent, found[-1].scope, found[-1].label) == ("Ada", "play", None)
    only = league.db.read_now(lambda conn: tokens.tokens_page(conn, scope="play"))
    assert only == ([found[-1]], None)
    with pytest.raises(InputError, match="next"):
        league.db.read_now(lambda conn: tokens.tokens_page(conn, cursor="!"))


def test_a_page_tells_what_has_happened_to_a_token(league):
    end = league.now() + timedelta(days=1)
    link = issue(league, "link", label="ü\0", expires_at=end)
    used, revoked = league.now(), league.now()
    league.do(tokens.spend_link, link.token, used)
    league.do(tokens.revoke, link.id, revoked)
    [row], _ = league.db.read_now(tokens.tokens_page)
    assert (row.label, row.expires_at, row.used_at, row.revoked_at) == ("ü\ufffd", end, used, revoked)
    assert row.created_at < used
