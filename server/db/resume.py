"""Taking up again what an earlier server left in play."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, select, update

from server.core.match_events import Timing
from server.db.ladders import Ladder, of_row
from server.db.records import move_row
from server.db.schema import agents, ladders, matches, moves, ratings, seats, versions

_IN_PLAY = ("starting", "running")


@dataclass(frozen=True)
class Seated:
    """Who plays a seat, with the rating and the number of rated games it came with."""

    agent_id: int
    version_id: int
    name: str
    version: int
    house: bool
    elo: float
    games: int


class InterruptedMove(NamedTuple):
    """A move, or an outcome of chance, as it was recorded; an old record has no limit, which is 0 then."""

    seat: int
    action: str
    timing: Timing


@dataclass(frozen=True)
class Interrupted:
    """A match that was in play; `attempt` is that of whoever took it up now. Seats and moves in their order.

    The `ladder` may be closed by now. `sealed_with` are the matches sealed with it that are not over, itself
    among them.
    """

    id: int
    attempt: int
    game: str
    time_control: dict[str, Any]
    ladder: Ladder
    seats: tuple[Seated, ...]
    moves: tuple[InterruptedMove, ...]
    seed: str | None = None
    sealed_with: tuple[int, ...] = ()


def resume(conn: Connection, lease: str) -> list[Interrupted]:
    """Take up all matches in play. They are starting again: their agents have to come back and be ready.

    Whoever else still believes to play one is refused from now on, by its attempt.
    """
    conn.execute(
        update(matches)
        .where(matches.c.state.in_(_IN_PLAY))
        .values(state="starting", attempt=matches.c.attempt + 1, lease=lease)
    )
    taken = select(matches.c.id).where(matches.c.state == "starting").scalar_subquery()
    sitting: dict[int, list[Seated]] = defaultdict(list)
    for row in conn.execute(_seats().where(seats.c.match_id.in_(taken))):
        sitting[row.match_id].append(Seated(*row[1:]))
    played: dict[int, list[InterruptedMove]] = defaultdict(list)
    for row in conn.execute(_moves().where(moves.c.match_id.in_(taken))):
        move = move_row(row)
        played[row.match_id].append(InterruptedMove(move.seat, move.action, move.timing))
    known = {row.id: of_row(row) for row in conn.execute(select(ladders))}
    sealed = _sealed(conn)
    return [
        Interrupted(
            id=row.id,
            attempt=row.attempt,
            game=row.game,
            time_control=msgspec.json.decode(row.time_control),
            ladder=known[row.ladder_id],
            seats=tuple(sitting[row.id]),
            moves=tuple(played[row.id]),
            seed=row.seed,
            sealed_with=tuple(sealed[row.pair_id]) if row.sealed else (),
        )
        for row in conn.execute(_matches())
    ]


def _sealed(conn: Connection) -> dict[int, list[int]]:
    """Return the sealed matches that are not over, by their `pair_id`."""
    query = select(matches.c.pair_id, matches.c.id).where(
        matches.c.sealed, matches.c.state.in_(("queued", *_IN_PLAY))
    )
    found: dict[int, list[int]] = defaultdict(list)
    for row in conn.execute(query.order_by(matches.c.id)):
        found[row.pair_id].append(row.id)
    return found


def _matches() -> Any:
    return (
        select(
            matches.c.id,
            matches.c.attempt,
            matches.c.game,
            matches.c.time_control,
            matches.c.ladder_id,
            matches.c.pair_id,
            matches.c.seed,
            matches.c.sealed,
        )
        .where(matches.c.state == "starting")
        .order_by(matches.c.id)
    )


def _seats() -> Any:
    """Columns: the match, then the fields of Seated in their order."""
    return (
        select(
            seats.c.match_id,
            agents.c.id,
            versions.c.id,
            agents.c.name,
            versions.c.number,
            agents.c.house,
            ratings.c.elo,
            ratings.c.games,
        )
        .join(matches, matches.c.id == seats.c.match_id)
        .join(versions, versions.c.id == seats.c.version_id)
        .join(agents, agents.c.id == versions.c.agent_id)
        .join(
            ratings,
            (ratings.c.version_id == versions.c.id) & (ratings.c.ladder_id == matches.c.ladder_id),
        )
        .order_by(seats.c.match_id, seats.c.seat)
    )


def _moves() -> Any:
    return select(moves).order_by(moves.c.match_id, moves.c.ply)
