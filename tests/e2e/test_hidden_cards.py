"""Kuhn poker on a real server: no byte that an opponent or a spectator gets before the end tells a card."""

import contextlib
import json
import random
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from harness import PATIENCE_S, QUIET, RawAgent, Server, wait_for
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

MakeServer = Callable[..., Server]
LADDER = "kuhn_poker"
MATCHES = 6
MATCH_PAGES = (
    "/api/v1/matches/{id}",
    "/api/v1/matches/{id}/record",
    "/matches/{id}",
    "/fragments/matches/{id}",
)
OTHER_PAGES = (
    "/api/v1/matches?ladder=kuhn_poker",
    "/api/v1/ladders/kuhn_poker/standings",
    "/ladders/kuhn_poker",
    "/fragments/recent",
    "/metrics",
    "/",
)
"""Pages that may show other matches, which are over; looked at while there are none."""

CARD = re.compile(rb"\bd[012]\b")
POSITION = re.compile(rb"\b[012]{2}/|\b[012]\?/|\?[012]/")
THOUGHT = "I hold the "


class Spectator(threading.Thread):
    """Watches everything there is to watch, and keeps what it sees of each match until that is over."""

    def __init__(self, server: Server, ladder: str = LADDER) -> None:
        super().__init__(daemon=True)
        self.open = contextlib.ExitStack()
        url = server.url.replace("http", "ws") + "/ws/watch"
        self.socket = self.open.enter_context(connect(url, compression=None, proxy=None))
        self.seen: dict[int, list[bytes]] = defaultdict(list)
        self.over: set[int] = set()
        self.watch(front=True)
        self.watch(ladder=ladder)
        self.start()

    def watch(self, **what: object) -> None:
        self.socket.send(json.dumps({"type": "watch", **what}))

    def run(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            for frame in self.socket:
                message = json.loads(frame)
                for view in [message["match"]] if message["type"] == "event" else message["matches"]:
                    if view["state"] in ("finished", "void"):
                        self.over.add(view["id"])
                    else:
                        self.seen[view["id"]].append(json.dumps(view).encode())


class Gambler:
    """An agent played by hand that keeps every frame of a match until its end."""

    def __init__(self, server: Server, name: str, ladder: str = LADDER) -> None:
        self.agent = RawAgent(server, name)
        self.agent.hello(ladders=[ladder])
        self.agent.await_message("welcome")
        self.heard: list[bytes] = []

    def receive(self, timeout_s: float = PATIENCE_S) -> dict[str, Any]:
        """Return the next message; one that says how a match ended is not kept."""
        message = self.agent.receive(timeout_s)
        if message["type"] != "match_end":
            self.heard.append(json.dumps(message).encode())
        return message

    def start(self) -> dict[str, Any]:
        self.heard = []
        while (message := self.receive())["type"] != "match_start":
            pass
        self.agent.send({"type": "ready", "match": message["match"]})
        return message

    def answer(self, request: dict[str, Any], action: str) -> None:
        """Play, and think aloud."""
        self.agent.move(request, action=action, info={"thought": THOUGHT + request["position"]})


def play(
    server: Server,
    gamblers: list[Gambler],
    spectator: Spectator,
    draw: random.Random,
    pages: Sequence[str],
    most_moves: int = 1_000,
) -> tuple[int, list[bytes], list[bytes]]:
    """Play a match at random, look at every page before each answer, and resign after so many moves.

    Returns its number, what each seat heard before the end, and what the pages said.
    """
    starts = [gambler.start() for gambler in gamblers]
    match, looked = starts[0]["match"], []
    spectator.watch(match=match)
    seated = [gamblers[n] for n in sorted((0, 1), key=lambda n: starts[n]["seat"])]
    moves, playing = 0, list(seated)
    while playing:
        gambler, message = next_message(playing)
        if message["type"] == "match_end":
            playing.remove(gambler)  # what it hears next is of another match
        if message["type"] != "your_move":
            continue
        looked += [server.get(page.format(id=match))[1] for page in pages]
        moves += 1
        if moves > most_moves:
            gambler.agent.send({"type": "resign", "match": match})
        else:
            gambler.answer(message, draw.choice(message["legal"]))
    return match, [b"\n".join(gambler.heard) for gambler in seated], looked


def next_message(playing: list[Gambler]) -> tuple[Gambler, dict[str, Any]]:
    """Return who hears something next, and what: with dice nobody knows whose turn comes."""
    while True:
        for gambler in playing:
            with contextlib.suppress(TimeoutError):
                return gambler, gambler.receive(0.02)


def assert_hears_of_own_card_alone(heard: bytes, seat: int, cards: list[str]) -> None:
    own, hidden = (card.encode() for card in (cards[seat], cards[1 - seat]))
    assert own in heard
    assert not re.search(rb"\b" + hidden + rb"\b", heard)
    faces = set(re.findall(rb'"position": ?"(.)(.)/', heard)) - {(b"-", b"-")}
    assert {pair[seat] for pair in faces} == {own[1:]}
    assert {pair[1 - seat] for pair in faces} <= {b"?", b"-"}
    assert THOUGHT.encode() not in heard


def assert_tells_no_card(told: bytes) -> None:
    for secret in (CARD, POSITION, re.compile(THOUGHT.encode())):
        assert not secret.search(told), told


def test_nothing_tells_a_hidden_card_before_the_end(make_server: MakeServer) -> None:
    server = make_server(**QUIET)
    server.open_ladders({LADDER: LADDER}, move_ms=20_000)
    server.start()
    spectator = Spectator(server)
    gamblers = [Gambler(server, name) for name in ("ada", "bob")]
    draw = random.Random(7)
    played = [
        play(server, gamblers, spectator, draw, MATCH_PAGES if number else MATCH_PAGES + OTHER_PAGES)
        for number in range(MATCHES)
    ]
    wait_for(lambda: spectator.over >= {match for match, _, _ in played}, "the spectator to see all ends")
    spectator.open.close()
    for match, heard, looked in played:
        record = server.api(f"matches/{match}/record")
        cards = [action["action"] for action in record["actions"][:2]]
        for seat in (0, 1):
            assert_hears_of_own_card_alone(heard[seat], seat, cards)
        assert len(looked) >= 2 * len(MATCH_PAGES)
        assert len(spectator.seen[match]) >= 2
        for told in (*looked, *spectator.seen[match]):
            assert_tells_no_card(told)
        assert CARD.fullmatch(cards[0].encode()), "after the end everybody may know"
        assert THOUGHT in json.dumps(record)
