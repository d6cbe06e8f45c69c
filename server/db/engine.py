"""Opening a database, reading from it and writing to it."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, TypeVarTuple

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from games.errors import InputError
from server.db import archive, upgrade
from server.db.absence import is_away, touch
from server.db.readers import BusyError, Readers
from server.db.writer import Item, Many, Writer

P = ParamSpec("P")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

READERS = 3
"""Threads that read for whoever looks on; more would only wait for Python."""

READS_AT_ONCE = 250
"""What may be read for onlookers at once, or wait for it: a few seconds' worth of the largest pages."""

READERS_FOR_PLAY = 2
"""Threads that read for agents and their matches, and for the probe."""

BUSY_S = 10
"""How long to wait for a lock that another process holds, or for PostgreSQL to answer."""

IDLE_S = 1.0
"""A commit so long ago says nothing any more of whether the database can be written."""

_PATIENCE = {
    "connect_timeout": BUSY_S,
    "tcp_user_timeout": BUSY_S * 1000,
    "keepalives_idle": BUSY_S,
    "keepalives_interval": 3,
    "keepalives_count": 3,
}
"""PostgreSQL's machine may vanish from the network: its connections end then, and nobody waits for hours."""

CLAIM_KEY = 0x506C7A
"""Key of the advisory lock that a server holds on its PostgreSQL database; migrations have another."""

CLAIM_S = 2.0
"""PostgreSQL takes a moment to see that a killed server is gone."""

_TRY_CLAIM = text("SELECT pg_try_advisory_lock(:key)")
_KINDS = ("sqlite:///path/to/file.db", "postgresql://user:password@host/database")
_DRIVERS = {"sqlite", "postgres", "postgresql", "postgresql+psycopg"}


