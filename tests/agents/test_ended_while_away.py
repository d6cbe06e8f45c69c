"""Matches that end while the connection is away: how, the server is asked when it is there again."""

import json
import threading
from dataclasses import replace
from http import HTTPStatus

import pytest

from agents import protocol

from .conftest import PATIENCE_S, QUICK, Diary

PATIENT = replace(QUICK, ending_ms=60_000)
"""Nothing is given up before the test is over."""

HASTY = replace(QUICK, ending_ms=300)


def fourth(state, clock):
    return 3


def told(state="finished", outcomes=("loss", "win"), causes=("normal", "normal"), names=("ada", "bob")):
    """What `GET matches/{id}` answers, as far as it matters, and a field of a later version."""
    seats = enumerate(zip(names, outcomes, causes, strict=True))
    players = [
        {"seat": seat, "agent": name, "version": 1, "outcome": outcome, "cause": cause, "elo_before": None}
        for seat, (name, outcome, cause) in seats
    ]
    return {"id": 7, "state": state, "players": players[::-1], "detail": "as it was", "moon": "full"}


def running():
    return told("running", (None, None), (None, None))


class Api:
    """Answers `GET matches/{id}` beside the agents' socket: each answer once, the last one for ever."""

    def __init__(self, **answers):
        self.answers = {number: list(given) for number, given in answers.items()}
        self.asked = threading.Event()
        self.free = threading.Event()
        self.free.set()

    def __call__(self, connection, request):
        if not request.path.startswith("/api/"):
            return None
        self.asked.set()
        assert self.free.wait(PATIENCE_S)
        given = self.answers.get(f"m{request.path.removeprefix('/api/v1/matches/')}", [HTTPStatus.NOT_FOUND])
        answer = given.pop(0) if len(given) > 1 else given[0]
        if isinstance(answer, HTTPStatus):
            return connection.respond(answer, "no\n")
        return connection.respond(HTTPStatus.OK, json.dumps(answer))


class Ends(Diary):
    """Keeps the ends too."""

    def __init__(self):
        super().__init__()
        self.ends = []

    def match_end(self, start, end):
        super().match_end(start, end)
        self.ends.append(end)


@pytest.fixture
def ends():
    return Ends()


def cut_in(*matches):
    """Begin matches, and end the connection."""

    def script(talk):
        talk.welcome()
        for match in matches:
            talk.start(match=match)
        talk.cut()

    return script


def back(talk):
    """None of its matches runs any more."""
    talk.welcome()
    talk.hear_the_end()


@pytest.mark.parametrize(
    ("answer", "outcome", "cause"),
    [
        (told(), ["loss", "win"], ["normal", "normal"]),
        (told(causes=("disconnect", "normal")), ["loss", "win"], ["disconnect", "normal"]),
        (told(outcomes=("draw", "draw"), causes=("rule_draw",) * 2), ["draw"] * 2, ["rule_draw"] * 2),
        (
            told("void", ("void", "void"), ("infrastructure",) * 2),
            ["void", "void"],
            ["infrastructure", "infrastructure"],
        ),
    ],
    ids=["finished", "disconnect", "draw", "void"],
)
def test_an_end_that_was_missed_is_told_and_counted_like_any_other(
    server, run, scripted, ends, answer, outcome, cause
):
    agent = scripted(fourth)
    url = server(cut_in(7), back, process_request=Api(m7=[answer])).url
    played = run(url, agent, observer=ends, timing=PATIENT).finish()
    assert (played.matches, played.faults) == (1, []), "counted, so that the run is over"
    (end,) = ends.ends
    assert (end.match, end.outcome, end.cause) == (7, outcome, cause)
    assert end.scores == [{"win": 1.0, "draw": 0.5, "loss": 0.0, "void": None}[one] for one in outcome]
    assert (end.record, end.detail) == ("/api/v1/matches/7/record", "as it was")
    assert (agent.started, agent.ended) == (1, 1), "the agent hears of it too"
    assert "lost 7" not in ends.lines


def test_matches_lost_on_time_meanwhile_count_as_such(server, run, scripted, ends):
    late = told(causes=("timeout", "normal"))
    api = Api(m7=[late], m8=[late], m9=[late])
    url = server(cut_in(7, 8, 9), back, process_request=api).url
    played = run(url, scripted(fourth), observer=ends, matches=None, timing=PATIENT, concurrency=3).finish()
    assert (played.matches, played.late) == (3, 3), "three in a row end the run"
    assert sorted(line for line in ends.lines if "timed out" in line) == [
        f"timed out {match}" for match in (7, 8, 9)
    ]


def test_a_match_that_goes_on_does_not_wait_for_the_answer(server, run, scripted, ends):
    api = Api(m7=[told()])
    api.free.clear()

    def second(talk):
        talk.welcome(running=(8,))
        assert api.asked.wait(PATIENCE_S)
        talk.start(match=8)
        talk.ask("", match=8)
        assert talk.hear_move(ply=0, match=8).action == "4"
        talk.ack(0, match=8)
        assert ends.ends == [], "there is no answer about the other one yet"
        api.free.set()
        talk.end(match=8)
        talk.hear_the_end()

    url = server(cut_in(7, 8), second, process_request=api).url
    played = run(url, scripted(fourth), observer=ends, matches=2, timing=PATIENT, concurrency=2).finish()
    assert played.matches == 2
    assert sorted(end.match for end in ends.ends) == [7, 8]


def test_an_end_that_the_server_does_not_know_yet_is_asked_for_again(server, run, scripted, ends):
    api = Api(m7=[running(), HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS, told()])
    run(
        server(cut_in(7), back, process_request=api).url, scripted(fourth), observer=ends, timing=PATIENT
    ).finish()
    assert [end.match for end in ends.ends] == [7]


