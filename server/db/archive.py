"""Backups: all tables of a database in one compressed file, the same for SQLite and PostgreSQL.

Lines of JSON: a header that names the tables, their columns and the revision of the schema; each table's name
and its rows, by key; and a footer with the number of rows and the SHA-256 of all lines before it. Rows are
streamed both ways, so memory does not grow with the data.
"""

import gzip
import hashlib
import os
import tempfile
import zlib
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

import msgspec
from sqlalchemy import (
    Boolean,
    Connection,
    Double,
    Integer,
    Table,
    column,
    func,
    insert,
    inspect,
    select,
    table,
)
from sqlalchemy.types import TypeEngine

from games.errors import InputError
from server.db import upgrade
from server.db.schema import METADATA, AnyText, UtcDateTime

VERSION = 1
"""Of the format. The schema has its revision."""

CHUNK = 1000
"""Rows in memory at once."""

MAX_LINE = 2**24
"""Bytes; a row is far shorter."""

Row: TypeAlias = tuple[Any, ...]
Kind: TypeAlias = Literal["integer", "number", "boolean", "text", "instant"]

_TYPES: dict[Kind, tuple[type[TypeEngine[Any]], Any]] = {
    "integer": (Integer, int | None),
    "number": (Double, float | None),
    "boolean": (Boolean, bool | None),
    "text": (AnyText, str | None),
    "instant": (UtcDateTime, datetime | None),
}


class Header(msgspec.Struct, tag="plyground backup", tag_field="line"):
    """What is in a backup: the columns of each table. Rows refer to rows before them only."""

    version: int
    revision: str
    created_at: datetime
    tables: dict[str, dict[str, Kind]]


class _Opening(msgspec.Struct, tag="table", tag_field="line"):
    name: str


class _Footer(msgspec.Struct, tag="end", tag_field="line"):
    rows: dict[str, int]
    sha256: str


def backup(conn: Connection, path: Path, now: datetime) -> dict[str, int]:
    """Write all tables, as this connection sees them, into a new file; return the number of rows of each.

    The file has its name only once it is whole and on the disk. Raises InputError if it is there already,
    or cannot be written.
    """
    if path.exists():
        raise InputError(
            "file_exists", expected="the name of a new file", got="one that exists", where=str(path)
        )
    try:
        with _new_file(path) as file, gzip.open(file, "wb", compresslevel=6) as lines:
            return _write(conn, lines, now)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            "unwritable_file", expected="a file that can be written", got=reason, where=str(path)
        ) from error


def restore(conn: Connection, path: Path, *, replace: bool, where: str) -> dict[str, int]:
    """Fill an empty database from a backup, also one of an older revision; return the rows of each table.

    The connection is one for `upgrade.migrate`; if anything fails its transaction must be rolled back. With
    `replace` what is there goes. Raises InputError if the database is not empty, or the backup not whole.
    """
    check(path)  # all of it, before anything is changed
    there = _count(conn)
    if any(there.values()) and not replace:
        raise InputError(
            "not_empty",
            expected="an empty database, or --replace",
            got=f"one with {in_words(there)}",
            where=where,
        )
    with _opened(path) as (header, rows):
        upgrade.migrate(conn, "base", where=where)
        upgrade.migrate(conn, header.revision, where=where)
        for name, of_table in groupby(rows, key=itemgetter(0)):
            _fill(conn, name, header.tables[name], (row for _, row in of_table))
    upgrade.migrate(conn, "head", where=where)
    return _count(conn)


def check(path: Path) -> None:
    """Read a backup to its end. Raises InputError if it is damaged, incomplete or of a newer Plyground."""
    with _opened(path) as (_, rows):
        deque(rows, maxlen=0)


def in_words(rows: dict[str, int]) -> str:
    """Return numbers of rows for people: `agents: 3, matches: 120`."""
    return ", ".join(f"{name}: {number}" for name, number in rows.items() if number) or "nothing"


