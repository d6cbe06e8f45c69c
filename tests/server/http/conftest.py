"""A server's API over a real SQLite file, and a small world of agents and matches in it."""

import shutil
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import CollectorRegistry

from server.db import agents, ladders, matches
from server.db.engine import Database
from server.db.matches import MoveRow
from server.http import SERVICES, Limits, Services, middlewares, routes
from server.http.limits import RateLimit
from server.settings import Settings
from server.time_controls import ladder_rows

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that tests set."""

    def __init__(self):
        self.now = NOON

    def __call__(self):
        return self.now

    def advance(self, seconds):
        self.now += timedelta(seconds=seconds)


class World:
    """Agents and matches, made through the functions the server uses."""

    def __init__(self, db):
        self.db = db
        self.agent_ids = {}
        found = db.write_now(ladders.sync, ladder_rows(Settings()))
        self.ladders = {ladder.name: ladder for ladder in found}

    def agent(self, name, *, ladder="connect_four", house=False, owner=None):
        def make(conn):
            made = agents.register(conn, name, owner=owner, house=house, now=NOON)
            version = agents.ensure_version(conn, made.agent_id, "f1", NOON)
            self.agent_ids[name] = made.agent_id
            agents.join_ladder(conn, self.ladders[ladder].id, version.id, NOON)
            return version.id

        return self.db.write_now(make)

    def change(self, name, fingerprint):
        """Let an agent come back with other code."""
        self.db.write_now(agents.ensure_version, self.agent_ids[name], fingerprint, NOON)

    def version_of(self, name, fingerprint, *, ladder="connect_four"):
        """Let a version of an agent join a ladder."""

        def join(conn):
            version = agents.ensure_version(conn, self.agent_ids[name], fingerprint, NOON)
            agents.join_ladder(conn, self.ladders[ladder].id, version.id, NOON)
            return version.id

        return self.db.write_now(join)

    def match(
        self, first, second, moves=(), result=None, *, ladder="connect_four", detail=None, request=None
    ):
        """Queue a pair and play its first match as far as the moves and the result say.

        A move is an action, or a whole row.
        """

        def play(conn):
            control = {"move_ms": 5000, "margin_ms": 200, "ready_ms": 10000}
            pair = matches.queue_table(conn, self.ladders[ladder].id, (first, second), control, NOON)
            attempt = matches.begin(conn, pair[0], "lease", NOON).attempt
            matches.set_running(conn, pair[0], attempt, NOON)
            for ply, action in enumerate(moves):
                row = action
                if isinstance(action, str):
                    row = MoveRow(ply, ply % 2, action, 10 + ply, 5 + ply, {"depth": ply}, NOON)
                matches.record_moves(conn, [matches.Played(pair[0], attempt, [row])])
            if result is not None:
                at = NOON + timedelta(seconds=9)
                end = matches.Ended(pair[0], attempt, result, detail, at, request=request)
                matches.finish_all(conn, [end])
            return pair

        return self.db.write_now(play)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory):
    """Return a migrated SQLite file to copy: migrating takes longer than most tests."""
    path = tmp_path_factory.mktemp("empty") / "plyground.db"
    database = Database.open(f"sqlite:///{path}")
    database.migrate()
    database.close()
    return path


@pytest.fixture
def db(tmp_path, empty_database):
    shutil.copy(empty_database, tmp_path / "plyground.db")
    database = Database.open(f"sqlite:///{tmp_path / 'plyground.db'}")
    yield database
    database.close()


@pytest.fixture
def world(db):
    return World(db)


@pytest.fixture
def settings(tmp_path):
    return Settings(data_dir=tmp_path)


@pytest.fixture
def registry():
    return CollectorRegistry()


@pytest.fixture
def registrations():
    return RateLimit("registrations_per_address", count=1000, period_s=3600)


@pytest.fixture
def revoked():
    """Ids of revoked tokens that the server was told of, to end their connections."""
    return []


@pytest.fixture
def extend():
    """Adds to the application, before it starts; here nothing."""
    return lambda app: None


@pytest.fixture
async def client(world, db, settings, registry, clock, registrations, revoked, extend):
    app = web.Application(middlewares=middlewares())
    app[SERVICES] = Services(db, settings, registry, clock, Limits(settings, registrations), revoked.append)
    app.add_routes(routes())
    extend(app)
    server = TestServer(app)
    await server.start_server(auto_decompress=False)
    async with TestClient(server) as client:
        yield client


@pytest.fixture
def get(client):
    """Ask for JSON and expect a status."""

    async def ask(path, status=200):
        response = await client.get(path)
        assert response.status == status, await response.text()
        return await response.json()

    return ask
