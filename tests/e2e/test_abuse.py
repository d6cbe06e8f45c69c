"""What a broken or hostile agent may send over a raw socket: a clear answer, and nobody else is touched."""

import json
from collections.abc import Callable, Iterator

import pytest
from harness import QUIET, RawAgent, Server, SteadyAgent, wait_for
from websockets.exceptions import ConnectionClosed

MakeRaw = Callable[..., RawAgent]
MakeSteady = Callable[..., SteadyAgent]
names = iter(f"bad-{number}" for number in range(1000))


@pytest.fixture(scope="module")
def bystanders(quiet_server: Server) -> Iterator[list[SteadyAgent]]:
    """Two honest agents that play on through all of this; the bad one meets them on tic_tac_toe."""
    pair = [
        SteadyAgent(quiet_server, name, ("connect_four", "tic_tac_toe")) for name in ("honest", "upright")
    ]
    yield pair
    for agent in pair:
        agent.stop()


@pytest.fixture
def bad(quiet_server: Server, raw_agent: MakeRaw, bystanders: list[SteadyAgent]) -> Iterator[RawAgent]:
    """An agent in a match, not yet to move. Afterwards the bystanders must still be playing."""
    yield raw_agent(quiet_server, next(names), ladders=("tic_tac_toe",))
    before = [agent.finished for agent in bystanders]
    wait_for(
        lambda: all(agent.finished > n for agent, n in zip(bystanders, before, strict=True)),
        "the other matches to go on",
    )
    assert all(agent.is_alive() for agent in bystanders)
    assert quiet_server.is_well()


def move_of(request: dict, **fields: object) -> dict:
    return {
        "type": "move",
        "match": request["match"],
        "ply": request["ply"],
        "action": request["legal"][0],
        **fields,
    }


def assert_plays_on(agent: RawAgent, request: dict) -> None:
    """The match was not harmed: the right move still counts."""
    agent.move(request)
    ack = agent.await_message("ack")
    assert (ack["match"], ack["ply"]) == (request["match"], request["ply"])


NOT_USABLE = {
    "malformed JSON": "{" + '"type":"move",',
    "no object": "[1,2,3]",
    "no type": "{}",
    "unknown type": '{"type":"teleport"}',
    "unknown field": '{"type":"ready","match":1,"colour":"red"}',
    "missing field": '{"type":"move","match":1}',
    "number as text": '{"type":"ready","match":"one"}',
    "NaN": '{"type":"move","match":1,"ply":NaN,"action":"1"}',
    "float for a ply": '{"type":"move","match":1,"ply":0.5,"action":"1"}',
    "bool for a match": '{"type":"ready","match":true}',
    "nested too deep": "[" * 20_000,
    "empty": "",
    "a binary frame": b'{"type":"leave"}',
    "second hello": '{"type":"hello","protocol":1,"agent":"x","ladders":["tic_tac_toe"]}',
}


@pytest.mark.parametrize("frame", NOT_USABLE.values(), ids=NOT_USABLE)
def test_an_unusable_message_gets_an_error_and_costs_nothing(bad: RawAgent, frame: str | bytes) -> None:
    request = bad.await_message("your_move")
    bad.send(frame)
    error = bad.await_message("error")
    assert error["code"]
    assert error["message"]
    assert_plays_on(bad, request)


def test_an_unknown_field_is_named(bad: RawAgent) -> None:
    bad.send({"type": "leave", "colour": "red"})
    assert "colour" in bad.await_message("error")["message"]


@pytest.mark.parametrize("action", ["9", "", "0 ", "zero", "00", "-1", "é", "0" * 5000, "\x00"])
def test_an_illegal_action_loses_and_says_so(bad: RawAgent, action: str) -> None:
    request = bad.await_message("your_move")
    bad.send(move_of(request, action=action))
    end = bad.await_message("match_end")
    seat = request["ply"] % 2
    assert end["match"] == request["match"]
    assert end["cause"][seat] == "illegal_action"
    assert end["outcome"][seat] == "loss"
    assert end["outcome"][1 - seat] == "win"
    assert end["detail"]


