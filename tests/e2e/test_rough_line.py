"""Agents at the far end of a line that is slow or breaks: what they are told, and what they are charged."""

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from duel import Duel, FarAgent, await_end, play_on
from harness import PATIENCE_S, QUIET, RawAgent, Server, SteadyAgent
from rough_line import LineInThread, Weather

MakeServer = Callable[..., Server]
MOVE_MS = 5_000
AWAY_S = 1.0
GAP_MS = 500
"""What is measured of the time away at least: it begins when the server hands the request over."""

NORMAL = {"normal", "rule_draw"}

FAR_S = 0.08
THOUGHT_S = 0.02
LADEN_MS = 4_000
"""What two cores full of other processes may add."""

PART = 0.5
"""What they leave of a measured time at least: a server that is held up between the writing of a request and
the look at its clock, or when it reads a pong, takes the line to be shorter than it is."""

SHOWN = ("elapsed_ms", "refunded_ms", "charged_ms", "limit_ms")
TRIP_MS = 2 * FAR_S * 1000


@pytest.fixture
def line() -> Iterator[LineInThread]:
    """A line that `start` leads to its server."""
    with LineInThread() as opened:
        yield opened


def start(make_server: MakeServer, line: LineInThread, **settings: str) -> Server:
    """Start a server with two ladders at the end of the line."""
    server = make_server(**QUIET, **settings)
    line.lead_to(server.port)
    server.open_ladders({"tic_tac_toe": "tic_tac_toe", "othello": "othello"}, MOVE_MS)
    return server.start()


def test_PB04_an_agent_far_away_is_told_how_its_move_was_measured(
    make_server: MakeServer, line: LineInThread
) -> None:
    server = start(make_server, line)
    line.weather = Weather(delay_s=FAR_S)
    SteadyAgent(server, "near", ("othello",))
    far = FarAgent(server, line, "far", ("othello",)).agent
    asked = [answer_after(far, THOUGHT_S)]
    patience = time.monotonic() + PATIENCE_S
    while asked[-1]["last"] is None or asked[-1]["last"]["round_trip_ms"] is None:
        assert time.monotonic() < patience, "the server does not measure the way"
        asked.append(answer_after(far, THOUGHT_S))
    asked += [answer_after(far, THOUGHT_S) for _ in range(5)]
    for before, after in pairwise(asked[-6:]):
        last = after["last"]
        assert last["limit_ms"] == before["clock"]["move_ms"] == MOVE_MS
        passed_ms = TRIP_MS + THOUGHT_S * 1000
        assert PART * passed_ms <= last["elapsed_ms"] < passed_ms + LADEN_MS, "from hand-over to receipt"
        assert PART * TRIP_MS <= last["round_trip_ms"] < TRIP_MS + LADEN_MS
        assert last["charged_ms"] == last["elapsed_ms"] - last["refunded_ms"]
        assert PART * TRIP_MS <= last["refunded_ms"] <= last["elapsed_ms"]
        shown = clock_at(server, before["match"], before["ply"])
        assert {name: shown[name] for name in SHOWN} == {name: last[name] for name in SHOWN}
    (watched,) = server.watch(match=asked[-1]["match"])["matches"]
    (seen,) = [player["last"] for player in watched["players"] if player["agent"] == "far"]
    assert set(SHOWN) <= set(seen), "what the match page shows"
    assert seen["limit_ms"] == MOVE_MS


def answer_after(agent: RawAgent, seconds: float) -> dict[str, Any]:
    """Answer the next request after a thought; return the request."""
    request = agent.await_message("your_move")
    time.sleep(seconds)
    agent.move(request)
    return request


def clock_at(server: Server, match: int, ply: int) -> dict[str, Any]:
    return next(entry for entry in server.match(match)["clock"] if entry["ply"] == ply)


def test_PB07_every_running_match_is_announced_again_and_ends(
    make_server: MakeServer, line: LineInThread
) -> None:
    server = start(make_server, line)
    # A hand for each match, and one that the return match of the first waits for.
    far = FarAgent(server, line, "far", ("tic_tac_toe", "othello"), concurrency=3)
    rivals = {name: RawAgent(server, name, ladders=(name,)) for name in ("tic_tac_toe", "othello")}
    starts = {begun["ladder"]: begun for begun in (next_start(far.agent), next_start(far.agent))}
    for ladder, begun in starts.items():
        rivals[ladder].await_message("match_start")
        for agent in (rivals[ladder], far.agent):
            agent.send({"type": "ready", "match": begun["match"]})
    asked, held = let_the_far_one_move_in_one(far.agent, starts, rivals)
    moves = {begun["match"]: server.match(begun["match"])["moves"] for begun in starts.values()}
    line.reset()
    assert set(far.come_back(after_s=0.3)["running"]) == set(moves)
    again = [far.agent.receive() for _ in range(3)]
    announced = {message["match"]: message for message in again if message["type"] == "match_start"}
    (repeated,) = [message for message in again if message["type"] == "your_move"]
    assert {number: len(message["history"]) for number, message in announced.items()} == moves
    for message in announced.values():
        assert message["position"]
        assert message["time_control"]["move_ms"] == MOVE_MS
    assert (repeated["match"], repeated["ply"]) == (asked["match"], asked["ply"])
    assert 0 < repeated["clock"]["move_ms"] < MOVE_MS, "what is left of its time"
    far.agent.move(repeated)
    rivals["othello"].move(held)
    for agent in (far.agent, *rivals.values()):
        play_on(agent)
    for number in moves:
        assert {player["cause"] for player in await_end(server, number)["players"]} <= NORMAL


