"""Opaque tokens: who may do what. Only their hashes are stored; each has a scope, and can be revoked."""

import hashlib
import secrets
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, Select, insert, or_, select, update

from server.db import cursor as cursors
from server.db.rows import TokenRow
from server.db.schema import MAX_ID, agents, tokens

TOKEN_PREFIX = "ply_"  # noqa: S105 - what every token starts with, so that leaked ones can be found

PLAY, ADMIN, REGISTER, LINK = "play", "admin", "register", "link"
"""Play as an agent, look after the server, register agents, and become somebody once by opening a link."""


class Issued(NamedTuple):
    """A new token, in clear for this once."""

    id: int
    token: str


class Bearer(NamedTuple):
    """Who holds a token: an agent if it is for playing, else somebody with a label at most."""

    token_id: int
    scope: str
    agent_id: int | None
    name: str | None
    house: bool
    label: str | None


def issue(
    conn: Connection,
    scope: str,
    now: datetime,
    *,
    agent_id: int | None = None,
    label: str | None = None,
    expires_at: datetime | None = None,
) -> Issued:
    """Make a token: of scope `play` for an agent, else for nobody. Without `expires_at` it lasts."""
    if (scope == PLAY) != (agent_id is not None):
        raise ValueError(f"expected an agent for the scope {PLAY} only, got {agent_id} for {scope}")
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    row = {
        "token_hash": _hash(token),
        "agent_id": agent_id,
        "scope": scope,
        "label": label,
        "created_at": now,
        "expires_at": expires_at,
    }
    return Issued(conn.execute(insert(tokens).values(row).returning(tokens.c.id)).scalar_one(), token)


def find(conn: Connection, token: str, now: datetime) -> Bearer | None:
    """Return whose token this is; None for an unknown, revoked, expired or used one, or a retired agent's."""
    found = conn.execute(_bearers().where(_is_good(token, now), agents.c.retired_at.is_(None))).one_or_none()
    return _bearer(found) if found else None


def spend_link(conn: Connection, token: str, now: datetime) -> Bearer | None:
    """Use a link, which nobody can do twice. None if it is none, or not good any more."""
    spent = conn.execute(
        update(tokens)
        .where(_is_good(token, now), tokens.c.scope == LINK)
        .values(used_at=now)
        .returning(tokens.c.id)
    ).scalar()
    if spent is None:
        return None
    return _bearer(conn.execute(_bearers().where(tokens.c.id == spent)).one())


def revoke(conn: Connection, token_id: int, now: datetime) -> bool:
    """Make a token worthless. False if there is no such token, or it is revoked already."""
    if not 0 < token_id <= MAX_ID:
        return False
    revoked = conn.execute(
        update(tokens).where(tokens.c.id == token_id, tokens.c.revoked_at.is_(None)).values(revoked_at=now)
    )
    return revoked.rowcount == 1


def tokens_page(
    conn: Connection, *, scope: str | None = None, cursor: str | None = None, limit: int = 50
) -> tuple[list[TokenRow], str | None]:
    """Return a page of the tokens, the newest first; revoked, expired and used ones too."""
    query = _tokens().order_by(tokens.c.id.desc()).limit(limit + 1)
    if scope is not None:
        query = query.where(tokens.c.scope == scope)
    if cursor is not None:
        query = query.where(tokens.c.id < cursors.decode(cursor, tuple[cursors.Id])[0])
    found, more = cursors.cut(conn.execute(query).all(), limit)
    return [_row(row) for row in found], cursors.encode(found[-1].id) if more else None


def token_row(conn: Connection, token_id: int) -> TokenRow | None:
    """Return a token by its number; None if there is none."""
    if not 0 < token_id <= MAX_ID:
        return None
    found = conn.execute(_tokens().where(tokens.c.id == token_id)).one_or_none()
    return _row(found) if found else None


def is_good(conn: Connection, token_id: int, now: datetime) -> bool:
    """Whether a token is worth something still."""
    return conn.execute(select(tokens.c.id).where(tokens.c.id == token_id, _lasts(now))).first() is not None


def first_link(conn: Connection, now: datetime, expires_at: datetime) -> str | None:
    """Make the link by which a server gets its first admin; None if an admin's token is good already.

    A write. Older links are void from now on.
    """
    admins = select(tokens.c.id).where(tokens.c.scope == ADMIN, _lasts(now))
    if conn.execute(admins.limit(1)).first() is not None:
        return None
    unused = (tokens.c.scope == LINK) & tokens.c.used_at.is_(None) & tokens.c.revoked_at.is_(None)
    conn.execute(update(tokens).where(unused).values(revoked_at=now))
    return issue(conn, LINK, now, expires_at=expires_at).token


def _tokens() -> Select[Any]:
    return select(tokens, agents.c.name.label("agent")).outerjoin(agents, agents.c.id == tokens.c.agent_id)


def _row(row: Row[Any]) -> TokenRow:
    return TokenRow(
        id=row.id,
        scope=row.scope,
        agent=row.agent,
        label=row.label,
        created_at=row.created_at,
        expires_at=row.expires_at,
        used_at=row.used_at,
        revoked_at=row.revoked_at,
    )


def _bearers() -> Select[Any]:
    return select(
        tokens.c.id, tokens.c.scope, tokens.c.agent_id, tokens.c.label, agents.c.name, agents.c.house
    ).outerjoin(agents, agents.c.id == tokens.c.agent_id)


def _bearer(row: Row[Any]) -> Bearer:
    return Bearer(row.id, row.scope, row.agent_id, row.name, bool(row.house), row.label)


def _is_good(token: str, now: datetime) -> ColumnElement[bool]:
    """Whether a row is of this token, which is neither revoked nor expired nor used."""
    return (tokens.c.token_hash == _hash(token)) & _lasts(now)


def _lasts(now: datetime) -> ColumnElement[bool]:
    """Whether a row's token is neither revoked nor used nor expired."""
    return (
        tokens.c.revoked_at.is_(None)
        & tokens.c.used_at.is_(None)
        & or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > now)
    )


def _hash(token: str) -> str:
    """Return what is stored. Tokens have 256 random bits, so a plain hash cannot be searched."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
