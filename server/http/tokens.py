"""Tokens: made, listed, revoked, and the first one got by a one-use link."""

from datetime import datetime, timedelta
from typing import Annotated, Literal, TypeAlias

import msgspec
from aiohttp import web
from sqlalchemy import Connection

from games.errors import InputError
from server.core.names import name_key
from server.db import agents, tokens
from server.db.rows import TokenRow
from server.db.tokens import ADMIN, PLAY, Bearer, Issued
from server.http.endpoint import Call, answer
from server.http.security import address_of
from server.http.validation import read_number
from server.http.views import Instant, Page, PageLimit

MAX_AGE_S = 10 * 365 * 24 * 3600
MAX_LABEL = 100

Scope: TypeAlias = Literal["play", "admin", "register", "link"]

_ONCE = {"Cache-Control": "no-store"}


class TokenRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a new token is for: to `play` as an agent, to `register` agents, or for an `admin`.

    `agent` names the agent of a token to play; an agent's own token can leave it out. Without `expires_in_s`
    the token lasts until it is revoked.
    """

    scope: Literal["play", "admin", "register"]
    agent: str | None = None
    label: Annotated[str, msgspec.Meta(max_length=MAX_LABEL)] | None = None
    expires_in_s: Annotated[int, msgspec.Meta(ge=1, le=MAX_AGE_S)] | None = None


class TokenIssued(msgspec.Struct, frozen=True):
    """A new token, which is shown this once."""

    id: int
    token: str
    scope: Scope
    agent: str | None
    label: str | None
    expires_at: Instant | None


class TokenView(msgspec.Struct, frozen=True):
    """A token as it is listed: all about it but the token itself."""

    id: int
    scope: Scope
    agent: str | None
    label: str | None
    created_at: Instant
    expires_at: Instant | None
    used_at: Instant | None
    revoked_at: Instant | None


class LinkCode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands behind the # of a one-use link."""

    code: str


class TokensQuery(msgspec.Struct, frozen=True):
    """Which tokens: of one scope; the newest first."""

    scope: Scope | None = None
    limit: PageLimit = 50
    cursor: str | None = None


async def issue_token(call: Call) -> web.Response:
    """Make a token.

    Raises InputError: `wrong_scope`, `bad_body`, `unknown_agent`, `house_agent`, `too_many_requests`.
    """
    bearer, wanted, now = _holder(call), call.body, call.services.clock()
    _check_may(bearer, wanted)
    call.services.limits.tokens.spend(str(bearer.token_id), now)
    made = await call.services.db.write(_issue, bearer, wanted, now, durable=True)
    return answer(made, 201, _ONCE)


async def list_tokens(call: Call) -> web.Response:
    """Answer a page of the tokens, the newest first."""
    query: TokensQuery = call.query
    rows, following = await call.services.db.read(
        tokens.tokens_page, scope=query.scope, cursor=query.cursor, limit=query.limit
    )
    return answer(Page(items=msgspec.convert(rows, list[TokenView], from_attributes=True), next=following))


async def revoke_token(call: Call) -> web.Response:
    """Make a token worthless, and end the connection that was made with it. Once more changes nothing.

    Raises InputError: `bad_id`, `unknown_token`, `token_in_use`, `too_many_requests`.
    """
    bearer, text, now = _holder(call), call.path["id"], call.services.clock()
    number = read_number(text, "a token")
    call.services.limits.tokens.spend(str(bearer.token_id), now)
    if await call.services.db.write(_revoke, bearer, number, text, now, durable=True):
        call.services.on_revoked(number)
    return web.Response(status=204, headers=_ONCE)


async def redeem_link(call: Call) -> web.Response:
    """Give the token of an admin for a one-use link. Raises InputError: `bad_link`, `too_many_requests`."""
    services, now = call.services, call.services.clock()
    made = await services.db.write(_redeem, call.body.code, now, durable=True)
    if made is None:
        services.limits.bad_tokens.spend(address_of(call.request), now)
        raise InputError(
            "bad_link",
            expected="a link that nobody has used",
            got="one that was used, has run out, or was replaced by a newer one",
        )
    return answer(_told(made, "admin"), 201, _ONCE)


def _holder(call: Call) -> Bearer:
    assert call.bearer is not None, "the endpoint asks for a token"
    return call.bearer


def _check_may(bearer: Bearer, wanted: TokenRequest) -> None:
    """Refuse a request that contradicts itself, or asks for more than its own agent's."""
    if bearer.scope != ADMIN:
        own = wanted.agent is None or name_key(wanted.agent) == name_key(bearer.name or "")
        if wanted.scope != PLAY or not own:
            raise InputError(
                "wrong_scope", expected=f"a token to play as {bearer.name!r}", got="another", where="the body"
            )
    elif (wanted.scope == PLAY) != (wanted.agent is not None):
        expected = "an agent" if wanted.scope == PLAY else f"no agent for the scope {wanted.scope}"
        got = "none" if wanted.agent is None else repr(wanted.agent)
        raise InputError("bad_body", expected=expected, got=got, where="agent of the body")


def _issue(conn: Connection, bearer: Bearer, wanted: TokenRequest, now: datetime) -> TokenIssued:
    """Carry out a request that was checked, in the writer."""
    agent = None
    if wanted.scope == PLAY:
        name = wanted.agent or bearer.name or ""
        agent = agents.by_name(conn, name)
        if agent is None:
            raise InputError("unknown_agent", expected="an agent", got=repr(name))
        if agent.house:
            raise InputError("house_agent", expected="an agent of somebody", got="one of the house")
    expires_at = None if wanted.expires_in_s is None else now + timedelta(seconds=wanted.expires_in_s)
    made = tokens.issue(
        conn,
        wanted.scope,
        now,
        agent_id=agent.agent_id if agent else None,
        label=wanted.label,
        expires_at=expires_at,
    )
    return _told(made, wanted.scope, agent.name if agent else None, wanted.label, expires_at)


def _revoke(conn: Connection, bearer: Bearer, number: int, text: str, now: datetime) -> bool:
    """Revoke a token that the bearer may revoke, in the writer; False if it was revoked before."""
    found = tokens.token_row(conn, number)
    if found is None or not _may_revoke(bearer, found):
        raise InputError("unknown_token", expected="a token", got=text)
    if number == bearer.token_id:
        raise InputError(
            "token_in_use", expected="another token to revoke this one with", got="the token itself"
        )
    return tokens.revoke(conn, number, now)


def _may_revoke(bearer: Bearer, found: TokenRow) -> bool:
    return bearer.scope == ADMIN or (found.scope == PLAY and found.agent == bearer.name)


def _redeem(conn: Connection, code: str, now: datetime) -> Issued | None:
    if tokens.spend_link(conn, code, now) is None:
        return None
    return tokens.issue(conn, ADMIN, now, label="first admin")


def _told(
    made: Issued,
    scope: Scope,
    agent: str | None = None,
    label: str | None = None,
    expires_at: datetime | None = None,
) -> TokenIssued:
    return TokenIssued(made.id, made.token, scope, agent, label, expires_at)
