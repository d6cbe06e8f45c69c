"""The composition root: the only place that knows all parts of the server."""

import asyncio
import contextlib
import errno
import os
import random
import secrets
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import datetime, timedelta

import structlog
from aiohttp import web
from prometheus_client import CollectorRegistry
from sqlalchemy.exc import SQLAlchemyError

from agents import protocol
from games.errors import InputError
from server import http, logs, pages, process, time_controls
from server.admission import Admission
from server.broadcast import Broadcast
from server.db import absence, agents, ladders, tokens
from server.db.engine import Database
from server.db.ladders import Ladder
from server.door import Door, Rules
from server.entrance import Entrance
from server.feed import Feed
from server.gate import Gate
from server.gateway import Gateway
from server.house import House
from server.http.errors import Handler
from server.inbox import Flood
from server.knocks import Knocks
from server.lock import DataLock
from server.loop_lag import LoopLag
from server.past import Past
from server.presence import Presence
from server.reception import Reception
from server.referee import Referee
from server.scheduler import Scheduler
from server.settings import Settings
from server.stopping import Stopping, StopSignals
from server.visitor import Visitor, door_middleware, visitor_of
from server.wall_clock import WallClock
from server.watch import WatchGateway

BACKLOG = 1024
LOOK_S = 0.05
TOUCH_S = 1.0
"""How often it is tried whether a database that was away can be written again."""

EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
FIRST_LINK_LASTS = timedelta(days=1)
"""A link that nobody used stands in a terminal or a container's log; the next start makes another."""

log = structlog.get_logger()


def run(settings: Settings, house_names: Sequence[str] = ()) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code. Raises InputError if it cannot start.

    Nobody else can take one of the `house_names` from now on.
    """
    logs.configure(settings.log_level, time.monotonic)
    process.prepare()
    lock = DataLock(settings.data_dir)
    lock.acquire()
    try:
        listener = listen(settings)
        with (
            contextlib.closing(listener),
            contextlib.closing(open_database(settings)) as db,
            asyncio.Runner(loop_factory=loop_factory()) as runner,
        ):
            runner.run(_serve(settings, db, listener, house_names))
    finally:
        lock.release()
    return 0


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's loop where there is uvloop."""
    try:
        import uvloop  # noqa: PLC0415 - not on every system
    except ImportError:
        return None
    return uvloop.new_event_loop


