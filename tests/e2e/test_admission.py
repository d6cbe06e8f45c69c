"""A server that is late starts no match, says so, and starts them again when it is on time."""

import json
import signal
import threading
import time
from collections.abc import Callable

from harness import PATIENCE_S, QUIET, RawAgent, Server, wait_for

STOOD_S = 0.7
"""Longer than the margin."""

BREATH_S = 0.2
"""Shorter than a stall is remembered."""


class Staller(threading.Thread):
    """Stops a server and lets it go on, again and again: its loop is late most of the time."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.server = server
        self.rounds = 0
        self.over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.over.is_set():
            self.server.signal(signal.SIGSTOP)
            time.sleep(STOOD_S)
            self.server.signal(signal.SIGCONT)
            self.rounds += 1
            self.over.wait(BREATH_S)

    def stop(self) -> None:
        self.over.set()
        self.join(PATIENCE_S)


def metric(server: Server, name: str) -> float:
    status, text = server.get("/metrics")
    assert status == 200
    [line] = [line for line in text.decode().splitlines() if line.startswith(f"{name} ")]
    return float(line.split()[1])


def health(server: Server) -> dict[str, object]:
    status, body = server.get("/healthz")
    assert status == 200, body
    return dict(json.loads(body))


def matches(server: Server) -> list[object]:
    return list(server.ask("GET", "matches")[1]["items"])


def wait_through_late_rounds(server: Server, staller: Staller, rounds: int) -> None:
    """Wait for so many rounds in which new matches waited all the time."""

    def waited() -> bool:
        closings, first = metric(server, "plyground_admission_closed_total"), staller.rounds
        wait_for(lambda: staller.rounds >= first + rounds, "the server to be stopped some more times")
        return metric(server, "plyground_admission_closed_total") == closings

    wait_for(waited, "a time in which the server was late throughout", 3 * PATIENCE_S)


def test_no_match_starts_while_the_server_is_late_and_all_do_afterwards(
    make_server: Callable[..., Server], raw_agent: Callable[..., RawAgent]
) -> None:
    server = make_server(**QUIET).start()
    assert metric(server, "plyground_admission_open") == 1
    assert health(server)["admission"] == "open"
    staller = Staller(server)
    try:
        wait_for(lambda: metric(server, "plyground_admission_open") == 0, "new matches to wait")
        agents = [raw_agent(server, name, ladders=("tic_tac_toe",)) for name in ("ada", "bob")]
        if metric(server, "plyground_admission_closed_total") == 1:  # it has not opened in between
            wait_through_late_rounds(server, staller, rounds=6)
            if metric(server, "plyground_admission_closed_total") == 1:
                assert matches(server) == []
        assert metric(server, "plyground_loop_lag_recent_seconds") > 0.2
        said = health(server)
        assert (said["status"], said["database"], said["admission"]) == ("ok", "ok", "waiting")
        assert int(str(said["loop_lag_ms"])) > 200
        assert "New matches wait: the server is " in server.get("/")[1].decode()
    finally:
        staller.stop()
    for agent in agents:
        assert agent.await_message("match_start")["ladder"] == "tic_tac_toe"
    wait_for(lambda: metric(server, "plyground_admission_open") == 1, "new matches to start again")
    wait_for(lambda: health(server)["notice"] is None, "nothing to be said")
    assert "admission.waiting" in server.log()
    assert "admission.open" in server.log()
