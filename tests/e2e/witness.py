"""Agents that play honestly and note what they are told, and the record held against it."""

import contextlib
import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from harness import RawAgent, Server, wait_for
from websockets.exceptions import ConnectionClosed

IMPATIENT_S = 2
_SHORTER = f"import server.match_record as record; record.AWAY_S = {IMPATIENT_S}.0"
IMPATIENT = ("-c", f"{_SHORTER}; import server.cli as cli; raise SystemExit(cli.main())")
"""A server whose matches wait so many seconds for the database and no longer."""

THINK_S = 0.05
SILENCE_S = 1.0
NEWS = {"ack", "your_move", "match_end"}
"""What tells of something that the record must hold."""


class Witness(threading.Thread):
    """Plays at random after a moment's thought, in one match at a time; `told` is all it heard."""

    def __init__(self, server: Server, name: str, ladders: Sequence[str]) -> None:
        super().__init__(daemon=True)
        self.agent = RawAgent(server, name, ladders=tuple(ladders))
        self.told: list[dict[str, Any]] = []
        self.moved: dict[tuple[int, int], str] = {}
        self._draw = random.Random(name)
        self.start()

    def run(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            while True:
                self._answer(self.agent.receive(600))

    def _answer(self, message: dict[str, Any]) -> None:
        self.told.append(message)
        match message["type"]:
            case "match_start":
                self.agent.send({"type": "ready", "match": message["match"]})
            case "your_move":
                time.sleep(self._draw.uniform(0, THINK_S))
                action = self._draw.choice(message["legal"])
                self.moved[message["match"], message["ply"]] = action
                self.agent.move(message, action=action)

    def leave(self) -> None:
        """Take no new match; what runs is played on."""
        self.agent.send({"type": "leave"})

    def heard(self) -> int:
        """How many messages told it something of its matches so far."""
        return sum(message["type"] in NEWS for message in list(self.told))

    def acked(self) -> set[tuple[int, int]]:
        return {(m["match"], m["ply"]) for m in list(self.told) if m["type"] == "ack"}

    def ends(self) -> list[dict[str, Any]]:
        return [message for message in list(self.told) if message["type"] == "match_end"]


@contextlib.contextmanager
def witnesses(server: Server, ladders: Sequence[str], count: int = 6) -> Iterator[list[Witness]]:
    """Connect agents, and wait until each has made a move."""
    made = [Witness(server, f"witness{n}", ladders) for n in range(count)]
    try:
        wait_for(lambda: all(witness.acked() for witness in made), "everybody to have moved")
        yield made
    finally:
        for witness in made:
            witness.agent.close()
            witness.join(10)


def health(server: Server) -> tuple[int, str, str]:
    """What the health check answers: its status, and how the server and its database are."""
    status, body = server.get("/healthz")
    told = json.loads(body)
    return status, told["status"], told["database"]


def in_play(server: Server) -> list[int]:
    return [
        match["id"] for state in ("starting", "running") for match in server.items(f"matches?state={state}")
    ]


def finish_all(server: Server, everybody: Sequence[Witness]) -> None:
    """Let everybody play to the end of what runs, and leave."""
    for witness in everybody:
        witness.leave()
    wait_for(lambda: not in_play(server), "all matches to end")


def assert_nobody_lost_by_it(server: Server, everybody: Sequence[Witness], move_ms: int) -> None:
    """Every match ended by the rules or counts for nobody, and the record holds what anybody was told."""
    record = {match["id"]: server.match(match["id"]) for match in server.items("matches")}
    actions = {number: actions_of(server, number) for number in record}
    for number, match in record.items():
        causes = {player["cause"] for player in match["players"]}
        if match["state"] == "finished":
            assert causes == {"normal"}, match
            assert all(ms < move_ms for ms in match["times"]), match
        elif match["state"] == "void":
            assert causes <= {"infrastructure"}, match
            assert_replayed(server, number)
    for witness in everybody:
        for number, ply in witness.acked():
            assert actions[number][ply] == witness.moved[number, ply], "acknowledged and lost"
        told = Counter(end["match"] for end in witness.ends())
        assert set(told.values()) <= {1}, "the end of a match is told once"
        for end in witness.ends():
            assert record[end["match"]]["state"] in {"finished", "void"}


def actions_of(server: Server, number: int) -> list[str]:
    return [action["action"] for action in server.api(f"matches/{number}/record")["actions"]]


def assert_replayed(server: Server, number: int) -> Any:
    """A void match is rated nowhere and is played again."""
    again = [match for match in server.items("matches") if match["replay_of"] == number]
    assert len(again) == 1, f"match {number} is replayed by {again}"
    match = server.match(number)
    assert {player["outcome"] for player in match["players"]} == {"void"}
    assert all(player["elo_after"] is None for player in match["players"])
    return match


def await_news(everybody: Sequence[Witness], heard: Sequence[int]) -> None:
    """Wait until everybody has heard more than that of its matches."""
    wait_for(
        lambda: all(w.heard() > before for w, before in zip(everybody, heard, strict=True)),
        "everybody to play on",
    )


def await_silence(everybody: Sequence[Witness]) -> list[int]:
    """Wait until nobody has heard anything for a while; return how much each has heard until then."""

    def heard_all() -> list[int] | None:
        before = [witness.heard() for witness in everybody]
        time.sleep(SILENCE_S)
        return before if [witness.heard() for witness in everybody] == before else None

    return list(wait_for(heard_all, "what was on its way to arrive"))


def voids(server: Server) -> list[dict[str, Any]]:
    return [match for match in server.items("matches") if match["state"] == "void"]


def await_voids(server: Server, detail: str) -> None:
    """Wait until matches count for nobody, all with such a detail, and are replayed."""
    for match in wait_for(lambda: voids(server), "void matches"):
        assert re.fullmatch(detail, match["detail"]), match
        assert_replayed(server, match["id"])
