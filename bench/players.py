"""Agents that answer at once, and their spectators: a process of its own, steered over its standard input.

`python -m bench.players` reads a Job as a line of JSON, then a command a line, and answers each with a line.

Commands: `open` waits until enough matches have come to ply `first` and are held there; `go` plays all of
them to ply `last` and holds them again; `finish` plays them to their ends; `watch N` seats N spectators each;
`meet_echo` connects to the peers; `echo K N` sends N frames to the K-th and hears what they bring. Every
match is the same drawn one, given as `moves`, so that all are open all the time.
"""

import asyncio
import json
import sys
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
import uvloop

from agents import protocol
from bench.websocket_client import WebSocketClient, connect

SETTLED_S = 1.0
"""All matches have begun when none has for so long."""

ACK_BYTES = 100
"""A frame of a relay that is shorter stands for `ack`, and brings nobody the turn."""


@dataclass
class Job:
    """What the parent process asks for. `agents` are pairs of name and token, each plays `hands` matches.

    A peer has so many `pairs` of connections, and as many frames on their way as there are `matches`.
    """

    url: str
    echo_urls: list[str]  # the first one is a relay's
    agents: list[tuple[str, str]]
    hands: int
    pairs: int
    ladder: str
    matches: int
    moves: list[str]
    first: int
    last: int


