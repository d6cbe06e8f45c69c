"""Matches with the same cards on a real server: closed until the last one is over, and for the house alone.

Every endpoint, event, record, metric and message is looked at while a set is played, again and again.
"""

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from harness import QUIET, RawAgent, Server, wait_for
from test_hidden_cards import CARD, MATCH_PAGES, OTHER_PAGES, POSITION, Spectator

MakeServer = Callable[..., Server]
LADDER = "kuhn_poker"
SETS = 2
MORE_PAGES = (
    "/api/v1/matches/{id}/events",
    "/embed/matches/{id}",
    "/api/v1/agents/equilibrium",
    "/agents/equilibrium",
    "/fragments/results",
    "/fragments/ladders/kuhn_poker/standings",
    "/api/v1/agents",
    "/api/v1/ladders/kuhn_poker/standings.csv",
    "/healthz",
)


def open_ladder(server: Server) -> None:
    config = server.folder / "ladders.toml"
    config.write_text(
        f'[[ladders]]\nname = "{LADDER}"\ngame = "{LADDER}"\nmove_ms = 20000\nduplicate = true\n',
        encoding="utf-8",
    )
    server.settings["PLYGROUND_CONFIG"] = str(config)


def look_at_everything(server: Server, match: int) -> list[tuple[str, bytes]]:
    """Every page that could tell of a match; a stream of events is read for its first moment."""
    pages = [page for page in MATCH_PAGES + OTHER_PAGES + MORE_PAGES if not page.endswith("/events")]
    return [(page, server.get(page.format(id=match))[1]) for page in pages]


def views_of(spectator: Spectator, match: int, wanted: bool) -> list[bytes]:
    """What the spectator saw of a match while it was closed, or once it was open."""
    return [
        frame
        for frame in spectator.frames
        if (view := json.loads(frame))["id"] == match and view["closed"] is wanted
    ]


class Watcher(Spectator):
    """Keeps all it sees, also of matches that are over."""

    def __init__(self, server: Server) -> None:
        self.frames: list[bytes] = []
        super().__init__(server)

    def run(self) -> None:
        for frame in self.socket:
            message = json.loads(frame)
            for view in [message["match"]] if message["type"] == "event" else message["matches"]:
                self.frames.append(json.dumps(view).encode())


def sealed(server: Server) -> list[dict[str, Any]]:
    return [match for match in server.items(f"matches?ladder={LADDER}") if match["closed"]]


def assert_tells_nothing(what: str, told: bytes, secrets: list[str]) -> None:
    for secret in (CARD, POSITION, *(re.compile(re.escape(seed).encode()) for seed in secrets)):
        assert not secret.search(told), f"{what} tells {secret.pattern!r}: {told[:2000]!r}"


def looked_at_while_closed(server: Server, looked: dict[int, list[tuple[str, bytes]]]) -> None:
    """Look at the matches that are closed; what was read while one opened does not count."""
    for match in sealed(server):
        told = look_at_everything(server, match["id"])
        again = server.api(f"matches/{match['id']}")
        if again["closed"]:
            assert (again["moves"], again["times"], again["clock"], again["seed"]) == (0, [], [], None)
            status, problem = server.ask("GET", f"matches/{match['id']}/record")
            if server.api(f"matches/{match['id']}")["closed"]:
                assert (status, problem["code"]) == (409, "match_closed")
            looked.setdefault(match["id"], []).extend(told)


def test_nothing_is_told_of_a_set_until_all_of_it_is_over(make_server: MakeServer) -> None:
    quick = {"PLYGROUND_HOUSE_REST_S": "0.5", "PLYGROUND_PACE_MS": "400"}
    server = make_server(**{**QUIET, "PLYGROUND_HOUSE": "true", **quick})
    open_ladder(server)
    server.start()
    watcher = Watcher(server)
    looked: dict[int, list[tuple[str, bytes]]] = {}

    def sets_seen() -> list[list[dict[str, Any]]]:
        looked_at_while_closed(server, looked)
        over = [m for m in server.items(f"matches?ladder={LADDER}&state=finished") if not m["closed"]]
        pairs: dict[str, list[dict[str, Any]]] = {}
        for match in over:
            if match["id"] in looked:
                pairs.setdefault(match["seed"], []).append(match)
        return [pair for pair in pairs.values() if len(pair) == 2]

    wait_for(lambda: len(sets_seen()) >= SETS, "sets of two matches to be over", timeout_s=120)
    found = sets_seen()
    wait_for(
        lambda: all(views_of(watcher, match["id"], False) for pair in found for match in pair),
        "the spectator to see them open",
    )
    server.stop()
    for pair in found:
        assert_same_cards_seats_swapped(pair)
    for match in [match for pair in found for match in pair]:
        for page, told in looked[match["id"]]:
            if "{id}" in page:
                assert_tells_nothing(page, told, [match["seed"]])
        for told in views_of(watcher, match["id"], True):
            assert_tells_nothing("an event", told, [match["seed"]])
        assert any(POSITION.search(told) for told in views_of(watcher, match["id"], False)), (
            "then all is shown"
        )


def assert_same_cards_seats_swapped(pair: list[dict[str, Any]]) -> None:
    one, other = pair
    assert one["seed"] == other["seed"]
    assert one["seed_hash"] != other["seed_hash"]
    for match in pair:
        assert match["seed_hash"] == hashlib.sha256(f"{match['seed']}:{match['id']}".encode()).hexdigest()
    names = [[player["agent"] for player in match["players"]] for match in pair]
    assert names[0] == names[1][::-1]
    began = [match["started_at"] for match in pair]
    assert max(began)[:16] == min(began)[:16], "they are played at the same time"
    assert min(match["finished_at"] for match in pair) > max(began)


def test_remote_agents_get_seeds_of_their_own_and_play_in_the_open(make_server: MakeServer) -> None:
    server = make_server(**QUIET)
    open_ladder(server)
    server.start()
    agents = [RawAgent(server, name) for name in ("ada", "bob")]
    for agent in agents:
        agent.hello(ladders=[LADDER])
        agent.await_message("welcome")
    seeds = []
    for _ in range(2):
        starts = [agent.await_message("match_start") for agent in agents]
        match = starts[0]["match"]
        assert not server.api(f"matches/{match}")["closed"]
        hashes = {start["seed_hash"] for start in starts}
        for agent in agents:
            agent.send({"type": "ready", "match": match})
        mover = next(agent for agent, start in zip(agents, starts, strict=True) if start["seat"] == 0)
        mover.await_message("your_move")
        mover.send({"type": "resign", "match": match})
        ends = [agent.await_message("match_end") for agent in agents]
        seeds.append(ends[0]["seed"])
        assert {end["seed"] for end in ends} == {seeds[-1]}
        assert hashes == {hashlib.sha256(f"{seeds[-1]}:{match}".encode()).hexdigest()}
        assert server.api(f"matches/{match}")["seed"] == seeds[-1]
    assert seeds[0] != seeds[1], "the two matches of a pair have different cards"
    server.stop()
    server.doctor()
