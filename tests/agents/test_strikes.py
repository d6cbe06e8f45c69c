"""Time-outs that cost no match yet, against a server that follows a script."""

import threading
import time
from dataclasses import replace

import pytest

from agents import protocol

from .conftest import QUICK

PATIENT = replace(QUICK, ack_ms=1_000)
"""Longer than a busy machine needs from an answer to what is said to it: only what is meant is sent again."""

QUIET_S = 1.5
"""Longer than that: a client that would send something again has done so."""


def fourth(state, clock):
    return 3


def wait_for_line(diary, line):
    """Wait until the client has told its observer so."""
    end = time.monotonic() + 20
    while line not in diary.lines:
        assert time.monotonic() < end, f"{line!r} is not in {diary.lines}"
        time.sleep(0.01)


class Late:
    """Chooses as long as it is told to at its first move, and at once after that."""

    def __init__(self):
        self.inside = threading.Event()
        self.release = threading.Event()
        self.actions = [2, 3, 3]
        self.clocks = []

    def choose(self, state, clock):
        self.clocks.append(clock)
        if len(self.clocks) == 1:
            self.inside.set()
            assert self.release.wait(20)
        return self.actions[len(self.clocks) - 1]


def test_an_answer_that_comes_too_late_is_dropped_and_the_next_is_given(server, run, scripted, diary):
    late = Late()

    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("", strikes=3)
        assert late.inside.wait(20)
        talk.strike(0)
        talk.ask("1 1", strikes=2)
        talk.hears_nothing(for_s=0.3)  # the choice for ply 0 still runs
        late.release.set()
        assert talk.hear_move(ply=2).action == "4"
        talk.ack(2)
        talk.hears_nothing(QUIET_S)
        talk.end()
        talk.hear_the_end()

    played = run(server(script).url, scripted(late.choose), timing=PATIENT).finish()

    assert (played.matches, played.faults, played.late) == (1, [], 0)
    assert [clock.strikes for clock in late.clocks] == [3, 2]
    assert "struck 7 0 2" in diary.lines
    assert diary.moves == ["4"], "the dropped answer was no move"


def test_an_answer_dropped_before_the_next_request_is_never_sent(server, run, scripted, diary):
    late = Late()

    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("", strikes=1)
        assert late.inside.wait(20)
        talk.strike(0)
        wait_for_line(diary, "struck 7 0 0")
        late.release.set()
        talk.hears_nothing(for_s=0.4)
        talk.ask("1 1")
        assert talk.hear_move(ply=2).action == "4"
        talk.end()
        talk.hear_the_end()

    assert run(server(script).url, scripted(late.choose)).finish().faults == []
    assert "struck 7 0 0" in diary.lines


def test_an_answer_that_crossed_the_strike_is_sent_no_more(server, run, scripted, diary):
    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("", strikes=2)
        talk.hear_move(ply=0)
        talk.strike(0)
        talk.strike(0)  # once for the deadline, once for the answer
        talk.hears_nothing(QUIET_S)
        talk.ask("1 1", strikes=1)
        assert talk.hear_move(ply=2).action == "4"
        talk.ack(2)
        talk.end()
        talk.hear_the_end()

    agent = scripted(fourth)
    run(server(script).url, agent, timing=PATIENT).finish()
    assert agent.chosen == 2
    assert [line for line in diary.lines if "struck" in line] == ["struck 7 0 1"], "told once"


def test_a_late_illegal_answer_is_no_fault(server, run, scripted, diary):
    late = Late()
    late.actions[0] = 99

    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("", strikes=1)
        assert late.inside.wait(20)
        talk.strike(0)
        wait_for_line(diary, "struck 7 0 0")
        talk.ask("1 1")
        late.release.set()
        assert talk.hear_move(ply=2).action == "4"
        talk.end()
        talk.hear_the_end()

    assert run(server(script).url, scripted(late.choose)).finish().faults == []


def test_two_strikes_in_a_row_skip_the_request_between(server, run, scripted, diary):
    late = Late()

    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("", strikes=2)
        assert late.inside.wait(20)
        talk.strike(0)
        talk.ask("1 1", strikes=1)
        talk.strike(2)
        wait_for_line(diary, "struck 7 2 0")
        talk.ask("1 1 1 1")
        late.release.set()
        assert talk.hear_move(ply=4).action == "4"
        talk.end()
        talk.hear_the_end()

    agent = scripted(late.choose)
    run(server(script).url, agent).finish()
    assert agent.chosen == 2, "what was struck before the agent was asked is not thought about"
    assert [line for line in diary.lines if "struck" in line] == ["struck 7 0 1", "struck 7 2 0"]


@pytest.mark.parametrize("recorded", [True, False])
def test_a_strike_and_a_lost_connection(server, run, scripted, diary, recorded):
    """The random action was recorded, or the server went down before: then the ply is asked again."""
    late = Late()
    late.actions = [3, 3, 3]

    def first(talk):
        talk.welcome()
        talk.start()
        talk.ask("", strikes=2)
        assert late.inside.wait(20)
        talk.strike(0)
        wait_for_line(diary, "struck 7 0 1")
        late.release.set()
        talk.hears_nothing(for_s=0.2)
        talk.cut()

    def second(talk):
        talk.welcome(running=(7,))
        moves = "1 1" if recorded else ""
        talk.start(history=tuple(moves.split()))
        talk.ask(moves, strikes=1)
        assert talk.hear_move(ply=len(moves.split())).action == "4"
        talk.end()
        talk.hear_the_end()

    agent = scripted(late.choose)
    assert run(server(first, second).url, agent).finish().faults == []
    assert (agent.started, agent.chosen) == (1, 2)


def test_a_loss_by_time_is_reported_with_the_limit_of_its_request(server, run, scripted, diary):
    def script(talk):
        talk.welcome()
        position = "......./......./......./......./......./....... x"
        players = [protocol.Player(0, "ada", 1), protocol.Player(1, "bob", 1)]
        control = protocol.TimeControl(0, bank_ms=60_000, increment_ms=1_000, ready_ms=10_000)
        talk.say(protocol.MatchStart(7, "connect_four", "blitz", 0, players, control, position, []))
        talk.hear(protocol.Ready)
        talk.ask("", move_ms=2_500, bank_ms=2_500, increment_ms=1_000)
        talk.hear_move(ply=0)
        talk.end(cause="timeout")
        talk.hear_the_end()

    run(server(script).url, scripted(fourth)).finish()

    (report,) = diary.reports
    assert report.got.startswith("no answer within 2500 ms, all that was left, choose took ")
    assert report.move_ms == 2_500


def test_an_agent_sees_the_whole_clock(server, run, scripted):
    clocks = []

    def look(state, clock):
        clocks.append(clock)
        return 3

    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("", 7, 9_000, bank_ms=4_000, increment_ms=500, byoyomi_ms=2_500, periods=2, strikes=1)
        talk.hear_move(ply=0)
        talk.end()
        talk.hear_the_end()

    run(server(script).url, scripted(look)).finish()

    (clock,) = clocks
    assert (clock.move_ms, clock.bank_ms, clock.increment_ms) == (9_000, 4_000, 500)
    assert (clock.byoyomi_ms, clock.periods, clock.strikes) == (2_500, 2, 1)