class Peer:
    """Connections in pairs to a server that does not know the game; each side sends in its turn."""

    def __init__(self, pairs: int, on_their_way: int, *, relays: bool) -> None:
        self._pairs = pairs
        self._on_their_way = on_their_way
        self._relays = relays
        self._lines: list[WebSocketClient] = []
        self._mover = [0] * pairs
        self._move = b""
        self._to_send = 0
        self._to_hear = 0
        self._all_heard = asyncio.Event()

    async def connect(self, url: str) -> None:
        """Connect both sides of all pairs, one after the other."""
        for number in range(2 * self._pairs):
            hear = partial(self._hear, number // 2)
            self._lines.append(await connect(url, hear, deflate=True))

    async def play(self, move: bytes, count: int) -> None:
        """Send so many frames, so many at a time as are to be on their way, and hear of all."""
        self._move, self._to_send, self._to_hear = move, count, count
        self._all_heard = asyncio.Event()
        for number in range(self._on_their_way):
            self._send(number % self._pairs)
        await self._all_heard.wait()

    def _send(self, pair: int) -> None:
        if self._to_send > 0:
            self._to_send -= 1
            self._mover[pair] ^= 1
            self._lines[2 * pair + self._mover[pair]].send(self._move)

    def _hear(self, pair: int, text: bytes) -> None:
        if self._relays and len(text) < ACK_BYTES:
            return
        self._to_hear -= 1
        if self._to_hear == 0:
            self._all_heard.set()
        self._send(pair)


@dataclass
class Hall:
    """All agents and spectators of the bench, and the matches that are held."""

    job: Job
    gate: int = 0
    held: dict[int, tuple[WebSocketClient, bytes]] = field(default_factory=dict)
    spectators: list[WebSocketClient] = field(default_factory=list)
    peers: list["Peer"] = field(default_factory=list)
    seen: int = 0
    move_bytes: int = 0
    sent: int = 0
    received: dict[str, int] = field(default_factory=lambda: {"ack": 0, "your_move": 0, "event": 0})
    received_bytes: dict[str, int] = field(default_factory=lambda: {"ack": 0, "your_move": 0, "event": 0})

    async def enter(self) -> None:
        """Connect all agents."""
        self.gate = self.job.first
        for name, token in self.job.agents:
            await self._connect_agent(name, token)

    async def _connect_agent(self, name: str, token: str) -> None:
        line: list[WebSocketClient] = []
        client = await connect(f"{self.job.url}/ws/agent", lambda text: self._hear(line[0], text), token)
        line.append(client)
        hello = protocol.Hello(1, name, [self.job.ladder], concurrency=self.job.hands)
        client.send(protocol.encode(hello))

    def _hear(self, client: WebSocketClient, text: bytes) -> None:
        message = protocol.decode_to_agent(text)
        match message:
            case protocol.YourMove(match=match, ply=ply):
                self._count("your_move", text)
                move = protocol.encode(protocol.Move(match, ply, self.job.moves[ply]))
                if ply == self.gate:
                    self.held[match] = client, move
                else:
                    self._send(client, move)
            case protocol.Ack():
                self._count("ack", text)
            case protocol.MatchStart(match=match):
                client.send(protocol.encode(protocol.Ready(match)))
            case protocol.Error() | protocol.Reject():
                raise RuntimeError(text)

    def _send(self, client: WebSocketClient, move: bytes) -> None:
        self.sent += 1
        self.move_bytes += len(move)
        client.send(move)

    def _count(self, kind: str, text: bytes) -> None:
        self.received[kind] += 1
        self.received_bytes[kind] += len(text)

    async def open(self) -> None:
        """Wait until enough matches are held at the first gate, and no more come."""
        count, since = 0, 0.0
        while count < self.job.matches or since < SETTLED_S:
            since = since + 0.05 if len(self.held) == count else 0.0
            count = len(self.held)
            await asyncio.sleep(0.05)

    async def go(self, gate: int) -> None:
        """Let all held matches play on to a gate; wait until all are there."""
        held = self._let_go(gate)
        while len(self.held) < held:  # noqa: ASYNC110 - simple, and another process is measured
            await asyncio.sleep(0.002)

    def finish(self) -> None:
        """Let all held matches play to their ends; those that follow are held at the first gate."""
        self._let_go(self.job.first)

    def _let_go(self, gate: int) -> int:
        held, self.held, self.gate = self.held, {}, gate
        for client, move in held.values():
            self._send(client, move)
        return len(held)

    async def watch(self, each: int) -> None:
        """Seat spectators at every held match; wait until all have their snapshot."""
        for spectator in self.spectators:
            spectator.close()
        matches = [match for match in self.held for _ in range(each)]
        self.seen = 0
        self.spectators = [await connect(f"{self.job.url}/ws/watch", self._see) for _ in matches]
        for spectator, match in zip(self.spectators, matches, strict=True):
            spectator.send(protocol.encode(protocol.Watch(match=match)))
        while self.seen < len(matches):  # noqa: ASYNC110 - simple, and another process is measured
            await asyncio.sleep(0.01)

    def _see(self, text: bytes) -> None:
        self.seen += 1
        self._count("event", text)

    async def meet_echo(self) -> None:
        """Connect to the peers."""
        for number, url in enumerate(self.job.echo_urls):
            peer = Peer(self.job.pairs, self.job.matches, relays=number == 0)
            await peer.connect(url)
            self.peers.append(peer)

    async def echo(self, peer: int, count: int) -> None:
        """Send frames of a move's size to a peer and hear what they bring."""
        await self.peers[peer].play(b"x" * round(self.move_bytes / self.sent), count)

    def report(self) -> dict[str, Any]:
        """Say what is open and what was sent so far."""
        return {
            "open": len(self.held),
            "sent": self.sent,
            "move_bytes": self.move_bytes,
            "received": self.received,
            "received_bytes": self.received_bytes,
        }


async def main() -> None:
    """Carry out commands until standard input ends."""
    loop = asyncio.get_running_loop()
    hall = Hall(msgspec.json.decode(await loop.run_in_executor(None, sys.stdin.readline), type=Job))
    await hall.enter()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        command, *numbers = line.split()
        match command, [int(number) for number in numbers]:
            case "open", []:
                await hall.open()
            case "go", []:
                await hall.go(hall.job.last)
            case "finish", []:
                hall.finish()
            case "watch", [each]:
                await hall.watch(each)
            case "meet_echo", []:
                await hall.meet_echo()
            case "echo", [peer, count]:
                await hall.echo(peer, count)
        sys.stdout.write(json.dumps(hall.report()) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    uvloop.run(main())
