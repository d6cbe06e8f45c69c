"""Refereed moves per CPU second of the server, over the frames of a bare echo server.

A real server process (uvloop, SQLite) with 200 matches of connect four open between 402 agents, or 1,000
between 40 that play up to 64 at once; they answer at once from another process. Counted are the moves from
ply FIRST to ply LAST of all these matches, each received, timed, checked, committed, acknowledged, and
followed by the next request. Counted against it is all CPU time of the server process in between: user and
system, all threads.

Its peers do no more than the sockets need: `websockets` servers on uvloop that take a frame of the mean size
of `move`. They have as many connections and as many frames on their way. Runs of all alternate.

- The one that the goals name does what a move does on the wire, uncompressed: one frame in, two out, of the
  mean sizes of `ack` (to the sender) and `your_move` (to the other side).
- Further rows, without a goal, count against a plain echo of one frame in and one out, of the size of both
  together: as it is, and compressed, as the library comes.
"""

import contextlib
import json
import random
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import games
from bench.processes import LADDER, Child, child, server
from bench.result import Result
from games.position import Position

FIRST, LAST = 2, 40
RUNS, QUICK_RUNS = 5, 1
SPECTATORS = 2
ACK_BYTES, REQUEST_BYTES = 34, 266
"""Mean sizes of `ack` and `your_move`, as the players count them."""

PEERS = {
    "a bare relay: one in, two out": (f"{ACK_BYTES}", f"{REQUEST_BYTES}"),
    "a bare echo: one in, one out": (f"{ACK_BYTES + REQUEST_BYTES}",),
    "the same with the library's default compression": (f"{ACK_BYTES + REQUEST_BYTES}", "--compression"),
}
"""What the moves are counted against, and the arguments of bench.echo."""


@dataclass(frozen=True)
class Setting:
    """How many matches are open, and between how many agents of how many hands."""

    matches: int
    agents: int
    hands: int = 1

    @property
    def pairs(self) -> int:
        """Connections of a peer, in pairs: one for each match, or as many as there are agents."""
        return min(self.matches, self.agents // 2)


MANY, QUICK_MANY = Setting(200, 402), Setting(20, 42)
MOST, QUICK_MOST = Setting(1_000, 40, hands=64), Setting(50, 6, hands=64)


def drawn_match() -> list[str]:
    """Return a match that fills the whole board, found by playing at random."""
    draw = random.Random(1)
    while True:
        position = Position.start(games.load("connect_four"))
        while not position.is_terminal():
            position = position.play(draw.choice(position.legal()))
        if position.ply == 42:
            return list(position.actions)


@dataclass
class Bench:
    """A server, its players, and the peers, all running."""

    server: Child
    players: Child
    peers: list[Child]
    frames: int
    counted: dict[str, Any] = field(default_factory=dict)

    def refereed(self, spectators: int) -> float:
        """Play one round of matches; return moves per CPU second."""
        self.players.ask("open")
        before = self.players.ask(f"watch {spectators}")
        cpu_s = self.server.cpu_s()
        after = self.players.ask("go")
        cpu_s = self.server.cpu_s() - cpu_s
        self.players.ask("finish")
        self.counted = after
        return float((after["sent"] - before["sent"]) / cpu_s)

    def echoed(self, peer: int) -> float:
        """Return frames taken per CPU second of a peer: as many as a round of matches has moves."""
        cpu_s = self.peers[peer].cpu_s()
        self.players.ask(f"echo {peer} {self.frames}")
        return self.frames / (self.peers[peer].cpu_s() - cpu_s)


def run(*, quick: bool) -> list[Result]:
    """Measure moves without and with spectators, then without in more matches."""
    runs = QUICK_RUNS if quick else RUNS
    with _bench(QUICK_MANY if quick else MANY) as bench:
        results = _measure(bench, runs)
    most = QUICK_MOST if quick else MOST
    with _bench(most) as bench:
        return results + _measure_most(bench, most, runs)


@contextlib.contextmanager
def _bench(setting: Setting) -> Iterator[Bench]:
    with contextlib.ExitStack() as children:
        running, address, agents = children.enter_context(server(setting.agents))
        peers = [children.enter_context(child("bench.echo", *sizes)) for sizes in PEERS.values()]
        players = children.enter_context(child("bench.players"))
        job = {
            "url": f"ws://{address}",
            "echo_urls": [f"ws://127.0.0.1:{peer.read().strip()}" for peer in peers],
            "agents": agents,
            "hands": setting.hands,
            "pairs": setting.pairs,
            "ladder": LADDER,
            "matches": setting.matches,
            "moves": drawn_match(),
            "first": FIRST,
            "last": LAST,
        }
        players.tell(json.dumps(job))
        bench = Bench(running, players, peers, setting.matches * (LAST - FIRST))
        bench.refereed(0)  # once to warm up
        players.ask("meet_echo")
        yield bench


def _measure(bench: Bench, runs: int) -> list[Result]:
    plain: list[float] = []
    watched: list[float] = []
    peers: list[list[float]] = [[] for _ in PEERS]
    for _ in range(runs):
        for number, figures in enumerate(peers):
            figures.append(bench.echoed(number))
        plain.append(bench.refereed(0))
        watched.append(bench.refereed(SPECTATORS))
    relay, echo, compressed = PEERS
    return [
        _row(f"refereed moves over {relay}", plain, peers[0], 0.70),
        _row("the same with two spectators a match", watched, peers[0], 0.40),
        _row(f"refereed moves over {echo}", plain, peers[1], 0.70),
        _row(f"the same with two spectators a match, over {echo}", watched, peers[1], 0.40),
        _row(f"refereed moves over {compressed}", plain, peers[2], None),
    ]


def _measure_most(bench: Bench, setting: Setting, runs: int) -> list[Result]:
    """Count against the peers that the goals name, which have as many frames on as many lines."""
    rounds = [(bench.refereed(0), bench.echoed(0), bench.echoed(1)) for _ in range(runs)]
    plain, relayed, echoed = ([figures[side] for figures in rounds] for side in range(3))
    relay, echo, _ = PEERS
    words = f"refereed moves in {setting.matches:,} matches between {setting.agents} agents"
    return [
        _row(f"{words}, over {relay}", plain, relayed, None),
        _row(f"{words}, over {echo}", plain, echoed, None),
    ]


def _row(name: str, ours: list[float], peer: list[float], goal: float | None) -> Result:
    ratios = tuple(a / b for a, b in zip(ours, peer, strict=True))
    moves, frames = statistics.median(ours), statistics.median(peer)
    detail = f"{moves:,.0f} moves against {frames:,.0f} frames in, a CPU second"
    return Result(name, ratios, goal=goal, detail=detail)
