"""The `plyground` program in processes of its own, and a scripted server for it to talk to."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agents import protocol
from games import Position, load

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 60
LADDERS = {"tic_tac_toe": "tic_tac_toe", "small": "connect_four(rows=4,columns=4,k=3)"}


@dataclass(frozen=True)
class Result:
    """How a run of the program ended."""

    code: int
    out: str
    err: str

    def assert_done(self) -> None:
        assert self.code == 0, self.err

    def assert_refused(self, command: str, *words: str) -> None:
        """It ended with exit code 2 and one sentence on stderr, which holds these words."""
        assert self.code == 2, f"exit {self.code}: {self.err}"
        tried = [
            line for line in self.out.splitlines() if command == "connect" and line.startswith("trying ")
        ]
        assert self.out.splitlines() == tried
        assert self.err.startswith(f"plyground {command}: ".replace(" :", ":")), self.err
        assert self.err.count("\n") == 1, self.err
        assert self.err.endswith("\n")
        for word in words:
            assert word in self.err


Plyground = Callable[..., Awaitable[Result]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment with nothing of this machine's owner in it."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PLYGROUND_")}
    own = {"HOME": str(tmp_path), "PLYGROUND_CONFIG_DIR": str(tmp_path / "config"), "PYTHONPATH": str(ROOT)}
    return {**ours, **own, "PYTHONUNBUFFERED": "1"}


@pytest.fixture
async def launch(
    tmp_path: Path, environment: dict[str, str]
) -> AsyncIterator[Callable[..., Awaitable[asyncio.subprocess.Process]]]:
    """Start the program without waiting for its end; what still runs after the test is killed."""
    started: list[asyncio.subprocess.Process] = []

    async def start(*arguments: str, **variables: str) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "server.cli", *arguments),
            cwd=tmp_path,
            env={**environment, **variables},
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
            await process.communicate()


@pytest.fixture
def interrupt() -> Callable[[asyncio.subprocess.Process], Awaitable[bytes]]:
    """Press Ctrl-C until the program ends, and return its stderr.

    Once is not always enough for a program that is about to read: Python looks for signals before it reads
    and after, not in between.
    """

    async def press(process: asyncio.subprocess.Process) -> bytes:
        ended = asyncio.ensure_future(process.communicate())
        async with asyncio.timeout(PATIENCE_S):
            while not ended.done():
                process.send_signal(signal.SIGINT)
                await asyncio.wait([ended], timeout=10)
        return ended.result()[1]

    return press


@pytest.fixture
def plyground(launch: Callable[..., Awaitable[asyncio.subprocess.Process]]) -> Plyground:
    """Run the program to its end: `await plyground("perft", "tic_tac_toe", "3", stdin="")`."""

    async def run(*arguments: str, stdin: str | bytes = b"", **variables: str) -> Result:
        process = await launch(*arguments, **variables)
        given = stdin.encode() if isinstance(stdin, str) else stdin
        async with asyncio.timeout(PATIENCE_S):
            out, err = await process.communicate(given)
        assert process.returncode is not None
        return Result(process.returncode, out.decode(), err.decode())

    return run


def problem(status: int, code: str, detail: str, **headers: str) -> web.Response:
    body = {"type": "about:blank", "title": "No", "status": status, "code": code, "detail": detail}
    kind = "application/problem+json"
    return web.json_response(body, status=status, content_type=kind, headers=headers)


@dataclass
class ScriptedServer:
    """A server that knows two ladders and lets agents play the first legal action against theirs.

    `taken` are names that cannot be registered; `tokens` the tokens it knows, by agent; without the
    `invitation`, if there is one, nobody registers.
    """

    invitation: str = ""
    tokens: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    standings: list[dict[str, Any]] = field(default_factory=list)
    hellos: list[protocol.Hello] = field(default_factory=list)
    watching: list[bytes] = field(default_factory=list)
    """What a spectator is sent after each thing that it asks for."""
    watched: list[protocol.FromSpectator] = field(default_factory=list)
    told: dict[str, Any] = field(default_factory=dict)
    """What is answered about a match, by its number."""
    matches: int = 0
    move_ms: int = 5_000
    replace_at: int | None = None
    """The match at whose start the agent is told that another connection took over."""
    refusals: dict[str, list[web.Response]] = field(default_factory=dict)
    """What is answered first to each request for a path, before it is served."""
    farewells: list[protocol.Error] = field(default_factory=list)
    """What agents are told at first in place of welcome; then the connection is closed with code 1013."""
    url: str = ""

    def application(self) -> web.Application:
        app = web.Application(middlewares=[self.refuse])
        api = "/api/v1"
        app.add_routes(
            [
                web.get(f"{api}/ladders", self.ladders),
                web.get(f"{api}/ladders/{{ladder}}/standings", self.table),
                web.post(f"{api}/agents", self.register),
                web.get(f"{api}/agents/{{name}}", self.agent),
                web.get(f"{api}/matches/{{id}}", self.match),
                web.get("/ws/agent", self.play),
                web.get("/ws/watch", self.watch),
            ]
        )
        return app

    @web.middleware
    async def refuse(self, request: web.Request, handler: Any) -> web.StreamResponse:
        refusals = self.refusals.get(request.path)
        return refusals.pop(0) if refusals else await handler(request)

    async def ladders(self, _request: web.Request) -> web.Response:
        control = {"move_ms": self.move_ms, "margin_ms": 200, "ready_ms": 10_000}
        items = [
            {"name": name, "title": name, "game": game, "time_control": control}
            for name, game in LADDERS.items()
        ]
        return web.json_response({"items": items, "next": None})

    async def table(self, request: web.Request) -> web.Response:
        """Two rows a page."""
        first = int(request.query.get("cursor", "0"))
        following = str(first + 2) if first + 2 < len(self.standings) else None
        return web.json_response({"items": self.standings[first : first + 2], "next": following})

    async def register(self, request: web.Request) -> web.Response:
        name = (await request.json())["name"]
        if self.invitation and request.headers.get("Authorization") != f"Bearer {self.invitation}":
            return problem(403, "registration_closed", "expected an invitation, got another address")
        if name in self.taken:
            return problem(409, "name_taken", f"expected a name nobody has, got {name!r}")
        self.taken.add(name)
        self.tokens[name] = f"ply_{name}"
        return web.json_response({"name": name, "token": self.tokens[name]}, status=201)

    async def agent(self, request: web.Request) -> web.Response:
        record = {"elo": 1512.3, "provisional": True, "wins": 3, "draws": 0, "losses": 1}
        rows = [{"ladder": ladder, **record} for ladder in LADDERS]
        return web.json_response({"name": request.match_info["name"], "ladders": rows})

    async def match(self, request: web.Request) -> web.Response:
        number = request.match_info["id"]
        if number not in self.told:
            return problem(404, "unknown_match", f"expected a match, got {number}")
        return web.json_response(self.told[number])

    async def play(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        hello = protocol.decode_from_agent(await socket.receive_str())
        assert isinstance(hello, protocol.Hello)
        self.hellos.append(hello)
        if self.farewells:
            farewell = self.farewells.pop(0)
            await self.send(socket, farewell)
            await socket.close(code=1013, message=farewell.code.encode())
            return socket
        if request.headers.get("Authorization") != f"Bearer {self.tokens.get(hello.agent)}":
            await self.send(
                socket, protocol.Error("bad_token", "expected a token of this server, got another")
            )
            await socket.close(code=1008, message=b"bad_token")
            return socket
        limits = protocol.Limits(65_536, 4_096, 50, 200, 10_000)
        await self.send(socket, protocol.Welcome(1, hello.agent, len(self.hellos), limits, []))
        while await self.play_match(socket, hello):
            pass
        return socket

    async def play_match(self, socket: web.WebSocketResponse, hello: protocol.Hello) -> bool:
        """Play one match against a seat 1 that answers with the first legal action; tell whether to go on."""
        self.matches += 1
        if self.matches == self.replace_at:
            await self.send(socket, protocol.Error("replaced", "this agent connected once more"))
            await socket.close(code=1008, message=b"replaced")
            return False
        match, position = self.matches, Position.start(load(LADDERS[hello.ladders[0]]))
        players = [protocol.Player(0, hello.agent, 1), protocol.Player(1, "rival\x1b[31m", 1)]
        control = protocol.TimeControl(self.move_ms, margin_ms=200, ready_ms=10_000)
        start = (position.game.variant, hello.ladders[0], 0, players, control, position.text(), [])
        await self.send(socket, protocol.MatchStart(match, *start))
        while not position.is_terminal():
            if position.to_move() == 1:
                position = position.play(position.legal()[0])
                continue
            ply, clock = position.ply, protocol.ClockView(self.move_ms)
            asked = protocol.YourMove(
                match, ply, position.text(), list(position.actions[-1:]), position.legal(), clock
            )
            try:
                async with asyncio.timeout((self.move_ms + 200) / 1000):
                    answer = await self.ask(socket, asked)
            except TimeoutError:
                await self.end(socket, match, "loss", "timeout")
                return not socket.closed
            if isinstance(answer, protocol.Resign) and answer.reason == "crash":
                await self.end(socket, match, "loss", "crash")
                return False
            if not isinstance(answer, protocol.Move):
                await self.end(socket, match, "loss", "resignation")
                return False
            if answer.action not in position.legal():
                await self.end(socket, match, "loss", "illegal_action")
                return False
            position = position.play(answer.action)
            await self.send(socket, protocol.Ack(match, ply))
        outcomes = {1.0: "win", 0.0: "draw", -1.0: "loss"}
        await self.end(socket, match, outcomes[position.utilities()[0]], "normal")
        return not socket.closed

    async def ask(self, socket: web.WebSocketResponse, asked: protocol.YourMove) -> Any:
        """Ask for a move, and return the next message but ready and leave."""
        await self.send(socket, asked)
        while True:
            message = await socket.receive()
            if message.type is not web.WSMsgType.TEXT:
                return None
            answer = protocol.decode_from_agent(message.data)
            if not isinstance(answer, protocol.Ready | protocol.Leave):
                return answer

    async def end(self, socket: web.WebSocketResponse, match: int, outcome: Any, cause: Any) -> None:
        other: Any = {"win": "loss", "loss": "win", "draw": "draw"}[outcome]
        ended = protocol.MatchEnd(
            match, [outcome, other], [cause, "normal"], [None, None], f"/matches/{match}", "ply 4: got '100'"
        )
        await self.send(socket, ended)

    async def watch(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            asked = protocol.decode_from_spectator(message.data)
            self.watched.append(asked)
            if isinstance(asked, protocol.Watch):
                news = self.watching.pop(0)
                for frame in msgspec.json.decode(news):
                    await socket.send_json(frame)
        return socket

    @staticmethod
    async def send(socket: web.WebSocketResponse, message: Any) -> None:
        if not socket.closed:
            await socket.send_str(protocol.encode(message).decode())


@pytest.fixture
async def scripted() -> AsyncIterator[ScriptedServer]:
    """A scripted server that listens."""
    server = ScriptedServer()
    listening = TestServer(server.application())
    await listening.start_server()
    server.url = str(listening.make_url("")).rstrip("/")
    yield server
    await listening.close()


@pytest.fixture
def agent_file(tmp_path: Path) -> Callable[..., Path]:
    """Write an agent's file: `agent_file("me.py", "return 0")` with the body of its choose."""

    def write(name: str, body: str) -> Path:
        file = tmp_path / name
        file.write_text(f"def choose(state, clock):\n    {body}\n", encoding="utf-8")
        return file

    return write
