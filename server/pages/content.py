"""What each page holds, read from the database in one go. Every function takes a connection first."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from games.errors import InputError
from server.core.standings import StandingsRow
from server.db import ladders, reads

TOP_ROWS = 6
"""Rows of a ladder's table on the front page."""
RESULTS = 8
RECENT = 6


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
    results: Sequence[reads.MatchRow]


@dataclass(frozen=True)
class LadderPage:
    """A ladder's page."""

    table: Table
    results: Sequence[reads.MatchRow]


@dataclass(frozen=True)
class Place:
    """Where an agent stands on a ladder, of how many."""

    ladder: ladders.Ladder
    row: StandingsRow
    count: int


@dataclass(frozen=True)
class AgentPage:
    """An agent's page."""

    agent: reads.AgentRow
    places: Sequence[Place]
    versions: Sequence[reads.VersionRow]
    results: Sequence[reads.MatchRow]


def front(conn: Connection) -> Front:
    """Read the front page."""
    tables = _tables(conn)
    return Front(tables, _facts(tables), reads.latest_results(conn, RESULTS))


def facts(conn: Connection) -> Facts:
    """Read the figures alone."""
    return _facts(_tables(conn))


def table(conn: Connection, name: str) -> Table:
    """Read one ladder's standings. Raises InputError for an unknown one."""
    ladder = reads.ladder(conn, name)
    if ladder is None:
        known = [ladder.name for ladder in ladders.all_ladders(conn)]
        raise InputError("unknown_ladder", expected="a ladder", got=repr(name), available=known or ["none"])
    return Table(ladder, reads.standings(conn, ladder.id))


def ladder_page(conn: Connection, name: str) -> LadderPage:
    """Read a ladder's page. Raises InputError for an unknown one."""
    return LadderPage(table(conn, name), reads.latest_results(conn, RESULTS, name))


def results(conn: Connection, ladder: str | None) -> Sequence[reads.MatchRow]:
    """Read the latest results, of one ladder if it is named."""
    return reads.latest_results(conn, RESULTS, ladder)


def match(conn: Connection, number: int) -> reads.MatchRow:
    """Read a match. Raises InputError for an unknown one."""
    found = reads.match(conn, number)
    if found is None:
        raise InputError("unknown_match", expected="a match of this server", got=str(number))
    return found


def agent_page(conn: Connection, name: str) -> AgentPage:
    """Read an agent's page. Raises InputError for an unknown one."""
    found = reads.agent(conn, name)
    if found is None:
        raise InputError("unknown_agent", expected="an agent of this server", got=repr(name))
    latest, _ = reads.matches_page(conn, agent=found.name, state="finished", limit=RESULTS)
    places = [
        Place(table.ladder, row, len(table.rows))
        for table in _tables(conn)
        for row in table.rows
        if row.agent == found.name
    ]
    return AgentPage(found, places, reads.versions(conn, found.name), latest)


def _tables(conn: Connection) -> list[Table]:
    return [Table(ladder, reads.standings(conn, ladder.id)) for ladder in ladders.all_ladders(conn)]


def _facts(tables: Sequence[Table]) -> Facts:
    return Facts(agents=len({row.agent for table in tables for row in table.rows}), ladders=len(tables))
