"""Messages of a server that make no sense: each is told once, and costs nothing else."""

import msgspec
import pytest

from agents import protocol


def fourth(state, clock):
    return 3


def announce(talk, **changed):
    """Begin match 6, with some fields that are not as they should be."""
    start = protocol.MatchStart(
        match=6,
        game="connect_four",
        ladder="connect_four",
        seat=0,
        players=[protocol.Player(0, "ada", 1), protocol.Player(1, "bob", 1)],
        time_control=protocol.TimeControl(5_000, margin_ms=200, ready_ms=10_000),
        position="",
        history=[],
    )
    talk.say(msgspec.structs.replace(start, **changed))


def play_one(talk):
    """Play match 7, as if nothing had been."""
    talk.start()
    talk.ask("")
    assert talk.hear_move(ply=0).action == "4"
    talk.end()
    talk.hear_the_end()


@pytest.mark.parametrize(
    "changed",
    [
        {"seat": 7},
        {"seat": -1},
        {"players": []},
        {"players": [protocol.Player(0, "ada", 1), protocol.Player(0, "bob", 1)]},
        {"players": [protocol.Player(0, "ada", 1), protocol.Player(2, "bob", 1)]},
    ],
)
def test_a_match_without_a_seat_for_us_is_not_begun(server, run, scripted, diary, changed):
    def script(talk):
        talk.welcome()
        announce(talk, **changed)
        play_one(talk)

    played = run(server(script).url, scripted(fourth)).finish()
    assert (played.matches, played.faults) == (1, [])
    assert [line for line in diary.lines if line.startswith("start")] == ["start 7"]
    (error,) = diary.errors
    assert error.code == "bad_message"
    assert error.message.startswith("a match_start that makes no sense: match 6, seat ")


@pytest.mark.parametrize("length", [0, 1, 3])
@pytest.mark.parametrize("field", ["outcome", "cause", "scores"])
def test_an_end_that_is_not_of_all_seats_ends_the_match_untold(server, run, scripted, diary, field, length):
    right = {"outcome": ["loss", "win"], "cause": ["timeout", "normal"], "scores": [0.0, 1.0]}

    def script(talk):
        talk.welcome()
        talk.start(match=6)
        lists = right | {field: (right[field] * 2)[:length]}
        talk.say(protocol.MatchEnd(match=6, record="/api/v1/matches/6/record", **lists))
        play_one(talk)

    played = run(server(script).url, scripted(fourth)).finish()
    assert (played.matches, played.late, played.faults) == (1, 0, [])
    assert diary.lines.count("lost 6") == 1
    (error,) = diary.errors
    assert error.code == "bad_message"
    assert error.message.startswith("a match_end that makes no sense: match 6 has 2 seats, ")


def test_a_message_nested_too_deep_is_one_that_cannot_be_read(server, run, scripted, diary):
    def script(talk):
        talk.welcome()
        talk.say_raw('{"type": "ack", "match": 6, "ply": 0, "more": ' + "[" * 200_000)
        play_one(talk)

    assert run(server(script).url, scripted(fourth)).finish().matches == 1
    (error,) = diary.errors
    assert error.code == "unknown_message"