@pytest.mark.parametrize("action", [None, 0, True, 0.0, ["0"]])
def test_an_action_that_is_no_text_is_an_error_and_no_loss(bad: RawAgent, action: object) -> None:
    request = bad.await_message("your_move")
    bad.send(move_of(request, action=action))
    assert "action" in bad.await_message("error")["message"]
    assert_plays_on(bad, request)


@pytest.mark.parametrize("change", [-1, 1, 2, 1000])
def test_a_wrong_ply_is_rejected_and_no_loss(bad: RawAgent, change: int) -> None:
    request = bad.await_message("your_move")
    bad.send(move_of(request, ply=request["ply"] + change))
    answer = bad.receive()
    assert answer["type"] == "reject", answer
    assert answer["code"]
    assert_plays_on(bad, request)


@pytest.mark.parametrize("number", [0, -1, 10**9])
def test_a_wrong_match_is_an_error_and_no_loss(bad: RawAgent, number: int) -> None:
    request = bad.await_message("your_move")
    bad.send(move_of(request, match=number))
    error = bad.await_message("error")
    assert error["code"] == "wrong_match"
    assert error["expected"]
    assert error["got"] == str(number)
    assert_plays_on(bad, request)


def test_another_agents_match_is_a_wrong_match(bad: RawAgent, quiet_server: Server) -> None:
    request = bad.await_message("your_move")
    others = wait_for(
        lambda: [
            match["id"]
            for match in quiet_server.items("matches?state=running")
            if bad.name not in {player["agent"] for player in match["players"]}
        ],
        "a match of the others",
    )
    bad.send({"type": "resign", "match": others[0]})
    assert bad.await_message("error")["code"] == "wrong_match"
    assert_plays_on(bad, request)


def test_a_repeated_move_is_acknowledged_again_and_changes_nothing(
    bad: RawAgent, quiet_server: Server
) -> None:
    request = bad.await_message("your_move")
    for _ in range(3):
        bad.move(request)
        assert bad.await_message("ack")["ply"] == request["ply"]
    actions = quiet_server.api(f"matches/{request['match']}/record")["actions"]
    assert [action["ply"] for action in actions] == list(range(len(actions)))


def test_two_different_moves_for_a_ply_count_once(bad: RawAgent, quiet_server: Server) -> None:
    request = bad.await_message("your_move")
    first, second = request["legal"][:2]
    bad.send(move_of(request, action=first))
    bad.send(move_of(request, action=second))
    bad.await_message("ack")
    bad.send({"type": "resign", "match": request["match"]})
    bad.await_message("match_end")
    actions = quiet_server.api(f"matches/{request['match']}/record")["actions"]
    assert actions[request["ply"]]["action"] == first


def test_a_move_out_of_turn_is_rejected(bad: RawAgent) -> None:
    request = bad.await_message("your_move")
    bad.move(request)
    bad.await_message("ack")
    bad.send(move_of(request, ply=request["ply"] + 1))
    answer = bad.receive()
    while answer["type"] == "your_move":
        answer = bad.receive()
    assert answer["type"] == "reject", answer


def test_a_late_move_comes_after_the_end(bad: RawAgent) -> None:
    request = bad.await_message("your_move")
    end = bad.await_message("match_end")
    seat = request["ply"] % 2
    assert end["cause"][seat] == "timeout"
    bad.send(move_of(request))
    answer = bad.receive()
    while answer["type"] not in ("reject", "error"):
        answer = bad.receive()
    assert answer["code"]


def test_resigning_loses(bad: RawAgent) -> None:
    request = bad.await_message("your_move")
    bad.send({"type": "resign", "match": request["match"]})
    end = bad.await_message("match_end")
    seat = request["ply"] % 2
    assert end["cause"][seat] == "resignation"
    assert end["outcome"][seat] == "loss"


