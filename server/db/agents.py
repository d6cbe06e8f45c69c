"""Agents, their versions, and the ladders they have joined."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, insert, select

from games.errors import InputError
from server.core import elo
from server.core.names import clean_name, name_key
from server.db.schema import agents, ratings, storable, versions
from server.db.tokens import PLAY, issue


class Registered(NamedTuple):
    """A new agent with its token, which is stored nowhere in clear."""

    agent_id: int
    name: str
    token: str


class Identity(NamedTuple):
    """An agent."""

    agent_id: int
    name: str
    house: bool


class Version(NamedTuple):
    """A version of an agent: what is rated and sits in matches. Numbers count from 1."""

    id: int
    number: int


def register(conn: Connection, name: str, *, owner: str | None, house: bool, now: datetime) -> Registered:
    """Make an agent and a token for it.

    Raises InputError `bad_name`, or `name_taken` if an agent, a retired one too, has a name that differs
    in case or form only.
    """
    name = clean_name(name)
    taken = _agent(conn, name)
    if taken is not None:
        raise _taken(taken.name)
    agent_id = _insert_agent(conn, name, owner=owner, house=house, now=now)
    return Registered(agent_id, name, issue(conn, PLAY, now, agent_id=agent_id).token)


def by_name(conn: Connection, name: str) -> Identity | None:
    """Return the agent of that name, in whatever case; None if there is none, or it is retired."""
    query = select(agents.c.id, agents.c.name, agents.c.house)
    found = conn.execute(
        query.where(agents.c.name_key == name_key(name), agents.c.retired_at.is_(None))
    ).one_or_none()
    return Identity(found.id, found.name, found.house) if found else None


def ensure_house(conn: Connection, name: str, now: datetime) -> Identity:
    """Return the house agent of that name, made if need be. Raises InputError if somebody has the name."""
    name = clean_name(name)
    found = _agent(conn, name)
    if found is None:
        return Identity(_insert_agent(conn, name, owner=None, house=True, now=now), name, house=True)
    if not found.house:
        raise _taken(found.name)
    return Identity(found.id, found.name, house=True)


def is_changed(conn: Connection, agent_id: int, fingerprint: str | None) -> bool:
    """Whether this code is not that of the agent's newest version. An agent without any is not changed."""
    current = _current(conn, agent_id)
    return current is not None and not _is_code_of(current, fingerprint)


def ensure_version(conn: Connection, agent_id: int, fingerprint: str | None, now: datetime) -> Version:
    """Return the agent's current version, a new one if its code has changed.

    Without a fingerprint the agent goes on as its current version.
    """
    current = _current(conn, agent_id)
    if current is not None and _is_code_of(current, fingerprint):
        return Version(current.id, current.number)
    number = current.number + 1 if current is not None else 1
    made = insert(versions).values(
        agent_id=agent_id,
        number=number,
        fingerprint=fingerprint,
        parent_id=current.id if current is not None else None,
        created_at=now,
    )
    return Version(conn.execute(made.returning(versions.c.id)).scalar_one(), number)


def join_ladder(conn: Connection, ladder_id: int, version_id: int, now: datetime) -> None:
    """Give a version a rating on a ladder, if it has none: that of its nearest ancestor there, or 1500."""
    here = select(ratings.c.elo).where(ratings.c.ladder_id == ladder_id)
    if conn.execute(here.where(ratings.c.version_id == version_id)).first() is not None:
        return
    start: float | None = None
    ancestor = _parent(conn, version_id)
    while ancestor is not None and start is None:
        start = conn.execute(here.where(ratings.c.version_id == ancestor)).scalar()
        ancestor = _parent(conn, ancestor)
    start = elo.START if start is None else start
    conn.execute(
        insert(ratings).values(
            ladder_id=ladder_id,
            version_id=version_id,
            start_elo=start,
            elo=start,
            games=0,
            wins=0,
            draws=0,
            losses=0,
            joined_at=now,
        )
    )


def _current(conn: Connection, agent_id: int) -> Row[Any] | None:
    newest = select(versions).where(versions.c.agent_id == agent_id).order_by(versions.c.number.desc())
    return conn.execute(newest.limit(1)).one_or_none()


def _is_code_of(version: Row[Any], fingerprint: str | None) -> bool:
    return fingerprint is None or storable(fingerprint) == version.fingerprint


def _agent(conn: Connection, name: str) -> Row[Any, Any, Any] | None:
    query = select(agents.c.id, agents.c.name, agents.c.house).where(agents.c.name_key == name_key(name))
    return conn.execute(query).one_or_none()


def _insert_agent(conn: Connection, name: str, *, owner: str | None, house: bool, now: datetime) -> int:
    row = {"name": name, "name_key": name_key(name), "owner": owner, "house": house, "created_at": now}
    agent_id: int = conn.execute(insert(agents).values(row).returning(agents.c.id)).scalar_one()
    return agent_id


def _parent(conn: Connection, version_id: int) -> int | None:
    parent: int | None = conn.execute(
        select(versions.c.parent_id).where(versions.c.id == version_id)
    ).scalar()
    return parent


def _taken(name: str) -> InputError:
    return InputError("name_taken", expected="a name nobody has", got=repr(name))