def listen(settings: Settings) -> socket.socket:
    """Bind the port. Raises InputError if it is busy or not ours to take."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        taken = error.errno in {errno.EADDRINUSE, errno.EACCES}
        advice = " (take another port: PLYGROUND_PORT=9000 make serve)" if taken else ""
        raise InputError(
            "port_unavailable",
            expected="a free address to listen on",
            got=f"{error.strerror or error}{advice}",
            where=f"PLYGROUND_HOST={settings.host}, PLYGROUND_PORT={settings.port}",
        ) from None
    listener.setblocking(False)
    return listener


def open_database(settings: Settings) -> Database:
    """Open the database and bring its tables up to date."""
    log.info("database.migrating", url=settings.database if not settings.database_url else "as set")
    db = Database.open(settings.database)
    try:
        db.claim()
        db.migrate()
    except BaseException:
        db.close()
        raise
    return db


class Server:
    """The wired parts of a running server."""

    def __init__(self, settings: Settings, db: Database, url: str, known: list[Ladder]) -> None:
        registry = CollectorRegistry()
        self.metrics = http.Metrics(registry)
        self.settings = settings
        self.db = db
        self.stopping = Stopping(time.monotonic)
        self.presence = Presence()
        self.broadcast = Broadcast(first_version=int(time.time() * 1000))
        self.lag = LoopLag(time.monotonic, self.metrics.loop_lag.observe)
        self.gate = self._make_gate()
        self.knocks = Knocks(db.absence, time.monotonic)
        wall_clock = WallClock(time.time, time.monotonic)
        self.now = wall_clock.now
        chance = random.SystemRandom()
        self.referee = self._make_referee(chance, wall_clock)
        self.scheduler = Scheduler(
            db, self.presence, self.referee, self.gate, settings, chance.random, time.monotonic, self.now
        )
        house_token = secrets.token_urlsafe(32)
        self.house = House(url, house_token, settings.ladders)
        rules = Rules(settings.connections_per_address, behind_proxy=settings.proxy_hops > 0)
        self.door = Door(rules, process.files, time.monotonic, self.metrics.cut)
        self.gateway = self._make_gateway({ladder.name: ladder.id for ladder in known}, house_token)
        past = Past(db).snapshot
        ladder_names = {ladder.name for ladder in known}
        self.watching = WatchGateway(self.broadcast, ladder_names, past, time.monotonic, self._stay)
        self.services = http.Services(
            db,
            settings,
            registry,
            self.now,
            http.Limits(settings),
            on_revoked=self.gateway.revoked,
            feed=Feed(self.broadcast, past),
            stay=self._stay,
            gate=self.gate,
            stopping=self.stopping,
        )

    def _make_gate(self) -> Gate:
        gate = Gate(lambda: self.lag.recent_s, self.settings.margin_ms, self.metrics.admission_closed.inc)
        self.metrics.admission_open.set_function(
            lambda: gate.is_open() and self.stopping.left_s() is None  # as /healthz says
        )
        self.metrics.recent_lag.set_function(lambda: self.lag.recent_s)
        return gate

    def _make_referee(self, chance: random.Random, wall_clock: WallClock) -> Referee:
        return Referee(
            self.settings,
            self.db,
            lambda outcomes: _draw(chance, outcomes),
            self.presence,
            self.broadcast,
            self.metrics,
            f"{os.getpid()}-{secrets.token_hex(4)}",
            time.monotonic,
            wall_clock.at,
            self.lag.lost,
            self.knocks.kept_away,
        )

    def _make_gateway(self, ladder_ids: dict[str, int], house_token: str) -> Gateway:
        admission = Admission(self.db, ladder_ids, house_token, self.now)
        reception = Reception(
            self.settings,
            admission,
            self.presence,
            self.referee,
            self.stopping,
            self.knocks,
            time.monotonic,
            self.now,
        )
        return Gateway(
            self.settings,
            reception,
            self.presence,
            self.referee,
            time.monotonic,
            self.lag.behind,
            self.scheduler.wake,
            stay=self._stay,
        )

    def application(self) -> web.Application:
        """Return the web application: API, pages and sockets."""
        settings = self.settings
        others = http.middlewares(settings.proxy_hops, settings.requests_per_min)
        middlewares = [door_middleware(self.door), *others]
        app = web.Application(middlewares=middlewares, client_max_size=protocol.MAX_FRAME_BYTES)
        app[http.SERVICES] = self.services
        app[http.ERROR_PAGE] = pages.error_page
        app.add_routes(http.routes())
        app.add_routes(pages.routes())
        app.add_routes(
            [
                web.get("/ws/agent", self._checked(self.gateway.handle)),
                web.get("/ws/watch", self._checked(self.watching.handle)),
            ]
        )
        return app

    async def drain(self, drain_s: float) -> None:
        """Begin no match any more; return when those that run are over, or after `drain_s`."""
        self.stopping.begin(drain_s)
        await self.scheduler.stop()
        while self.stopping.left_s():
            if not self.referee.running():
                return
            await asyncio.sleep(LOOK_S)

    def _checked(self, handler: Handler) -> Handler:
        """Let in who comes from a page of ours, or from none, while there is room."""

        async def handle(request: web.Request) -> web.StreamResponse:
            http.check_origin(request)
            self.door.check_room()
            self.door.waits(visitor_of(request))  # until it has said what it wants
            return await handler(request)

        return handle

    @contextlib.contextmanager
    def _stay(self, request: web.Request) -> Iterator[None]:
        """Keep a place for a request whose answer goes on. Raises LimitReachedError if there is none."""
        try:
            with self.door.stay(visitor_of(request), http.address_of(request)):
                yield
        except Flood:
            self.metrics.cut("flood")
            raise

    async def close_sockets(self) -> None:
        """Say goodbye to all agents and spectators."""
        sockets = [*self.gateway.sockets, *self.watching.sockets]
        goodbyes = [s.close(code=1001, message=b"server stops", drain=False) for s in sockets]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await asyncio.gather(*goodbyes, return_exceptions=True)


def _draw(chance: random.Random, outcomes: Sequence[tuple[str, float]]) -> str:
    texts, probabilities = zip(*outcomes, strict=True)
    return str(chance.choices(texts, probabilities)[0])


async def _serve(
    settings: Settings, db: Database, listener: socket.socket, house_names: Sequence[str]
) -> None:
    stop = StopSignals(settings.drain_s)
    known = await db.write(lambda conn: ladders.sync(conn, time_controls.ladder_rows(settings)), durable=True)
    url = local_url(listener)
    server = Server(settings, db, url, known)
    if settings.house:
        await _reserve(db, house_names, server.now())
    await server.referee.resume()
    runner = web.AppRunner(server.application(), handle_signals=False, shutdown_timeout=0.5)
    await runner.setup()
    hosts = runner.server
    assert hosts is not None, "it is set up"
    entrance = Entrance(listener, server.door, lambda peer: Visitor(hosts, server.door, peer))
    try:
        entrance.open()
        async with _background(server):
            await _greet(db, url, outside_url(listener), server.now())
            await stop.wait()
            log.info("server.stopping", drain_s=stop.drain_s, matches=len(server.referee.running()))
            await server.drain(stop.drain_s)
            await server.referee.stop()
    finally:
        entrance.close()
        await server.close_sockets()
        await runner.cleanup()


async def _reserve(db: Database, names: Sequence[str], now: datetime) -> None:
    """Keep the house agents' names for them, before anybody can register; one that is taken stays away."""
    for name in names:
        try:
            await db.write(agents.ensure_house, name, now, durable=True)
        except InputError as error:
            log.warning("house.name_taken", agent=name, detail=str(error))


