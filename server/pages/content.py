"""What each page holds, read from the database in one go. Every function takes a connection first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from games.errors import InputError
from server.core.standings import StandingsRow
from server.db import ladders, reads
from server.http import clocks
from server.http.ladders import find_ladder
from server.http.views import ClockEntry

TOP_ROWS = 6
"""Rows of a ladder's table on the front page."""
RESULTS = 8
RECENT = 6
RUNNING = 20
"""So many of the matches that run are named, until the script of a page draws them."""


@dataclass(frozen=True)
class Table:
    """A ladder with its standings."""

    ladder: ladders.Ladder
    rows: Sequence[StandingsRow]

    @property
    def top(self) -> Sequence[StandingsRow]:
        """The first rows."""
        return self.rows[:TOP_ROWS]


@dataclass(frozen=True)
class Facts:
    """Figures about the whole place."""

    agents: int
    ladders: int


@dataclass(frozen=True)
class Front:
    """The front page."""

    tables: Sequence[Table]
    facts: Facts
    in_play: int
    running: Sequence[reads.MatchRow]
    results: Sequence[reads.MatchRow]


@dataclass(frozen=True)
class LadderPage:
    """A ladder's page."""

    table: Table
    running: Sequence[reads.MatchRow]
    results: Sequence[reads.MatchRow]


@dataclass(frozen=True)
class VersionRecord:
    """What a version of an agent has done on a ladder."""

    created_at: datetime
    record: reads.LadderRecord


@dataclass(frozen=True)
class Place:
    """An agent on a ladder: its rank of how many, None if it is out, and its versions, newest first."""

    ladder: ladders.Ladder
    rank: int | None
    count: int
    versions: Sequence[VersionRecord]


@dataclass(frozen=True)
class AgentPage:
    """An agent's page; `losses` counts its lost matches by cause."""

    agent: reads.AgentRow
    places: Sequence[Place]
    losses: Mapping[str, int]
    results: Sequence[reads.MatchRow]


def front(conn: Connection) -> Front:
    """Read the front page."""
    tables = _tables(conn)
    running, results = _running(conn), reads.latest_results(conn, RESULTS)
    return Front(tables, _facts(tables), reads.count_in_play(conn), running, results)


def facts(conn: Connection) -> Facts:
    """Read the figures alone."""
    return _facts(_tables(conn))


def table(conn: Connection, name: str) -> Table:
    """Read one ladder's standings. Raises InputError for an unknown one."""
    ladder = find_ladder(conn, name)
    return Table(ladder, reads.standings(conn, ladder.id))


def ladder_page(conn: Connection, name: str) -> LadderPage:
    """Read a ladder's page. Raises InputError for an unknown one."""
    return LadderPage(table(conn, name), _running(conn, name), reads.latest_results(conn, RESULTS, name))


def results(conn: Connection, ladder: str | None) -> Sequence[reads.MatchRow]:
    """Read the latest results, of one ladder if it is named."""
    return reads.latest_results(conn, RESULTS, ladder)


def match(conn: Connection, number: int) -> reads.MatchRow:
    """Read a match. Raises InputError for an unknown one."""
    found = reads.match(conn, number)
    if found is None:
        raise InputError("unknown_match", expected="a match of this server", got=str(number))
    return found


def ending(found: reads.MatchRow, moves: Sequence[reads.MoveRow]) -> tuple[ClockEntry | None, str | None]:
    """Return what was asked when a match ended and became no move, if anything, and why it ended so.

    Both are None before the end.
    """
    if not found.over:
        return None, None
    requests, verdict = clocks.clock(found, moves)
    return next((request for request in requests if not request.counted), None), verdict


def agent_page(conn: Connection, name: str) -> AgentPage:
    """Read an agent's page. Raises InputError for an unknown one."""
    found = reads.agent(conn, name)
    if found is None:
        raise InputError("unknown_agent", expected="an agent of this server", got=repr(name))
    latest, _ = reads.matches_page(conn, agent=found.name, state="finished", limit=RESULTS)
    return AgentPage(found, _places(conn, found.name), reads.losses(conn, found.name), latest)


def _places(conn: Connection, agent: str) -> list[Place]:
    """Find the ladders that any version of an agent has joined, also closed ones."""
    versions = reads.versions(conn, agent)
    joined = dict.fromkeys(record.ladder for version in versions for record in version.ladders)
    places = []
    for name in sorted(joined, key=_order(conn)):
        standings = table(conn, name)
        own = [
            VersionRecord(version.created_at, record)
            for version in versions
            for record in version.ladders
            if record.ladder == name
        ]
        rank = next((row.rank for row in standings.rows if row.agent == agent), None)
        places.append(Place(standings.ladder, rank, len(standings.rows), own))
    return places


def _order(conn: Connection) -> Callable[[str], int]:
    """Return the place of a ladder by name: open ones as the settings list them, then closed ones."""
    place = {ladder.name: number for number, ladder in enumerate(ladders.all_ladders(conn))}
    return lambda name: place.get(name, len(place))


def _tables(conn: Connection) -> list[Table]:
    return [Table(ladder, reads.standings(conn, ladder.id)) for ladder in ladders.all_ladders(conn)]


def _running(conn: Connection, ladder: str | None = None) -> list[reads.MatchRow]:
    """Return matches that run or are about to, the oldest of them first."""
    pages = (
        reads.matches_page(conn, ladder=ladder, state=state, limit=RUNNING)
        for state in ("running", "starting")
    )
    return sorted((found for page, _ in pages for found in page), key=lambda found: found.id)


def _facts(tables: Sequence[Table]) -> Facts:
    return Facts(agents=len({row.agent for table in tables for row in table.rows}), ladders=len(tables))
