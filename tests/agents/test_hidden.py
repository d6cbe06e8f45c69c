"""Agents in games with chance and hidden information: they see what they may know, never the state."""

import textwrap

import pytest

from agents import protocol, student
from agents.local import play_match
from agents.random_agent import RandomAgent
from games import CHANCE, Position, load
from games.observation import Observation

POKER = load("kuhn_poker")
CONTROL = protocol.TimeControl(1_000, margin_ms=200, ready_ms=10_000)


def pass_always(observation, clock):
    return 0


class Peeper(RandomAgent):
    """Plays at random and keeps all that it is told."""

    def __init__(self, seed):
        super().__init__(seed)
        self.told = []

    def match_start(self, start):
        self.told.append((start.position, *start.history))

    def asked(self, request):
        self.told.append((request.position, *request.last_actions))

    def choose(self, state, clock):
        self.told.append(state)
        return super().choose(state, clock)


def test_an_agent_is_shown_an_observation_and_never_the_state():
    peepers = [Peeper(1), Peeper(2)]
    for seed in range(20):
        result = play_match(POKER, peepers, seed=seed)
        cards = [action[1] for action in result.position.actions[:2]]
        for seat, peeper in enumerate(peepers):
            shown = [view for view in peeper.told if isinstance(view, Observation)]
            assert {view.player for view in shown} <= {seat}
            assert {view.text[seat] for view in shown} <= {cards[seat]}
            assert {view.text[1 - seat] for view in shown} <= {"?"}
            words = [word for told in peeper.told if isinstance(told, tuple) for word in told]
            assert f"d{cards[1 - seat]}" not in words
            assert len(shown) + len([told for told in peeper.told if isinstance(told, tuple)]) == len(
                peeper.told
            )
            peeper.told.clear()


def test_last_actions_are_those_since_the_own_previous_one():
    peepers = [Peeper(1), Peeper(2)]
    play_match(POKER, peepers, moves=["d2", "d0", "p", "b"])
    assert ("2?/pb x", "b") in peepers[0].told


def test_chance_draws_by_the_seed():
    def deal(seed):
        return play_match(POKER, [RandomAgent(1), RandomAgent(2)], seed=seed).position.actions[:2]

    assert deal(5) == deal(5)
    assert len({deal(seed) for seed in range(60)}) == 6, "every deal comes up"


def test_outcomes_may_be_given_and_are_nobodys_moves():
    result = play_match(POKER, [RandomAgent(1), RandomAgent(2)], moves=["d2", "d0"])
    assert result.position.actions[:2] == ("d2", "d0")
    assert [move.ply for move in result.moves] == list(range(2, result.position.ply))
    assert CHANCE not in {move.seat for move in result.moves}


def test_whoever_watches_sees_the_first_deal_before_the_first_move():
    seen = []
    play_match(
        POKER, [RandomAgent(1), RandomAgent(2)], on_move=lambda position, move: seen.append(position.ply)
    )
    assert seen[0] == 2


def test_chips_are_not_the_score(scripted):
    result = play_match(POKER, [scripted(lambda o, c: "b"), scripted(lambda o, c: "b")], moves=["d1", "d2"])
    assert result.position.utilities() == (-2.0, 2.0)
    assert result.scores == (0.0, 1.0)


def test_a_fault_is_told_in_the_agents_own_view(scripted):
    result = play_match(POKER, [scripted(lambda o, c: 9), scripted(pass_always)], CONTROL, moves=["d2", "d0"])
    assert result.causes == ("illegal_action", "normal")
    assert (result.fault.position, result.fault.moves) == ("2?/ x", ("d2", "d?"))
    assert result.fault.legal == ("p", "b")


@pytest.mark.parametrize(
    ("chosen", "word"), [("0", ""), ("'b'", ""), ("2", "2"), ("'d2'", "d2"), ("state.result(0)", "result")]
)
def test_a_persons_file_is_tried_on_what_it_will_see(tmp_path, chosen, word):
    file = tmp_path / "gambler.py"
    file.write_text(
        textwrap.dedent(f"""
        def choose(state, clock):
            return {chosen}
    """),
        encoding="utf-8",
    )
    loaded = student.load(file)
    if not word:
        student.trial(loaded, POKER, CONTROL)
        return
    with pytest.raises(Exception, match=word) as refused:
        student.trial(loaded, POKER, CONTROL)
    assert "(0?/ x)" in str(refused.value) or "result" in word


def test_a_client_shows_its_agent_the_observation(server, run, scripted):
    shown = []

    def choose(observation, clock):
        shown.append(observation)
        return "b"

    start = protocol.MatchStart(
        match=7,
        game="kuhn_poker",
        ladder="kuhn_poker",
        seat=1,
        players=[protocol.Player(0, "ada", 1), protocol.Player(1, "bob", 1)],
        time_control=CONTROL,
        position="--/ *",
        history=[],
    )
    position = Position.start(POKER, moves=["d2", "d0", "p"])
    seen = list(position.seen_actions(1))

    def script(talk):
        talk.welcome()
        talk.say(start)
        talk.hear(protocol.Ready)
        request = protocol.YourMove(7, 3, position.text(1), seen, position.legal(), protocol.ClockView(1_000))
        talk.say(request)
        assert talk.hear_move(ply=3).action == "b"
        talk.ack(3)
        talk.end()
        talk.hear_the_end()

    played = run(server(script).url, scripted(choose)).finish()
    assert played.faults == []
    assert shown == [Observation(POKER, 1, "?0/p o", ["p", "b"])]
