"""A ladder's table as JSON pages, CSV and JSON Lines."""

import csv
import io
from dataclasses import astuple
from typing import Any

import msgspec
from aiohttp import web
from sqlalchemy import Connection

from server.core.standings import COLUMNS, StandingsRow
from server.db import reads
from server.http.endpoint import Call, answer
from server.http.ladders import find_ladder
from server.http.views import Page, WholeTableLimit

CSV_TYPE = "text/csv"
JSONL_TYPE = "application/jsonl"

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters that make a spreadsheet run a cell."""


class StandingsQuery(msgspec.Struct, frozen=True):
    """Which part of the table."""

    limit: WholeTableLimit = 200
    cursor: str | None = None


async def standings(call: Call) -> web.Response:
    """Answer a page of the table, best first."""
    rows, following = await call.services.db.read(_page, call.path["ladder"], call.query)
    return answer(Page(items=rows, next=following))


async def standings_csv(call: Call) -> web.Response:
    """Answer the whole table as CSV, safe to open in a spreadsheet."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(value) for value in astuple(row)] for row in await _rows(call))
    name = f"{call.path['ladder']}_standings.csv"
    return _file(text.getvalue().encode(), CSV_TYPE, name)


async def standings_jsonl(call: Call) -> web.Response:
    """Answer the whole table as JSON Lines, one row a line."""
    lines = b"".join(msgspec.json.encode(row) + b"\n" for row in await _rows(call))
    return _file(lines, JSONL_TYPE, f"{call.path['ladder']}_standings.jsonl")


async def _rows(call: Call) -> list[StandingsRow]:
    return await call.services.db.read(_table, call.path["ladder"])


def _page(conn: Connection, name: str, query: StandingsQuery) -> tuple[list[StandingsRow], str | None]:
    ladder = find_ladder(conn, name)
    return reads.standings_page(conn, ladder.id, cursor=query.cursor, limit=query.limit)


def _table(conn: Connection, name: str) -> list[StandingsRow]:
    return reads.standings(conn, find_ladder(conn, name).id)


def _cell(value: Any) -> Any:
    """Write a value for CSV: nothing for None, JSON's words for truth, no formula in a text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def _file(data: bytes, content_type: str, name: str) -> web.Response:
    headers = {"Cache-Control": "no-cache", "Content-Disposition": f'attachment; filename="{name}"'}
    return web.Response(body=data, content_type=content_type, charset="utf-8", headers=headers)
