"""The composition root: the only place that knows all parts of the server."""

import asyncio
import contextlib
import os
import random
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

import structlog
from aiohttp import web
from prometheus_client import CollectorRegistry

from agents import protocol
from games.errors import InputError
from server import http, logs, pages
from server.admission import Admission
from server.broadcast import Broadcast
from server.db import ladders, matches
from server.db.engine import Database
from server.db.ladders import Ladder
from server.gateway import Gateway
from server.house import House
from server.http.errors import Handler
from server.lock import DataLock
from server.past import Past
from server.presence import Presence
from server.reception import Reception
from server.referee import Referee
from server.scheduler import Scheduler
from server.settings import Settings
from server.watch import WatchGateway

LAG_PROBE_S = 0.25
BACKLOG = 1024
STOP_S = 4.5
STOPPED = "the server was stopped; counts for nobody"

log = structlog.get_logger()


def run(settings: Settings) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code. Raises InputError if it cannot start."""
    logs.configure(settings.log_level, time.monotonic)
    lock = DataLock(settings.data_dir)
    lock.acquire()
    try:
        listener = listen(settings)
        with (
            contextlib.closing(listener),
            contextlib.closing(open_database(settings)) as db,
            asyncio.Runner(loop_factory=loop_factory()) as runner,
        ):
            runner.run(_serve(settings, db, listener))
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
        raise InputError(
            "port_unavailable",
            expected="a free address to listen on",
            got=error.strerror or str(error),
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


def utc_now() -> datetime:
    """Return the time, with zone."""
    return datetime.now(UTC)


class Server:
    """The wired parts of a running server."""

    def __init__(self, settings: Settings, db: Database, url: str, known: list[Ladder]) -> None:
        registry = CollectorRegistry()
        self.metrics = http.Metrics(registry)
        self.settings = settings
        self.db = db
        self.presence = Presence()
        self.broadcast = Broadcast(first_version=int(time.time() * 1000))
        lease = f"{os.getpid()}-{secrets.token_hex(4)}"
        self.referee = Referee(
            settings, db.write, self.presence, self.broadcast, self.metrics, lease, time.monotonic, utc_now
        )
        self.scheduler = Scheduler(
            db,
            self.presence,
            self.referee,
            settings,
            random.SystemRandom().random,
            time.monotonic,
            utc_now,
        )
        house_token = secrets.token_urlsafe(32)
        self.house = House(url, house_token, settings.ladders)
        admission = Admission(db, {ladder.name: ladder.id for ladder in known}, house_token, utc_now)
        reception = Reception(settings, admission, self.presence, self.referee, time.monotonic, utc_now)
        self.gateway = Gateway(
            settings, reception, self.presence, self.referee, time.monotonic, self.scheduler.wake
        )
        self.watching = WatchGateway(
            self.broadcast,
            {ladder.name for ladder in known},
            Past(db).snapshot,
            time.monotonic,
        )
        self.services = http.Services(db, settings, registry, utc_now)

    def application(self) -> web.Application:
        """Return the web application: API, pages and sockets."""
        app = web.Application(middlewares=http.middlewares(), client_max_size=protocol.MAX_FRAME_BYTES)
        app[http.SERVICES] = self.services
        app[http.ERROR_PAGE] = pages.error_page
        app.add_routes(http.routes())
        app.add_routes(pages.routes())
        app.add_routes(
            [
                web.get("/ws/agent", _same_origin(self.gateway.handle)),
                web.get("/ws/watch", _same_origin(self.watching.handle)),
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


def _same_origin(handler: Handler) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        http.check_origin(request)
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


async def _serve(settings: Settings, db: Database, listener: socket.socket) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _ask_to_stop, stop)
    known = await db.write(lambda conn: ladders.sync(conn, settings.ladders), durable=True)
    now = utc_now()
    interrupted = await db.write(lambda conn: matches.void_interrupted(conn, now), durable=True)
    if interrupted:
        log.warning("matches.interrupted", void=len(interrupted), detail=matches.RESTARTED)
    url = local_url(listener)
    server = Server(settings, db, url, known)
    runner = web.AppRunner(
        server.application(),
        access_log=None,
        handle_signals=False,
        shutdown_timeout=0.5,
        auto_decompress=False,
    )
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        async with _background(server):
            sys.stdout.write(f"Plyground listens on {url} (Ctrl-C stops it)\n")
            sys.stdout.flush()
            await stop.wait()
            log.info("server.stopping")
            await server.scheduler.stop()
            await server.referee.abort_all(STOPPED)
    finally:
        await server.close_sockets()
        await runner.cleanup()


@contextlib.asynccontextmanager
async def _background(server: Server) -> AsyncIterator[None]:
    jobs = [server.scheduler.run(), _measure_lag(server.metrics), _count_connections(server)]
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
    if host in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not bound
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