@contextmanager
def _new_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file of another name, readable by its owner alone, and give it its name when all is well."""
    handle, part = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(part).replace(path)
    finally:
        Path(part).unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def _write(conn: Connection, lines: gzip.GzipFile, now: datetime) -> dict[str, int]:
    digest = hashlib.sha256()

    def put(value: object) -> None:
        line = msgspec.json.encode(value) + b"\n"
        digest.update(line)
        lines.write(line)

    tables = {str(each.name): each for each in METADATA.sorted_tables}
    put(Header(VERSION, upgrade.head(), now, {name: _kinds(each) for name, each in tables.items()}))
    written: Counter[str] = Counter()
    for name, each in tables.items():
        put(_Opening(name))
        query = select(each).order_by(*each.primary_key.columns).execution_options(yield_per=CHUNK)
        for row in conn.execute(query):
            put(tuple(row))
            written[name] += 1
    rows = {name: written[name] for name in tables}
    put(_Footer(rows, digest.hexdigest()))
    return rows


def _kinds(of: Table) -> dict[str, Kind]:
    """Return the kind of each column of a table."""
    return {
        str(each.name): next(kind for kind, (type_, _) in _TYPES.items() if isinstance(each.type, type_))
        for each in of.columns
    }


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Header, Iterator[tuple[str, Row]]]]:
    """Open a backup: its header, and its rows with the names of their tables.

    Raises InputError where the file is not as it was written, for its end only once all rows are read.
    """
    try:
        with gzip.open(path) as file:
            lines = _Lines(file)
            header = msgspec.json.decode(lines.next(), type=Header)
            _check_known(header, path)
            yield header, _rows(header, lines)
    except InputError:
        raise
    except (OSError, EOFError, zlib.error, ValueError, msgspec.MsgspecError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            "bad_backup",
            expected="a whole backup, made by plyground db backup",
            got=" ".join(reason.split())[:200],
            where=str(path),
        ) from error


def _check_known(header: Header, path: Path) -> None:
    if header.version > VERSION or header.revision not in upgrade.revisions():
        raise InputError(
            "new_backup",
            expected="a backup made by this version of Plyground or an older one",
            got=f"format {header.version}, revision {header.revision}",
            where=str(path),
        )


class _Lines:
    """Lines of a file, and the digest of those before the last."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self._line = b""

    def next(self) -> bytes:
        self._digest.update(self._line)
        self._line = self._file.readline(MAX_LINE)
        if not self._line.endswith(b"\n"):
            raise ValueError("a file that ends too early")
        return self._line

    def check_end(self, sha256: str) -> None:
        if self._digest.hexdigest() != sha256:
            raise ValueError("lines that have been changed")
        if self._file.read(1):
            raise ValueError("more after the end")


def _rows(header: Header, lines: _Lines) -> Iterator[tuple[str, Row]]:
    seen: Counter[str] = Counter()
    name, decoder = "", msgspec.json.Decoder(tuple[()])
    while True:
        line = lines.next()
        if line.startswith(b"["):
            seen[name] += 1
            yield name, decoder.decode(line)
            continue
        mark = msgspec.json.decode(line, type=_Opening | _Footer)
        if isinstance(mark, _Footer):
            break
        name = mark.name
        types = tuple(_TYPES[kind][1] for kind in header.tables[name].values())
        decoder = msgspec.json.Decoder(tuple.__class_getitem__(types))
    lines.check_end(mark.sha256)
    if seen != Counter(mark.rows):
        raise ValueError(f"{seen.total()} rows in place of {sum(mark.rows.values())}")


def _fill(conn: Connection, name: str, columns: dict[str, Kind], rows: Iterator[Row]) -> None:
    into = table(name, *(column(key, _TYPES[kind][0]()) for key, kind in columns.items()))
    while chunk := list(islice(rows, CHUNK)):
        conn.execute(insert(into), [dict(zip(columns, row, strict=True)) for row in chunk])
    key = next(iter(METADATA.tables[name].primary_key.columns))
    if conn.dialect.name == "postgresql":
        _count_on(conn, name, key.name)


def _count_on(conn: Connection, name: str, key: str) -> None:
    """Let PostgreSQL's keys go on after the last one; SQLite's do so by themselves."""
    sequence = conn.execute(select(func.pg_get_serial_sequence(name, key))).scalar()
    if sequence is not None:
        last = select(func.max(column(key))).select_from(table(name)).scalar_subquery()
        conn.execute(select(func.setval(sequence, last)))


def _count(conn: Connection) -> dict[str, int]:
    """Count the rows of each table that is there."""
    there = set(inspect(conn).get_table_names())
    return {
        str(each.name): conn.execute(select(func.count()).select_from(each)).scalar_one()
        for each in METADATA.sorted_tables
        if each.name in there
    }