def test_too_much_info_is_an_error_and_no_loss(bad: RawAgent) -> None:
    request = bad.await_message("your_move")
    bad.send(move_of(request, info={"note": "x" * 5000}))
    assert bad.await_message("error")["code"] == "info_too_big"
    assert_plays_on(bad, request)


def test_an_oversize_frame_closes_the_connection(bad: RawAgent) -> None:
    bad.await_message("your_move")
    bad.send(json.dumps({"type": "leave", "padding": "x" * 200_000}))
    code, _ = bad.await_close()
    assert code == 1009, "message too big"


def test_a_flood_closes_the_connection(bad: RawAgent, quiet_server: Server) -> None:
    before = quiet_server.log().count("\n")
    for _ in range(3000):
        try:
            bad.send('{"type":"teleport"}')
        except ConnectionClosed:
            break
    code, reason = bad.await_close()
    assert (code, reason) == (1008, "flood")
    caused = [
        line for line in quiet_server.log().splitlines()[before:] if bad.name in line or "flood" in line
    ]
    assert len(caused) <= 10, "at most ten lines a minute about one agent"


def test_no_hello_closes_the_connection(quiet_server: Server, raw_agent: MakeRaw) -> None:
    mute = raw_agent(quiet_server, next(names))
    code, reason = mute.await_close()
    assert (code, reason) == (1008, "no_hello")


HELLOS = {
    "protocol": {"protocol": 2, "ladders": ["tic_tac_toe"]},
    "unknown_ladder": {"ladders": ["tiddlywinks"]},
    "bad_hello": {"ladders": ["tic_tac_toe"], "concurrency": 0},
    "bad_token": {"ladders": ["tic_tac_toe"], "agent": "somebody else"},
}


@pytest.mark.parametrize("code", HELLOS)
def test_a_bad_hello_is_refused_with_a_reason(quiet_server: Server, raw_agent: MakeRaw, code: str) -> None:
    stranger = raw_agent(quiet_server, next(names))
    stranger.hello(**HELLOS[code])
    error = stranger.await_message("error")
    assert error["code"] == code
    assert error["expected"]
    assert error["got"]


def test_a_bad_token_is_refused_and_not_repeated(quiet_server: Server, raw_agent: MakeRaw) -> None:
    thief = raw_agent(quiet_server, "honest", token="ply_stolen-token")
    thief.hello(ladders=["tic_tac_toe"])
    assert thief.await_message("error")["code"] == "bad_token"
    assert "stolen-token" not in quiet_server.log()


def test_an_agent_that_loses_its_connection_gets_its_match_back(
    bad: RawAgent, quiet_server: Server, raw_agent: MakeRaw
) -> None:
    request = bad.await_message("your_move")
    bad.close()
    again = raw_agent(quiet_server, bad.name, token=bad.token)
    again.hello(ladders=["tic_tac_toe"])
    assert request["match"] in again.await_message("welcome")["running"]
    start = again.receive()
    assert (start["type"], start["match"]) == ("match_start", request["match"])
    assert len(start["history"]) == request["ply"]
    repeated = again.await_message("your_move")
    assert repeated["ply"] == request["ply"]
    assert_plays_on(again, repeated)


def test_an_agent_that_comes_and_goes_causes_few_log_lines(make_server: Callable[..., Server]) -> None:
    server = make_server(**QUIET).start()
    token = server.register("restless")
    for _ in range(40):
        agent = RawAgent(server, "restless", token=token)
        agent.hello(ladders=["tic_tac_toe"])
        agent.receive()
        agent.close()
    assert 1 <= server.log().count("restless") <= 10


def test_the_data_hold_together_after_all_this(quiet_server: Server) -> None:
    quiet_server.doctor()