async def _greet(db: Database, url: str, outside: str | None, now: datetime) -> None:
    """Say where the server is and, as long as nobody is its admin, how to become it."""
    link = await db.write(lambda conn: tokens.first_link(conn, now, now + FIRST_LINK_LASTS), durable=True)
    others = f", for other machines on {outside}" if outside else ""
    sys.stdout.write(f"Plyground listens on {url}{others} (Ctrl-C stops it)\n")
    if link is not None:
        # Behind the #: browsers never send that part, so it ends in no log on the way.
        sys.stdout.write(f"Become its admin, by a link for one use: {url}/admin#{link}\n")
    sys.stdout.flush()


@contextlib.asynccontextmanager
async def _background(server: Server) -> AsyncIterator[None]:
    jobs = [
        server.scheduler.run(),
        server.lag.run(),
        _count_connections(server),
        server.door.run(),
        _look_for_database(server.db),
    ]
    if server.settings.house:
        jobs.append(server.house.run())
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _look_for_database(db: Database) -> None:
    """While the database is away, try whether it is back, also where nobody plays; then claim it again."""
    sound = time.monotonic()
    while True:
        await asyncio.sleep(TOUCH_S)
        now = time.monotonic()
        if db.absence.after(sound):
            try:
                await db.write(absence.touch)
                await db.claim_again()
            except SQLAlchemyError:  # it is still away, and `absence` knows
                continue
            except InputError as error:
                log.error("database.taken", address="database", detail=str(error))  # noqa: TRY400 - a sentence
        sound = now


async def _count_connections(server: Server) -> None:
    while True:
        server.metrics.connections.set(len(server.gateway.sockets) + len(server.watching.sockets))
        await asyncio.sleep(1)


def local_url(listener: socket.socket) -> str:
    """Return the URL by which this machine reaches the server."""
    host, port = listener.getsockname()[:2]
    if host in EVERYWHERE:
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def outside_url(listener: socket.socket) -> str | None:
    """Return the URL by this machine's name, where the server listens to other machines."""
    host, port = listener.getsockname()[:2]
    return f"http://{socket.gethostname()}:{port}" if host in EVERYWHERE else None
