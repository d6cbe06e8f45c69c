"""The life of a match in the database: queued, starting, running, then finished or void.

Every change says which `attempt` it belongs to and is refused with `Stale` if the match is not, or no longer,
in the state and attempt it expects. So a result is written once, whatever comes late or twice.
"""

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, bindparam, case, func, insert, select, update

from agents.protocol import TimeControl
from server.core.outcome import Cause, Outcome
from server.core.pairing import seatings
from server.core.seeds import SEED_BYTES
from server.db.records import (
    Ended,
    MoveRow,
    Played,
    SeatResult,
    Stale,
    end_void,
    finish_all,
    record_moves,
)
from server.db.schema import UtcDateTime, ladders, matches, ratings, results, seats
from server.db.schema import versions as version_table

__all__ = [
    "OUTDATED",
    "Begun",
    "Ended",
    "MoveRow",
    "Played",
    "QueuedMatch",
    "SeatResult",
    "Stale",
    "begin",
    "begin_all",
    "begin_all_again",
    "drop_outdated",
    "drop_queued",
    "finish_all",
    "queue_table",
    "queued",
    "record_moves",
    "set_running",
    "together",
    "unseal",
    "void",
]

OUTDATED = "an agent came with a new version; counts for nobody"


class QueuedMatch(NamedTuple):
    """A match that waits; `versions` by seat. The ones `sealed` with the same `pair_id` begin together."""

    id: int
    ladder_id: int
    versions: tuple[int, ...]
    created_at: datetime
    pair_id: int | None = None
    sealed: bool = False


class Begun(NamedTuple):
    """A match that was taken up: the attempt to pass with every later change, and what it goes by."""

    attempt: int
    time_control: TimeControl
    seed: str | None


# Each match needs these, so they are made once.
_GAMES = (
    select(ratings.c.version_id, ladders.c.game)
    .join(ladders, ladders.c.id == ratings.c.ladder_id)
    .where(ratings.c.ladder_id == bindparam("ladder"))
    .where(ratings.c.version_id.in_(bindparam("versions", expanding=True)))
)
_INSERT_MATCH = insert(matches).returning(matches.c.id)
_INSERT_SEATS = insert(seats)
_PAIR = update(matches).where(matches.c.id == bindparam("match")).values(pair_id=matches.c.id)
_LADDERS_TIMES = select(ladders.c.time_control).where(ladders.c.id == matches.c.ladder_id).scalar_subquery()
_BEGIN = (
    update(matches)
    .where(matches.c.id == bindparam("match"), matches.c.state == "queued")
    .values(
        state="starting",
        attempt=matches.c.attempt + 1,
        lease=bindparam("taker"),
        started_at=bindparam("at"),
        time_control=_LADDERS_TIMES,
    )
    .returning(matches.c.attempt, matches.c.time_control, matches.c.seed)
)
_TAKEN = select(matches.c.attempt, matches.c.time_control, matches.c.seed).where(
    matches.c.id == bindparam("match"),
    matches.c.lease == bindparam("taker"),
    matches.c.state == "starting",
)
_RUN = (
    update(matches)
    .where(matches.c.id == bindparam("match"), matches.c.attempt == bindparam("of_attempt"))
    .where(matches.c.state == "starting")
    .values(
        state="running",
        started_at=case(
            (matches.c.moves == 0, bindparam("at", type_=UtcDateTime)), else_=matches.c.started_at
        ),
    )
)


