"""The line between agents and server in a storm, a process of its own: each connection has its bad luck.

Started with its parameters as one JSON argument. It prints `{agent: port}` and then does what lines of JSON
on stdin say (`{"calm": true}`); it ends with its stdin, so that it never outlives the storm.
"""

import asyncio
import json
import random
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rough_line import Line, Passage, Weather

from tests.chaos.journal import Journal

DELAYS_S = (0.0, 0.002, 0.01, 0.03, 0.08)
"""A connection has one of these, each way."""

JITTER_S = 0.03


@dataclass(frozen=True)
class Luck:
    """How often a connection is in trouble: mean seconds between troubles, and the longest stall."""

    trouble_s: float = 12.0
    stall_s: float = 4.0
    kinds: dict[str, float] = field(default_factory=lambda: {"stall": 2.0, "reset": 2.0, "close": 1.0})


class Proxy:
    """The lines of all agents. While it is `calm` nothing but delay happens."""

    def __init__(self, far_port: int, seed: int, journal: Journal, luck: Luck) -> None:
        self.calm = False
        self._far_port, self._seed = far_port, seed
        self._journal, self._luck = journal, luck
        self._numbers: dict[str, int] = {}
        self._troubles: dict[Passage, asyncio.Task[None]] = {}

    async def open(self, agent: str) -> int:
        """Open the line of an agent; return its port."""
        draw = random.Random(f"{self._seed} {agent}")
        line = Line(
            self._far_port,
            lambda: Weather(draw.choice(DELAYS_S), draw.uniform(0.0, JITTER_S)),
            draw=random.Random(f"{self._seed} {agent} jitter"),
            opened=partial(self._opened, agent),
            ended=partial(self._ended, agent),
        )
        return await line.open()

    def _opened(self, agent: str, passage: Passage) -> None:
        number = self._numbers[agent] = self._numbers.get(agent, 0) + 1
        self._journal.note("opened", agent=agent, number=number)
        passage.late = lambda seconds: self._journal.note("late", agent=agent, seconds=seconds)
        trouble = self._trouble(agent, passage, random.Random(f"{self._seed} {agent} {number}"))
        self._troubles[passage] = asyncio.create_task(trouble)

    def _ended(self, agent: str, passage: Passage) -> None:
        self._troubles.pop(passage).cancel()
        self._journal.note("ended", agent=agent)

    async def _trouble(self, agent: str, passage: Passage, draw: random.Random) -> None:
        kinds, weights = zip(*self._luck.kinds.items(), strict=True)
        while True:
            await asyncio.sleep(draw.expovariate(1 / self._luck.trouble_s))
            (kind,) = draw.choices(kinds, weights)
            seconds = draw.uniform(0.2, self._luck.stall_s)
            if self.calm:
                continue
            if kind == "stall":
                self._journal.note("stall", agent=agent, seconds=seconds)
                passage.stall(seconds)
            else:
                self._journal.note(kind, agent=agent)
                (passage.reset if kind == "reset" else passage.close)()


async def _run(said: dict[str, Any]) -> None:
    luck = Luck(**said.get("luck", {}))
    proxy = Proxy(said["far_port"], said["seed"], Journal(Path(said["journal"])), luck)
    ports = {agent: await proxy.open(agent) for agent in said["agents"]}
    sys.stdout.write(json.dumps(ports) + "\n")
    sys.stdout.flush()
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(orders), sys.stdin
    )
    while line := await orders.readline():
        proxy.calm = bool(json.loads(line)["calm"])


if __name__ == "__main__":
    asyncio.run(_run(json.loads(sys.argv[1])))
