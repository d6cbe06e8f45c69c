"""A stage: the pages with a real database and live events, and matches that a test plays move by move."""

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from msgspec.structs import replace
from playwright.async_api import Browser, Page, async_playwright
from prometheus_client import CollectorRegistry
from sqlalchemy import select, update

from agents.protocol import MatchView, TimeControl
from games.protocol import CHANCE
from server import http, pages
from server.broadcast import Broadcast, Sight
from server.core.names import name_key
from server.core.outcome import Cause, Outcome, Result
from server.db import agents, ladders, matches, schema
from server.db.engine import Database
from server.db.matches import MoveRow, SeatResult
from server.gate import Gate
from server.pages.replay import replay
from server.settings import Settings
from server.time_controls import ladder_rows
from server.watch import WatchGateway

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Stage:
    """What a test sees of the place: it plays matches, and the pages show them."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.settings = Settings()
        self.broadcast = Broadcast(first_version=1000)
        self.ladders = {
            ladder.name: ladder for ladder in db.write_now(ladders.sync, ladder_rows(self.settings))
        }
        self._ladder_names = set(self.ladders)
        self.watching = WatchGateway(self.broadcast, self._ladder_names, self._no_past, time.monotonic)
        self.lag_s = 0.0
        self._server: TestServer | None = None
        self._versions: dict[str, int] = {}
        self._attempts: dict[int, int] = {}

    async def _no_past(self, _match_id: int) -> bytes | None:
        return None

    async def open(self, port: int | None = None) -> None:
        app = web.Application(middlewares=http.middlewares())
        app[http.SERVICES] = http.Services(
            self.db,
            self.settings,
            CollectorRegistry(),
            self.now,
            http.Limits(self.settings),
            gate=Gate(lambda: self.lag_s, self.settings.margin_ms),
        )
        app[http.ERROR_PAGE] = pages.error_page
        app.add_routes(http.routes())
        app.add_routes(pages.routes())
        app.add_routes([web.get("/ws/watch", self.watching.handle)])
        self._server = TestServer(app, port=port)
        await self._server.start_server()

    async def close(self) -> int:
        """Stop answering; returns the port that was used."""
        assert self._server is not None
        port = self._server.port
        await self.cut()
        await self._server.close()
        assert port is not None
        return port

    async def cut(self) -> None:
        """Close every spectator's socket, as a lost network does."""
        for socket in list(self.watching.sockets):
            await socket.close(code=1001)

    def restart_broadcast(self) -> None:
        """Forget all live events, as a server that was started anew has."""
        self.broadcast = Broadcast(first_version=2000)
        self.watching._broadcast = self.broadcast

    def url(self, path: str = "/") -> str:
        assert self._server is not None
        return str(self._server.make_url(path))

    @staticmethod
    def now() -> datetime:
        return datetime.now(UTC)

    async def agent(self, name: str, *, shown_as: str | None = None) -> None:
        """Register an agent on every ladder. `shown_as` forces a name that registration would refuse."""

        def job(conn):
            made = agents.register(conn, name, owner=None, house=False, now=self.now())
            version = agents.ensure_version(conn, made.agent_id, "f" * 64, self.now())
            for ladder in self.ladders.values():
                agents.join_ladder(conn, ladder.id, version.id, self.now())
            if shown_as is not None:
                forced = {"name": shown_as, "name_key": name_key(shown_as)}
                conn.execute(update(schema.agents).where(schema.agents.c.id == made.agent_id).values(forced))
            return version.id

        self._versions[name] = await self.db.write(job)

    async def new_version(self, name: str, *ladder_names: str) -> None:
        """Let an agent come with changed code."""

        def job(conn):
            version = select(schema.versions.c.agent_id).where(schema.versions.c.id == self._versions[name])
            made = agents.ensure_version(conn, conn.execute(version).scalar_one(), "e" * 64, self.now())
            for ladder in ladder_names:
                agents.join_ladder(conn, self.ladders[ladder].id, made.id, self.now())
            return made.id

        self._versions[name] = await self.db.write(job)

    async def open_ladder(self, name: str, title: str) -> None:
        """Have a ladder more, of the game of that name."""
        rows = [*ladder_rows(self.settings), ladders.LadderSpec(name, title, name, TimeControl(5000))]
        found = await self.db.write(ladders.sync, rows)
        self.ladders = {ladder.name: ladder for ladder in found}
        self._ladder_names.add(name)

    async def control(self, ladder: str, times: TimeControl) -> None:
        """Give a ladder another time control."""
        encoded = msgspec.json.encode(times).decode()
        change = update(schema.ladders).where(schema.ladders.c.name == ladder).values(time_control=encoded)
        await self.db.write(lambda conn: conn.execute(change))

    async def queue(self, ladder: str, *names: str, **times: int) -> int:
        """Let a match wait for its turn, with this time control. Nobody is told of it."""
        control = {"move_ms": 5000, "margin_ms": 200, "ready_ms": 10000, **times}

        def job(conn):
            table = [self._versions[name] for name in names]
            first, *others = matches.queue_table(conn, self.ladders[ladder].id, table, control, self.now())
            for other in others:
                matches.drop_queued(conn, other, "not wanted here", self.now())
            return first

        return await self.db.write(job)

    async def start(self, match_id: int) -> None:
        """Start a match that waits and show it."""

        def job(conn):
            # Each match of a stage has the times that its test queued it with.
            own = select(schema.matches.c.time_control).where(schema.matches.c.id == match_id)
            of_ladder = select(schema.matches.c.ladder_id).where(schema.matches.c.id == match_id)
            ladder = update(schema.ladders).where(schema.ladders.c.id == of_ladder.scalar_subquery())
            conn.execute(ladder.values(time_control=own.scalar_subquery()))
            attempt = matches.begin(conn, match_id, "stage", self.now()).attempt
            matches.set_running(conn, match_id, attempt, self.now())
            return attempt

        self._attempts[match_id] = await self.db.write(job)
        await self.show(match_id)

    async def begin(self, ladder: str, *names: str, **times: int) -> int:
        """Start a match and show it."""
        match_id = await self.queue(ladder, *names, **times)
        await self.start(match_id)
        return match_id

    async def play(self, match_id: int, *actions: str, show: bool = True, **timing: object) -> None:
        """Play actions, one event each, timed as in MoveRow."""
        for action in actions:
            view = await self.view(match_id)
            ply, seat = view.ply, CHANCE if view.to_move is None else view.to_move

            def job(conn, ply=ply, seat=seat, action=action):
                row = MoveRow(ply, seat, action, 12, 12, None, self.now())._replace(**timing)
                matches.record_moves(conn, [matches.Played(match_id, self._attempts[match_id], [row])])

            await self.db.write(job)
            if show:
                await self.show(match_id)

    async def finish(
        self,
        match_id: int,
        outcomes: Sequence[str],
        causes: Sequence[str],
        detail: str | None = None,
        request: dict[str, object] | None = None,
        utilities: Sequence[float] = (),
    ) -> None:
        ends = tuple(map(Outcome, outcomes)), tuple(map(Cause, causes))
        scores = Result(*ends, utilities=tuple(utilities)).scores
        by_seat = zip(*ends, scores, utilities or (None,) * len(scores), strict=True)
        results = [SeatResult(*seat) for seat in by_seat]
        attempt = self._attempts[match_id]
        end = matches.Ended(match_id, attempt, results, detail, self.now(), request=request)
        await self.db.write_together(matches.finish_all, end, durable=True)
        await self.show(match_id)

    async def void(
        self,
        match_id: int,
        detail: str,
        causes: Sequence[str] = ("infrastructure", "infrastructure"),
        *,
        replay: bool = False,
        request: dict[str, object] | None = None,
    ) -> int | None:
        attempt = self._attempts[match_id]
        job = partial(matches.void, request=request, replay=replay)
        again = await self.db.write(job, match_id, attempt, causes, detail, self.now())
        await self.show(match_id)
        return again

    async def view(self, match_id: int) -> MatchView:
        return (await self.db.read(replay, match_id, True)).view

    async def show(self, match_id: int, **changes: object) -> None:
        """Publish a match as it is now, as the referee does."""
        view = await self.view(match_id)
        clock = view.move_ms if view.to_move is not None else None
        at = int(self.now().timestamp() * 1000)
        shown = replace(view, clock_ms=clock, at=at, **changes)
        over = shown.state in {"finished", "void"}
        self.broadcast.publish(Sight(shown.id, shown.ladder, lambda: shown, over=over))


class Reader:
    """Somebody at a browser; collects what goes wrong there."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.faults: list[str] = []
        page.on("console", lambda message: self._heard(message.type, message.text))
        page.on("pageerror", lambda error: self.faults.append(str(error)))

    def _heard(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"}:
            self.faults.append(text)


@pytest_asyncio.fixture(loop_scope="module")
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    db = Database.open(f"sqlite:///{tmp_path / 'plyground.db'}")
    db.migrate()
    made = Stage(db)
    await made.open()
    yield made
    await made.close()
    db.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        sentence = "no Chromium here: `apt-get install chromium` brings it"
        if os.environ.get("CI") == "true":
            pytest.fail(sentence)
        pytest.skip(sentence)
    async with async_playwright() as driver:
        running = await driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        await running.close()


@pytest_asyncio.fixture(loop_scope="module")
async def reader(browser: Browser) -> AsyncIterator[Reader]:
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    yield Reader(await context.new_page())
    await asyncio.wait_for(context.close(), 10)
