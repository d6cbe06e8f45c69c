"""An agent on several ladders, with all hands busy, plays on each of them."""

from collections.abc import Callable

from harness import Server, SteadyAgent, wait_for


def test_no_ladder_starves_another(quiet_server: Server, steady_agent: Callable[..., SteadyAgent]) -> None:
    ladders = ("tic_tac_toe", "connect_four")
    for name in ("one", "two"):
        steady_agent(quiet_server, name, *ladders)
    for ladder in ladders:
        wait_for(
            lambda ladder=ladder: quiet_server.standings(ladder).get("one", {"games": 0})["games"] >= 4,
            f"matches on {ladder}",
        )
    quiet_server.doctor()
