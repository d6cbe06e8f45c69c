"""Every question the pages, the API and the commands ask about matches and ladders.

Agents are in `profiles`, and offered here too. Lists come in keyset pages: a cursor says where the last page
ended, by a unique key, so rows that are added meanwhile neither repeat others nor hide them.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, Select, Table, and_, func, select

from games.errors import InputError
from server.core import seeds
from server.core.names import name_key
from server.core.standings import PROVISIONAL_GAMES, StandingsRow, rank_rows, standing
from server.db import cursor as cursors
from server.db import schema
from server.db.ladders import ladder
from server.db.profiles import agent, agents_page, losses, versions
from server.db.records import MoveRow, move_row
from server.db.rows import AgentRow, LadderRecord, MatchRow, SeatRow, VersionRow

__all__ = [
    "AgentRow",
    "LadderRecord",
    "MatchRow",
    "MoveRow",
    "SeatRow",
    "VersionRow",
    "agent",
    "agents_page",
    "ladder",
    "latest_results",
    "losses",
    "match",
    "matches_page",
    "moves",
    "replay_of_match",
    "standings",
    "standings_page",
    "times",
    "versions",
]


def standings(conn: Connection, ladder_id: int) -> list[StandingsRow]:
    """Return a ladder's table: each agent by its newest version that joined it, without retired ones."""
    agents, versions, ratings = schema.agents, schema.versions, schema.ratings
    newest = (
        select(versions.c.agent_id, func.max(versions.c.number).label("number"))
        .join(ratings, ratings.c.version_id == versions.c.id)
        .where(ratings.c.ladder_id == ladder_id)
        .group_by(versions.c.agent_id)
        .subquery()
    )
    query = (
        select(agents.c.name, agents.c.owner, versions.c.number, ratings)
        .join(versions, versions.c.agent_id == agents.c.id)
        .join(ratings, ratings.c.version_id == versions.c.id)
        .join(newest, (newest.c.agent_id == agents.c.id) & (newest.c.number == versions.c.number))
        .where(ratings.c.ladder_id == ladder_id, agents.c.retired_at.is_(None))
    )
    return rank_rows(
        standing(
            agent=row.name,
            version=row.number,
            owner=row.owner,
            elo=row.elo,
            wins=row.wins,
            draws=row.draws,
            losses=row.losses,
        )
        for row in conn.execute(query)
    )


def standings_page(
    conn: Connection, ladder_id: int, *, cursor: str | None = None, limit: int = 50
) -> tuple[list[StandingsRow], str | None]:
    """Return a page of the standings: the rows behind the last one shown, in the order of `standings`."""
    rows = standings(conn, ladder_id)
    if cursor is not None:
        rating, key = cursors.decode(cursor, tuple[float, str])
        rows = [row for row in rows if (-round(row.rating, 1), name_key(row.agent)) > (-rating, key)]
    page, more = cursors.cut(rows, limit)
    after = cursors.encode(round(page[-1].rating, 1), name_key(page[-1].agent)) if more else None
    return list(page), after