class Database:
    """A SQLite file or a PostgreSQL database: one writer thread, and a few that read consistent snapshots."""

    def __init__(self, url: URL) -> None:
        self.url = url
        self._writing = _engine(url)
        self._reading = _engine(url, reading=True)
        self._claiming = _engine(url)
        self._claim: Connection | None = None
        self._readers = Readers(READERS, "plyground-reader", most=READS_AT_ONCE)
        self._readers_for_play = Readers(READERS_FOR_PLAY, "plyground-play-reader")
        self._probing: asyncio.Future[None] | None = None
        self._trying = False
        self._writer = Writer(self._writing)
        self.absence = self._writer.absence

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> "Database":
        """Open a database; a missing folder or SQLite file is made if `create` says so.

        Raises InputError in one sentence if it cannot be used. Its tables may not be there yet: `migrate`.
        """
        parsed = _parse(url)
        if parsed.drivername == "sqlite":
            _make_folder(parsed, create=create)
        database = cls(parsed)
        try:
            with database._writing.begin() as conn:  # reads the file's header, and takes the lock to write
                conn.execute(text("SELECT 1"))
        except (SQLAlchemyError, UnicodeError) as error:
            database.close()
            raise _unusable(parsed, error) from error
        return database

    def claim(self, patience_s: float = CLAIM_S) -> None:
        """Become the one server of a PostgreSQL database until it is closed.

        Raises InputError if another server runs on it: each would take the other's matches for dead. (A
        SQLite file is guarded by the lock on its folder.)
        """
        if self.url.get_backend_name() != "postgresql":
            return
        until = time.monotonic() + patience_s
        conn = self._claiming.connect().execution_options(isolation_level="AUTOCOMMIT")
        while not conn.execute(_TRY_CLAIM, {"key": CLAIM_KEY}).scalar():
            if time.monotonic() > until:
                conn.close()
                raise InputError(
                    "data_in_use",
                    expected="a database of its own",
                    got="one that a running server uses",
                    where=_shown(self.url),
                )
            time.sleep(0.1)
        self._claim = conn

    async def claim_again(self) -> None:
        """Do `claim` if the connection that held it was lost; see there."""
        if self._claim is not None:
            await self._readers_for_play.read(self._claim_again)

    def _claim_again(self) -> None:
        assert self._claim is not None, "it was held before"
        try:
            self._claim.execute(text("SELECT 1"))
        except SQLAlchemyError:
            self._claim.close()
            self.claim()

    def migrate(self, to: str = "head") -> None:
        """Bring the tables to a revision, in one transaction. `base` removes them all.

        Raises InputError if the database was written by a newer Plyground, or has tables that are not ours.
        """
        self._rebuild(upgrade.migrate, to, where=_shown(self.url))

    def restore(self, path: Path, *, replace: bool = False) -> dict[str, int]:
        """Fill an empty database from a backup in one transaction; see `archive.restore`."""
        return self._rebuild(archive.restore, path, replace=replace, where=_shown(self.url))

    def _rebuild(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do `fn(conn, ...)` in one transaction that may replace tables."""
        engine = _engine(self.url, checking=False)
        try:
            with engine.begin() as conn:
                return fn(conn, *args, **kwargs)
        except SQLAlchemyError as error:
            raise _unusable(self.url, error) from error
        finally:
            engine.dispose()

    def check_schema(self) -> None:
        """Raise InputError unless the tables are those of this code."""
        try:
            self.read_now(upgrade.check, _shown(self.url))
        except SQLAlchemyError as error:
            raise _unusable(self.url, error) from error

    async def read(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Answer `fn(conn, *args, **kwargs)`, computed by a reading thread on one snapshot of the data.

        Raises OperationalError if the database is away, also where a reader has no answer within READ_S, and
        BusyError if too many ask at once.
        """
        return await self._read(self._readers, lambda: self.read_now(fn, *args, **kwargs))

    async def read_for_play(
        self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Do `read` for an agent or a match, which wait for no onlooker.

        Raises OperationalError where `read` raises BusyError: these readers hang.
        """
        try:
            return await self._read(self._readers_for_play, lambda: self.read_now(fn, *args, **kwargs))
        except BusyError as error:
            raise OperationalError(None, None, TimeoutError(str(error))) from error

    async def probe(self) -> None:
        """Read next to nothing, once for all who ask at the same time. Raises as `read_for_play` does.

        Where nothing was written lately that is tried too, and `absence` knows what came of it.
        """
        if self.absence.idle_s() > IDLE_S:
            self._try_to_write()  # SQLite can be read while another program locks it
        if self._probing is None or self._probing.done():
            self._probing = asyncio.ensure_future(self.read_for_play(_ask))
            self._probing.add_done_callback(_heard)
        await asyncio.shield(self._probing)

    async def _read(self, readers: Readers, answer: Callable[[], T]) -> T:
        try:
            return await readers.read(answer)
        except DBAPIError as error:
            if isinstance(error.orig, TimeoutError):
                self._try_to_write()  # it may only be slow: whether it is away, the writer will see
            elif is_away(error):
                self.absence.unread(error)
            raise

    def _try_to_write(self) -> None:
        """Have the writer see whether the database answers, one try at a time."""
        if self._trying:
            return
        with contextlib.suppress(RuntimeError):  # closed: nobody asks any more
            self.write(touch).add_done_callback(self._tried)
            self._trying = True

    def _tried(self, written: "asyncio.Future[None]") -> None:
        self._trying = False
        _heard(written)

    def read_now(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Answer `fn(conn, *args, **kwargs)` in the calling thread."""
        with self._reading.connect() as conn:
            return fn(conn, *args, **kwargs)

    def write(
        self, job: Callable[[Connection, *Ts], T], *args: *Ts, durable: bool = False
    ) -> asyncio.Future[T]:
        """Submit `job(conn, *args)` to the writer. The future resolves once it is committed.

        The job is carried out even if nobody waits any more. What `durable` means is said at `Writer`.
        """
        return self._writer.submit_soon(_single(job), args, durable=durable)

    def write_together(self, many: Many[Item, T], item: Item, *, durable: bool = False) -> asyncio.Future[T]:
        """Do `write` for an item of `many(conn, items)`, together with others that wait beside it."""
        return self._writer.submit_soon(many, item, durable=durable)

    def write_now(self, job: Callable[[Connection, *Ts], T], *args: *Ts, durable: bool = True) -> T:
        """Do `write` and wait for it; for programs without an event loop."""
        return self._writer.submit(_single(job), args, durable=durable).result()

    def close(self) -> None:
        """Finish what was submitted and let go of all connections. Closing again does nothing."""
        self._writer.close()
        self._readers.close()
        self._readers_for_play.close()
        if self._claim is not None:
            self._claim.close()
            self._claim = None
        for engine in (self._reading, self._writing, self._claiming):
            engine.dispose()


def _ask(conn: Connection) -> None:
    conn.execute(text("SELECT 1"))


def _heard(future: "asyncio.Future[None]") -> None:
    """Take note of a fault, also where nobody waits for it any more."""
    if not future.cancelled():
        future.exception()


def _single(job: Callable[[Connection, *Ts], T]) -> Many[tuple[*Ts], T]:
    """Make a kind of job of its own, which has no neighbours."""
    return lambda conn, items: [job(conn, *args) for args in items]


def _parse(text_url: str) -> URL:
    try:
        url = make_url(text_url)
    except (ArgumentError, ValueError):
        raise InputError(
            "bad_database_url", expected="a database URL", got=repr(text_url), available=_KINDS
        ) from None
    memory = url.drivername == "sqlite" and url.database in (None, "", ":memory:")
    if url.drivername not in _DRIVERS or memory:
        raise InputError("bad_database_url", expected="a database URL", got=_shown(url), available=_KINDS)
    return url if url.drivername == "sqlite" else url.set(drivername="postgresql+psycopg")


def _make_folder(url: URL, *, create: bool) -> None:
    path = Path(url.database or "")
    if not create and not path.exists():
        raise InputError(
            "no_database", expected="an existing database", got="no such file", where=_shown(url)
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(url, error) from error


def _engine(url: URL, *, reading: bool = False, checking: bool = True) -> Engine:
    """Make the engine of one role. `checking` is SQLite's foreign key enforcement."""
    if url.drivername == "sqlite":
        engine = create_engine(
            url, connect_args={"timeout": BUSY_S}, poolclass=None if checking else NullPool
        )
        _set_up_sqlite(engine, reading=reading, checking=checking)
        return engine
    options: dict[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    return create_engine(
        url,
        connect_args={name: value for name, value in _PATIENCE.items() if name not in url.query},
        execution_options=options if reading else {},
        pool_pre_ping=True,
        poolclass=None if checking else NullPool,
    )


def _set_up_sqlite(engine: Engine, *, reading: bool, checking: bool) -> None:
    @event.listens_for(engine, "connect")
    def _connect(raw: Any, _record: object) -> None:
        raw.isolation_level = None  # we say BEGIN ourselves: the driver would not before a SELECT or DDL
        raw.execute(f"PRAGMA foreign_keys = {int(checking)}")
        if reading:
            raw.execute("PRAGMA query_only = ON")
        else:
            raw.execute("PRAGMA journal_mode = WAL")

    @event.listens_for(engine, "begin")
    def _begin(conn: Connection) -> None:
        if reading:
            conn.exec_driver_sql("BEGIN")
            return
        level = "FULL" if conn.get_execution_options().get("durable", True) else "NORMAL"
        if conn.info.get("synchronous") != level:
            conn.exec_driver_sql(f"PRAGMA synchronous = {level}")
            conn.info["synchronous"] = level
        conn.exec_driver_sql("BEGIN IMMEDIATE")


def _shown(url: URL) -> str:
    return url.render_as_string(hide_password=True)


def _unusable(url: URL, error: Exception) -> InputError:
    """Return what the driver said as one sentence."""
    reason = " ".join(str(getattr(error, "orig", None) or error).split())
    return InputError("unusable_database", expected="a usable database", got=reason[:300], where=_shown(url))
