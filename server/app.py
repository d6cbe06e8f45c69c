"""The composition root: the only place that knows all parts of the server."""

import asyncio
import contextlib
import errno
import os
import random
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from aiohttp import web
from prometheus_client import CollectorRegistry

from agents import protocol
from games.errors import InputError
from server import http, logs, pages, process
from server.admission import Admission
from server.broadcast import Broadcast
from server.db import agents, ladders, tokens
from server.db.engine import Database
from server.db.ladders import Ladder
from server.feed import Feed
from server.gateway import Gateway
from server.half_open import KEEPALIVE_S, HalfOpen
from server.house import House
from server.http.errors import Handler
from server.lock import DataLock
from server.past import Past
from server.presence import Presence
from server.reception import Reception
from server.referee import Referee
from server.scheduler import Scheduler
from server.settings import Settings
from server.wall_clock import WallClock
from server.watch import WatchGateway

LAG_PROBE_S = 0.25
BACKLOG = 1024
STOP_S = 4.5
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
        self.presence = Presence()
        self.broadcast = Broadcast(first_version=int(time.time() * 1000))
        self.now = WallClock(time.time, time.monotonic).now
        lease = f"{os.getpid()}-{secrets.token_hex(4)}"
        chance = random.SystemRandom()
        self.referee = Referee(
            settings,
            db,
            lambda outcomes: _draw(chance, outcomes),
            self.presence,
            self.broadcast,
            self.metrics,
            lease,
            time.monotonic,
            self.now,
        )
        self.scheduler = Scheduler(
            db,
            self.presence,
            self.referee,
            settings,
            chance.random,
            time.monotonic,
            self.now,
        )
        house_token = secrets.token_urlsafe(32)
        self.house = House(url, house_token, settings.ladders)
        admission = Admission(db, {ladder.name: ladder.id for ladder in known}, house_token, self.now)
        reception = Reception(settings, admission, self.presence, self.referee, time.monotonic, self.now)
        self.gateway = Gateway(
            settings, reception, self.presence, self.referee, time.monotonic, self.scheduler.wake
        )
        self.half_open = HalfOpen(time.monotonic)
        past = Past(db).snapshot
        ladder_names = {ladder.name for ladder in known}
        self.watching = WatchGateway(self.broadcast, ladder_names, past, time.monotonic)
        self.services = http.Services(
            db,
            settings,
            registry,
            self.now,
            http.Limits(settings),
            on_revoked=self.gateway.revoked,
            feed=Feed(self.broadcast, past),
        )

    def application(self) -> web.Application:
        """Return the web application: API, pages and sockets."""
        middlewares = [self.half_open.middleware(), *http.middlewares(self.settings.proxy_hops)]
        app = web.Application(middlewares=middlewares, client_max_size=protocol.MAX_FRAME_BYTES)
        app[http.SERVICES] = self.services
        app[http.ERROR_PAGE] = pages.error_page
        app.add_routes(http.routes())
        app.add_routes(pages.routes())
        app.add_routes(
            [
                web.get("/ws/agent", _checked(self.gateway.handle)),
                web.get("/ws/watch", _checked(self.watching.handle)),
            ]
        )
        return app

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


def _checked(handler: Handler) -> Handler:
    """Let in who comes from a page of ours, or from none, while there is room."""

    async def handle(request: web.Request) -> web.StreamResponse:
        http.check_origin(request)
        process.check_room(request)
        return await handler(request)

    return handle


def _ask_to_stop(stop: asyncio.Event) -> None:
    """Stop in good order; at once if asked a second time, or if good order takes too long."""
    if stop.is_set():
        os._exit(1)
    stop.set()
    impatience = threading.Timer(STOP_S, os._exit, (1,))
    impatience.daemon = True
    impatience.start()


async def _serve(
    settings: Settings, db: Database, listener: socket.socket, house_names: Sequence[str]
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _ask_to_stop, stop)
    known = await db.write(lambda conn: ladders.sync(conn, settings.ladders), durable=True)
    url = local_url(listener)
    server = Server(settings, db, url, known)
    if settings.house:
        await _reserve(db, house_names, server.now())
    await server.referee.resume()
    runner = web.AppRunner(
        server.application(),
        access_log=None,
        handle_signals=False,
        shutdown_timeout=0.5,
        auto_decompress=False,
        keepalive_timeout=KEEPALIVE_S,
    )
    await runner.setup()
    assert runner.server is not None, "it is set up"
    try:
        await web.SockSite(runner, listener).start()
        async with _background(server, server.half_open.run(runner.server)):
            await _greet(db, url, outside_url(listener), server.now())
            await stop.wait()
            log.info("server.stopping")
            await server.scheduler.stop()
            await server.referee.stop()
    finally:
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
async def _background(server: Server, *jobs_too: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    jobs = [server.scheduler.run(), _measure_lag(server.metrics), _count_connections(server), *jobs_too]
    if server.settings.house:
        jobs.append(server.house.run())
    tasks = [asyncio.create_task(job) for job in jobs]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _measure_lag(metrics: http.Metrics) -> None:
    while True:
        due = time.monotonic() + LAG_PROBE_S
        await asyncio.sleep(LAG_PROBE_S)
        metrics.loop_lag.observe(max(0.0, time.monotonic() - due))


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