def queue_table(
    conn: Connection,
    ladder_id: int,
    versions: Sequence[int],
    time_control: Mapping[str, Any],
    now: datetime,
    *,
    chance: bool = False,
    sealed: bool = False,
) -> list[int]:
    """Queue the matches of a table, by `seatings`, of versions that have joined the ladder; return their ids.

    All have the id of the first as their `pair_id`. In a game of `chance` each has a seed of its own;
    `sealed` ones have the same.
    """
    if len(set(versions)) != len(versions) or len(versions) < 2:
        raise ValueError(f"expected two or more different versions, got {list(versions)}")
    asked = {"ladder": ladder_id, "versions": list(versions)}
    games = {row.version_id: row.game for row in conn.execute(_GAMES, asked)}
    if len(games) != len(versions):
        raise ValueError(f"versions {sorted(set(versions) - set(games))} have not joined ladder {ladder_id}")
    row = {
        "ladder_id": ladder_id,
        "game": games[versions[0]],
        "time_control": _json(time_control),
        "created_at": now,
        "seed": _new_seed() if chance else None,
        "sealed": sealed,
    }
    seated, *others = seatings(versions)
    first = _queue(conn, row, seated)
    conn.execute(_PAIR, {"match": first})
    row["pair_id"] = first
    queued_ids = [first]
    for turned in others:
        own = {"seed": _new_seed()} if chance and not sealed else {}
        queued_ids.append(_queue(conn, {**row, **own}, turned))
    return queued_ids


def _new_seed() -> str:
    """Return a seed of the operating system's randomness."""
    return secrets.token_hex(SEED_BYTES)


def unseal(conn: Connection, match_id: int) -> None:
    """Give a match that waits dice or cards of its own: it is not played beside the others of its set."""
    changed = conn.execute(
        update(matches)
        .where(matches.c.id == match_id, matches.c.state == "queued")
        .values(sealed=False, seed=_new_seed())
    )
    if changed.rowcount != 1:
        raise Stale(f"match {match_id} is not queued")


def queued(conn: Connection) -> list[QueuedMatch]:
    """Return all matches that wait, the longest waiting first."""
    query = (
        select(
            matches.c.id,
            matches.c.ladder_id,
            matches.c.created_at,
            matches.c.pair_id,
            matches.c.sealed,
            seats.c.version_id,
        )
        .join(seats, seats.c.match_id == matches.c.id)
        .where(matches.c.state == "queued")
        .order_by(matches.c.id, seats.c.seat)
    )
    found: dict[int, QueuedMatch] = {}
    for row in conn.execute(query):
        match = found.get(row.id) or QueuedMatch(
            row.id, row.ladder_id, (), row.created_at, row.pair_id, row.sealed
        )
        found[row.id] = match._replace(versions=(*match.versions, row.version_id))
    return list(found.values())


def begin(conn: Connection, match_id: int, lease: str, now: datetime) -> Begun:
    """Take up a queued match, under the times that its ladder has now. `lease` names the taker.

    From now on they are the match's own, whatever becomes of the ladder.
    """
    row = conn.execute(_BEGIN, {"match": match_id, "taker": lease, "at": now}).one_or_none()
    if row is None:
        raise Stale(f"match {match_id} is not queued")
    return _begun(row)


def begin_all(conn: Connection, match_ids: Sequence[int], lease: str, now: datetime) -> list[Begun]:
    """Do `begin` for several matches, all or none."""
    return [begin(conn, match_id, lease, now) for match_id in match_ids]


def begin_again(conn: Connection, match_id: int, lease: str, now: datetime) -> Begun:
    """Do `begin` where nobody knows whether it was done before by the same taker."""
    taken = conn.execute(_TAKEN, {"match": match_id, "taker": lease}).one_or_none()
    return begin(conn, match_id, lease, now) if taken is None else _begun(taken)


def begin_all_again(conn: Connection, match_ids: Sequence[int], lease: str, now: datetime) -> list[Begun]:
    """Do `begin_all` where nobody knows whether it was done before by the same taker."""
    return [begin_again(conn, match_id, lease, now) for match_id in match_ids]


def _begun(row: Row[Any, Any, Any]) -> Begun:
    return Begun(row.attempt, msgspec.json.decode(row.time_control, type=TimeControl), row.seed)


def stands(conn: Connection, match_id: int, attempt: int, state: str, moves_made: int) -> bool:
    """Whether a match of this attempt is in this state with so many moves."""
    found = conn.execute(
        select(matches.c.id).where(
            matches.c.id == match_id,
            matches.c.attempt == attempt,
            matches.c.state == state,
            matches.c.moves == moves_made,
        )
    )
    return found.first() is not None


