"""Ladders: the settings say which there are, the database remembers those there were."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, bindparam, insert, select, update

from agents.protocol import TimeControl
from games.errors import InputError
from server.db.schema import ladders, matches, ratings


class LadderSpec(NamedTuple):
    """A ladder as it should be: its slug, its name for people (the slug if empty), variant and times."""

    name: str
    title: str
    game: str
    time_control: TimeControl


@dataclass(frozen=True)
class Ladder:
    """A ladder, with the time control of the matches that are queued on it."""

    id: int
    name: str
    title: str
    game: str
    time_control: TimeControl


# Each match asks for these. Made once, as what `in_` makes of values lies in cycles until it is collected.
_RATINGS = select(ratings.c.version_id, ratings.c.elo, ratings.c.games).where(
    ratings.c.ladder_id == bindparam("ladder"),
    ratings.c.version_id.in_(bindparam("versions", expanding=True)),
)


def sync(conn: Connection, specs: Sequence[LadderSpec]) -> list[Ladder]:
    """Make the ladders those of `specs`, in their order.

    A ladder that is no longer among them keeps its matches and ratings but is not listed. Raises
    InputError if one with matches would now play another game, as its ratings would mean nothing.
    """
    conn.execute(update(ladders).values(position=None))
    known = {row.name: row for row in conn.execute(select(ladders))}
    for position, spec in enumerate(specs):
        values = {
            "title": spec.title or spec.name,
            "game": spec.game,
            "time_control": msgspec.json.encode(spec.time_control).decode(),
            "position": position,
        }
        before = known.get(spec.name)
        if before is None:
            conn.execute(insert(ladders).values(name=spec.name, **values))
            continue
        if before.game != spec.game and _has_matches(conn, before.id):
            raise InputError(
                "ladder_changed",
                expected=f"{before.game}, as in its matches so far, or another name for the ladder",
                got=spec.game,
                where=f"ladder {spec.name}",
            )
        conn.execute(update(ladders).where(ladders.c.id == before.id).values(values))
    return all_ladders(conn)


def all_ladders(conn: Connection) -> list[Ladder]:
    """Return the ladders that are open, in their order."""
    query = select(ladders).where(ladders.c.position.is_not(None)).order_by(ladders.c.position, ladders.c.id)
    return [of_row(row) for row in conn.execute(query)]


def ladder(conn: Connection, name: str) -> Ladder | None:
    """Return the ladder of that name, also one that is closed."""
    row = conn.execute(select(ladders).where(ladders.c.name == name)).one_or_none()
    return of_row(row) if row else None


def of_row(row: Row[Any]) -> Ladder:
    """Read a row of the table."""
    control = msgspec.json.decode(row.time_control, type=TimeControl)
    return Ladder(row.id, row.name, row.title, row.game, control)


def _has_matches(conn: Connection, ladder_id: int) -> bool:
    return (
        conn.execute(select(matches.c.id).where(matches.c.ladder_id == ladder_id).limit(1)).first()
        is not None
    )


def ratings_on(conn: Connection, ladder_id: int, versions: Collection[int]) -> dict[int, tuple[float, int]]:
    """Return the Elo and the number of rated games of each of these versions that is on the ladder."""
    asked = {"ladder": ladder_id, "versions": list(versions)}
    return {row.version_id: (row.elo, row.games) for row in conn.execute(_RATINGS, asked)}
