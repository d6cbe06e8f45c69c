"""The life of a match in the database: queued, starting, running, then finished or void.

Every change says which `attempt` it belongs to and is refused with `Stale` if the match is not, or no longer,
in the state and attempt it expects. So a result is written once, whatever comes late or twice.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Update, func, insert, select, update

from server.core import elo
from server.core.outcome import Cause, Outcome, Result
from server.core.pairing import seatings
from server.db.schema import ladders, matches, moves, ratings, results, seats
from server.db.schema import versions as version_table

OUTDATED = "an agent came with a new version; counts for nobody"
RESTARTED = "the server was restarted; counts for nobody"

_COUNTER = {Outcome.WIN: "wins", Outcome.DRAW: "draws", Outcome.LOSS: "losses"}


class Stale(RuntimeError):  # noqa: N818 - a word of the domain: the caller's view is out of date
    """The match is not in the state or the attempt that a change belongs to. Nothing was changed."""


class QueuedMatch(NamedTuple):
    """A match that waits; `versions` by seat."""

    id: int
    ladder_id: int
    versions: tuple[int, ...]
    created_at: datetime


class MoveRow(NamedTuple):
    """A recorded move. Plies count from 0."""

    ply: int
    seat: int
    action: str
    elapsed_ms: int
    charged_ms: int
    info: dict[str, Any] | None
    received_at: datetime


class SeatResult(NamedTuple):
    """What a seat got, why, and its score: 1, 1/2 or 0."""

    outcome: str
    cause: str
    score: float


def queue_pair(
    conn: Connection,
    ladder_id: int,
    versions: tuple[int, int],
    time_control: Mapping[str, Any],
    now: datetime,
) -> tuple[int, int]:
    """Queue two matches, seats swapped, of two versions that have joined the ladder; return their ids."""
    if versions[0] == versions[1]:
        raise ValueError(f"expected two versions, got {versions[0]} twice")
    joined = select(ratings.c.version_id).where(ratings.c.ladder_id == ladder_id)
    here = set(conn.execute(joined.where(ratings.c.version_id.in_(versions))).scalars())
    if here != set(versions):
        raise ValueError(f"versions {sorted(set(versions) - here)} have not joined ladder {ladder_id}")
    game = conn.execute(select(ladders.c.game).where(ladders.c.id == ladder_id)).scalar_one()
    row = {"ladder_id": ladder_id, "game": game, "time_control": _json(time_control), "created_at": now}
    seated, swapped = seatings(versions)
    first = _queue(conn, row, seated)
    conn.execute(update(matches).where(matches.c.id == first).values(pair_id=first))
    return first, _queue(conn, {**row, "pair_id": first}, swapped)


def queued(conn: Connection) -> list[QueuedMatch]:
    """Return all matches that wait, the longest waiting first."""
    query = (
        select(matches.c.id, matches.c.ladder_id, matches.c.created_at, seats.c.version_id)
        .join(seats, seats.c.match_id == matches.c.id)
        .where(matches.c.state == "queued")
        .order_by(matches.c.id, seats.c.seat)
    )
    found: dict[int, QueuedMatch] = {}
    for row in conn.execute(query):
        match = found.get(row.id) or QueuedMatch(row.id, row.ladder_id, (), row.created_at)
        found[row.id] = match._replace(versions=(*match.versions, row.version_id))
    return list(found.values())


def begin(conn: Connection, match_id: int, lease: str, now: datetime) -> int:
    """Take up a queued match; return the attempt to pass with every later change. `lease` names the taker."""
    attempt: int | None = conn.execute(
        update(matches)
        .where(matches.c.id == match_id, matches.c.state == "queued")
        .values(state="starting", attempt=matches.c.attempt + 1, lease=lease, started_at=now)
        .returning(matches.c.attempt)
    ).scalar()
    if attempt is None:
        raise Stale(f"match {match_id} is not queued")
    return attempt


def set_running(conn: Connection, match_id: int, attempt: int, now: datetime) -> None:
    """Note that all seats are ready and play begins."""
    changed = conn.execute(
        update(matches)
        .where(matches.c.id == match_id, matches.c.attempt == attempt, matches.c.state == "starting")
        .values(state="running", started_at=now)
    )
    if changed.rowcount != 1:
        raise Stale(f"match {match_id}, attempt {attempt} is not starting")


def record_move(conn: Connection, match_id: int, attempt: int, move: MoveRow) -> None:
    """Write down the next move of a running match."""
    counted = conn.execute(
        update(matches)
        .where(matches.c.id == match_id, matches.c.attempt == attempt, matches.c.state == "running")
        .where(matches.c.moves == move.ply)
        .values(moves=move.ply + 1)
    )
    if counted.rowcount != 1:
        raise Stale(f"match {match_id}, attempt {attempt} does not wait for ply {move.ply}")
    info = None if move.info is None else _json(move.info)
    conn.execute(insert(moves).values({**move._asdict(), "match_id": match_id, "info": info}))


def finish(
    conn: Connection,
    match_id: int,
    attempt: int,
    by_seat: Sequence[SeatResult],
    detail: str | None,
    now: datetime,
) -> list[float]:
    """Write a match's result: state, outcomes, result row, ratings and counters. Return the new Elo by seat.

    Ratings move from where they are now, not from where they were when the match began. Raises `Stale` if
    the match is over or taken up by another attempt.
    """
    outcomes = tuple(Outcome(seat.outcome) for seat in by_seat)
    causes = tuple(Cause(seat.cause) for seat in by_seat)
    scores = [seat.score for seat in by_seat]
    if scores != list(Result(outcomes, causes).scores):
        raise ValueError(f"match {match_id} cannot be rated: {outcomes} with scores {scores}")
    ladder_id = _end(conn, match_id, attempt, "finished", detail=detail, now=now)
    conn.execute(insert(results).values(match_id=match_id, ladder_id=ladder_id, finished_at=now))
    sitting = conn.execute(
        select(seats.c.version_id, ratings.c.elo, ratings.c.games)
        .join(ratings, ratings.c.version_id == seats.c.version_id)
        .where(seats.c.match_id == match_id, ratings.c.ladder_id == ladder_id)
        .order_by(seats.c.seat)
    ).all()
    if len(sitting) != len(by_seat):
        raise ValueError(f"match {match_id} has {len(sitting)} rated seats, got {len(by_seat)} results")
    after = elo.update([elo.Entry(row.elo, row.games) for row in sitting], scores)
    for seat, (row, new) in enumerate(zip(sitting, after, strict=True)):
        _rate(conn, ladder_id, row.version_id, outcomes[seat], new)
        conn.execute(
            _seat(match_id, seat).values(
                outcome=outcomes[seat].value, cause=causes[seat].value, elo_before=row.elo, elo_after=new
            )
        )
    return list(after)


def void(
    conn: Connection,
    match_id: int,
    attempt: int,
    causes: Sequence[str],
    detail: str | None,
    now: datetime,
    *,
    replay: bool,
) -> int | None:
    """End a match that counts for nobody; with `replay` queue it again and return the new match's id.

    What was played stays on record.
    """
    _end(conn, match_id, attempt, "void", detail=detail, now=now)
    _void_seats(conn, match_id, causes)
    return _replay(conn, match_id, now) if replay else None


def void_interrupted(conn: Connection, now: datetime) -> list[tuple[int, int]]:
    """At the start of a server: void what its predecessor left unfinished. Return (match, its replay)."""
    left = conn.execute(
        select(matches.c.id, matches.c.attempt, func.count().label("seats"))
        .join(seats, seats.c.match_id == matches.c.id)
        .where(matches.c.state.in_(("starting", "running")))
        .group_by(matches.c.id, matches.c.attempt)
        .order_by(matches.c.id)
    ).all()
    voided = []
    for row in left:
        _end(conn, row.id, row.attempt, "void", detail=RESTARTED, now=now)
        _void_seats(conn, row.id, [Cause.INFRASTRUCTURE] * row.seats)
        voided.append((row.id, _replay(conn, row.id, now)))
    return voided


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
    """Count the finished matches of each pair of versions. Reads every result of the ladder."""
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


def counts(conn: Connection, ladder_id: int) -> dict[str, int]:
    """Count the matches of a ladder by state; a state without any is left out."""
    query = (
        select(matches.c.state, func.count().label("matches"))
        .where(matches.c.ladder_id == ladder_id)
        .group_by(matches.c.state)
    )
    return {row.state: row.matches for row in conn.execute(query)}


def _end(
    conn: Connection, match_id: int, attempt: int, state: str, *, detail: str | None, now: datetime
) -> int:
    """Close a match that is being played, and return its ladder; the one place that guards an end."""
    ladder_id: int | None = conn.execute(
        update(matches)
        .where(matches.c.id == match_id, matches.c.attempt == attempt)
        .where(matches.c.state.in_(("starting", "running")))
        .values(state=state, detail=detail, finished_at=now)
        .returning(matches.c.ladder_id)
    ).scalar()
    if ladder_id is None:
        raise Stale(f"match {match_id}, attempt {attempt} is not being played")
    return ladder_id


def _rate(conn: Connection, ladder_id: int, version_id: int, outcome: Outcome, new_elo: float) -> None:
    counter = ratings.c[_COUNTER[outcome]]
    conn.execute(
        update(ratings)
        .where(ratings.c.ladder_id == ladder_id, ratings.c.version_id == version_id)
        .values({"elo": new_elo, "games": ratings.c.games + 1, counter.name: counter + 1})
    )


def _seat(match_id: int, seat: int) -> Update:
    return update(seats).where(seats.c.match_id == match_id, seats.c.seat == seat)


def _void_seats(conn: Connection, match_id: int, causes: Iterable[str]) -> None:
    for seat, cause in enumerate(causes):
        conn.execute(_seat(match_id, seat).values(outcome=Outcome.VOID.value, cause=Cause(cause).value))


def _replay(conn: Connection, match_id: int, now: datetime) -> int:
    """Queue a match again: same players and seats, from the start."""
    copied = (matches.c.ladder_id, matches.c.pair_id, matches.c.game, matches.c.time_control)
    old = conn.execute(select(*copied).where(matches.c.id == match_id)).mappings().one()
    versions = conn.execute(
        select(seats.c.version_id).where(seats.c.match_id == match_id).order_by(seats.c.seat)
    ).scalars()
    return _queue(conn, {**old, "replay_of": match_id, "created_at": now}, versions.all())


def _queue(conn: Connection, row: Mapping[str, Any], versions: Sequence[int]) -> int:
    values = {"state": "queued", "attempt": 0, "moves": 0, **row}
    match_id: int = conn.execute(insert(matches).values(values).returning(matches.c.id)).scalar_one()
    sitting = [{"match_id": match_id, "seat": seat, "version_id": who} for seat, who in enumerate(versions)]
    conn.execute(insert(seats), sitting)
    return match_id


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
