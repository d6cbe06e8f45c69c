"""A match as Server-Sent Events: what spectators' sockets tell, by version, to the end and no further."""

import asyncio
import json
from datetime import UTC, datetime

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import CollectorRegistry

from agents import protocol
from server import feed
from server.broadcast import KEPT_EVENTS, Broadcast, Sight
from server.feed import Feed
from server.http import SERVICES, Limits, Services, events, middlewares, routes
from server.settings import Settings

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FIRST = 1_000
PATH = "/api/v1/matches/7/events"
PATIENCE_S = 30


MATCH = {"id": 7, "ladder": "small", "title": "", "game": "tic_tac_toe", "players": [], "board": {}}


def sight(ply, state="running"):
    view = protocol.MatchView(
        **MATCH, state=state, ply=ply, to_move=None, position="", move_ms=1, moves=["0"] * ply
    )
    return Sight(7, "small", lambda: view, over=state == "finished")


class Listener:
    """Reads a stream event by event."""

    def __init__(self, response):
        self.response = response

    async def next(self):
        """Return the next event as (kind, id, message); None at the end. Signs of life are passed over."""
        fields = {}
        async with asyncio.timeout(PATIENCE_S):
            async for line in self.response.content:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "" and fields:
                    return fields["event"], int(fields["id"]), json.loads(fields["data"])
                if name and name != ":":
                    fields[name] = value
        return None

    async def plies(self):
        """All there is to come, as (kind, id, ply)."""
        found = []
        while (event := await self.next()) is not None:
            kind, number, message = event
            match = message["match"] if kind == "event" else message["matches"][0]
            assert (message["type"], message["version"]) == (kind, number)
            found.append((kind, number, match["ply"]))
        return found


@pytest.fixture
def broadcast():
    return Broadcast(FIRST)


@pytest.fixture
def past():
    """States of the matches in the database."""
    return {1: "finished"}


@pytest.fixture
async def client(broadcast, past, tmp_path):
    async def lookup(match_id):
        if match_id not in past:
            return None
        view = sight(0, past[match_id]).view
        return protocol.encode(protocol.Snapshot(f"match:{match_id}", 0, [view]))

    settings = Settings(data_dir=tmp_path)
    app = web.Application(middlewares=middlewares())
    told = Feed(broadcast, lookup)
    app[SERVICES] = Services(None, settings, CollectorRegistry(), lambda: NOON, Limits(settings), feed=told)
    app.add_routes(routes())
    async with TestClient(TestServer(app)) as client:
        yield client


@pytest.fixture
def listen(client):
    async def begin(path=PATH, **headers):
        response = await client.get(path, headers=headers)
        assert response.status == 200, await response.text()
        assert response.content_type == "text/event-stream"
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        return Listener(response)

    return begin


async def test_a_listener_hears_what_was_and_what_comes_until_the_end(listen, broadcast):
    broadcast.publish(sight(0))
    broadcast.publish(sight(1))
    listener = await listen()
    kind, number, message = await listener.next()
    assert (kind, number, message["channel"]) == ("snapshot", FIRST + 2, "match:7")
    broadcast.publish(sight(2))
    assert (await listener.next())[:2] == ("event", FIRST + 3)
    broadcast.publish(sight(3))
    broadcast.publish(sight(4, "finished"))
    assert await listener.plies() == [("event", FIRST + 4, 3), ("event", FIRST + 5, 4)]


async def test_who_comes_back_hears_exactly_what_it_missed(listen, broadcast):
    for ply in range(4):
        broadcast.publish(sight(ply))
    broadcast.publish(sight(4, "finished"))
    missed = [("event", FIRST + 3, 2), ("event", FIRST + 4, 3), ("event", FIRST + 5, 4)]
    assert await (await listen(**{"Last-Event-ID": str(FIRST + 2)})).plies() == missed
    assert await (await listen(f"{PATH}?since={FIRST + 2}")).plies() == missed
    both = await listen(f"{PATH}?since={FIRST}", **{"Last-Event-ID": str(FIRST + 2)})
    assert await both.plies() == missed, "the header is newer than the address"


