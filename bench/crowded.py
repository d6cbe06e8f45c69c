"""What spectators cost those who play: deadlines beside a crowd, and others beside one who does not read.

A real server referees silent agents, whose matches end by time-outs all the time, and one match at ten moves
a second that twenty spectators follow, each noting how long after the move it hears of it. In turns the same
is measured alone and

- with 5,000 more spectators of that match: time-outs are declared no later;
- with twenty spectators of the front page that never read, beside twenty who always do: all hear of each
  move as soon as without them, and the server needs no more memory than the little it keeps unsent for each.
"""

import contextlib
import json
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.lateness import in_words, percentile, read_ms
from bench.processes import LADDER, Child, child, server
from bench.refereed_moves import drawn_match
from bench.result import Result
from bench.websocket_client import KEY

SILENT, BUSY = "silent", "busy"
LADDERS = {LADDER: 600_000, SILENT: 300, BUSY: 600_000}
SIZES = {LADDER: 2, SILENT: 12, BUSY: 8}
HANDS = 8
RATE, BUSY_RATE, GATE = 10, 200, 2
CROWD, QUICK_CROWD = 5_000, 200
FEW = 20
"""Spectators who take the time, and who do not read."""

ROUNDS, QUICK_ROUNDS = 6, 1
SMALL_WINDOW_BYTES = 4_096
GOAL_MS = 2.0
LATER_GOAL_MS = 5.0
KEPT_GOAL_KIB = 512.0
"""For each spectator who does not read: the unsent 32 KB, and what one round may add to it."""


@dataclass
class Stretch:
    """What was measured while a match was watched."""

    late_ms: list[float]
    heard_ms: list[float]
    kib: float


@dataclass
class Stretches:
    """All of one kind."""

    all: list[Stretch] = field(default_factory=list)

    def late_ms(self) -> list[float]:
        """Return how late all time-outs were, sorted."""
        return sorted(late for one in self.all for late in one.late_ms)

    def heard_ms(self) -> list[float]:
        """Return after what time all spectators heard of all moves, sorted."""
        return sorted(heard for one in self.all for heard in one.heard_ms)


@dataclass
class Hall:
    """The processes of the bench."""

    server: Child
    players: Child
    crowd: Child
    address: str
    trace: Path
    control: Path

    def stretch(self, *, crowded: bool = False) -> Stretch:
        """Play a match before the spectators, and the crowd if it is to be there."""
        match = self.players.ask("open")["held"][0]
        if crowded:
            self.crowd.ask(f"follow {match}")
        self.players.ask(f"spectate {FEW}")
        begun = time.monotonic()
        report = self.players.ask("go")
        late_ms = read_ms(self.trace, begun, time.monotonic())
        if crowded:
            self.crowd.ask(f"unfollow {match}")
        return Stretch(late_ms, report["waited_ms"], self.server.resident_kib())


def run(*, quick: bool) -> list[Result]:
    """Measure without, with the crowd, and with those who do not read, in turns."""
    alone, crowded, stalled = Stretches(), Stretches(), Stretches()
    size = QUICK_CROWD if quick else CROWD
    with tempfile.TemporaryDirectory() as folder, _hall(Path(folder), size) as hall:
        hall.stretch(crowded=True)  # once to warm up
        begun = time.monotonic()
        for _ in range(QUICK_ROUNDS if quick else ROUNDS):
            alone.all.append(hall.stretch())
            crowded.all.append(hall.stretch(crowded=True))
            with _who_do_not_read(hall.address, FEW):
                stalled.all.append(hall.stretch())
        slept_ms = read_ms(hall.control, begun, time.monotonic())
    return [_lateness(alone, crowded, slept_ms, size), *_stalled(alone, stalled)]


@contextlib.contextmanager
def _hall(folder: Path, crowd: int) -> Iterator[Hall]:
    trace, control = folder / "server", folder / "sleeper"
    with contextlib.ExitStack() as stack:
        running, address, agents = stack.enter_context(
            server(sum(SIZES.values()), "bench.traced_server", LADDERS, BENCH_LATENESS=str(trace))
        )
        stack.enter_context(child("bench.sleeper", str(control)))
        players = stack.enter_context(child("bench.paced_players"))
        readers = stack.enter_context(child("bench.crowd"))
        readers.ask(f"watch {address} {crowd}")
        readers.ask(f"front {FEW}")
        players.tell(json.dumps({"url": f"ws://{address}", "groups": _groups(agents)}))
        yield Hall(running, players, readers, address, trace, control)


def _groups(agents: Sequence[tuple[str, str]]) -> list[dict[str, object]]:
    left, moves = list(agents), drawn_match()
    groups: dict[str, dict[str, object]] = {}
    for ladder, size in SIZES.items():
        groups[ladder] = {"ladder": ladder, "agents": left[:size], "moves": moves, "hands": HANDS}
        del left[:size]
    groups[LADDER] |= {"hands": 1, "rate": RATE, "gate": GATE}
    groups[SILENT] |= {"silent": True}
    groups[BUSY] |= {"rate": BUSY_RATE}
    return list(groups.values())


@contextlib.contextmanager
def _who_do_not_read(address: str, count: int) -> Iterator[None]:
    """Seat spectators of the front page whose machines take next to nothing in."""
    host, _, port = address.rpartition(":")
    text = b'{"type":"watch","front":true}'
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            line = stack.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_WINDOW_BYTES)
            line.connect((host, int(port)))
            line.sendall(
                f"GET /ws/watch HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                f"Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
            )
            line.recv(1024)
            line.sendall(bytes((0x81, 0x80 | len(text), 0, 0, 0, 0)) + text)
        yield


def _lateness(alone: Stretches, crowded: Stretches, slept_ms: list[float], size: int) -> Result:
    apart = tuple(
        percentile(many.late_ms, 99) - percentile(few.late_ms, 99)
        for few, many in zip(alone.all, crowded.all, strict=True)
    )
    return Result(
        f"lateness of deadlines beside {size:,} spectators of a match, p99 less that without them",
        apart,
        unit="ms",
        goal=GOAL_MS,
        at_most=True,
        detail=f"p50/p99/p99.9 {in_words(crowded.late_ms())} against {in_words(alone.late_ms())}; "
        f"of a sleeping process {in_words(slept_ms)}",
    )


def _stalled(alone: Stretches, stalled: Stretches) -> list[Result]:
    apart = tuple(
        percentile(beside.heard_ms, 99) - percentile(few.heard_ms, 99)
        for few, beside in zip(alone.all, stalled.all, strict=True)
    )
    kept = tuple((beside.kib - few.kib) / FEW for few, beside in zip(alone.all, stalled.all, strict=True))
    return [
        Result(
            f"delay of others beside {FEW} spectators who do not read, p99 less that without them",
            apart,
            unit="ms",
            goal=LATER_GOAL_MS,
            at_most=True,
            detail=f"p50/p99/p99.9 {in_words(stalled.heard_ms())} from the move to the spectator, "
            f"against {in_words(alone.heard_ms())}; "
            f"time-outs {in_words(stalled.late_ms())} late, against {in_words(alone.late_ms())}",
        ),
        Result(
            "memory of the server for each spectator who does not read",
            kept,
            unit="KiB",
            goal=KEPT_GOAL_KIB,
            at_most=True,
            detail=f"{median(one.kib for one in stalled.all) / 1024:.1f} MiB against "
            f"{median(one.kib for one in alone.all) / 1024:.1f} MiB",
        ),
    ]
