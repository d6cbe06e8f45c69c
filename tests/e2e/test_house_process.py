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


def test_a_name_that_somebody_else_has_keeps_one_house_agent_away_and_no_other(
    make_server: MakeServer,
) -> None:
    server = make_server(**{**FAST, "PLYGROUND_HOUSE": "false"}).start()
    server.register("mcts")
    server.stop()
    server.settings["PLYGROUND_HOUSE"] = "true"
    server.start()
    wait_for(lambda: len(server.items("matches?state=finished")) >= 5, "house matches without mcts")
    assert [match for match in server.items("matches") if match["state"] == "void"] == []
    assert not server.api("agents/mcts")["house"]
    assert server.log().count("house.started") == 1
    assert "house.name_taken agent=mcts" in server.log()


def test_the_house_agents_names_are_theirs_before_anybody_can_register(make_server: MakeServer) -> None:
    server = make_server(**FAST).start()
    for name in ("equilibrium", "MCTS"):
        status, body = server.get("/api/v1/agents", {"name": name})
        assert (status, b"name_taken" in body) == (409, True)
