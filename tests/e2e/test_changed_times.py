"""Ladders whose times change between two starts: a match goes by those of the day it began."""

import signal
from collections.abc import Callable

import pytest
from duel import await_end, play_on
from harness import QUIET, RawAgent, Server
from sqlalchemy import create_engine, text

MakeServer = Callable[..., Server]
LADDER = "tic_tac_toe"
BEFORE = {"PLYGROUND_LAG_MS": "1000", "PLYGROUND_GRACE_MS": "5000", "PLYGROUND_MARGIN_MS": "200"}
AFTER = {"PLYGROUND_LAG_MS": "300", "PLYGROUND_GRACE_MS": "700", "PLYGROUND_MARGIN_MS": "900"}
SHOWN = ("move_ms", "lag_ms", "grace_ms", "margin_ms")
OLD, NEW = (50_000, 1_000, 5_000, 200), (30_000, 300, 700, 900)


def connect(server: Server, tokens: dict[str, str]) -> list[RawAgent]:
    agents = [RawAgent(server, name, ladders=(LADDER,), token=token) for name, token in tokens.items()]
    tokens.update({agent.name: agent.token for agent in agents})
    return agents


def start_again(server: Server, move_ms: int) -> None:
    """Kill the server, change all times, and start it."""
    server.signal(signal.SIGKILL)
    server.wait()
    server.settings.update(AFTER)
    server.open_ladders({LADDER: LADDER}, move_ms)
    server.start()


def times(server: Server, number: int) -> tuple[int, ...]:
    control = server.api(f"matches/{number}/record")["time_control"]
    return tuple(control[name] for name in SHOWN)


@pytest.mark.parametrize("old_schema", [False, True])
def test_a_match_goes_by_the_times_of_the_day_it_began(make_server: MakeServer, old_schema: bool) -> None:
    server = make_server(**QUIET, **BEFORE)
    server.open_ladders({LADDER: LADDER}, 50_000)
    server.start()
    tokens = {"ada": "", "bob": ""}
    first = connect(server, tokens)
    for agent in first:  # two matches are queued; the second one waits for the first
        assert agent.await_message("match_start")["time_control"]["move_ms"] == 50_000
        agent.send({"type": "ready", "match": 1})
    server.signal(signal.SIGKILL)
    server.wait()
    if old_schema:  # as it was queued before ladders had clocks
        engine = create_engine(server.database_url)
        with engine.begin() as conn:
            old = {"control": '{"move_ms":5000}'}
            conn.execute(text("UPDATE matches SET time_control = :control WHERE id = 2"), old)
        engine.dispose()
    server.start()
    start_again(server, 30_000)
    for agent in connect(server, tokens):
        play_on(agent)
    assert await_end(server, 1)["state"] == "finished"
    second = await_end(server, 2)
    assert (times(server, 1), times(server, 2)) == (OLD, NEW)
    assert {entry["limit_ms"] for entry in server.match(1)["clock"]} == {50_000}
    assert {entry["limit_ms"] for entry in second["clock"]} == {30_000}
    server.stop()
    server.doctor()
