"""Agents that come back: a new process in the middle of a match, and two that are the same agent."""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import PATIENCE_S, QUIET, Server, SteadyAgent, environment, wait_for

from agents.agent import Agent
from agents.client import Client
from agents.protocol import MatchStart
from agents.refusal import RefusedError

MakeServer = Callable[..., Server]

PATIENT = """
import time

def choose(state, clock):
    time.sleep(0.1)
    return next(iter(state.actions()))
"""
CALM_MS = 60_000
"""The limit of a move: a start of Python on a busy machine costs no game."""


def connect(server: Server, file: Path, name: str, *more: str) -> subprocess.Popen[bytes]:
    arguments = ("connect", str(file), "--ladder", "four", "--name", name, "--server", server.url, *more)
    with (server.folder / f"{name}.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "server.cli", *arguments],
            cwd=server.folder,
            env={**environment({}), "XDG_CONFIG_HOME": str(server.folder / "config")},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def in_play(server: Server, name: str, moves: int) -> int | None:
    """The agent's running match, once it has come so far."""
    status, answer = server.ask("GET", f"matches?agent={name}&state=running")
    if status == 200:  # else the agent is not registered yet
        for match in answer["items"]:
            if match["moves"] >= moves:
                return int(match["id"])
    return None


def ended(server: Server, number: int) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        match = server.match(number)
        return match if match["state"] in {"finished", "void"} else None

    return dict(wait_for(look, f"the end of match {number}"))


@pytest.fixture
def server(make_server: MakeServer) -> Server:
    server = make_server(**QUIET)
    server.open_ladders({"four": "connect_four"}, CALM_MS)
    return server.start()


def test_an_agent_killed_in_mid_match_goes_on_from_a_new_process(server: Server, tmp_path: Path) -> None:
    rival = SteadyAgent(server, "rival", ("four",), concurrency=1)
    file = tmp_path / "patient.py"
    file.write_text(PATIENT, encoding="utf-8")
    first = connect(server, file, "phoenix")
    try:
        match = wait_for(lambda: in_play(server, "phoenix", 4), "a match in play")
    finally:
        first.kill()
        first.wait(PATIENCE_S)
    second = connect(server, file, "phoenix")
    try:
        result = ended(server, match)
        second.send_signal(signal.SIGINT)
        assert second.wait(PATIENCE_S) == 0, (server.folder / "phoenix.log").read_text(encoding="utf-8")
    finally:
        second.kill()
        second.wait(PATIENCE_S)
        rival.stop()
    assert [player["cause"] for player in result["players"]] == ["normal", "normal"]
    assert {player["agent"]: player["version"] for player in result["players"]} == {"phoenix": 1, "rival": 1}
    log = (server.folder / "phoenix.log").read_text(encoding="utf-8")
    assert log.count(f"match {match} vs rival") == 2, log
    assert f"match {match} finished" in log
    server.stop()
    server.doctor()


class Playing(Agent):
    """Plays the first legal action, and notes in which matches."""

    def __init__(self, start: MatchStart, played: list[int], hold: threading.Event) -> None:
        self._match, self._played, self._hold = start.match, played, hold

    def choose(self, state: Any, clock: Any) -> int:
        self._played.append(self._match)
        if len(self._played) > 2:
            self._hold.wait(PATIENCE_S)
        return int(next(iter(state.actions())))


class Run(threading.Thread):
    """A client in a thread, with what it played and how it ended."""

    def __init__(self, server: Server, token: str, hold: threading.Event) -> None:
        super().__init__(daemon=True)
        self.played: list[int] = []
        self.error: BaseException | None = None
        self.client = Client(
            server.url,
            "twin",
            ["four"],
            token,
            make_agent=lambda start: Playing(start, self.played, hold),
            fingerprint="same",
        )
        self.start()

    def run(self) -> None:
        try:
            self.client.run()
        except RefusedError as error:
            self.error = error


def test_a_second_process_of_an_agent_takes_over_and_the_first_does_not_fight_back(server: Server) -> None:
    rival = SteadyAgent(server, "rival", ("four",), concurrency=1)
    token = server.register("twin")
    hold, free = threading.Event(), threading.Event()
    free.set()
    older = Run(server, token, hold)
    match = wait_for(lambda: in_play(server, "twin", 4), "a match in play")
    newer = Run(server, token, free)
    older.join(PATIENCE_S)
    assert isinstance(older.error, RefusedError), "the older one ends"
    assert older.error.code == "replaced"
    assert len(str(older.error).splitlines()) == 1
    hold.set()
    result = ended(server, match)
    assert [player["cause"] for player in result["players"]] == ["normal", "normal"]
    assert match in newer.played
    wait_for(lambda: len(set(newer.played)) >= 3, "the newer one plays on undisturbed")
    assert newer.is_alive()
    assert newer.error is None
    newer.client.leave()
    newer.join(PATIENCE_S)
    assert not newer.is_alive()
    rival.stop()
    server.stop()
    server.doctor()


def test_a_match_that_ended_while_its_agent_was_away_is_told_and_counted(
    make_server: MakeServer, tmp_path: Path
) -> None:
    """The agent stands still while the server is restarted, and is not back in time: the match is void."""
    server = make_server(**QUIET, PLYGROUND_RESUME_S="1")
    server.open_ladders({"four": "connect_four"}, CALM_MS)
    server.start()
    rival = SteadyAgent(server, "rival", ("four",), concurrency=1)
    file = tmp_path / "patient.py"
    file.write_text(PATIENT.replace("0.1", "1"), encoding="utf-8")
    away = connect(server, file, "away", "--matches", "1")
    try:
        match = wait_for(lambda: in_play(server, "away", 2), "a match in play")
        away.send_signal(signal.SIGSTOP)
        server.stop()
        rival.stop()
        server.start()
        assert ended(server, match)["state"] == "void"
        away.send_signal(signal.SIGCONT)
        assert away.wait(PATIENCE_S) == 0
    finally:
        away.kill()
        away.wait(PATIENCE_S)
    lines = (server.folder / "away.log").read_text(encoding="utf-8").splitlines()
    (told,) = [line for line in lines if line.startswith(f"match {match} finished: ")]
    assert told.startswith(f"match {match} finished: void (")
    assert lines[-1] == "left: 1 match played, 0 won 0 drawn 0 lost 1 void"
    server.stop()
    server.doctor()
