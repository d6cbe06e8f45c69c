"""Tokens over HTTP: who may make, see and revoke them, and how the first admin comes to one."""

import asyncio
from datetime import timedelta

import pytest

from agents import protocol
from games.errors import InputError
from server.admission import Admission
from server.db import agents, reads, tokens
from server.http.services import BAD_TOKENS_A_MINUTE, TOKENS_A_MINUTE
from server.settings import Settings

PATH = "/api/v1/tokens"
REDEEM = "/api/v1/links/redeem"


@pytest.fixture
def ask(client):
    """Send a request with a token, and expect a status; returns the JSON of the answer."""

    async def send(method, path, token=None, status=200, body=None, **headers):
        named = {"Authorization": f"Bearer {token}"} if token else {}
        response = await client.request(method, path, json=body, headers={**named, **headers})
        assert response.status == status, await response.text()
        return await response.json() if await response.read() else None

    return send


@pytest.fixture
def admin(db, clock):
    return db.write_now(tokens.issue, tokens.ADMIN, clock()).token


@pytest.fixture
def ada(db, clock):
    """Ada's own token."""
    return db.write_now(lambda conn: agents.register(conn, "ada", owner=None, house=False, now=clock())).token


@pytest.fixture
def link(db, clock):
    return db.write_now(tokens.first_link, clock(), clock() + timedelta(days=1))


def scope_of(db, clock, token):
    found = db.read_now(tokens.find, token, clock())
    return found and (found.scope, found.name)


# who may make them -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "scope"),
    [
        ({"scope": "play", "agent": "ADA"}, ("play", "ada")),
        ({"scope": "register", "label": "spring course"}, ("register", None)),
        ({"scope": "admin", "expires_in_s": 60}, ("admin", None)),
    ],
    ids=lambda value: value["scope"] if isinstance(value, dict) else "",
)
async def test_an_admin_makes_tokens_of_any_scope(ask, admin, ada, db, clock, wanted, scope):
    made = await ask("POST", PATH, admin, 201, wanted)
    assert set(made) == {"id", "token", "scope", "agent", "label", "expires_at"}
    assert scope_of(db, clock, made["token"]) == scope
    assert (made["scope"], made["agent"], made["label"]) == (*scope, wanted.get("label"))


async def test_an_agent_makes_another_token_of_its_own_and_no_other(ask, ada, db, clock, world):
    world.agent("bob")
    for wanted in ({"scope": "play"}, {"scope": "play", "agent": "Ada"}):
        made = await ask("POST", PATH, ada, 201, wanted)
        assert scope_of(db, clock, made["token"]) == ("play", "ada")
    for wanted in ({"scope": "play", "agent": "bob"}, {"scope": "admin"}, {"scope": "register"}):
        assert (await ask("POST", PATH, ada, 403, wanted))["code"] == "wrong_scope"


async def test_a_token_ends_when_it_said(ask, admin, clock):
    brief = await ask("POST", PATH, admin, 201, {"scope": "admin", "expires_in_s": 60})
    clock.advance(59)
    await ask("GET", PATH, brief["token"])
    clock.advance(1)
    assert (await ask("GET", PATH, brief["token"], 401))["code"] == "bad_token"


@pytest.mark.parametrize(
    ("wanted", "status", "code"),
    [
        ({"scope": "play"}, 400, "bad_body"),
        ({"scope": "register", "agent": "ada"}, 400, "bad_body"),
        ({"scope": "link"}, 400, "bad_body"),
        ({"scope": "root"}, 400, "bad_body"),
        ({}, 400, "bad_body"),
        ({"scope": "admin", "expires_in_s": 0}, 400, "bad_body"),
        ({"scope": "admin", "expires_in_s": 10**12}, 400, "bad_body"),
        ({"scope": "admin", "label": "x" * 101}, 400, "bad_body"),
        ({"scope": "admin", "owner": "me"}, 400, "bad_body"),
        ({"scope": "play", "agent": "nobody"}, 404, "unknown_agent"),
        ({"scope": "play", "agent": "\ud800"}, 400, "bad_json"),
        ({"scope": "play", "agent": "minimax"}, 409, "house_agent"),
    ],
)
async def test_what_makes_no_token(client, ask, admin, ada, db, clock, wanted, status, code):
    db.write_now(agents.ensure_house, "minimax", clock())
    assert (await ask("POST", PATH, admin, status, wanted))["code"] == code