def next_start(agent: RawAgent) -> Any:
    """Receive the announcement of a match, without getting ready for one before it."""
    message = agent.receive()
    assert message["type"] == "match_start", message
    return message


def let_the_far_one_move_in_one(
    far: RawAgent, starts: dict[str, Any], rivals: dict[str, RawAgent]
) -> tuple[Any, Any]:
    """Play until it is to move in tic-tac-toe and its rival in Othello; return both requests, unanswered."""
    asked: dict[int, Any] = {}

    def request(ladder: str) -> Any:
        match = starts[ladder]["match"]
        while match not in asked:
            message = far.receive()
            if message["type"] == "your_move":
                asked[message["match"]] = message
        return asked[match]

    if starts["tic_tac_toe"]["seat"] == 1:
        rivals["tic_tac_toe"].move(rivals["tic_tac_toe"].await_message("your_move"))
    if starts["othello"]["seat"] == 0:
        far.move(request("othello"))
    return request("tic_tac_toe"), rivals["othello"].await_message("your_move")


@pytest.mark.parametrize("moment", ["sent", "acknowledged"])
@pytest.mark.parametrize("grace_ms", [4_000, 0])
def test_PB09_the_move_that_came_while_the_line_broke_is_not_lost(
    make_server: MakeServer, line: LineInThread, grace_ms: int, moment: str
) -> None:
    server = start(make_server, line, PLYGROUND_GRACE_MS=str(grace_ms))
    duel = Duel(server, line, "tic_tac_toe")
    ply = 1 - duel.seat  # the first one of the near agent
    for before in range(ply):
        duel.play(before)
    request = duel.request(ply)
    duel.near.move(request)
    if moment == "acknowledged":
        assert duel.near.await_message("ack")["ply"] == ply
    line.reset()
    back = duel.come_back(after_s=AWAY_S)
    assert len(back["history"]) == ply + 1
    assert back["history"][ply] == request["legal"][0]
    mine = duel.play(ply + 1)
    assert mine["position"] == back["position"]
    gap = duel.clock(ply + 1)
    assert gap["elapsed_ms"] >= GAP_MS
    assert gap["limit_ms"] == MOVE_MS
    assert gap["charged_ms"] == gap["elapsed_ms"] - gap["refunded_ms"]
    if grace_ms == 0:
        assert gap["away_ms"] == 0
        assert gap["charged_ms"] >= GAP_MS - (gap["round_trip_ms"] or 0), "the gap is charged"
        assert mine["clock"]["move_ms"] <= MOVE_MS - GAP_MS
    else:
        assert GAP_MS <= gap["away_ms"] <= min(gap["elapsed_ms"], grace_ms)
        assert gap["refunded_ms"] >= gap["away_ms"], "the gap is forgiven"


def test_PB37_plies_are_counted_alike_before_and_after_a_reconnection(
    make_server: MakeServer, line: LineInThread
) -> None:
    server = start(make_server, line)
    duel = Duel(server, line, "tic_tac_toe")
    game = ["4", "0", "8", "2", "1", "7", "5", "3", "6"]  # nobody wins
    for ply, action in enumerate(game):
        first = duel.request(ply)
        line.reset()  # in its own turn or in its opponent's, by turns
        announced = duel.come_back()
        assert announced["history"] == game[:ply]
        request = duel.request(ply) if duel.agent_at(ply) is duel.far.agent else first
        assert (request["ply"], request["last_actions"]) == (ply, first["last_actions"])
        agent = duel.agent_at(ply)
        agent.move(request, action=action)
        assert agent.await_message("ack")["ply"] == ply
    match = duel.await_end()
    assert (match["moves"], len(match["times"])) == (len(game), len(game))
    assert [entry["ply"] for entry in match["clock"]] == list(range(len(game)))
    record = server.api(f"matches/{duel.match}/record")
    assert [(entry["ply"], entry["action"]) for entry in record["actions"]] == list(enumerate(game))
    assert {player["cause"] for player in match["players"]} <= NORMAL
