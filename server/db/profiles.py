"""What there is to read about agents."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select

from server.core.names import name_key
from server.core.outcome import Outcome
from server.core.standings import PROVISIONAL_GAMES
from server.db import cursor as cursors
from server.db import schema
from server.db.rows import AgentRow, LadderRecord, VersionRow


def agents_page(
    conn: Connection, *, cursor: str | None = None, limit: int = 50
) -> tuple[list[AgentRow], str | None]:
    """Return a page of the agents by name, retired ones too."""
    key = schema.agents.c.name_key
    query = _agents().order_by(key).limit(limit + 1)
    if cursor is not None:
        query = query.where(key > cursors.decode(cursor, tuple[str])[0])
    found, more = cursors.cut(conn.execute(query).all(), limit)
    return _completed(conn, found), cursors.encode(found[-1].name_key) if more else None


def agent(conn: Connection, name: str) -> AgentRow | None:
    """Return the agent of that name, in whatever case."""
    found = conn.execute(_agents().where(schema.agents.c.name_key == name_key(name))).all()
    return _completed(conn, found)[0] if found else None


def versions(conn: Connection, name: str) -> list[VersionRow]:
    """Return all versions of an agent, the newest first; none for an unknown agent."""
    table, parents = schema.versions, schema.versions.alias("parents")
    found = conn.execute(
        select(table, parents.c.number.label("parent"))
        .join(schema.agents, schema.agents.c.id == table.c.agent_id)
        .outerjoin(parents, parents.c.id == table.c.parent_id)
        .where(schema.agents.c.name_key == name_key(name))
        .order_by(table.c.number.desc())
    ).all()
    records: dict[int, list[LadderRecord]] = defaultdict(list)
    for row in _ratings(conn, {row.agent_id for row in found}):
        records[row.version_id].append(_record(row))
    return [
        VersionRow(row.number, row.fingerprint, row.parent, row.created_at, tuple(records[row.id]))
        for row in found
    ]


def losses(conn: Connection, name: str) -> dict[str, int]:
    """Count the lost matches of an agent, all versions and ladders, by cause; the most frequent first."""
    counted: Counter[str] = Counter()
    for lost in losses_by_record(conn, name).values():
        counted.update(lost)
    return dict(sorted(counted.items(), key=lambda cause: (-cause[1], cause[0])))


def losses_by_record(conn: Connection, name: str) -> dict[tuple[str, int], dict[str, int]]:
    """Count the lost matches of an agent by cause, for each ladder and version, the most frequent first.

    They add up to `losses` of that version's record: both count what has a result. Reads every match of the
    agent.
    """
    seats, versions, ladders = schema.seats, schema.versions, schema.ladders
    number = func.count().label("number")
    found = conn.execute(
        select(ladders.c.name, versions.c.number.label("version"), seats.c.cause, number)
        .join(schema.matches, schema.matches.c.id == seats.c.match_id)
        .join(ladders, ladders.c.id == schema.matches.c.ladder_id)
        .join(versions, versions.c.id == seats.c.version_id)
        .join(schema.agents, schema.agents.c.id == versions.c.agent_id)
        .where(schema.agents.c.name_key == name_key(name), seats.c.outcome == Outcome.LOSS.value)
        .group_by(ladders.c.name, versions.c.number, seats.c.cause)
        .order_by(number.desc(), seats.c.cause)
    )
    counted: dict[tuple[str, int], dict[str, int]] = defaultdict(dict)
    for row in found:
        counted[row.name, row.version][row.cause] = row.number
    return dict(counted)


def _agents() -> Select[Any]:
    versions = schema.versions
    current = select(func.max(versions.c.number)).where(versions.c.agent_id == schema.agents.c.id)
    return select(schema.agents, current.scalar_subquery().label("version"))


def _completed(conn: Connection, found: Iterable[Row[Any]]) -> list[AgentRow]:
    """Complete rows of `_agents` in their order: of each ladder, the record of the newest version there."""
    found = list(found)
    records: dict[int, dict[str, LadderRecord]] = defaultdict(dict)
    for row in _ratings(conn, {row.id for row in found}):
        records[row.agent_id][row.ladder] = _record(row)
    return [
        AgentRow(
            name=row.name,
            owner=row.owner,
            house=row.house,
            version=row.version,
            created_at=row.created_at,
            retired_at=row.retired_at,
            ladders=tuple(records[row.id].values()),
        )
        for row in found
    ]


def _ratings(conn: Connection, agent_ids: Iterable[int]) -> Iterable[Row[Any]]:
    """Return all ratings of some agents, by ladder, the newest version last."""
    ratings, versions, ladders = schema.ratings, schema.versions, schema.ladders
    return conn.execute(
        select(ratings, versions.c.agent_id, versions.c.number, ladders.c.name.label("ladder"))
        .join(versions, versions.c.id == ratings.c.version_id)
        .join(ladders, ladders.c.id == ratings.c.ladder_id)
        .where(versions.c.agent_id.in_(agent_ids))
        .order_by(ladders.c.position, ladders.c.name, versions.c.number)
    )


def _record(row: Row[Any]) -> LadderRecord:
    return LadderRecord(
        ladder=row.ladder,
        version=row.number,
        elo=row.elo,
        provisional=row.games < PROVISIONAL_GAMES,
        games=row.games,
        wins=row.wins,
        draws=row.draws,
        losses=row.losses,
    )
