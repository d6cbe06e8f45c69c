"""A database that goes away in mid-play: matches pause, nobody is told or charged anything, all go on."""

import contextlib
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, TypeAlias

import psutil
import pytest
from duel import begin
from harness import PATIENCE_S, QUIET, RawAgent, Server, wait_for
from witness import (
    IMPATIENT,
    IMPATIENT_S,
    assert_nobody_lost_by_it,
    await_news,
    await_silence,
    await_voids,
    finish_all,
    health,
    in_play,
    voids,
    witnesses,
)

from server.knocks import AGAIN_S

MakeServer = Callable[..., Server]
Outage: TypeAlias = Callable[[Server, Any], AbstractContextManager[None]]

LADDERS = {"tic_tac_toe": "tic_tac_toe", "connect_four": "connect_four"}
MOVE_MS = 2_000
SOON_S = 1.0
"""The server looks after its database so often; its claim follows at once."""

KNOCK_S = 0.5
OUTAGE_S = 6.0
"""More than a grace of 1 s and what it takes to come and to go."""


@contextlib.contextmanager
def stopped(_server: Server, postgres: Any) -> Iterator[None]:
    """PostgreSQL is shut down, and started again."""
    postgres.stop()
    try:
        yield
    finally:
        postgres.ensure_postgres_running()


@contextlib.contextmanager
def frozen(_server: Server, postgres: Any) -> Iterator[None]:
    """PostgreSQL's processes stand still: nobody is refused, and nobody is answered."""
    postmaster = psutil.Process(postgres.get_pid())
    held = [postmaster, *postmaster.children(recursive=True)]
    for process in held:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in held:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def locked(server: Server, _postgres: Any) -> Iterator[None]:
    """Another program holds SQLite's lock to write."""
    with contextlib.closing(
        sqlite3.connect(server.data_dir / "plyground.db", timeout=60, isolation_level=None)
    ) as other:
        other.execute("BEGIN EXCLUSIVE")
        try:
            yield
        finally:
            other.execute("ROLLBACK")


def assert_refused_meanwhile(server: Server, outage: Outage) -> None:
    """Who asks meanwhile is told that the database is away, and by no means that the server failed."""
    unwell = (503, "unavailable", "unavailable")
    wait_for(lambda: health(server) == unwell, "the health check to tell")
    status, told = server.ask("POST", "agents", {"name": "latecomer"})
    assert (status, told["code"]) == (503, "database_unavailable")
    if outage is stopped:
        status, told = server.ask("GET", "matches")
        assert (status, told["code"]) == (503, "database_unavailable")


def assert_let_in_later(server: Server, name: str, token: str) -> None:
    """An agent that comes meanwhile is told to come again, in a moment."""
    late = RawAgent(server, name, token=token)
    late.hello(ladders=["tic_tac_toe"])
    assert late.await_message("error")["code"] == "database_unavailable"
    assert late.await_close() == (1013, "database_unavailable")
    late.close()


def play_through(server: Server, postgres: Any, outage: Outage, away_s: float) -> None:
    server.open_ladders(LADDERS, MOVE_MS)
    server.start()
    token = server.register("visitor")
    with witnesses(server, tuple(LADDERS)) as everybody:
        caught = wait_for(lambda: len(now := in_play(server)) >= 2 and now, "matches in play")
        began = time.monotonic()
        with outage(server, postgres):
            heard = await_silence(everybody)
            assert_refused_meanwhile(server, outage)
            if outage is stopped:
                assert_let_in_later(server, "visitor", token)
            time.sleep(max(0.0, began + away_s - time.monotonic()))
            assert [witness.heard() for witness in everybody] == heard, "told what nobody had written down"
        await_news(everybody, heard)
        wait_for(lambda: health(server)[0] == 200, "the server to be well again")
        assert {server.match(number)["state"] for number in caught} <= {"running", "finished"}
        finish_all(server, everybody)
    assert_nobody_lost_by_it(server, everybody, MOVE_MS)
    assert voids(server) == []
    server.stop()
    server.doctor()


@pytest.mark.parametrize("outage", [stopped, frozen])
def test_play_pauses_while_postgresql_is_away(make_server: MakeServer, postgres: Any, outage: Outage) -> None:
    server = make_server(**QUIET, PLYGROUND_DATABASE_URL=postgres.get_uri())
    play_through(server, postgres, outage, away_s=3)


def test_a_server_claims_its_database_again_that_was_stopped(make_server: MakeServer, postgres: Any) -> None:
    server = make_server(**QUIET, PLYGROUND_DATABASE_URL=postgres.get_uri()).start()
    with stopped(server, postgres):
        assert server.ask("POST", "agents", {"name": "ada"})[0] == 503
        wait_for(lambda: health(server)[0] == 503, "the outage to be known")
    wait_for(lambda: health(server)[0] == 200, "the database to be back")
    time.sleep(SOON_S)
    other = make_server(**QUIET, PLYGROUND_DATABASE_URL=postgres.get_uri()).launch()
    assert other.wait() == 2
    assert "one that a running server uses" in other.log()


