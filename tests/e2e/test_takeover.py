"""An agent that connects again and again, each connection replacing the last, loses nothing by it."""

import json
import random
import threading
import time
from collections.abc import Callable

from harness import QUIET, RawAgent, Server, SteadyAgent, wait_for
from websockets.exceptions import ConnectionClosed

MakeServer = Callable[..., Server]
TAKEOVERS = 24
"""Fewer than the hellos that one agent may say in a minute."""


def answer_at_once(agent: RawAgent) -> None:
    """Play random legal actions until the connection ends."""
    try:
        while True:
            message = json.loads(agent.socket.recv())
            if message["type"] == "match_start":
                agent.send({"type": "ready", "match": message["match"]})
            elif message["type"] == "your_move":
                agent.move(message, action=random.choice(message["legal"]))
    except ConnectionClosed:
        return


def test_connections_that_replace_each_other_lose_no_request(make_server: MakeServer) -> None:
    server = make_server(**QUIET).start()
    SteadyAgent(server, "rival", ("connect_four",))
    token = server.register("taker")
    draw = random.Random(4)
    for _ in range(TAKEOVERS):
        taker = RawAgent(server, "taker", ladders=("connect_four",), token=token)
        threading.Thread(target=answer_at_once, args=(taker,), daemon=True).start()
        time.sleep(draw.uniform(0.05, 0.3))
    last = server.items("matches?agent=taker")[0]["id"]
    wait_for(lambda: server.match(last)["state"] in {"finished", "void"}, "the last match to end")
    causes = [
        player["cause"]
        for match in server.items("matches?agent=taker")
        if match["state"] in {"finished", "void"}
        for player in match["players"]
    ]
    assert len(causes) > 2 * TAKEOVERS
    assert set(causes) == {"normal"}
    server.stop()
    server.doctor()


def test_a_new_version_does_not_play_on_the_old_ones_match(make_server: MakeServer) -> None:
    server = make_server(**QUIET).start()
    SteadyAgent(server, "rival", ("tic_tac_toe",))
    old = RawAgent(server, "ada")
    old.hello(ladders=["tic_tac_toe"], fingerprint="one")
    request = old.await_message("your_move")
    new = RawAgent(server, "ada", token=old.token)
    new.hello(ladders=["tic_tac_toe"], fingerprint="two")
    assert new.await_message("welcome")["running"] == []
    assert old.await_close()[1] == "replaced"
    new.move(request)
    assert new.await_message("error")["code"] == "wrong_match"
    ended = wait_for(
        lambda: (match := server.match(request["match"]))["state"] == "finished" and match, "the old match"
    )
    causes = {player["agent"]: (player["version"], player["cause"]) for player in ended["players"]}
    assert causes == {"ada": (1, "disconnect"), "rival": (1, "normal")}
    dropped = [
        m for m in server.items("matches?agent=ada&state=void") if "new version" in (m["detail"] or "")
    ]
    assert len(dropped) == 1
    server.stop()
    server.doctor()
