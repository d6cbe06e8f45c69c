"""The client against a server that follows a script, over a real socket."""

import threading
import time

import pytest

from agents import protocol
from agents.agent import Resigned
from agents.client import Timing
from agents.refusal import COME_AGAIN
from games import InputError


def fourth(state, clock):
    """Play the fourth column, whose number as an action is 3."""
    return 3


def crash(state, clock):
    return 1 // 0


def test_a_match_is_played_and_the_run_ends(server, run, scripted, diary):
    agent = scripted(fourth)

    def script(talk):
        hello = talk.welcome()
        assert (hello.protocol, hello.agent, hello.ladders) == (1, "ada", ["connect_four"])
        assert (hello.concurrency, hello.fingerprint) == (1, "f00")
        assert talk.authorization == "Bearer ply_secret"
        assert hello.token is None, "the token goes into the header alone"
        talk.start(match=7)
        talk.ask("")
        assert talk.hear_move(ply=0).action == "4"
        talk.ack(0)
        talk.ask("4 1")
        assert talk.hear_move(ply=2).action == "4"
        talk.ack(2)
        talk.end()
        talk.hear(protocol.Leave)
        talk.hear_the_end()

    played = run(server(script).url, agent).finish()

    assert (played.matches, played.faults) == (1, [])
    assert (agent.started, agent.chosen, agent.ended) == (1, 2, 1)
    assert diary.lines == ["connected", "start 7", "end 7"]
    assert diary.moves == ["4", "4"]


def test_a_move_without_acknowledgement_is_sent_again_and_not_thought_about_again(server, run, scripted):
    agent = scripted(fourth)

    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        first = talk.hear_move(ply=0)
        assert talk.hear_move(ply=0) == first
        assert talk.hear_move(ply=0) == first
        talk.ack(0)
        talk.hears_nothing(for_s=0.4)
        talk.end()
        talk.hear_the_end()

    run(server(script).url, agent).finish()

    assert agent.chosen == 1


def test_a_move_rejected_for_good_is_not_repeated(server, run, scripted):
    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        talk.hear_move(ply=0)
        talk.say(protocol.Reject(7, 0, "wrong_ply", "expected ply 2"))
        talk.hears_nothing(for_s=0.4)
        talk.ask("")  # the same request again wants the same answer again
        assert talk.hear_move(ply=0).action == "4"
        talk.end()
        talk.hear_the_end()

    agent = scripted(fourth)
    run(server(script).url, agent).finish()
    assert agent.chosen == 1


def test_a_stale_request_is_ignored(server, run, scripted):
    agent = scripted(fourth)

    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        talk.hear_move(ply=0)
        talk.ack(0)
        talk.ask("")  # acknowledged already
        talk.ask("4 1")
        talk.hear_move(ply=2)
        talk.ask("")  # older than the one that was just answered
        talk.ack(2)
        talk.hears_nothing(for_s=0.3)
        talk.end()
        talk.hear_the_end()

    run(server(script).url, agent).finish()

    assert agent.chosen == 2


def test_fields_and_messages_of_a_later_protocol_are_tolerated(server, run, scripted, diary):
    def script(talk):
        talk.welcome()
        talk.say_raw('{"type":"good_news","text":"a message of protocol 2"}')
        talk.say_raw(
            '{"type":"match_start","match":7,"game":"connect_four","ladder":"four","seat":0,'
            '"players":[{"seat":0,"agent":"ada","version":1,"hat":"red"},{"seat":1,"agent":"bob","version":1}],'
            '"time_control":{"move_ms":0,"bank_ms":9000,"moon_ms":3},"position":"","history":[],"tide":"high"}'
        )
        talk.hear(protocol.Ready)
        position = "......./......./......./......./......./....... x"
        talk.say_raw(
            '{"type":"your_move","match":7,"ply":0,"position":"' + position + '","last_actions":[],"legal":'
            '["1","2","3","4","5","6","7"],"clock":{"move_ms":5000,"mood":"calm"},"weather":"fair"}'
        )
        assert talk.hear_move(ply=0).action == "4"
        talk.end()
        talk.hear_the_end()

    run(server(script).url, scripted(fourth)).finish()

    assert [error.code for error in diary.errors] == ["unknown_message"]