@pytest.mark.deep
@pytest.mark.parametrize("outage", [stopped, frozen])
def test_play_goes_on_after_half_a_minute_without_postgresql(
    make_server: MakeServer, postgres: Any, outage: Outage
) -> None:
    server = make_server(**QUIET, PLYGROUND_DATABASE_URL=postgres.get_uri())
    play_through(server, postgres, outage, away_s=30)


def test_play_pauses_while_another_program_locks_the_database(make_server: MakeServer) -> None:
    play_through(make_server(**QUIET), None, locked, away_s=3)


@pytest.mark.deep
def test_play_goes_on_after_half_a_minute_without_the_lock(make_server: MakeServer) -> None:
    play_through(make_server(**QUIET), None, locked, away_s=30)


@pytest.mark.parametrize("outage", [stopped, pytest.param(frozen, marks=pytest.mark.deep)])
def test_a_match_that_waits_too_long_for_postgresql_is_void_and_replayed(
    make_server: MakeServer, postgres: Any, outage: Outage
) -> None:
    server = make_server(**QUIET, PLYGROUND_DATABASE_URL=postgres.get_uri())
    server.program = IMPATIENT
    server.open_ladders(LADDERS, MOVE_MS)
    server.start()
    with witnesses(server, tuple(LADDERS)) as everybody:
        with outage(server, postgres):
            time.sleep(IMPATIENT_S + SOON_S)
        await_voids(server, r"the database was away for \d+ s; counts for nobody")
        finish_all(server, everybody)
    assert_nobody_lost_by_it(server, everybody, MOVE_MS)
    server.stop()
    server.doctor()


def come_back(server: Server, agent: RawAgent, ladder: str) -> RawAgent:
    """Knock again and again, as our clients do, until the server lets the agent in."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        back = RawAgent(server, agent.name, token=agent.token)
        back.hello(ladders=[ladder])
        if back.receive()["type"] == "welcome":
            return back
        back.close()
        time.sleep(KNOCK_S)
    raise AssertionError("never let in")


@pytest.mark.deep
@pytest.mark.parametrize("comes_again", [True, False])
def test_an_agent_that_could_not_come_back_to_its_match_is_waited_for(
    make_server: MakeServer, postgres: Any, comes_again: bool
) -> None:
    server = make_server(**QUIET, PLYGROUND_DATABASE_URL=postgres.get_uri(), PLYGROUND_GRACE_MS="1000")
    server.open_ladders({"tic_tac_toe": "tic_tac_toe"}, MOVE_MS)
    server.start()
    both = [RawAgent(server, name, ladders=("tic_tac_toe",)) for name in ("ada", "bob")]
    _, seats = begin(*both)
    seats[0].await_message("your_move")
    with stopped(server, postgres):
        seats[0].close()
        assert_let_in_later(server, seats[0].name, seats[0].token)
        time.sleep(MOVE_MS / 1000 + AGAIN_S + 2)  # its limit and its grace are over, and nobody knocks
    if comes_again:
        back = come_back(server, seats[0], "tic_tac_toe")
        back.move(back.await_message("your_move"))
        back.await_message("ack")
    else:
        end = seats[1].await_message("match_end")
        assert (end["outcome"], end["cause"]) == (["loss", "win"], ["disconnect", "normal"])
    server.stop()
    server.doctor()


def test_an_agent_is_not_charged_for_the_time_that_the_database_kept_it_from_coming_back(
    make_server: MakeServer, postgres: Any
) -> None:
    server = make_server(**QUIET, PLYGROUND_DATABASE_URL=postgres.get_uri(), PLYGROUND_GRACE_MS="1000")
    config = server.folder / "ladders.toml"
    config.write_text(
        '[[ladders]]\nname = "blitz"\ngame = "tic_tac_toe"\nbank_ms = 30000\n', encoding="utf-8"
    )
    server.settings["PLYGROUND_CONFIG"] = str(config)
    server.start()
    both = [RawAgent(server, name, ladders=("blitz",)) for name in ("ada", "bob")]
    _, seats = begin(*both)
    seats[0].await_message("your_move")
    with ThreadPoolExecutor(1) as pool:
        with stopped(server, postgres):
            seats[0].close()
            knocking = pool.submit(come_back, server, seats[0], "blitz")
            time.sleep(OUTAGE_S)
        back = knocking.result()
    request = back.await_message("your_move")
    assert request["clock"]["move_ms"] > 30_000 - OUTAGE_S * 1000, "the outage is given back"
    back.move(request)
    back.await_message("ack")
    move = server.match(1)["clock"][0]
    assert move["lag_ms"] >= OUTAGE_S * 1000 - 500
    assert move["charged_ms"] < move["lag_ms"]
    back.send({"type": "resign", "match": 1})
    back.await_message("match_end")
    server.stop()
    server.doctor()