def matches_page(
    conn: Connection,
    *,
    ladder: str | None = None,
    agent: str | None = None,
    state: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> tuple[list[MatchRow], str | None]:
    """Return a page of matches, newest first. Raises InputError for a filter or cursor that means nothing."""
    query = _matches().order_by(schema.matches.c.id.desc()).limit(limit + 1)
    if ladder is not None:
        query = query.where(schema.matches.c.ladder_id == _ladder_id(conn, ladder))
    if agent is not None:
        query = query.where(schema.matches.c.id.in_(_matches_of(conn, agent)))
    if state is not None:
        if state not in schema.MATCH_STATES:
            raise InputError(
                "bad_state",
                expected="a state of matches",
                got=repr(state),
                where="state",
                available=schema.MATCH_STATES,
            )
        query = query.where(schema.matches.c.state == state)
    if cursor is not None:
        query = query.where(schema.matches.c.id < cursors.decode(cursor, tuple[cursors.Id])[0])
    found, more = cursors.cut(conn.execute(query).all(), limit)
    return _with_seats(conn, found), cursors.encode(found[-1].id) if more else None


def count_in_play(conn: Connection) -> int:
    """Count the matches that run or are about to."""
    in_play = schema.matches.c.state.in_(("running", "starting"))
    return conn.scalar(select(func.count()).select_from(schema.matches).where(in_play)) or 0


def match(conn: Connection, match_id: int) -> MatchRow | None:
    """Return one match."""
    if not _may_be_key(match_id):
        return None
    found = conn.execute(_matches().where(schema.matches.c.id == match_id)).all()
    return _with_seats(conn, found)[0] if found else None


def replay_of_match(conn: Connection, match_id: int) -> int | None:
    """Return the match that repeats a void one, if any does."""
    if not _may_be_key(match_id):
        return None
    replay: int | None = conn.execute(
        select(schema.matches.c.id).where(schema.matches.c.replay_of == match_id)
    ).scalar()
    return replay


def moves(conn: Connection, match_id: int) -> list[MoveRow]:
    """Return the moves of a match in their order; none while it is closed."""
    if not _may_be_key(match_id):
        return []
    table = schema.moves
    query = select(table).where(table.c.match_id == match_id, _is_open(table)).order_by(table.c.ply)
    return [move_row(row) for row in conn.execute(query)]


def times(conn: Connection, match_ids: Iterable[int]) -> dict[int, list[int]]:
    """Return what each move of some matches took, in milliseconds, in the order of the moves.

    A match that is closed has none.
    """
    table = schema.moves
    query = (
        select(table.c.match_id, table.c.elapsed_ms)
        .where(table.c.match_id.in_(list(match_ids)), _is_open(table))
        .order_by(table.c.match_id, table.c.ply)
    )
    taken: dict[int, list[int]] = defaultdict(list)
    for row in conn.execute(query):
        taken[row.match_id].append(row.elapsed_ms)
    return taken


def latest_results(conn: Connection, n: int, ladder: str | None = None) -> list[MatchRow]:
    """Return the matches that were finished last, the last one first."""
    results = schema.results
    query = _matches().join(results, results.c.match_id == schema.matches.c.id)
    if ladder is not None:
        query = query.where(results.c.ladder_id == _ladder_id(conn, ladder))
    return _with_seats(conn, conn.execute(query.order_by(results.c.seq.desc()).limit(n)).all())


def _may_be_key(number: int) -> bool:
    """Whether a database can look for it: a path of the API may hold any number."""
    return 0 < number <= schema.MAX_ID


def _matches() -> Select[Any]:
    ladders = schema.ladders
    return select(
        schema.matches, ladders.c.name.label("ladder"), ladders.c.title, _closed().label("closed")
    ).join(ladders, ladders.c.id == schema.matches.c.ladder_id)


def _closed() -> ColumnElement[bool]:
    """Whether a match is closed: it is sealed, and not all that are sealed with it are over."""
    mate = schema.matches.alias("mate")
    playing = (
        select(mate.c.id)
        .where(mate.c.pair_id == schema.matches.c.pair_id, mate.c.sealed)
        .where(mate.c.state.in_(("queued", "starting", "running")))
        .correlate(schema.matches)
    )
    return and_(schema.matches.c.sealed, playing.exists())


def _is_open(moves: Table) -> ColumnElement[bool]:
    """Whether a move is of a match that is not closed."""
    of_move = select(schema.matches.c.id).where(schema.matches.c.id == moves.c.match_id, _closed())
    return ~of_move.correlate(moves).exists()


def _with_seats(conn: Connection, found: Iterable[Row[Any]]) -> list[MatchRow]:
    """Complete rows of `_matches` in their order, with one query for all seats."""
    found = list(found)
    sitting = _seats(conn, schema.seats.c.match_id.in_([row.id for row in found]))
    return [
        MatchRow(
            id=row.id,
            ladder=row.ladder,
            title=row.title,
            game=row.game,
            state=row.state,
            attempt=row.attempt,
            pair_id=row.pair_id,
            replay_of=row.replay_of,
            time_control=msgspec.json.decode(row.time_control),
            moves=0 if row.closed else row.moves,
            detail=None if row.closed else row.detail,
            created_at=row.created_at,
            started_at=row.started_at,
            finished_at=row.finished_at,
            last_request=None
            if row.closed or row.last_request is None
            else msgspec.json.decode(row.last_request),
            seats=tuple(_untold(seat) if row.closed else seat for seat in sitting[row.id]),
            closed=row.closed,
            seed_hash=None if row.seed is None else seeds.commitment(row.seed, row.id),
            seed=row.seed if row.state in ("finished", "void") and not row.closed else None,
        )
        for row in found
    ]


def _untold(seat: SeatRow) -> SeatRow:
    """Return a seat of a match that is closed: who won is known, not by how much."""
    return replace(seat, utility=None)


def _seats(conn: Connection, which: ColumnElement[bool]) -> dict[int, list[SeatRow]]:
    seats, versions, agents, ratings = schema.seats, schema.versions, schema.agents, schema.ratings
    query = (
        select(
            seats,
            versions.c.number,
            agents.c.name,
            agents.c.house,
            func.coalesce(seats.c.elo_before, ratings.c.elo).label("elo"),
            ratings.c.games,
        )
        .join(schema.matches, schema.matches.c.id == seats.c.match_id)
        .join(versions, versions.c.id == seats.c.version_id)
        .join(agents, agents.c.id == versions.c.agent_id)
        .join(
            ratings,
            (ratings.c.version_id == versions.c.id) & (ratings.c.ladder_id == schema.matches.c.ladder_id),
        )
        .where(which)
        .order_by(seats.c.match_id, seats.c.seat)
    )
    sitting: dict[int, list[SeatRow]] = defaultdict(list)
    for row in conn.execute(query):
        sitting[row.match_id].append(
            SeatRow(
                seat=row.seat,
                agent=row.name,
                version=row.number,
                version_id=row.version_id,
                house=row.house,
                elo=row.elo,
                elo_after=row.elo_after,
                games=row.games,
                provisional=row.games < PROVISIONAL_GAMES,
                outcome=row.outcome,
                cause=row.cause,
                utility=row.utility,
            )
        )
    return sitting


def _matches_of(conn: Connection, name: str) -> Select[Any]:
    agents, versions = schema.agents, schema.versions
    agent_id = conn.execute(select(agents.c.id).where(agents.c.name_key == name_key(name))).scalar()
    if agent_id is None:
        raise InputError("unknown_agent", expected="an agent", got=repr(name), where="agent")
    own = select(versions.c.id).where(versions.c.agent_id == agent_id)
    return select(schema.seats.c.match_id).where(schema.seats.c.version_id.in_(own))


def _ladder_id(conn: Connection, name: str) -> int:
    known = {row.name: row.id for row in conn.execute(select(schema.ladders.c.id, schema.ladders.c.name))}
    if name not in known:
        raise InputError(
            "unknown_ladder", expected="a ladder", got=repr(name), where="ladder", available=sorted(known)
        )
    ladder_id: int = known[name]
    return ladder_id
