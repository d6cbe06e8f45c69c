"""An agent on several ladders, with all hands busy, plays on each of them, and on no other."""

from collections.abc import Callable

from duel import begin
from harness import RawAgent, Server, SteadyAgent, wait_for


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


def test_whoever_comes_back_for_another_ladder_is_not_given_what_was_queued(quiet_server: Server) -> None:
    ada, bob = (RawAgent(quiet_server, name, ladders=("tic_tac_toe",)) for name in ("ada", "bob"))
    match, seats = begin(ada, bob)
    seats[0].move(seats[0].await_message("your_move"))
    seats[0].await_message("ack")
    (queued,) = quiet_server.items("matches?agent=ada&state=queued")
    back = RawAgent(quiet_server, "bob", token=bob.token, ladders=("connect_four",))
    carol = RawAgent(quiet_server, "carol", ladders=("connect_four",))
    ada.send({"type": "resign", "match": match})
    back.await_message("match_end")
    assert back.await_message("match_start")["ladder"] == "connect_four"
    assert quiet_server.match(queued["id"])["state"] == "queued"
    for agent in (ada, back, carol):
        agent.close()
