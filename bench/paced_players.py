"""Agents that play at a given rate, agents that fall silent, and spectators who note what they wait for.

`python -m bench.paced_players` reads a Job as a line of JSON, then a command a line, and answers each with a
line of JSON, the report.

Commands: `report`; `open` waits until the group with a gate has a match held there; `go` plays that match at
the group's rate to its end; `spectate N` seats N spectators at it.
"""

import asyncio
import json
import sys
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

import msgspec
import uvloop

from agents import protocol
from bench.websocket_client import WebSocketClient, connect

TICK_S = 0.005
SILENT_PLIES = 4
"""A match of a silent group stops at one of its first plies, in turn."""


class Group(msgspec.Struct):
    """Agents (pairs of name and token) on a ladder that play the prescribed `moves`.

    All together make at most `rate` moves a second, 0 for at once. In each match of a `silent` group one
    seat stops answering. A match of a group with a `gate` is held at that ply until it is let go.
    """

    ladder: str
    agents: list[tuple[str, str]]
    moves: list[str]
    hands: int = 1
    rate: float = 0.0
    silent: bool = False
    gate: int = -1


class Job(msgspec.Struct):
    """What the parent process asks for."""

    url: str
    groups: list[Group]


class Seen(msgspec.Struct):
    """What a spectator wants to know of a match."""

    ply: int


class Event(msgspec.Struct):
    """What a spectator wants to know of an event; of a snapshot there is no `match`."""

    match: Seen | None = None


read_event = msgspec.json.Decoder(Event).decode


@dataclass
class Table:
    """A group at play: what waits to be sent, what is held, and what came of its matches."""

    group: Group
    due: deque[tuple[WebSocketClient, int, int]] = field(default_factory=deque)
    held: dict[int, WebSocketClient] = field(default_factory=dict)
    free: set[int] = field(default_factory=set)
    silent_seat: dict[int, int] = field(default_factory=dict)
    causes: Counter[str] = field(default_factory=Counter)
    unintended: Counter[str] = field(default_factory=Counter)
    heard_once: set[int] = field(default_factory=set)
    sent: int = 0
    ended: int = 0
    sent_at: dict[int, float] = field(default_factory=dict)

    async def enter(self, url: str) -> None:
        """Connect all agents, then keep the pace."""
        for name, token in self.group.agents:
            client = await self._connect(url, token)
            hello = protocol.Hello(1, name, [self.group.ladder], concurrency=self.group.hands)
            client.send(protocol.encode(hello))

    async def _connect(self, url: str, token: str) -> WebSocketClient:
        line: list[WebSocketClient] = []
        line.append(await connect(f"{url}/ws/agent", lambda text: self._hear(line[0], text), token))
        return line[0]

    async def pace(self) -> None:
        """Send what is due, no faster than the rate; what could not be sent in time is not made up for."""
        begun, passed = time.monotonic(), 0
        while True:
            await asyncio.sleep(TICK_S)
            allowed = int((time.monotonic() - begun) * self.group.rate) - passed
            passed += allowed
            for _ in range(min(allowed, len(self.due))):
                self._send(*self.due.popleft())

    def let_go(self) -> None:
        """Let the held matches play on."""
        held, self.held = self.held, {}
        for match, client in held.items():
            self.free.add(match)
            self._play(client, match, self.group.gate)

    def _hear(self, client: WebSocketClient, text: bytes) -> None:
        message = protocol.decode_to_agent(text)
        match message:
            case protocol.YourMove(match=match, ply=ply):
                self._asked(client, match, ply)
            case protocol.MatchStart(match=match):
                client.send(protocol.encode(protocol.Ready(match)))
            case protocol.MatchEnd():
                self._over(message)
            case protocol.Error() | protocol.Reject():
                raise RuntimeError(text)

    def _asked(self, client: WebSocketClient, match: int, ply: int) -> None:
        if self.group.silent and ply == match % SILENT_PLIES:
            self.silent_seat[match] = ply % 2
        elif ply == self.group.gate and match not in self.free:
            self.held[match] = client
        else:
            self._play(client, match, ply)

    def _play(self, client: WebSocketClient, match: int, ply: int) -> None:
        if self.group.rate > 0:
            self.due.append((client, match, ply))
        else:
            self._send(client, match, ply)

    def _send(self, client: WebSocketClient, match: int, ply: int) -> None:
        self.sent += 1
        if self.group.gate >= 0:
            self.sent_at[ply] = time.monotonic()
        client.send(protocol.encode(protocol.Move(match, ply, self.group.moves[ply])))

    def _over(self, end: protocol.MatchEnd) -> None:
        """Count how a match ended. Both its agents are here and hear it; the first time counts."""
        if end.match in self.heard_once:
            self.heard_once.discard(end.match)
            return
        self.heard_once.add(end.match)
        if end.match in self.free:
            self.free.discard(end.match)
            self.ended += 1
        silent = self.silent_seat.pop(end.match, None)
        for seat, cause in enumerate(end.cause):
            if cause == "normal":
                continue
            self.causes[cause] += 1
            if silent is not None and seat == silent and cause == "timeout":
                continue
            self.unintended[cause] += 1


