"""An agent that says nothing is ended by the server itself, and costs nobody else anything."""

from collections.abc import Callable

from harness import RawAgent, Server, SteadyAgent, wait_for

MOVE_MS = 2000
MARGIN_MS = 200
LADEN_MS = 3000
"""What two cores full of other processes may add; the promise itself is tested on a fake clock."""

MakeRaw = Callable[..., RawAgent]
MakeSteady = Callable[..., SteadyAgent]


def test_PB03_silence_loses_within_limit_and_margin(
    quiet_server: Server, raw_agent: MakeRaw, steady_agent: MakeSteady
) -> None:
    steady_agent(quiet_server, "opponent", "tic_tac_toe")
    silent = raw_agent(quiet_server, "silent", ladders=("tic_tac_toe",))
    request = silent.await_message("your_move")
    end = silent.await_message("match_end", (MOVE_MS + MARGIN_MS + LADEN_MS) / 1000)
    seat = request["ply"] % 2
    assert end["cause"][seat] == "timeout"
    assert end["outcome"] == ["loss" if n == seat else "win" for n in (0, 1)]
    assert end["detail"]
    assert quiet_server.match(request["match"])["state"] == "finished"
    standings = quiet_server.standings("tic_tac_toe")
    assert [standings[name]["losses"] for name in ("silent", "opponent")] == [1, 0]


def test_the_limit_never_fires_early(
    quiet_server: Server, raw_agent: MakeRaw, steady_agent: MakeSteady
) -> None:
    steady_agent(quiet_server, "early-bird", "tic_tac_toe")
    slow = raw_agent(quiet_server, "slow", ladders=("tic_tac_toe",))
    for _ in range(3):
        request = slow.await_message("your_move")
        wait_past = MOVE_MS / 1000 * 0.7
        wait_silently(slow, wait_past)
        slow.move(request)
        assert slow.await_message("ack")["ply"] == request["ply"]


def wait_silently(agent: RawAgent, seconds: float) -> None:
    """Wait, and see that the server says nothing meanwhile."""
    try:
        message = agent.receive(seconds)
    except TimeoutError:
        return
    raise AssertionError(f"expected silence, got {message}")


def test_an_agent_that_never_gets_ready_loses_no_rating(
    quiet_server: Server, raw_agent: MakeRaw, steady_agent: MakeSteady
) -> None:
    steady_agent(quiet_server, "waiting", "tic_tac_toe")
    sleepy = raw_agent(quiet_server, "sleepy")
    sleepy.hello(ladders=["tic_tac_toe"])
    wait_for(lambda: sleepy.receive()["type"] == "match_start", "a match")
    end = sleepy.receive()
    assert end["type"] == "match_end"
    assert end["outcome"] == ["void", "void"]
    assert "no_show" in end["cause"]
    assert quiet_server.standings("tic_tac_toe")["sleepy"]["games"] == 0


def test_other_matches_go_on_meanwhile(
    quiet_server: Server, raw_agent: MakeRaw, steady_agent: MakeSteady
) -> None:
    pair = [steady_agent(quiet_server, name, "connect_four") for name in ("left", "right")]
    steady_agent(quiet_server, "third", "tic_tac_toe")
    silent = raw_agent(quiet_server, "mute", ladders=("tic_tac_toe",))
    for _ in range(3):
        silent.await_message("your_move")
        before = min(agent.finished for agent in pair)
        silent.await_message("match_end")
        assert min(agent.finished for agent in pair) > before, "connect four ended no match in that time"
