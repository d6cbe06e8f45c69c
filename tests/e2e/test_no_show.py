"""An agent that never says `ready` costs its opponents one wait, and is then left alone."""

import threading
import time
from collections.abc import Callable

from harness import QUIET, RawAgent, Server, SteadyAgent, wait_for

MakeServer = Callable[..., Server]


def test_an_agent_that_is_never_ready_holds_up_nobody(make_server: MakeServer) -> None:
    server = make_server(**QUIET, PLYGROUND_READY_MS="1000").start()
    honest = [SteadyAgent(server, name, ("tic_tac_toe",), concurrency=1) for name in ("ada", "bob")]
    ghost = RawAgent(server, "ghost")
    ghost.hello(ladders=["tic_tac_toe"], concurrency=64)
    listening = threading.Thread(target=ghost.await_close, daemon=True)
    listening.start()
    wait_for(lambda: server.items("matches?agent=ghost&state=void"), "the ghost to be paired")
    wait_for(lambda: not server.items("matches?agent=ghost&state=starting"), "its matches to end")
    before = [agent.finished for agent in honest]
    time.sleep(3)
    assert all(agent.finished > count + 5 for agent, count in zip(honest, before, strict=True))
    for match in server.items("matches?agent=ghost&state=void"):
        causes = {player["agent"]: player["cause"] for player in match["players"]}
        assert causes["ghost"] == "no_show"
    assert server.standings("tic_tac_toe")["ghost"]["games"] == 0
    server.stop()
    server.doctor()
