"""Agents and their versions."""

import msgspec
from aiohttp import web
from msgspec.structs import replace
from sqlalchemy import Connection

from agents.protocol import Cause
from games.errors import InputError
from server.db import profiles, reads
from server.db.reads import AgentRow, VersionRow
from server.http.endpoint import Call, answer
from server.http.views import AgentView, Page, PageLimit, VersionView


class AgentsQuery(msgspec.Struct, frozen=True):
    """Which part of the list, which is sorted by name."""

    limit: PageLimit = 50
    cursor: str | None = None


async def list_agents(call: Call) -> web.Response:
    """Answer a page of agents by name."""
    query: AgentsQuery = call.query
    rows, following = await call.services.db.read(reads.agents_page, cursor=query.cursor, limit=query.limit)
    items = msgspec.convert(rows, list[AgentView], from_attributes=True)
    return answer(Page(items=items, next=following))


async def one_agent(call: Call) -> web.Response:
    """Answer one agent, with why it lost."""
    row, lost = await call.services.db.read(_with_losses, call.path["name"])
    view = msgspec.convert(row, AgentView, from_attributes=True)
    told = [
        replace(record, losses_by_cause=lost.get((record.ladder, record.version), {}))
        for record in view.ladders
    ]
    return answer(replace(view, ladders=told))


async def list_versions(call: Call) -> web.Response:
    """Answer all versions of an agent, the newest first."""
    rows = await call.services.db.read(_versions, call.path["name"])
    return answer(Page(items=msgspec.convert(rows, list[VersionView], from_attributes=True)))


def _find(conn: Connection, name: str) -> AgentRow:
    """Return the agent of that name. Raises InputError (code `unknown_agent`)."""
    row = reads.agent(conn, name)
    if row is None:
        raise InputError("unknown_agent", expected="an agent", got=repr(name))
    return row


def _with_losses(conn: Connection, name: str) -> tuple[AgentRow, dict[tuple[str, int], dict[Cause, int]]]:
    """Return the agent of that name, and its lost matches by ladder, version and cause."""
    row = _find(conn, name)
    lost = profiles.losses_by_record(conn, row.name)
    return row, msgspec.convert(lost, dict[tuple[str, int], dict[Cause, int]])


def _versions(conn: Connection, name: str) -> list[VersionRow]:
    return reads.versions(conn, _find(conn, name).name)