@pytest.mark.parametrize("since", [1, FIRST, FIRST + 10**9])
async def test_a_place_that_is_not_kept_gets_a_snapshot(listen, broadcast, since):
    for ply in range(KEPT_EVENTS + 1):
        broadcast.publish(sight(ply))
    broadcast.publish(sight(KEPT_EVENTS + 1, "finished"))
    [(kind, _, ply)] = await (await listen(f"{PATH}?since={since}")).plies()
    assert (kind, ply) == ("snapshot", KEPT_EVENTS + 1)


async def test_nothing_new_after_the_end_stops_a_browser_from_asking_again(client, broadcast):
    broadcast.publish(sight(0, "finished"))
    response = await client.get(PATH, headers={"Last-Event-ID": str(FIRST + 1)})
    assert (response.status, await response.read()) == (204, b"")


async def test_a_match_of_the_past_is_one_snapshot_and_then_no_more(client, listen):
    assert await (await listen("/api/v1/matches/1/events")).plies() == [("snapshot", 0, 0)]
    again = await client.get("/api/v1/matches/1/events", headers={"Last-Event-ID": "0"})
    assert again.status == 204


async def test_a_match_that_waits_is_told_of_when_it_begins(listen, broadcast, past):
    past[7] = "queued"
    listener = await listen()
    assert (await listener.next())[0] == "snapshot"
    broadcast.publish(sight(0))
    broadcast.publish(sight(1, "finished"))
    assert [ply for _, _, ply in await listener.plies()][-1] == 1


async def test_a_stream_without_events_shows_that_it_lives(client, broadcast, monkeypatch):
    monkeypatch.setattr(feed, "ALIVE_S", 0.01)
    broadcast.publish(sight(0))
    response = await client.get(f"{PATH}?since={FIRST + 1}")
    async with asyncio.timeout(PATIENCE_S):
        assert [await response.content.readline() for _ in range(4)] == [b":\n", b"\n", b":\n", b"\n"]
    response.close()


async def test_who_goes_away_is_forgotten(listen, broadcast, monkeypatch):
    monkeypatch.setattr(feed, "ALIVE_S", 0.01)
    broadcast.publish(sight(0))
    listener = await listen()
    await listener.next()
    assert len(broadcast.channel("match:7").followers) == 1
    listener.response.close()
    async with asyncio.timeout(PATIENCE_S):
        while broadcast.channel("match:7").followers:
            await asyncio.sleep(0.01)


async def test_who_does_not_read_is_cut_off_and_keeps_nothing(client, broadcast, monkeypatch):
    monkeypatch.setattr(events, "STALLED_S", 0.2)
    monkeypatch.setattr(feed, "COALESCE_S", 0)
    broadcast.publish(sight(0))
    reader, writer = await asyncio.open_connection(client.host, client.port, limit=1_000)
    writer.write(f"GET {PATH} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    await reader.readline()
    async with asyncio.timeout(PATIENCE_S):
        while not broadcast.channel("match:7").followers:
            await asyncio.sleep(0.01)
        while broadcast.channel("match:7").followers:
            for ply in range(200):
                broadcast.publish(sight(ply))
            await asyncio.sleep(0.01)
    writer.close()


@pytest.mark.parametrize(
    ("path", "headers", "status", "code"),
    [
        ("/api/v1/matches/9/events", {}, 404, "unknown_match"),
        ("/api/v1/matches/x/events", {}, 400, "bad_id"),
        (f"{PATH}?since=x", {}, 400, "bad_parameter"),
        (f"{PATH}?since=-1", {}, 400, "bad_parameter"),
        ("/api/v1/matches/1/events", {"Last-Event-ID": "x"}, 400, "bad_parameter"),
    ],
)
async def test_odd_requests(client, path, headers, status, code):
    response = await client.get(path, headers=headers)
    assert (response.status, (await response.json())["code"]) == (status, code)


async def test_head_does_not_wait(client, broadcast):
    broadcast.publish(sight(0))
    async with asyncio.timeout(PATIENCE_S):
        response = await client.head(PATH)
    assert (response.status, response.content_type) == (200, "text/event-stream")
    assert not broadcast.channel("match:7").followers
