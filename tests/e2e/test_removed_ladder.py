"""A ladder that a new start no longer has: what runs on it is played to its end."""

import signal
from collections.abc import Callable

import pytest
from duel import await_end, begin, play_on
from harness import QUIET, RawAgent, Server

MakeServer = Callable[..., Server]
MOVE_MS = 50_000


@pytest.mark.parametrize("named", [("old",), ("old", "kept")])
def test_a_match_is_played_on_though_a_ladder_of_its_agents_is_gone(
    make_server: MakeServer, named: tuple[str, ...]
) -> None:
    server = make_server(**QUIET)
    server.open_ladders(dict.fromkeys(("old", "kept"), "tic_tac_toe"), MOVE_MS)
    server.start()
    agents = [RawAgent(server, name, ladders=named) for name in ("ada", "bob")]
    begin(*agents)
    server.signal(signal.SIGKILL)
    server.wait()
    server.open_ladders({"kept": "tic_tac_toe"}, MOVE_MS)
    server.start()
    for agent in agents:
        back = RawAgent(server, agent.name, token=agent.token)
        back.hello(ladders=list(named))
        assert back.await_message("welcome")["running"] == [1]
        told = back.await_message("error")
        assert (told["code"], told["got"]) == ("unknown_ladder", "'old'")
        play_on(back)
    assert await_end(server, 1)["state"] == "finished"
    idle = RawAgent(server, "idle")
    idle.hello(ladders=["old", "kept"])
    assert idle.await_close() == (1008, "unknown_ladder")
    server.stop()
    server.doctor()
