"""What a check of the data finds, and the way it reads rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, Select

Findings: TypeAlias = Iterator["Finding"]


@dataclass(frozen=True)
class Finding:
    """A broken invariant: a stable code, and where it is broken in a sentence for people."""

    code: str
    message: str


def grouped(conn: Connection, query: Select[Any]) -> Iterator[tuple[int, list[Row[Any]]]]:
    """Stream rows that are ordered by match, those of one match at a time. The first column is the match."""
    rows = conn.execute(query.execution_options(yield_per=1000))
    for match_id, group in groupby(rows, key=lambda row: row[0]):
        yield match_id, list(group)