def set_running(conn: Connection, match_id: int, attempt: int, now: datetime) -> None:
    """Note that all seats are ready and play begins, or goes on."""
    changed = conn.execute(_RUN, {"match": match_id, "of_attempt": attempt, "at": now})
    if changed.rowcount != 1:
        raise Stale(f"match {match_id}, attempt {attempt} is not starting")


def void(
    conn: Connection,
    match_id: int,
    attempt: int,
    causes: Sequence[str],
    detail: str | None,
    now: datetime,
    *,
    replay: bool,
    request: Mapping[str, Any] | None = None,
) -> int | None:
    """End a match that counts for nobody; with `replay` queue it again and return the new match's id.

    What was played stays on record, and so does the `request` that was open, as in `rows.MatchRow`.
    """
    by_seat = [SeatResult(Outcome.VOID, cause, 0.0) for cause in causes]
    end_void(conn, Ended(match_id, attempt, by_seat, detail, now, request=request))
    return _replay(conn, match_id, now) if replay else None


def drop_queued(conn: Connection, match_id: int, detail: str, now: datetime) -> None:
    """Give up a match that waits, for good."""
    dropped = conn.execute(
        update(matches)
        .where(matches.c.id == match_id, matches.c.state == "queued")
        .values(state="void", detail=detail, finished_at=now)
    )
    if dropped.rowcount != 1:
        raise Stale(f"match {match_id} is not queued")
    conn.execute(
        update(seats)
        .where(seats.c.match_id == match_id)
        .values(outcome=Outcome.VOID.value, cause=Cause.INFRASTRUCTURE.value)
    )


def drop_outdated(conn: Connection, agent_id: int, version_id: int, now: datetime) -> None:
    """Give up what waits for other versions of an agent than the one that plays now."""
    query = (
        select(matches.c.id)
        .join(seats, seats.c.match_id == matches.c.id)
        .join(version_table, version_table.c.id == seats.c.version_id)
        .where(
            matches.c.state == "queued",
            version_table.c.agent_id == agent_id,
            version_table.c.id != version_id,
        )
    )
    for match_id in conn.execute(query).scalars().all():
        drop_queued(conn, match_id, OUTDATED, now)


def together(conn: Connection, ladder_id: int) -> dict[frozenset[int], int]:
    """Count the finished matches that each two versions were both in. Reads every result of the ladder."""
    one, other = seats.alias("one"), seats.alias("other")
    query = (
        select(one.c.version_id, other.c.version_id.label("opponent"), func.count().label("games"))
        .join(results, results.c.match_id == one.c.match_id)
        .join(other, (other.c.match_id == one.c.match_id) & (other.c.seat > one.c.seat))
        .where(results.c.ladder_id == ladder_id)
        .group_by(one.c.version_id, other.c.version_id)
    )
    played: Counter[frozenset[int]] = Counter()
    for row in conn.execute(query):
        played[frozenset((row.version_id, row.opponent))] += row.games
    return dict(played)


def _replay(conn: Connection, match_id: int, now: datetime) -> int:
    """Queue a match again: same players and seats, from the start, with dice or cards of its own."""
    copied = (matches.c.ladder_id, matches.c.pair_id, matches.c.game, matches.c.time_control, matches.c.seed)
    old = conn.execute(select(*copied).where(matches.c.id == match_id)).mappings().one()
    seed = None if old["seed"] is None else _new_seed()
    versions = conn.execute(
        select(seats.c.version_id).where(seats.c.match_id == match_id).order_by(seats.c.seat)
    ).scalars()
    return _queue(
        conn,
        {**old, "replay_of": match_id, "created_at": now, "seed": seed},
        versions.all(),
    )


def _queue(conn: Connection, row: Mapping[str, Any], versions: Sequence[int]) -> int:
    values = {"state": "queued", "attempt": 0, "moves": 0, **row}
    match_id: int = conn.execute(_INSERT_MATCH, values).scalar_one()
    sitting = [{"match_id": match_id, "seat": seat, "version_id": who} for seat, who in enumerate(versions)]
    conn.execute(_INSERT_SEATS, sitting)
    return match_id


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
