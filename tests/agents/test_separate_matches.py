"""What an agent learns in one match does not help it in another: each match has an agent object of its own.

The two matches of a duplicate set have the same cards, and run at the same time in the house process.
"""

import threading

from agents import house, protocol, roster
from agents.agent import Agent
from agents.client import Client
from games import Position, load

CARDS = ("d2", "d0")
GAME = load("kuhn_poker")


class Cheat(Agent):
    """Remembers every card it is shown, and bets whenever it knows that it has the better one."""

    def __init__(self) -> None:
        self.known: dict[int, str] = {}

    def choose(self, state, clock):
        own, seat = state.text[state.player], state.player
        self.known[seat] = own
        other = self.known.get(1 - seat)
        return int(other is not None and other < own)


def start(match, seat):
    position = Position.start(GAME, moves=CARDS)
    players = [protocol.Player(0, "ada", 1), protocol.Player(1, "bob", 1)]
    return protocol.MatchStart(
        match=match,
        game="kuhn_poker",
        ladder="kuhn_poker",
        seat=seat,
        players=players,
        time_control=protocol.TimeControl(5_000, ready_ms=10_000),
        position=position.text(seat),
        history=list(position.seen_actions(seat)),
    )


def request(match, seat, moves):
    position = Position.start(GAME, moves=[*CARDS, *moves])
    return protocol.YourMove(
        match=match,
        ply=position.ply,
        position=position.text(seat),
        last_actions=list(position.seen_actions(seat)[-1:]),
        legal=position.legal(),
        clock=protocol.ClockView(5_000),
    )


def answers(server, observer, make_agent):
    """Play seat 1 of one match, and then seat 0 of another with the same cards; return both actions."""
    given = []

    def script(talk):
        talk.welcome()
        for match, seat, moves in ((1, 1, ["p"]), (2, 0, [])):
            talk.say(start(match, seat))
            talk.hear(protocol.Ready)
            talk.say(request(match, seat, moves))
            given.append(talk.hear(protocol.Move).action)
            talk.ack(2 + len(moves), match=match)
        talk.cut()

    client = Client(server(script).url, "ada", ["kuhn_poker"], "token", make_agent=make_agent, concurrency=2)
    threading.Thread(target=client.run, daemon=True).start()
    deadline = threading.Event()
    for _ in range(600):
        if len(given) == 2 or deadline.wait(0.05):
            break
    client.stop()
    return given


def test_an_agent_that_kept_what_it_saw_would_cheat(server):
    """The check can fail: one agent object for both matches knows the other's card in the second."""
    one = Cheat()
    assert answers(server, None, lambda _start: one) == ["p", "b"]


def test_the_first_matchs_knowledge_cannot_help_in_the_second(server):
    assert answers(server, None, lambda _start: Cheat()) == ["p", "p"]


def test_the_house_has_an_agent_object_for_each_match(monkeypatch):
    monkeypatch.setattr(house, "Client", lambda *_args, make_agent, **_options: make_agent)
    for agent in roster.load():
        if agent.plays(GAME):
            make_agent = house._client("", "token", agent, ["kuhn_poker"], threading.Semaphore())
            first, second = (make_agent(start(match, 0)) for match in (1, 2))
            assert first is not second
            shared = {id(value) for value in vars(first).values() if isinstance(value, dict | list | set)}
            own = {id(value) for value in vars(second).values() if isinstance(value, dict | list | set)}
            assert not shared & own, f"{agent.name} keeps something for all its matches"
