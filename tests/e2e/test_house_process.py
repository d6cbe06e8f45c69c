"""The house's process is ours to keep alive: if it dies, nobody loses by it, and play goes on."""

import signal
from collections.abc import Callable

import psutil
from harness import FAST, Server, wait_for

MakeServer = Callable[..., Server]


def house_of(server: Server) -> psutil.Process:
    return next(p for p in server.remember_family() if "agents.house" in " ".join(p.cmdline()))


def test_a_killed_house_process_voids_its_matches_and_is_started_again(make_server: MakeServer) -> None:
    server = make_server(**{**FAST, "PLYGROUND_PACE_MS": "300"}).start()
    running = wait_for(lambda: server.items("matches?state=running"), "house matches")
    first = house_of(server)
    first.send_signal(signal.SIGKILL)
    for match in running:
        ended = wait_for(
            lambda number=match["id"]: (m := server.match(number))["state"] in {"void", "finished"} and m,
            "the match to end",
        )
        causes = {player["cause"] for player in ended["players"]}
        assert causes in ({"infrastructure"}, {"normal"}), ended
        if ended["state"] == "void":
            assert "house agent was lost" in ended["detail"]
    wait_for(lambda: server.items("matches?state=running"), "play to go on")
    assert house_of(server).pid != first.pid
    server.stop()
    server.doctor()
