"""A match that a test plays by hand, with one agent at the far end of a line that the test can break."""

import threading
import time
from typing import Any

from harness import RawAgent, Server, wait_for
from rough_line import LineInThread
from websockets.exceptions import ConnectionClosed


class FarAgent:
    """An agent at the far end of a line. Each connection is a new `agent`, with the same token."""

    def __init__(
        self, server: Server, line: LineInThread, name: str, ladders: tuple[str, ...], concurrency: int = 1
    ) -> None:
        self._server, self._line = server, line
        self._ladders, self._concurrency = ladders, concurrency
        self.name, self.token = name, server.register(name)
        self.agent = self._connect()
        self.agent.await_message("welcome")

    def come_back(self, after_s: float = 0.0) -> dict[str, Any]:
        """Connect once more after a while, with the same token; return the welcome."""
        time.sleep(after_s)
        self.agent = self._connect()
        return self.agent.await_message("welcome")

    def _connect(self) -> RawAgent:
        agent = RawAgent(self._server, self.name, token=self.token, url=self._line.url)
        agent.hello(ladders=list(self._ladders), concurrency=self._concurrency)
        return agent


class Duel:
    """A far agent against a near one; the test makes every move."""

    def __init__(self, server: Server, line: LineInThread, ladder: str) -> None:
        self.server, self.line = server, line
        self.far = FarAgent(server, line, "far", (ladder,))
        self.near = RawAgent(server, "near", ladders=(ladder,))
        start = self.far.agent.await_message("match_start")
        self.match, self.seat = int(start["match"]), int(start["seat"])
        self.near.await_message("match_start")
        for agent in (self.far.agent, self.near):
            agent.send({"type": "ready", "match": self.match})

    def agent_at(self, ply: int) -> RawAgent:
        """Who moves at a ply, in a game whose seats take turns."""
        return self.far.agent if ply % 2 == self.seat else self.near

    def request(self, ply: int) -> dict[str, Any]:
        """Receive the request for a ply."""
        request = self.agent_at(ply).await_message("your_move")
        assert (request["match"], request["ply"]) == (self.match, ply)
        return request

    def play(self, ply: int, action: str | None = None) -> dict[str, Any]:
        """Play a ply and see it acknowledged; return the request."""
        request = self.request(ply)
        agent = self.agent_at(ply)
        agent.move(request, **({} if action is None else {"action": action}))
        ack = agent.await_message("ack")
        assert (ack["match"], ack["ply"]) == (self.match, ply)
        return request

    def come_back(self, after_s: float = 0.0) -> dict[str, Any]:
        """Have the far agent connect again; return the announcement of the match."""
        assert self.match in self.far.come_back(after_s)["running"]
        return self.far.agent.await_message("match_start")

    def clock(self, ply: int) -> dict[str, Any]:
        """What the server shows of how it measured a ply."""
        trace: list[dict[str, Any]] = self.server.match(self.match)["clock"]
        return next(entry for entry in trace if entry["ply"] == ply)

    def await_end(self) -> dict[str, Any]:
        """Wait until the match is over, and return it."""
        return await_end(self.server, self.match)


def begin(*agents: RawAgent) -> tuple[int, dict[int, RawAgent]]:
    """Get ready for the match that these agents are given; return its number, and the agents by seat."""
    starts = [(agent, agent.await_message("match_start")) for agent in agents]
    for agent, start in starts:
        agent.send({"type": "ready", "match": start["match"]})
    return int(starts[0][1]["match"]), {int(start["seat"]): agent for agent, start in starts}


def await_end(server: Server, number: int) -> dict[str, Any]:
    """Wait until a match is over, and return it."""
    found: dict[str, Any] = wait_for(
        lambda: (match := server.match(number))["state"] in {"finished", "void"} and match,
        f"match {number} to end",
    )
    return found


def play_on(agent: RawAgent) -> None:
    """Answer with the first legal action at once, in a thread, until the connection ends."""

    def answer() -> None:
        try:
            while True:
                message = agent.receive()
                if message["type"] == "match_start":
                    agent.send({"type": "ready", "match": message["match"]})
                elif message["type"] == "your_move":
                    agent.move(message)
        except (ConnectionClosed, TimeoutError):
            return

    threading.Thread(target=answer, daemon=True).start()
