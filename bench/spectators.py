"""A crowd of spectators on one match: what each costs, beside a bare loop that sends the same bytes.

A real server referees one match of connect four at a steady rate, first 1,000 and then 5,000 spectators
follow it, and another process reads what they get. Counted is the CPU time of the server's process from the
match's third move to its end, less that of a match with one spectator at the same server, which needs its
referee as well: what is left is the crowd's, for each event that reached each spectator. Beside it, in turns,
a bare server on the same kind of loop writes as many bytes to as many sockets at the same rate; what comes
within the server's own 50 ms goes out together there, too.
"""

import contextlib
import json
import statistics
from dataclasses import dataclass

from bench.processes import LADDER, Child, child, server
from bench.refereed_moves import drawn_match
from bench.result import Result
from server.watch import COALESCE_S

GATE = 2
RUNS, QUICK_RUNS = 5, 1
GOAL = 1.3


@dataclass(frozen=True)
class Crowd:
    """How many spectators, and how fast the match they follow."""

    size: int
    rate: float

    @property
    def words(self) -> str:
        """Say it."""
        return f"{self.size:,} spectators of one match at {self.rate:.0f} moves a second"


CROWDS = (Crowd(1_000, 10), Crowd(5_000, 10), Crowd(1_000, 60))
QUICK_CROWDS = (Crowd(100, 10), Crowd(200, 60))


def run(*, quick: bool) -> list[Result]:
    """Measure crowd after crowd, each at a server of its own."""
    runs = QUICK_RUNS if quick else RUNS
    return [_measure(crowd, runs) for crowd in (QUICK_CROWDS if quick else CROWDS)]


@dataclass
class Hall:
    """The processes of one measurement."""

    server: Child
    players: Child
    peer: Child
    readers: Child
    crowd: Crowd

    def alone(self) -> float:
        """Play a match before one spectator; return CPU seconds for each event."""
        self.players.ask("open")
        return self._play()[0]

    def ours(self) -> tuple[float, float]:
        """Play a match before the crowd; return CPU seconds for each event, and the bytes of one."""
        match = self.players.ask("open")["held"][0]
        self.readers.ask(f"follow {match}")
        before = self.readers.ask("report")["bytes"]
        cpu_s, events = self._play()
        size = self.readers.ask("report")["bytes"] - before
        self.readers.ask(f"unfollow {match}")
        return cpu_s, size / (events * self.crowd.size)

    def _play(self) -> tuple[float, int]:
        """Play the open match to its end; return CPU seconds for each event, and how many there were."""
        self.players.ask("spectate 1")  # who comes last: all others have their snapshots by then
        cpu_s, sent = self.server.cpu_s(), self.players.ask("report")["sent"][0]
        events = self.players.ask("go")["sent"][0] - sent
        return (self.server.cpu_s() - cpu_s) / events, events

    def bare(self, size: float) -> float:
        """Send as many events of this size; return CPU seconds for each and each socket."""
        events = len(drawn_match()) - GATE
        run = {"size": round(size), "events": events, "rate": self.crowd.rate, "coalesce_s": COALESCE_S}
        cpu_s = self.peer.cpu_s()
        self.peer.ask(json.dumps(run))
        return (self.peer.cpu_s() - cpu_s) / (events * self.crowd.size)


def _measure(crowd: Crowd, runs: int) -> Result:
    with contextlib.ExitStack() as stack:
        running, address, agents = stack.enter_context(server(2))
        players = stack.enter_context(child("bench.paced_players"))
        peer = stack.enter_context(child("bench.send_loop"))
        readers = stack.enter_context(child("bench.crowd"))
        moves = drawn_match()
        group = {"ladder": LADDER, "agents": agents, "moves": moves, "rate": crowd.rate, "gate": GATE}
        players.tell(json.dumps({"url": f"ws://{address}", "groups": [group]}))
        readers.ask(f"watch {address} {crowd.size}")
        readers.ask(f"plain 127.0.0.1:{peer.read().strip()} {crowd.size}")
        hall = Hall(running, players, peer, readers, crowd)
        _, size = hall.ours()  # once to warm up
        rounds = [(hall.alone(), hall.ours()[0], hall.bare(size)) for _ in range(runs)]
    alone, all_in, bare = (statistics.median(each) for each in zip(*rounds, strict=True))
    us = 1e6 / crowd.size
    return Result(
        f"CPU for each event and spectator over a bare send loop, {crowd.words}",
        tuple((ours - without) / (crowd.size * peer) for without, ours, peer in rounds),
        goal=GOAL,
        at_most=True,
        detail=f"{(all_in - alone) * us:.1f} us against {bare * 1e6:.1f} us, {all_in * us:.1f} us with the "
        f"refereeing ({alone * 1e3:.1f} ms a move); {size:.0f} bytes an event",
    )