@dataclass
class Hall:
    """All groups, and the spectators of the one with a gate."""

    job: Job
    tables: list[Table] = field(default_factory=list)
    spectators: list[WebSocketClient] = field(default_factory=list)
    waited_ms: list[float] = field(default_factory=list)
    snapshots: int = 0

    async def enter(self) -> list["asyncio.Task[None]"]:
        """Have all groups begin; returns those who keep the pace."""
        self.tables = [Table(group) for group in self.job.groups]
        pacing = [asyncio.create_task(table.pace()) for table in self.tables if table.group.rate > 0]
        for table in self.tables:
            await table.enter(self.job.url)
        return pacing

    @property
    def watched(self) -> Table:
        """The group whose matches are held until they are let go."""
        return next(table for table in self.tables if table.group.gate >= 0)

    async def open(self) -> None:
        """Wait until a match is held."""
        while not self.watched.held:  # noqa: ASYNC110 - simple, and another process is measured
            await asyncio.sleep(0.01)

    async def go(self) -> None:
        """Play the held match to its end."""
        ended = self.watched.ended
        self.waited_ms = []
        self.watched.let_go()
        while self.watched.ended == ended:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)

    async def spectate(self, count: int) -> None:
        """Seat spectators at the held match; wait until all have their snapshot."""
        for spectator in self.spectators:
            spectator.close()
        self.snapshots = 0
        url = f"{self.job.url}/ws/watch"
        self.spectators = [await connect(url, self._see) for _ in range(count)]
        for spectator in self.spectators:
            spectator.send(protocol.encode(protocol.Watch(match=next(iter(self.watched.held)))))
        while self.snapshots < count:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)

    def _see(self, text: bytes) -> None:
        event = read_event(text)
        if event.match is None:
            self.snapshots += 1
        else:
            self.waited_ms.append((time.monotonic() - self.watched.sent_at[event.match.ply - 1]) * 1000)

    def report(self) -> dict[str, Any]:
        """Say what was sent by each group, what is held, what was waited for, and how matches ended."""
        unintended: Counter[str] = sum((table.unintended for table in self.tables), Counter())
        causes: Counter[str] = sum((table.causes for table in self.tables), Counter())
        return {
            "sent": [table.sent for table in self.tables],
            "held": [match for table in self.tables for match in table.held],
            "waited_ms": sorted(self.waited_ms),
            "causes": causes,
            "unintended": unintended,
        }


async def main() -> None:
    """Carry out commands until standard input ends."""
    loop = asyncio.get_running_loop()
    hall = Hall(msgspec.json.decode(await loop.run_in_executor(None, sys.stdin.readline), type=Job))
    pacing = await hall.enter()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        match line.split():
            case ["open"]:
                await hall.open()
            case ["go"]:
                await hall.go()
            case ["spectate", count]:
                await hall.spectate(int(count))
        sys.stdout.write(json.dumps(hall.report()) + "\n")
        sys.stdout.flush()
    for task in pacing:
        task.cancel()


if __name__ == "__main__":
    uvloop.run(main())