@pytest.mark.parametrize(("method", "path"), [("GET", PATH), ("POST", PATH), ("DELETE", f"{PATH}/1")])
async def test_without_a_good_token_nothing_is_done(client, ask, db, clock, method, path):
    body = {"scope": "admin"} if method == "POST" else None
    response = await client.request(method, path, json=body)
    assert (response.status, response.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert (await response.json())["code"] == "no_token"
    for wrong in ("ply_wrong", "x", "é"):
        assert (await ask(method, path, wrong, 401, body))["code"] == "bad_token"
    basic = {"Authorization": "Basic YTpi"}
    assert (await ask(method, path, None, 401, body, **basic))["code"] == "no_token"
    for scope in (tokens.REGISTER, tokens.LINK):
        other = db.write_now(tokens.issue, scope, clock()).token
        assert (await ask(method, path, other, 403, body))["code"] == "wrong_scope"


async def test_a_token_in_the_address_is_refused(ask, admin):
    problem = await ask("GET", f"{PATH}?token={admin}", None, 401)
    assert admin not in str(problem)
    problem = await ask("GET", f"/api/v1/agents?token={admin}", admin, 400)
    assert problem["code"] == "unknown_parameter"
    assert admin not in str(problem)


async def test_a_page_of_another_site_can_do_nothing_even_with_a_token(ask, admin):
    evil = {"Origin": "http://evil.example"}
    for method, path, body in (
        ("POST", PATH, {"scope": "admin"}),
        ("DELETE", f"{PATH}/1", None),
        ("POST", REDEEM, {"code": "x"}),
    ):
        assert (await ask(method, path, admin, 403, body, **evil))["code"] == "bad_origin"


# the list --------------------------------------------------------------------------------------------------


async def test_the_list_tells_all_but_the_tokens(ask, admin, ada, clock):
    invitation = await ask(
        "POST", PATH, admin, 201, {"scope": "register", "label": "spring", "expires_in_s": 60}
    )
    page = await ask("GET", PATH, admin)
    newest = page["items"][0]
    assert newest["id"] == invitation["id"]
    assert (newest["scope"], newest["label"], newest["agent"]) == ("register", "spring", None)
    assert newest["expires_at"] == "2026-03-01T12:01:00Z"
    assert newest["used_at"] is newest["revoked_at"] is None
    assert {row["agent"] for row in page["items"]} == {"ada", None}
    for secret in (admin, ada, invitation["token"]):
        assert secret not in str(page)
    of_agents = await ask("GET", f"{PATH}?scope=play", admin)
    assert [row["agent"] for row in of_agents["items"]] == ["ada"]


async def test_an_agent_sees_no_list(ask, ada):
    assert (await ask("GET", PATH, ada, 403))["code"] == "wrong_scope"


# revoking --------------------------------------------------------------------------------------------------


async def test_a_revoked_token_is_worth_nothing_and_its_connection_is_told(
    ask, admin, ada, revoked, db, clock
):
    [row] = (await ask("GET", f"{PATH}?scope=play", admin))["items"]
    await ask("DELETE", f"{PATH}/{row['id']}", admin, 204)
    assert revoked == [row["id"]]
    assert (await ask("POST", PATH, ada, 401, {"scope": "play"}))["code"] == "bad_token"
    [row] = (await ask("GET", f"{PATH}?scope=play", admin))["items"]
    assert row["revoked_at"] is not None
    await ask("DELETE", f"{PATH}/{row['id']}", admin, 204)
    assert revoked == [row["id"]], "once is enough"


async def test_an_agent_changes_its_token_by_two_requests(ask, ada, admin, world, revoked):
    fresh = await ask("POST", PATH, ada, 201, {"scope": "play"})
    [newest, old] = (await ask("GET", f"{PATH}?scope=play", admin))["items"]
    assert newest["id"] == fresh["id"]
    await ask("DELETE", f"{PATH}/{old['id']}", fresh["token"], 204)
    await ask("POST", PATH, ada, 401, {"scope": "play"})
    await ask("POST", PATH, fresh["token"], 201, {"scope": "play"})


async def test_an_agent_cannot_revoke_what_is_not_its_own(ask, admin, ada, world):
    world.agent("bob")
    rows = (await ask("GET", PATH, admin))["items"]
    others = [row["id"] for row in rows if row["agent"] != "ada"]
    assert len(others) == 2
    for number in others:
        assert (await ask("DELETE", f"{PATH}/{number}", ada, 404))["code"] == "unknown_token"


async def test_nobody_locks_themselves_out(ask, admin):
    [own] = (await ask("GET", f"{PATH}?scope=admin", admin))["items"]
    assert (await ask("DELETE", f"{PATH}/{own['id']}", admin, 409))["code"] == "token_in_use"
    await ask("GET", PATH, admin)


@pytest.mark.parametrize(
    ("number", "status", "code"),
    [("999", 404, "unknown_token"), ("0", 404, "unknown_token"), ("9" * 6000, 404, "unknown_token"),
     ("-1", 400, "bad_id"), ("x", 400, "bad_id"), ("1.0", 400, "bad_id"), ("%EF%BC%91", 400, "bad_id")],
)  # fmt: skip
async def test_odd_numbers_of_tokens(ask, admin, number, status, code):
    assert (await ask("DELETE", f"{PATH}/{number}", admin, status))["code"] == code


async def test_a_token_that_is_revoked_while_its_agent_comes_in_lets_nobody_in(ada, db, clock, world):
    ladder_ids = {name: ladder.id for name, ladder in world.ladders.items()}
    admission = Admission(db, ladder_ids, "house", clock)
    hello = protocol.Hello(protocol=1, agent="ada", ladders=["connect_four"])
    identity = await admission.identify(hello, ada)
    db.write_now(tokens.revoke, identity.token_id, clock())
    with pytest.raises(InputError, match="a revoked one"):
        await admission.enter(identity, hello)
    assert db.read_now(reads.agent, "ada").version is None


# limits ----------------------------------------------------------------------------------------------------


async def test_making_tokens_has_a_limit_that_names_itself(ask, admin, clock):
    for _ in range(TOKENS_A_MINUTE):
        await ask("POST", PATH, admin, 201, {"scope": "register"})
    problem = await ask("POST", PATH, admin, 429, {"scope": "register"})
    assert (problem["limit"], problem["retry_after"]) == ("tokens_per_holder", 1)
    clock.advance(1)
    await ask("POST", PATH, admin, 201, {"scope": "register"})


async def test_guessing_has_a_limit_and_a_good_token_goes_on(ask, admin):
    for _ in range(BAD_TOKENS_A_MINUTE):
        await ask("GET", PATH, "ply_guess", 401)
    assert (await ask("GET", PATH, "ply_guess", 429))["limit"] == "bad_tokens_per_address"
    assert (await ask("POST", REDEEM, None, 429, {"code": "guess"}))["limit"] == "bad_tokens_per_address"
    await ask("GET", PATH, admin)


class TestFewRequests:
    """With a limit of three requests a minute."""

    @pytest.fixture
    def settings(self, tmp_path):
        return Settings(data_dir=tmp_path, requests_per_min=3)

    async def test_reading_and_writing_count_together(self, client, clock):
        await client.get("/api/v1/agents")
        await client.head("/api/v1/matches/1")
        await client.post("/api/v1/agents", json={"name": "ada"})
        refused = await client.get("/api/v1/ladders")
        problem = await refused.json()
        assert (refused.status, problem["limit"]) == (429, "requests_per_address")
        assert refused.headers["Retry-After"] == str(problem["retry_after"]) == "20"
        assert (await client.get("/healthz")).status == 200, "a probe is never refused"
        clock.advance(20)
        assert (await client.get("/api/v1/ladders")).status == 200


# invitations -----------------------------------------------------------------------------------------------

ELSEWHERE = {"X-Forwarded-For": "192.0.2.7"}


async def test_an_invitation_lets_agents_register_from_anywhere(ask, admin):
    made = await ask("POST", PATH, admin, 201, {"scope": "register"})
    refused = await ask("POST", "/api/v1/agents", None, 403, {"name": "bob"}, **ELSEWHERE)
    assert refused["code"] == "registration_closed"
    assert "invitation" in refused["detail"]
    for name in ("bob", "cat"):
        await ask("POST", "/api/v1/agents", made["token"], 201, {"name": name}, **ELSEWHERE)
    await ask("DELETE", f"{PATH}/{made['id']}", admin, 204)
    await ask("POST", "/api/v1/agents", made["token"], 401, {"name": "dan"}, **ELSEWHERE)


async def test_an_invitation_runs_out(ask, admin, clock):
    made = await ask("POST", PATH, admin, 201, {"scope": "register", "expires_in_s": 3600})
    clock.advance(3600)
    refused = await ask("POST", "/api/v1/agents", made["token"], 401, {"name": "bob"}, **ELSEWHERE)
    assert refused["code"] == "bad_token"


async def test_a_token_to_play_is_no_invitation(ask, ada):
    refused = await ask("POST", "/api/v1/agents", ada, 403, {"name": "bob"}, **ELSEWHERE)
    assert refused["code"] == "wrong_scope"


async def test_a_bad_invitation_is_told_even_where_none_is_needed(ask):
    assert (await ask("POST", "/api/v1/agents", "ply_wrong", 401, {"name": "bob"}))["code"] == "bad_token"


# the first admin -------------------------------------------------------------------------------------------


async def test_the_link_gives_an_admins_token_once(ask, link, db, clock):
    made = await ask("POST", REDEEM, None, 201, {"code": link})
    assert scope_of(db, clock, made["token"]) == ("admin", None)
    problem = await ask("POST", REDEEM, None, 403, {"code": link})
    assert problem["code"] == "bad_link"
    assert problem["detail"] == (
        "expected a link that nobody has used, "
        "got one that was used, has run out, or was replaced by a newer one"
    )
    assert (await ask("GET", PATH, link, 401))["code"] == "bad_token", "the link itself is no token"


async def test_of_two_who_click_at_once_one_becomes_admin(client, link):
    answers = await asyncio.gather(*(client.post(REDEEM, json={"code": link}) for _ in range(6)))
    assert sorted(answer.status for answer in answers) == [201] + [403] * 5


async def test_a_fresh_link_voids_the_older_one(ask, link, db, clock):
    fresh = db.write_now(tokens.first_link, clock(), clock() + timedelta(days=1))
    assert fresh != link
    await ask("POST", REDEEM, None, 403, {"code": link})
    await ask("POST", REDEEM, None, 201, {"code": fresh})


async def test_a_link_runs_out(ask, link, clock):
    clock.advance(24 * 3600)
    await ask("POST", REDEEM, None, 403, {"code": link})


async def test_there_is_no_link_once_there_is_an_admin(admin, db, clock):
    day = timedelta(days=1)
    assert db.write_now(tokens.first_link, clock(), clock() + day) is None
    [row], _ = db.read_now(tokens.tokens_page)
    db.write_now(tokens.revoke, row.id, clock())
    assert db.write_now(tokens.first_link, clock(), clock() + day) is not None, "the admin is gone"


@pytest.mark.parametrize("code", ["", "x", "é", "x" * 5000])
async def test_what_is_no_link(ask, link, code):
    assert (await ask("POST", REDEEM, None, 403, {"code": code}))["code"] == "bad_link"


async def test_a_token_of_another_kind_is_no_link_and_stays_good(ask, admin, ada, db, clock):
    for token in (admin, ada):
        assert (await ask("POST", REDEEM, None, 403, {"code": token}))["code"] == "bad_link"
        assert db.read_now(tokens.find, token, clock()) is not None
