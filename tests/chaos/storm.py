"""The conductor of a storm: starts server, proxy and agents, kills them at random, lets all settle, judges.

What is drawn follows from the seed; what comes of it also depends on the machine.
"""

import contextlib
import json
import math
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from harness import QUIET, ROOT, Server, environment, wait_for

from server.db.engine import Database
from tests.chaos.evidence import Evidence, gather
from tests.chaos.journal import Journal, read
from tests.chaos.judgement import Finding, Record, judge

LADDERS = """
[[ladders]]
name = "tic_tac_toe"
game = "tic_tac_toe"
move_ms = 2000

[[ladders]]
name = "kuhn_poker"
game = "kuhn_poker"
byoyomi_ms = 2000
periods = 3

[[ladders]]
name = "connect_four"
game = "connect_four"
bank_ms = 10000
increment_ms = 500

[[ladders]]
name = "small"
game = "connect_four(rows=4,columns=4,k=3)"
move_ms = 1500
strikes = 2
"""

SETTINGS = {
    **QUIET,
    "PLYGROUND_READY_MS": "4000",
    "PLYGROUND_RESUME_S": "20",
}
GONE_S = 12.0
"""Longer than a short limit and the grace together."""

PORTS = range(20_000, 30_000)
SETTLE_S = 180.0
"""How long the last matches may take once it is calm."""


@dataclass(frozen=True)
class Plan:
    """How long, with how many, and how often somebody is killed (a range of seconds between two kills)."""

    seed: int
    seconds: float
    processes: int = 6
    agents_each: int = 10
    agents_killed_s: tuple[float, float] = (1.5, 5.0)
    server_killed_s: tuple[float, float] = (5.0, 12.0)
    sigterm_share: float = 0.25


@dataclass
class Gang:
    """A process of agents; started again, it has the same ones."""

    number: int
    said: dict[str, Any]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    back_at: float | None = None

    def start(self) -> None:
        self.back_at = None
        with self.log.open("ab") as log:
            self.process = _python("tests.chaos.agents", self.said, stdout=log, stderr=log)

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def _port(draw: random.Random) -> int:
    """Choose a port for the server that no connection to it can get as its own.

    While the server is down, one from the range of those could be connected with itself, and keep it out.
    """
    while True:
        port = draw.choice(PORTS)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


def _python(module: str, said: dict[str, Any], **streams: Any) -> subprocess.Popen[bytes]:
    """Start a process of a storm with what it has to know."""
    streams = {"stdin": subprocess.DEVNULL, **streams}
    return subprocess.Popen(
        [sys.executable, "-m", module, json.dumps(said)],
        cwd=ROOT,
        env=environment({}),
        start_new_session=True,
        **streams,
    )


@dataclass
class Verdict:
    """What came of a storm."""

    findings: list[Finding]
    doctor: list[str]
    record: Record
    evidence: Evidence


