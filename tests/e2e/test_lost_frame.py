"""A frame that is lost between an agent and the server is noticed by the agent and sent again."""

import contextlib
import json
import threading
from collections.abc import Callable

from harness import QUIET, Server, SteadyAgent, wait_for
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve

from agents.client import Client, Timing
from agents.observer import Observer
from agents.protocol import MatchEnd, MatchStart
from agents.random_agent import RandomAgent

MakeServer = Callable[..., Server]
MOVE_MS = 20_000


class Proxy:
    """Stands between an agent and a server and loses the first `move`; counts the others."""

    def __init__(self, server: Server) -> None:
        self._url = server.url.replace("http", "ws") + "/ws/agent"
        self.lost: list[str] = []
        self.moves: list[str] = []
        self._server = serve(self._relay, "127.0.0.1", 0, compression=None)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.socket.getsockname()[1]}"

    def _relay(self, agent: ServerConnection) -> None:
        headers = {"Authorization": agent.request.headers["Authorization"]} if agent.request else {}
        with connect(self._url, additional_headers=headers, compression=None, proxy=None) as server:
            back = threading.Thread(target=self._pass_back, args=(server, agent), daemon=True)
            back.start()
            with contextlib.suppress(ConnectionClosed):
                for frame in agent:
                    if self._gets_through(str(frame)):
                        server.send(frame)

    def _gets_through(self, frame: str) -> bool:
        if json.loads(frame)["type"] != "move":
            return True
        (self.moves if self.lost else self.lost).append(frame)
        return len(self.moves) > 0

    @staticmethod
    def _pass_back(server: object, agent: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            for frame in server:  # type: ignore[attr-defined]
                agent.send(frame)

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join(10)


class Ends(Observer):
    """Keeps how each match ended."""

    def __init__(self) -> None:
        self.ends: list[MatchEnd] = []

    def match_end(self, start: MatchStart, end: MatchEnd) -> None:
        self.ends.append(end)


def test_PB08_a_move_that_never_arrived_is_sent_again_and_counts_once(make_server: MakeServer) -> None:
    server = make_server(**QUIET)
    server.open_ladders({"tic_tac_toe": "tic_tac_toe"}, MOVE_MS)
    server.start()
    rival = SteadyAgent(server, "rival", ("tic_tac_toe",))
    proxy = Proxy(server)
    ends = Ends()
    client = Client(
        proxy.url,
        "ada",
        ["tic_tac_toe"],
        server.register("ada"),
        make_agent=lambda _start: RandomAgent(3),
        matches=1,
        observer=ends,
        timing=Timing(ack_ms=500),
    )
    played = threading.Thread(target=client.run)
    played.start()
    played.join(MOVE_MS / 1000)
    assert not played.is_alive(), "neither side noticed"
    assert proxy.moves[0] == proxy.lost[0], "the very same move again"
    (end,) = ends.ends
    assert set(end.cause) == {"normal"}
    record = server.api(f"matches/{end.match}/record")
    assert [action["ply"] for action in record["actions"]] == list(range(record["match"]["moves"]))
    assert sum(action["action"] == json.loads(proxy.lost[0])["action"] for action in record["actions"]) == 1
    proxy.close()
    rival.stop()
    wait_for(lambda: not server.items("matches?state=running"), "nothing to be left")
    server.doctor()
