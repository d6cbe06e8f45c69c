"""Real servers in processes of their own, and agents that speak to them over raw sockets."""

import contextlib
import json
import os
import random
import re
import signal
import socket as sockets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from answers import Answers
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0
"""How long a test waits for what must happen: generous, since two cores run many processes."""

FAST = {"PLYGROUND_PACE_MS": "0", "PLYGROUND_HOUSE_REST_S": "0", "PLYGROUND_REST_MS": "0"}
"""House matches at full speed."""

QUIET = {"PLYGROUND_HOUSE": "false", **FAST}
"""No house agents: only those that the test connects."""


def wait_for(what: Callable[[], Any], why: str, timeout_s: float = PATIENCE_S) -> Any:
    """Ask until the answer is true, and return it."""
    end = time.monotonic() + timeout_s
    while True:
        answer = what()
        if answer:
            return answer
        assert time.monotonic() < end, f"waited {timeout_s} s in vain: {why}"
        time.sleep(0.05)


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with these settings and no others of Plyground."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PLYGROUND_")}
    return {**ours, "PYTHONUNBUFFERED": "1", **settings}


def free_port() -> int:
    with sockets.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Server(Answers):
    """A server in a folder of its own. It can be killed and started again on the same data.

    `program` is what Python runs: ours, or a test's own that changes something and runs ours.
    """

    folder: Path
    settings: dict[str, str]
    program: tuple[str, ...] = ("-m", "server.cli")
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    family: list[psutil.Process] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def data_dir(self) -> Path:
        return Path(self.settings.get("PLYGROUND_DATA_DIR", self.folder / "data"))

    @property
    def database_url(self) -> str:
        """URL of its database."""
        return self.settings.get("PLYGROUND_DATABASE_URL") or f"sqlite:///{self.data_dir / 'plyground.db'}"

    @property
    def environ(self) -> dict[str, str]:
        place = {"PLYGROUND_PORT": str(self.port), "PLYGROUND_DATA_DIR": str(self.data_dir)}
        return environment({**place, **self.settings})

    def open_ladders(self, ladders: Mapping[str, str], move_ms: int) -> None:
        """Have these ladders, a game by name, and no others; before the start."""
        config = self.folder / "ladders.toml"
        tables = [
            f'[[ladders]]\nname = "{name}"\ngame = "{game}"\nmove_ms = {move_ms}\n'
            for name, game in ladders.items()
        ]
        config.write_text("".join(tables), encoding="utf-8")
        self.settings["PLYGROUND_CONFIG"] = str(config)

    def log(self) -> str:
        return (self.folder / "server.log").read_text(encoding="utf-8")

    def launch(self) -> "Server":
        """Start without waiting for it to listen."""
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self.program, "serve"],
                cwd=self.folder,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self

    def start(self) -> "Server":
        """Start and wait until it is well."""
        self.launch()
        self.wait_until_well()
        return self

    def wait_until_well(self) -> None:
        """Wait until it answers."""
        wait_for(self.is_well, f"the server to start; its log:\n{self.log()}")

    def is_well(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"the server ended with {self.process.returncode}:\n{self.log()}"
        with contextlib.suppress(OSError):
            return self.get("/healthz")[0] == 200
        return False

    def remember_family(self) -> list[psutil.Process]:
        """Note the server and every process it has started so far."""
        assert self.process is not None
        with contextlib.suppress(psutil.NoSuchProcess):
            me = psutil.Process(self.process.pid)
            self.family = [me, *me.children(recursive=True)]
        return self.family

    def signal(self, number: int, *, whole_group: bool = False) -> None:
        """Signal the server alone, or its process group as Ctrl-C in a terminal does."""
        assert self.process is not None
        self.remember_family()
        (os.killpg if whole_group else os.kill)(self.process.pid, number)

    def wait(self, timeout_s: float = PATIENCE_S) -> int:
        assert self.process is not None
        return self.process.wait(timeout_s)

    def assert_nothing_is_left(self, timeout_s: float = 5.0) -> None:
        _, alive = psutil.wait_procs(self.family, timeout=timeout_s)
        assert alive == [], f"still alive: {alive}"

    def stop(self) -> None:
        """Stop it if it runs, and see that no process is left."""
        if self.process is not None and self.process.poll() is None:
            self.signal(signal.SIGINT)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise
            self.assert_nothing_is_left()

    def admin_links(self, starts: int = 1) -> list[str]:
        """The links for one use that so many starts have printed."""
        wait_for(lambda: self.log().count("Plyground listens") >= starts, "the server to say where it is")
        return re.findall(r"http://\S+/admin#\S+", self.log())

    def admin_token(self) -> str:
        """Become the admin of a fresh server."""
        code = self.admin_links()[-1].partition("#")[2]
        status, made = self.ask("POST", "links/redeem", {"code": code})
        assert status == 201, made
        return str(made["token"])

    def plyground(
        self, *arguments: str, timeout_s: float = 120, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the `plyground` program against this server."""
        return run_plyground(
            *arguments,
            folder=self.folder,
            timeout_s=timeout_s,
            environ={**self.environ, "PLYGROUND_SERVER": self.url, **variables},
        )

    def doctor(self) -> None:
        """Assert that the data hold together."""
        answer = self.plyground("doctor")
        assert answer.returncode == 0, answer.stdout + answer.stderr


def run_plyground(
    *arguments: str, folder: Path, environ: Mapping[str, str], timeout_s: float = 120
) -> subprocess.CompletedProcess[str]:
    own_configuration = {"XDG_CONFIG_HOME": str(folder / "config"), "HOME": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", "server.cli", *arguments],
        cwd=folder,
        env={**environ, **own_configuration},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


class RawAgent:
    """An agent that a test plays by hand, message by message. `url` if it goes another way to the server."""

    def __init__(
        self,
        server: Server,
        name: str,
        *,
        ladders: tuple[str, ...] = (),
        concurrency: int = 1,
        token: str = "",
        url: str = "",
    ) -> None:
        self.name = name
        self.token = token or server.register(name)
        self._open = contextlib.ExitStack()
        socket = connect(
            (url or server.url).replace("http", "ws") + "/ws/agent",
            additional_headers={"Authorization": f"Bearer {self.token}"},
            compression=None,
            proxy=None,
            max_size=2**24,
        )
        self.socket: ClientConnection = self._open.enter_context(socket)
        if ladders:
            self.hello(ladders=list(ladders), concurrency=concurrency)
            self.await_message("welcome")

    def hello(self, **fields: object) -> None:
        self.send({"type": "hello", "protocol": 1, "agent": self.name, **fields})

    def send(self, message: object) -> None:
        """Send an object as JSON; text and bytes go as they are."""
        self.socket.send(message if isinstance(message, str | bytes) else json.dumps(message))

    def receive(self, timeout_s: float = PATIENCE_S) -> dict[str, Any]:
        return dict(json.loads(self.socket.recv(timeout_s)))

    def await_message(self, kind: str, timeout_s: float = PATIENCE_S) -> dict[str, Any]:
        """Return the next message of a kind; every `match_start` on the way is answered with `ready`."""
        end = time.monotonic() + timeout_s
        while True:
            message = self.receive(max(0.0, end - time.monotonic()))
            if message["type"] == kind:
                return message
            if message["type"] == "match_start":
                self.send({"type": "ready", "match": message["match"]})

    def await_close(self, timeout_s: float = PATIENCE_S) -> tuple[int, str]:
        """Read until the server closes the connection; return code and reason."""
        end = time.monotonic() + timeout_s
        try:
            while True:
                self.receive(max(0.0, end - time.monotonic()))
        except ConnectionClosed as closed:
            end_frame = closed.rcvd
        assert end_frame is not None, "the connection broke off without a closing frame"
        return end_frame.code, end_frame.reason

    def move(self, request: Mapping[str, Any], **fields: object) -> None:
        """Answer `your_move` with its first legal action, but for the fields given."""
        answer = {"match": request["match"], "ply": request["ply"], "action": request["legal"][0]}
        self.send({"type": "move", **answer, **fields})

    def close(self) -> None:
        self._open.close()


class SteadyAgent(threading.Thread):
    """An honest agent: plays a random legal action at once, in every match, until stopped."""

    def __init__(self, server: Server, name: str, ladders: tuple[str, ...], concurrency: int = 4) -> None:
        super().__init__(daemon=True)
        self.agent = RawAgent(server, name, ladders=ladders, concurrency=concurrency)
        self.draw = random.Random(name)
        self.finished = 0
        self.plies: list[float] = []
        self.start()

    def run(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                message = json.loads(self.agent.socket.recv())
                match message["type"]:
                    case "match_start":
                        self.agent.send({"type": "ready", "match": message["match"]})
                    case "your_move":
                        self.plies.append(time.monotonic())
                        self.agent.move(message, action=self.draw.choice(message["legal"]))
                    case "match_end":
                        self.finished += 1

    def stop(self) -> None:
        self.agent.close()
        self.join(10)
