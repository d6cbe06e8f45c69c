"""A crowd that reads as much as it can: the database is not taken for away, and nobody's game is touched."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from harness import PATIENCE_S, QUIET, RawAgent, Server, wait_for
from witness import health

MakeServer = Callable[..., Server]

CROWD = 300
SLOW_PAGE = (
    "import time; import server.http.matches as m; import server.cli as cli; found = m._page; "
    "m._page = lambda *a: (time.sleep(0.1), found(*a))[1]; raise SystemExit(cli.main())"
)
"""A server whose lists of matches take so long that its readers are busy for many seconds."""

WELL = (200, "ok", "ok")


class Crowd(threading.Thread):
    """So many readers that all ask at once, again and again, until stopped; `told` counts their answers."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.port = server.port
        self.told: Counter[int] = Counter()
        self.over = threading.Event()
        self.start()

    def run(self) -> None:
        asyncio.run(self._all())

    async def _all(self) -> None:
        await asyncio.gather(*(self._one() for _ in range(CROWD)))

    async def _one(self) -> None:
        request = (
            "GET /api/v1/matches?limit=200 HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{self.port}\r\nConnection: close\r\n\r\n"
        )
        while not self.over.is_set():
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(request.encode())
                head = (await reader.read()).decode()
                writer.close()
            except OSError:
                continue
            status = int(head.split()[1]) if head else 0
            self.told[status] += 1
            if status == 503:
                await asyncio.sleep(1)

    def stop(self) -> None:
        self.over.set()
        self.join(PATIENCE_S)


@contextmanager
def crowd(server: Server) -> Iterator[Crowd]:
    readers = Crowd(server)
    try:
        wait_for(lambda: readers.told[200] > 20, "the readers to be busy")
        yield readers
    finally:
        readers.stop()


def begin(server: Server) -> tuple[RawAgent, RawAgent, int]:
    """A match that waits for its first move: whose it is, the other one, and its number."""
    both = [RawAgent(server, name, ladders=("tic_tac_toe",)) for name in ("ada", "bob")]
    starts = {agent.await_message("match_start")["seat"]: agent for agent in both}
    for agent in both:
        agent.send({"type": "ready", "match": 1})
    starts[0].await_message("your_move")
    return starts[0], starts[1], 1


@pytest.fixture
def slow(make_server: MakeServer) -> Server:
    server = make_server(**QUIET, PLYGROUND_REQUESTS_PER_MIN="600000", PLYGROUND_GRACE_MS="1000")
    server.program = ("-c", SLOW_PAGE)
    server.open_ladders({"tic_tac_toe": "tic_tac_toe"}, 6_000)
    return server.start()


def test_a_crowd_of_readers_keeps_no_agent_from_its_game(slow: Server) -> None:
    mover, other, number = begin(slow)
    with crowd(slow) as readers:
        assert health(slow) == WELL
        mover.close()
        back = RawAgent(slow, mover.name, token=mover.token, ladders=("tic_tac_toe",))
        back.move(back.await_message("your_move"))
        assert back.await_message("ack")["ply"] == 0
        other.await_message("your_move")
        for _ in range(10):
            assert health(slow) == WELL
            time.sleep(0.2)
    assert set(readers.told) <= {0, 200, 503}
    match = slow.match(number)
    assert match["moves"] == 1
    assert match["players"][0]["cause"] in {None, "normal"}, "the one who left and came back"


def test_nobody_makes_a_match_void_by_a_crowd_of_readers(slow: Server) -> None:
    mover, other, number = begin(slow)
    with crowd(slow):
        mover.close()
        end = other.await_message("match_end")
        assert health(slow) == WELL
    assert (end["outcome"], end["cause"][0]) == (["loss", "win"], "disconnect")
    assert slow.match(number)["state"] == "finished"