@dataclass
class Storm:
    """A storm in a folder of its own, with everything that takes part in it."""

    folder: Path
    plan: Plan
    tell: Callable[[str], object] = lambda _line: None
    gangs: list[Gang] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._draw = random.Random(self.plan.seed)
        self._journal = Journal(self.folder / "storm.jsonl")
        self.server = Server(self.folder, dict(SETTINGS), port=_port(self._draw))
        self._proxy: subprocess.Popen[bytes] | None = None

    def run(self) -> Verdict:
        """Let it rage, settle and be judged."""
        with self._everybody():
            self.tell(f"{len(self.gangs) * self.plan.agents_each} agents play")
            self._rage()
            self.tell("calm: the last matches end")
            self._settle()
        return self.judge()

    # all that takes part --------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _everybody(self) -> Iterator[None]:
        config = self.folder / "ladders.toml"
        config.write_text(LADDERS, encoding="utf-8")
        self.server.settings["PLYGROUND_CONFIG"] = str(config)
        try:
            self.server.start()
            self._start_proxy_and_agents()
            yield
        finally:
            for gang in self.gangs:
                gang.kill()
            if self._proxy is not None:
                with self._proxy:  # which closes its pipes, and waits
                    self._proxy.kill()
            self.server.stop()

    def _start_proxy_and_agents(self) -> None:
        names = [f"agent{number}" for number in range(self.plan.processes * self.plan.agents_each)]
        journal = str(self.folder / "proxy.jsonl")
        said = {"far_port": self.server.port, "seed": self.plan.seed, "journal": journal, "agents": names}
        with (self.folder / "proxy.log").open("wb") as log:
            self._proxy = _python(
                "tests.chaos.proxy", said, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        assert self._proxy.stdout is not None
        ports = json.loads(self._proxy.stdout.readline())
        agents = [
            {"name": name, "token": self.server.register(name), "url": f"http://127.0.0.1:{ports[name]}"}
            for name in names
        ]
        ladders = [line.split('"')[1] for line in LADDERS.splitlines() if line.startswith("name")]
        for number in range(self.plan.processes):
            own = agents[number :: self.plan.processes]
            journal = str(self.folder / f"agents-{number}.jsonl")
            said = {"agents": own, "ladders": ladders, "journal": journal}
            self.gangs.append(Gang(number, said, self.folder / f"agents-{number}.log"))
            self.gangs[-1].start()
        for gang in self.gangs:
            wait_for(partial(self._is_complete, gang), "everybody to be there")

    def _is_complete(self, gang: Gang) -> bool:
        """Whether all agents of a process have been welcomed once."""
        path = Path(gang.said["journal"])
        lines = read(path) if path.exists() else iter(())
        welcomed = {line["agent"] for line in lines if line["what"] == "connected"}
        return len(welcomed) == self.plan.agents_each

    # the storm ------------------------------------------------------------------------------------------

    def _rage(self) -> None:
        until = time.monotonic() + self.plan.seconds
        agents_at = time.monotonic() + self._draw.uniform(*self.plan.agents_killed_s)
        server_at = time.monotonic() + self._draw.uniform(*self.plan.server_killed_s)
        while (now := time.monotonic()) < until:
            assert self.server.is_well(), "it answers while nobody touches it"
            self._bring_back(now)
            if now >= server_at:
                self._end_server()
                server_at = time.monotonic() + self._draw.uniform(*self.plan.server_killed_s)
            elif now >= agents_at:
                self._kill_agents()
                agents_at = time.monotonic() + self._draw.uniform(*self.plan.agents_killed_s)
            time.sleep(0.2)

    def _kill_agents(self) -> None:
        """Kill a process of agents; one in four stays away for longer than anybody is forgiven."""
        playing = [gang for gang in self.gangs if gang.back_at is None]
        if playing:
            gang = self._draw.choice(playing)
            self._journal.note("agents killed", gang=gang.number)
            gang.kill()
            gang.back_at = time.monotonic() + self._draw.choice((0.0, 0.5, 2.0, GONE_S))

    def _bring_back(self, now: float = math.inf) -> None:
        """Start the processes of agents whose time has come."""
        for gang in self.gangs:
            if gang.back_at is not None and gang.back_at <= now:
                gang.start()

    def _end_server(self) -> None:
        """Kill it or ask it to end; after a while start it again, now and then kill it while it starts."""
        kind = signal.SIGTERM if self._draw.random() < self.plan.sigterm_share else signal.SIGKILL
        self._journal.note(f"server {kind.name}")
        self.server.signal(kind)
        self.server.wait()
        down_at = time.time()
        time.sleep(self._draw.choice((0.0, 0.5, 2.0)))
        if self._draw.random() < 0.2:
            self._launch_server(down_at)
            time.sleep(self._draw.uniform(0.0, 2.0))
            self._journal.note("server SIGKILL")
            self.server.signal(signal.SIGKILL)
            self.server.wait()
            down_at = time.time()
        self._launch_server(down_at)
        self.server.wait_until_well()

    def _launch_server(self, down_at: float) -> None:
        self._journal.note("server launched", down_at=down_at, up_at=time.time())
        self.server.launch()

    # the end --------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Have the line hold, let everybody take no more matches, and wait until none is played."""
        assert self._proxy is not None
        assert self._proxy.stdin is not None
        self._proxy.stdin.write(b'{"calm": true}\n')
        self._proxy.stdin.flush()
        self._bring_back()
        wait_for(self._everybody_is_there, "everybody to be back", SETTLE_S)
        for gang in self.gangs:
            gang.signal(signal.SIGUSR1)
        for state in ("starting", "running"):
            wait_for(partial(self._no_match_is, state), f"no match to be {state}", SETTLE_S)

    def _no_match_is(self, state: str) -> bool:
        return self.server.items(f"matches?state={state}") == []

    def _everybody_is_there(self) -> bool:
        """Whether every process of agents has come far enough to hear a signal."""
        return all(self._has_begun(gang) for gang in self.gangs)

    def _has_begun(self, gang: Gang) -> bool:
        assert gang.process is not None
        lines = read(Path(gang.said["journal"]))
        return any(line.get("process") == gang.process.pid for line in lines if line["what"] == "connected")

    def judge(self) -> Verdict:
        """Look at what is left in the folder, now or at any later time."""
        doctor = self.server.plyground("doctor", "--all", timeout_s=600)
        said = [] if doctor.returncode == 0 else (doctor.stdout + doctor.stderr).splitlines()
        database = Database.open(self.server.database_url)
        try:
            record = database.read_now(Record.read)
        finally:
            database.close()
        evidence = gather(self.folder)
        return Verdict(judge(record, evidence), said, record, evidence)


def seed_of(text: str | None) -> int:
    """Return the seed that was asked for, or another one each time."""
    return int(text) if text else int.from_bytes(os.urandom(3))
