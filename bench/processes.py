"""Processes that a bench starts, asks and measures."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psutil  # type: ignore[import-untyped]
from sqlalchemy import Connection

from server.db import agents
from server.db.engine import Database

ROOT = Path(__file__).resolve().parents[1]
LADDER = "connect_four"
STOP_S = 20


@dataclass
class Child:
    """A process that answers each line with a line."""

    process: subprocess.Popen[str]

    def tell(self, line: str) -> None:
        """Send a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line: str) -> dict[str, Any]:
        """Send a line and return the JSON that answers it."""
        self.tell(line)
        return dict(json.loads(self.read()))

    def read(self) -> str:
        """Return its next line."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args!r} ended with {self.process.wait()}")
        return line

    def cpu_s(self) -> float:
        """CPU seconds of all its threads, user and system: Linux's clock of another process."""
        return time.clock_gettime(~self.process.pid << 3 | 2)

    def resident_kib(self) -> float:
        """Memory that it has in use."""
        return float(psutil.Process(self.process.pid).memory_info().rss / 1024)


@contextlib.contextmanager
def child(*command: str, **environ: str) -> Iterator[Child]:
    """Run a Python module as a child until the block ends."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PLYGROUND_")}
    process = subprocess.Popen(  # noqa: S603 - our own modules
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env={**ours, **environ},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Child(process)
    finally:
        process.terminate()
        process.wait(STOP_S)
        for pipe in filter(None, (process.stdin, process.stdout)):
            with contextlib.suppress(BrokenPipeError):  # a line that it did not read any more
                pipe.close()


@contextlib.contextmanager
def server(
    count: int,
    program: str = "server.cli",
    ladders: Mapping[str, int] = MappingProxyType({LADDER: 600_000}),
    **environ: str,
) -> Iterator[tuple[Child, str, list[tuple[str, str]]]]:
    """Run a server without house agents on a new SQLite file; yields it, its address, and `count` agents.

    An agent is a name and a token. All `ladders` play connect four, each with its limit for a move in
    milliseconds. Another `program` than the server's own takes the same arguments.
    """
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "bench.toml")
        entries = (
            f'[[ladders]]\nname = "{name}"\ngame = "connect_four"\nmove_ms = {limit}\n'
            for name, limit in ladders.items()
        )
        config.write_text("".join(entries), encoding="utf-8")
        registered = _register(folder, count)
        port = _free_port()
        settings = {
            "PLYGROUND_CONFIG": str(config),
            "PLYGROUND_DATA_DIR": folder,
            "PLYGROUND_PORT": str(port),
            "PLYGROUND_HOUSE": "false",
            "PLYGROUND_REST_MS": "0",
            "PLYGROUND_LOG_LEVEL": "warning",
            "PYTHONUNBUFFERED": "1",
            **environ,
        }
        with child(program, "serve", **settings) as running:
            while "listens" not in running.read():
                pass
            yield running, f"127.0.0.1:{port}", registered


def _register(folder: str, count: int) -> list[tuple[str, str]]:
    """Register agents in the database itself: over HTTP they would come too fast."""

    def make(conn: Connection) -> list[tuple[str, str]]:
        made = [
            agents.register(conn, f"bench-{n}", owner=None, house=False, now=datetime.now(UTC))
            for n in range(count)
        ]
        return [(agent.name, agent.token) for agent in made]

    with contextlib.closing(Database.open(f"sqlite:///{folder}/plyground.db")) as db:
        db.migrate()
        return db.write_now(make)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
