"""What a real server measures of an agent's time: the line by pings of its own, and its own lateness."""

import signal
import time
from collections.abc import Callable
from typing import Any

from harness import RawAgent, Server, SteadyAgent

STOOD_S = 1.0
THOUGHT_S = 0.2

MakeRaw = Callable[..., RawAgent]
MakeSteady = Callable[..., SteadyAgent]


def clock_of(server: Server, match: int, seat: int) -> list[dict[str, Any]]:
    """The trace of a seat's moves."""
    status, told = server.ask("GET", f"matches/{match}")
    assert status == 200, told
    return [entry for entry in told["clock"] if entry["seat"] == seat]


def test_a_stall_of_the_server_is_not_charged_and_the_line_is_measured_by_the_server(
    quiet_server: Server, raw_agent: MakeRaw, steady_agent: MakeSteady
) -> None:
    steady_agent(quiet_server, "measured-too", "connect_four")
    agent = raw_agent(quiet_server, "measured", ladders=("connect_four",))
    request = agent.await_message("your_move")
    match, seat, stalled = request["match"], request["ply"] % 2, request["ply"]
    time.sleep(THOUGHT_S)
    quiet_server.signal(signal.SIGSTOP)
    agent.move(request, info={"round_trip_ms": 60_000, "lag_ms": 60_000})
    time.sleep(STOOD_S)
    quiet_server.signal(signal.SIGCONT)
    for _ in range(2):
        request = agent.await_message("your_move")
        agent.move(request)
    agent.await_message("ack")
    first, *others = clock_of(quiet_server, match, seat)
    assert first["ply"] == stalled
    assert first["elapsed_ms"] >= (STOOD_S + THOUGHT_S) * 1000
    assert STOOD_S * 1000 - 100 <= first["lag_ms"] <= first["elapsed_ms"]
    assert first["charged_ms"] < first["elapsed_ms"] - STOOD_S * 1000 + 100
    assert first["charged_ms"] <= first["limit_ms"]
    for entry in (first, *others):
        assert entry["round_trip_ms"] is not None, "it was pinged after its welcome"
        assert entry["round_trip_ms"] < 2_000
        assert entry["charged_ms"] == entry["elapsed_ms"] - entry["refunded_ms"] >= 0


def test_house_agents_are_neither_pinged_nor_refunded(house_server: Server) -> None:
    def finished() -> list[dict[str, Any]]:
        return list(house_server.ask("GET", "matches?state=finished&limit=1")[1]["items"])

    deadline = time.monotonic() + 60
    while not finished():
        assert time.monotonic() < deadline
        time.sleep(0.2)
    _, told = house_server.ask("GET", f"matches/{finished()[0]['id']}")
    assert told["clock"], "it was played"
    for entry in told["clock"]:
        assert entry["round_trip_ms"] is None
        assert entry["refunded_ms"] == entry["lag_ms"]