def lost_and_one_more(talk):
    """Wait until the other match is given up, then play one."""
    talk.welcome()
    talk.start(match=8)
    talk.end(match=8)
    talk.hear_the_end()


@pytest.mark.parametrize(
    "answer",
    [
        HTTPStatus.NOT_FOUND,
        {"what": "another program"},
        told(names=("ada", "eve")),
        told(outcomes=("loss", None)),
        told(causes=("sunset", "normal")),
    ],
    ids=["unknown", "no match", "another match", "no outcome", "a cause of a later server"],
)
def test_what_cannot_be_told_is_said_to_have_ended_unseen(server, run, scripted, ends, answer):
    url = server(cut_in(7), lost_and_one_more, process_request=Api(m7=[answer])).url
    played = run(url, scripted(fourth), observer=ends, timing=PATIENT).finish()
    assert played.matches == 1
    assert ends.lines.count("lost 7") == 1
    assert [end.match for end in ends.ends] == [8]


@pytest.mark.parametrize("answers", [True, False])
def test_a_server_that_does_not_tell_is_not_asked_for_ever(server, run, scripted, ends, answers):
    api = Api(m7=[running()])
    if not answers:
        api.free.clear()
    url = server(cut_in(7), lost_and_one_more, process_request=api).url
    played = run(url, scripted(fourth), observer=ends, timing=HASTY).finish()
    api.free.set()
    assert played.matches == 1
    assert ends.lines.count("lost 7") == 1


def test_of_several_matches_each_is_told_what_can_be_told(server, run, scripted, ends):
    api = Api(m7=[told()], m9=[told(outcomes=("win", "loss"))])
    url = server(cut_in(7, 8, 9), back, process_request=api).url
    played = run(url, scripted(fourth), observer=ends, matches=2, timing=PATIENT, concurrency=3).finish()
    assert played.matches == 2
    assert {end.match: end.outcome[0] for end in ends.ends} == {7: "loss", 9: "win"}
    assert ends.lines.count("lost 8") == 1


def test_a_match_whose_end_comes_by_itself_is_told_once(server, run, scripted, ends):
    api = Api(m7=[told()])
    api.free.clear()

    def second(talk):
        talk.welcome()
        assert api.asked.wait(PATIENCE_S)
        talk.end(match=7)
        talk.start(match=8)
        assert [end.match for end in ends.ends] == [7], "told at once"
        api.free.set()
        talk.end(match=8)
        talk.hear_the_end()

    url = server(cut_in(7), second, process_request=api).url
    played = run(url, scripted(fourth), observer=ends, matches=2, timing=PATIENT).finish()
    assert played.matches == 2
    assert sorted(end.match for end in ends.ends) == [7, 8]


def test_a_match_that_the_server_begins_anew_is_played(server, run, scripted, ends):
    api = Api(m7=[running()])

    def second(talk):
        talk.welcome()
        assert api.asked.wait(PATIENCE_S)
        talk.start(match=7)
        talk.ask("")
        assert talk.hear_move(ply=0).action == "4"
        talk.end(match=7)
        talk.hear_the_end()

    url = server(cut_in(7), second, process_request=api).url
    agent = scripted(fourth)
    assert run(url, agent, observer=ends, timing=PATIENT).finish().matches == 1
    assert ends.lines[-3:] == ["lost 7", "start 7", "end 7"]


def test_an_agent_that_still_thinks_says_no_more_about_a_match_that_is_over(server, run, scripted, ends):
    api = Api(m7=[told()])
    api.free.clear()
    thinking, release = threading.Event(), threading.Event()

    def think(state, clock):
        thinking.set()
        assert release.wait(PATIENCE_S)
        return 3

    def first(talk):
        talk.welcome()
        talk.start()
        talk.ask("")
        assert thinking.wait(PATIENCE_S)
        talk.cut()

    def second(talk):
        talk.welcome()
        assert api.asked.wait(PATIENCE_S)
        release.set()
        talk.hears_nothing(for_s=0.5)
        api.free.set()
        talk.hears_no_more_than(protocol.Leave)

    url = server(first, second, process_request=api).url
    assert run(url, scripted(think), observer=ends, timing=PATIENT).finish().matches == 1
    assert ends.moves == []


def test_a_match_cut_off_before_the_agent_was_ready_is_told(server, run, scripted, ends):
    begun, release = threading.Event(), threading.Event()
    api = Api(m7=[told("void", ("void", "void"), ("no_show", "normal"))])
    api.free.clear()

    def slow_start(start):
        begun.set()
        assert release.wait(PATIENCE_S)
        return scripted(fourth)

    def first(talk):
        talk.welcome()
        talk.announce()
        assert begun.wait(PATIENCE_S)
        talk.cut()

    def second(talk):
        talk.welcome()
        assert api.asked.wait(PATIENCE_S)
        release.set()
        talk.hears_nothing(for_s=0.5)  # it is ready for a match that is over
        api.free.set()
        talk.hears_no_more_than(protocol.Leave)

    url = server(first, second, process_request=api).url
    played = run(url, scripted(fourth), observer=ends, make_agent=slow_start, timing=PATIENT).finish()
    assert (played.matches, played.faults) == (1, [])
    assert ends.ends[0].cause == ["no_show", "normal"]


def test_to_stop_waits_for_no_answer(server, run, scripted, ends):
    api = Api(m7=[running()])
    going = run(
        server(cut_in(7), back, process_request=api).url, scripted(fourth), observer=ends, timing=PATIENT
    )
    assert api.asked.wait(PATIENCE_S)
    going.client.stop()
    assert going.finish().matches == 0
    assert ends.lines.count("lost 7") == 1