def test_a_bad_token_is_one_sentence_and_no_second_try(server, run, scripted):
    def script(talk):
        talk.hear(protocol.Hello)
        talk.say(protocol.Error("bad_token", "expected a token of this server, got another in hello"))
        talk.socket.close(code=1008, reason="bad_token")

    with pytest.raises(InputError) as refused:
        run(server(script).url, scripted(fourth)).finish()

    assert refused.value.code == "bad_token"
    assert str(refused.value) == "expected a token of this server, got another in hello"


def test_an_agent_that_connects_elsewhere_ends_this_connection_for_good(server, run, scripted, diary):
    def script(talk):
        talk.welcome()
        talk.say(protocol.Error("replaced", "this agent connected once more"))
        talk.socket.close(code=1008, reason="replaced")

    with pytest.raises(InputError) as refused:
        run(server(script).url, scripted(fourth)).finish()

    assert (refused.value.code, str(refused.value)) == ("replaced", "this agent connected once more")
    assert diary.errors == [], "it is told once, by the end of the run"


def test_an_error_that_ends_nothing_is_told_at_once(server, run, scripted, diary):
    def script(talk):
        talk.welcome()
        talk.start()
        talk.say(protocol.Error("wrong_match", "expected a match of this agent, got 3"))
        talk.ask("")
        talk.hear_move(ply=0)
        assert [error.code for error in diary.errors] == ["wrong_match"]
        talk.end()
        talk.hear_the_end()

    run(server(script).url, scripted(fourth)).finish()


def test_an_error_before_a_lost_connection_is_told(server, run, scripted, diary):
    def first(talk):
        talk.welcome()
        talk.say(protocol.Error("wrong_match", "expected a match of this agent, got 3"))
        talk.socket.close(code=1001)

    def second(talk):
        talk.welcome()
        talk.start()
        talk.end()
        talk.hear_the_end()

    run(server(first, second).url, scripted(fourth)).finish()

    assert [error.code for error in diary.errors] == ["wrong_match"]


def test_a_dropped_connection_is_made_again_and_the_match_goes_on(server, run, scripted, diary):
    agent = scripted(fourth)

    def first(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        talk.hear_move(ply=0)
        talk.ack(0)
        talk.cut()

    def second(talk):
        hello = talk.welcome(running=(7,))
        assert (hello.agent, hello.fingerprint, hello.ladders) == ("ada", "f00", ["connect_four"])
        talk.start(history=("4", "1"))
        talk.ask("4 1")
        talk.hear_move(ply=2)
        talk.ack(2)
        talk.end()
        talk.hear_the_end()

    played = run(server(first, second).url, agent).finish()

    assert played.matches == 1
    assert (agent.started, agent.chosen, agent.ended) == (1, 2, 1)
    assert diary.lines == ["connected", "start 7", "reconnecting", "connected", "end 7"]


@pytest.mark.parametrize("code", sorted(COME_AGAIN))
def test_a_new_process_told_to_come_later_comes_later(server, run, scripted, code):
    def first(talk):
        talk.hear(protocol.Hello)
        talk.say(protocol.Error(code, "expected a little patience"))
        talk.socket.close(code=1013, reason=code)

    def second(talk):
        talk.welcome()
        talk.start()
        talk.end()
        talk.hear_the_end()

    assert run(server(first, second).url, scripted(fourth)).finish().matches == 1


def test_an_agent_told_to_come_later_comes_later(server, run, scripted, diary):
    def first(talk):
        talk.welcome()
        talk.cut()

    def second(talk):
        talk.hear(protocol.Hello)
        talk.say(protocol.Error("too_many_requests", "expected at most 30 in 60 s, got one more"))
        talk.socket.close(code=1013, reason="too_many_requests")

    def third(talk):
        talk.welcome()
        talk.start()
        talk.end()
        talk.hear_the_end()

    run(server(first, second, third).url, scripted(fourth)).finish()

    assert diary.lines == [
        "connected", "reconnecting", "reconnecting", "connected", "start 7", "end 7"
    ]  # fmt: skip


def test_an_answer_lost_with_the_connection_is_sent_when_asked_again(server, run, scripted):
    agent = scripted(fourth)

    def first(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        talk.cut()

    def second(talk):
        talk.welcome(running=(7,))
        talk.start()
        talk.ask("")
        assert talk.hear_move(ply=0).action == "4"
        talk.ack(0)
        talk.end()
        talk.hear_the_end()

    run(server(first, second).url, agent).finish()

    assert agent.chosen == 1


def test_a_match_that_ended_while_away_is_forgotten(server, run, scripted, diary):
    def first(talk):
        talk.welcome()
        talk.start(match=7)
        talk.cut()

    def second(talk):
        talk.welcome(running=())
        talk.start(match=8)
        talk.end(match=8)
        talk.hear_the_end()

    run(server(first, second).url, scripted(fourth)).finish()

    assert [line for line in diary.lines if "7" not in line][-3:] == ["connected", "start 8", "end 8"]
    assert diary.lines.count("lost 7") == 1


def test_the_client_keeps_trying_while_the_server_is_away(server, run, scripted, diary):
    def away(talk):
        talk.cut()

    def back(talk):
        talk.welcome()
        talk.start()
        talk.end()
        talk.hear_the_end()

    def first(talk):
        talk.welcome()
        talk.cut()

    run(server(first, away, away, away, back).url, scripted(fourth)).finish()

    assert diary.lines.count("reconnecting") == 4


def test_no_server_at_the_start_is_one_sentence(run, scripted, server):
    gone = server()
    url = gone.url
    gone.close()

    with pytest.raises(InputError) as dead:
        run(url, scripted(fourth)).finish()

    assert dead.value.code == "no_server"
    assert str(dead.value).startswith(f"expected a Plyground server at {url}, got ")


def test_a_crash_is_reported_and_the_match_given_up(server, run, scripted):
    agent = scripted(crash)

    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("4 1")
        assert talk.hear(protocol.Resign) == protocol.Resign(7, "crash")
        talk.hear(protocol.Leave)
        talk.end(cause="resignation")
        talk.hear_the_end()

    (fault,) = run(server(script).url, agent, name="my_agent.py", matches=None).finish().faults

    text = fault.text()
    assert (fault.match, fault.ply, fault.legal) == (7, 2, ("1", "2", "3", "4", "5", "6", "7"))
    assert "ZeroDivisionError" in fault.got
    assert "1 // 0" in text
    assert "ply 2" in text


def test_a_report_says_how_to_repeat_the_fault(server, run, scripted):
    calls = iter([3, 3, None])

    def script(talk):
        talk.welcome()
        talk.start()
        for moves in ("", "4 1", "4 1 4 1"):
            talk.ask(moves)
            move = talk.hear_move(ply=len(moves.split()))
            if moves != "4 1 4 1":
                talk.ack(move.ply)
        assert move.action == "None"
        talk.end(cause="illegal_action")
        talk.hear_the_end()

    agent = scripted(lambda state, clock: next(calls))
    (fault,) = run(server(script).url, agent, name="my_agent.py", matches=None).finish().faults

    assert fault.command() == 'plyground play my_agent.py random --game connect_four --moves "4 1 4 1"'
    assert fault.traceback == ""
    assert "None is a NoneType" in fault.text()


def test_an_illegal_action_is_sent_as_it_is_and_reported(server, run, scripted):
    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        assert talk.hear_move(ply=0).action == "9"
        talk.end(cause="illegal_action")
        talk.hear_the_end()

    (fault,) = run(server(script).url, scripted(lambda s, c: "9"), matches=None).finish().faults

    assert "'9'" in fault.got


def test_an_agent_may_resign_without_a_fault(server, run, scripted):
    def resign(state, clock):
        raise Resigned

    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        assert talk.hear(protocol.Resign).reason is None
        talk.end(cause="resignation")
        talk.hear_the_end()

    assert run(server(script).url, scripted(resign)).finish().faults == []


def test_a_fault_at_the_start_of_a_match_is_reported(server, run, scripted):
    def fail(start):
        raise RuntimeError("no opening book")

    def script(talk):
        talk.welcome()
        talk.announce()
        talk.hear(protocol.Resign)
        talk.end(cause="resignation")
        talk.hear_the_end()

    (fault,) = run(server(script).url, scripted(fourth), make_agent=fail, matches=None).finish().faults

    assert fault.got == "RuntimeError: no opening book"


def test_a_game_unknown_to_this_client_is_given_up(server, run, scripted):
    def script(talk):
        talk.welcome()
        players = [protocol.Player(0, "ada", 1), protocol.Player(1, "bob", 1)]
        control = protocol.TimeControl(5_000)
        start = protocol.MatchStart(7, "backgammon9", "b", 0, players, control, "position", [])
        talk.say(start)
        talk.hear(protocol.Resign)
        talk.end(cause="resignation")
        talk.hear_the_end()

    (fault,) = run(server(script).url, scripted(fourth), matches=None).finish().faults

    assert "backgammon9" in fault.got


def test_a_position_this_client_cannot_read_is_given_up(server, run, scripted):
    def script(talk):
        talk.welcome()
        talk.start()
        position = "a position of tomorrow"
        talk.say(protocol.YourMove(7, 0, position, [], ["4"], protocol.ClockView(5_000)))
        talk.hear(protocol.Resign)
        talk.end(cause="resignation")
        talk.hear_the_end()

    (fault,) = run(server(script).url, scripted(fourth), matches=None).finish().faults

    assert fault.position == "a position of tomorrow"


def test_a_house_agent_goes_on_after_a_fault(server, run, scripted):
    ways = iter([crash, fourth])

    def first_crash(state, clock):
        return next(ways)(state, clock)

    def script(talk):
        talk.welcome()
        talk.start(match=7)
        talk.ask("", match=7)
        talk.hear(protocol.Resign)
        talk.end(match=7, cause="resignation")
        talk.start(match=8)
        talk.ask("", match=8)
        assert talk.hear_move(ply=0, match=8).action == "4"
        talk.end(match=8)
        talk.hear_the_end()

    agent = scripted(first_crash)
    played = run(server(script).url, agent, stop_on_fault=False, matches=2).finish()

    assert (played.matches, len(played.faults)) == (2, 1)


def test_code_that_does_not_come_back_is_reported_with_the_place_where_it_is(server, run, scripted):
    release, inside = threading.Event(), threading.Event()

    def endless(state, clock):
        inside.set()
        release.wait()
        return 3

    def script(talk):
        talk.welcome()
        talk.announce(move_ms=200)
        talk.hear(protocol.Ready)
        talk.ask("", move_ms=200)
        assert inside.wait(20)
        talk.end(cause="timeout")
        talk.hear(protocol.Leave)
        talk.hear_the_end()

    started = run(server(script).url, scripted(endless), matches=None)
    try:
        (fault,) = started.finish().faults
    finally:
        release.set()

    assert "no answer" in fault.got
    assert "release.wait()" in fault.traceback


def test_thinking_for_seconds_does_not_lose_the_connection(server, run, scripted):
    def busy(state, clock):
        end = time.monotonic() + 3
        while time.monotonic() < end:
            pass
        return 3

    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        assert talk.hear_move(ply=0).action == "4"
        talk.ack(0)
        talk.end()
        talk.hear_the_end()

    agent = scripted(busy)
    played = run(server(script, ping_interval=0.3, ping_timeout=2).url, agent).finish()

    assert (played.matches, agent.chosen) == (1, 1)


def test_matches_are_played_side_by_side(server, run, scripted):
    both = threading.Barrier(2)

    def together(state, clock):
        both.wait(20)
        return 3

    def script(talk):
        assert talk.welcome().concurrency == 2
        talk.start(match=7)
        talk.start(match=8)
        talk.ask("", match=7)
        talk.ask("", match=8)
        assert {talk.hear(protocol.Move).match, talk.hear(protocol.Move).match} == {7, 8}
        talk.end(match=7)
        talk.end(match=8)
        talk.hear_the_end()

    def make(start):
        return scripted(together)

    run(server(script).url, scripted(fourth), make_agent=make, concurrency=2, matches=2).finish()


def test_clients_that_share_a_permit_think_one_at_a_time(server, run, scripted):
    thinking = threading.Semaphore(1)
    inside = []

    def alone(state, clock):
        inside.append(1)
        assert len(inside) == 1
        time.sleep(0.05)
        inside.pop()
        return 3

    def script(talk):
        talk.welcome()
        for match in (7, 8, 9):
            talk.start(match=match)
        for match in (7, 8, 9):
            talk.ask("", match=match)
        for _ in range(3):
            talk.hear(protocol.Move)
        for match in (7, 8, 9):
            talk.end(match=match)
        talk.hear_the_end()

    played = run(server(script).url, scripted(alone), thinking=thinking, concurrency=3, matches=3).finish()

    assert played.faults == []


def test_the_clock_runs_from_the_arrival_of_the_request(server, run, scripted):
    seen = []

    def look(state, clock):
        seen.append((clock.move_ms, clock.left_ms()))
        return 3

    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("", move_ms=5_000)
        talk.hear_move(ply=0)
        talk.end()
        talk.hear_the_end()

    run(server(script).url, scripted(look)).finish()

    ((move_ms, left_ms),) = seen
    assert move_ms == 5_000
    assert 0 < left_ms <= 5_000


def test_leave_finishes_the_running_match(server, run, scripted):
    leaving = threading.Event()

    def script(talk):
        talk.welcome()
        talk.start()
        leaving.set()
        talk.hear(protocol.Leave)
        talk.ask("")
        talk.hear_move(ply=0)
        talk.end()
        talk.hear_the_end()

    started = run(server(script).url, scripted(fourth), matches=None)
    assert leaving.wait(20)
    started.client.leave()

    assert started.finish().matches == 1


def test_a_huge_info_never_costs_the_move(server, run, scripted):
    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        move = talk.hear_move(ply=0)
        assert (move.action, move.info) == ("4", None)
        talk.end()
        talk.hear_the_end()

    agent = scripted(fourth)
    agent.info = {"thoughts": "x" * 10_000}
    run(server(script).url, agent).finish()


# what must never make both sides wait -----------------------------------------------------------------


def test_a_move_that_came_too_early_for_the_server_is_sent_again(server, run, scripted):
    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        for _ in range(3):
            talk.hear_move(ply=0)
            talk.say(protocol.Reject(7, 0, "not_asked", "expected no move before your_move"))
        talk.hear_move(ply=0)
        talk.ack(0)
        talk.hears_nothing(for_s=0.4)
        talk.end()
        talk.hear_the_end()

    agent = scripted(fourth)
    run(server(script).url, agent).finish()
    assert agent.chosen == 1


def test_a_request_that_comes_before_its_match_is_answered(server, run, scripted):
    """An agent started again meets a match in mid-game: its request may overtake the announcement."""

    def script(talk):
        talk.welcome(running=(7,))
        talk.ask("4 1")
        talk.start(history=("4", "1"))
        talk.hear_move(ply=2)
        talk.ack(2)
        talk.end()
        talk.hear_the_end()

    run(server(script).url, scripted(fourth)).finish()


def test_a_request_that_comes_before_the_welcome_is_answered(server, run, scripted):
    def script(talk):
        hello = talk.hear(protocol.Hello)
        talk.announce(history=("4", "1"))
        talk.ask("4 1")
        talk.let_in(hello, running=(7,))
        talk.hear(protocol.Ready)
        talk.hear_move(ply=2)
        talk.ack(2)
        talk.end()
        talk.hear_the_end()

    run(server(script).url, scripted(fourth)).finish()


def test_a_match_that_a_server_begins_anew_is_played_anew(server, run, scripted, diary):
    def first(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        talk.hear_move(ply=0)
        talk.ack(0)
        talk.cut()

    def second(talk):
        talk.welcome(running=(7,))
        talk.start(history=())
        talk.ask("")
        talk.hear_move(ply=0)
        talk.end()
        talk.hear_the_end()

    agent = scripted(fourth)
    run(server(first, second).url, agent).finish()

    assert agent.chosen == 2
    assert diary.lines[-3:] == ["lost 7", "start 7", "end 7"]


@pytest.mark.parametrize("cut_before", ["answer", "ack", "next request"])
@pytest.mark.parametrize("seen", [False, True])
def test_an_instant_agent_plays_on_over_a_cut_at_any_moment(server, run, scripted, cut_before, seen):
    """Whatever of a move was lost with the connection, both sides agree afterwards on whose turn it is."""
    recorded = cut_before != "answer"

    def first(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        if cut_before == "answer" and not seen:
            talk.cut()
            return
        talk.hear_move(ply=0)
        if cut_before == "next request":
            talk.ack(0)
        talk.cut()

    def second(talk):
        talk.welcome(running=(7,))
        if not recorded:
            talk.start(history=())
            talk.ask("")
            talk.hear_move(ply=0)
            talk.ack(0)
            talk.ask("4 1")
        else:
            talk.start(history=("4", "1"))
            talk.ask("4 1")
            talk.ask("4 1")
        talk.hear_move(ply=2)
        talk.ack(2)
        talk.end()
        talk.hear_the_end()

    run(server(first, second).url, scripted(fourth)).finish()


# leaving ----------------------------------------------------------------------------------------------


def test_a_match_that_comes_after_leave_is_not_begun(server, run, scripted, diary):
    told = threading.Event()

    def script(talk):
        talk.welcome()
        talk.start(match=7)
        told.set()
        talk.hear(protocol.Leave)
        talk.announce(match=8)
        talk.ask("", match=7)
        talk.hear_move(ply=0, match=7)
        talk.end(match=7)
        talk.hears_no_more_than()

    started = run(server(script).url, scripted(fourth), matches=None, concurrency=2)
    assert told.wait(20)
    started.client.leave()
    assert started.finish().matches == 1
    assert diary.lines == ["connected", "start 7", "end 7"]


def test_leaving_between_matches_is_said_before_the_connection_ends(server, run, scripted, diary):
    idle = threading.Event()

    def script(talk):
        talk.welcome()
        idle.set()
        talk.hear(protocol.Leave)
        talk.hears_no_more_than()

    started = run(server(script).url, scripted(fourth), matches=None)
    assert idle.wait(20)
    started.client.leave()
    assert started.finish().matches == 0


# time -------------------------------------------------------------------------------------------------


def one_match(talk):
    """A match of one move, and nothing after it."""
    talk.welcome()
    talk.start()
    talk.ask("")
    talk.hear_move(ply=0)
    talk.ack(0)
    talk.end()
    talk.hears_no_more_than(protocol.Leave)


def test_the_agent_hears_how_its_last_match_ended(server, run, scripted):
    class Thorough(scripted):
        def match_end(self, end):
            time.sleep(0.3)
            super().match_end(end)

    agent = Thorough(fourth)
    assert run(server(one_match).url, agent).finish().faults == []
    assert agent.ended == 1


def test_a_crash_in_match_end_is_reported_and_resigns_nothing(server, run, scripted):
    class Careless(scripted):
        def match_end(self, end):
            if end.match == 7:
                crash(None, None)

    def script(talk):
        talk.welcome()
        talk.start(match=7)
        talk.start(match=8)
        talk.end(match=7)
        talk.hear(protocol.Leave)
        talk.ask("", match=8)
        talk.hear_move(ply=0, match=8)
        talk.end(match=8)
        talk.hears_no_more_than()

    (report,) = run(server(script).url, Careless(fourth), matches=None, concurrency=2).finish().faults
    assert report.got == "match_end raised ZeroDivisionError: integer division or modulo by zero"
    assert "crash(None, None)" in report.traceback


def test_a_match_end_that_does_not_come_back_is_reported_and_waited_for_no_longer(server, run, scripted):
    released = threading.Event()

    class Endless(scripted):
        def match_end(self, end):
            released.wait(60)

    (report,) = run(server(one_match).url, Endless(fourth)).finish().faults
    assert report.got.startswith("match_end had not returned after ")
    assert "released.wait" in report.traceback
    released.set()


def test_stop_waits_for_nothing(server, run, scripted):
    inside, released = threading.Event(), threading.Event()

    class Endless(scripted):
        def match_end(self, end):
            inside.set()
            released.wait(60)

    going = run(server(one_match).url, Endless(fourth), timing=Timing(linger_ms=50_000))
    assert inside.wait(20)
    going.client.stop()
    assert going.finish().faults == []
    assert not released.is_set()
    released.set()


class Slow:
    """Chooses until the match is over, and a little longer; the script waits until it is at it."""

    def __init__(self, diary):
        self.diary = diary
        self.inside = threading.Event()

    def choose(self, state, clock):
        ends = sum(line.startswith("end") for line in self.diary.lines)
        self.inside.set()
        while sum(line.startswith("end") for line in self.diary.lines) == ends:
            time.sleep(0.01)
        return 3

    def late_match(self, talk, match):
        """Play a match that is lost on time."""
        self.inside.clear()
        talk.announce(match=match, history=("4", "1"), move_ms=5_000)
        talk.hear(protocol.Ready)
        talk.ask("4 1", match=match)
        assert self.inside.wait(20)
        talk.end(match=match, cause="timeout")


def test_a_match_lost_on_time_is_reported_with_the_time_it_took(server, run, scripted, diary):
    slow = Slow(diary)
    ways = iter([slow.choose, fourth])

    def script(talk):
        talk.welcome()
        slow.late_match(talk, 7)
        talk.start(match=8)
        talk.ask("", match=8)
        talk.hear_move(ply=0, match=8)
        talk.end(match=8)
        talk.hear_the_end()

    def first_slow(state, clock):
        return next(ways)(state, clock)

    agent = scripted(first_slow)
    played = run(server(script).url, agent, name="my_agent.py", matches=2).finish()

    assert (played.faults, played.late) == ([], 0)
    (report,) = diary.reports
    assert (report.match, report.ply, report.moves) == (7, 2, ("4", "1"))
    assert report.actions == tuple(range(7))
    assert report.got.startswith("no answer within 5000 ms, choose ")
    assert report.command() == (
        'plyground play my_agent.py random --game connect_four --moves "4 1" --move-ms 5000'
    )


def test_three_matches_in_a_row_lost_on_time_end_the_run(server, run, scripted, diary):
    slow = Slow(diary)

    def script(talk):
        talk.welcome()
        for match in (7, 8, 9):
            slow.late_match(talk, match)
        talk.hear(protocol.Leave)
        talk.hear_the_end()

    played = run(server(script).url, scripted(slow.choose), matches=None).finish()

    assert (played.matches, played.late) == (3, 3)
    assert sorted(line for line in diary.lines if "timed out" in line) == [
        f"timed out {match}" for match in (7, 8, 9)
    ]


def test_a_request_that_never_came_is_reported_as_such(server, run, scripted, diary):
    def script(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        talk.hear_move(ply=0)
        talk.ack(0)
        talk.end(cause="timeout")
        talk.hear_the_end()

    run(server(script).url, scripted(fourth)).finish()

    (report,) = diary.reports
    assert report.got == "no answer within 5000 ms: the request did not come through"


def test_an_agent_that_is_leaving_says_so_at_once_when_it_comes_back(server, run, scripted):
    begun, cut = threading.Event(), threading.Event()

    def first(talk):
        talk.welcome()
        talk.start()
        begun.set()
        cut.wait(20)
        talk.cut()

    def second(talk):
        hello = talk.hear(protocol.Hello)
        talk.hear(protocol.Leave)  # before it is welcome: no match can be begun for it in between
        talk.let_in(hello, running=(7,))
        talk.start()
        talk.end()
        talk.hears_no_more_than()  # and says so once

    going = run(server(first, second).url, scripted(fourth))
    assert begun.wait(20)
    going.client.leave()
    cut.set()
    assert going.finish().matches == 1
