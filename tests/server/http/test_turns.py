"""Few answers are in work at once, and no address keeps the others waiting."""

import asyncio
import itertools
from types import SimpleNamespace

import pytest

from server.db.readers import BusyError
from server.http import turns
from server.http.turns import AT_ONCE, BEGIN_AT_ONCE, Turns

pytestmark = pytest.mark.asyncio


class Kitchen:
    """Notes who is served, and how many at once."""

    def __init__(self, at_once):
        self.turns = Turns(at_once)
        self.served = []
        self.now = 0
        self.most = 0

    async def order(self, address, work=lambda: asyncio.sleep(0)):
        async with self.turns.turn(address):
            self.now += 1
            self.most = max(self.most, self.now)
            self.served.append(address)
            await work()
            self.now -= 1


async def test_only_so_many_are_in_work_at_once():
    kitchen = Kitchen(2)
    await asyncio.gather(*(kitchen.order("a") for _ in range(50)))
    assert (len(kitchen.served), kitchen.most) == (50, 2)


async def test_the_loop_turns_between_answers_that_wait_for_nothing():
    async def nothing():
        pass

    kitchen, served_by_turn = Kitchen(1), []
    orders = asyncio.gather(*(kitchen.order("a", nothing) for _ in range(20)))
    while not orders.done():
        served_by_turn.append(len(kitchen.served))
        await asyncio.sleep(0)
    assert max(after - before for before, after in itertools.pairwise(served_by_turn)) == 1


async def test_one_who_asks_once_does_not_wait_for_all_of_one_who_asks_often():
    kitchen = Kitchen(1)
    await asyncio.gather(*(kitchen.order("many") for _ in range(50)), kitchen.order("one"))
    assert "one" in kitchen.served[:3]


async def test_who_waits_too_long_is_told_to_come_again(monkeypatch):
    monkeypatch.setattr(turns, "LONGEST_S", 0.01)
    kitchen, ready = Kitchen(1), asyncio.Event()
    first = asyncio.create_task(kitchen.order("a", ready.wait))
    await asyncio.sleep(0)
    with pytest.raises(BusyError):
        await kitchen.order("b")
    ready.set()
    await first
    await kitchen.order("c")
    assert kitchen.served == ["a", "c"]


async def test_who_goes_away_while_it_waits_keeps_no_turn():
    kitchen, ready = Kitchen(1), asyncio.Event()
    first = asyncio.create_task(kitchen.order("a", ready.wait))
    await asyncio.sleep(0)
    second = asyncio.create_task(kitchen.order("b"))
    await asyncio.sleep(0)
    ready.set()
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    await asyncio.wait_for(kitchen.order("c"), 10)
    assert kitchen.served == ["a", "c"]


EVENTS = "/api/v1/matches/{id}/events"


def request(path, method="GET", address="192.0.2.1", **headers):
    """A request as far as turns look at it; its path is that of its resource."""
    resource = SimpleNamespace(canonical=path) if path else None
    match_info = SimpleNamespace(route=SimpleNamespace(resource=resource))
    return SimpleNamespace(
        method=method, path=path or "/nothing", remote=address, headers=headers, match_info=match_info
    )


class Restaurant:
    """Serves requests through the middleware; each answer takes until `done`."""

    def __init__(self):
        self.serve = Turns().middleware()
        self.done = asyncio.Event()
        self.begun = 0

    async def answer(self, _request):
        self.begun += 1
        await self.done.wait()

    async def begun_at_once(self, *requests):
        """How many of these were in work together before the first was done."""
        orders = asyncio.gather(*(self.serve(one, self.answer) for one in requests))
        for _ in range(20 * len(requests)):
            await asyncio.sleep(0)
        begun = self.begun
        self.done.set()
        await orders
        return begun


@pytest.mark.parametrize(
    "asked",
    [
        request("/"),
        request("/ladders/{ladder}", "HEAD"),
        request("/api/v1/matches"),
        request(None),
        request(None, "POST"),
        request("/ws/agent"),
        request("/ws/watch", Accept="text/html"),
        request("/", Upgrade="websocket"),
    ],
    ids=lambda asked: f"{asked.method} {asked.path} {asked.headers}",
)
async def test_what_is_answered_and_over_takes_a_turn(asked):
    assert await Restaurant().begun_at_once(*[asked] * 50) == AT_ONCE


@pytest.mark.parametrize(
    "asked",
    [
        request("/healthz"),
        request(EVENTS),
        request("/ws/agent", Upgrade="websocket"),
        request("/ws/watch", Upgrade="WebSocket"),
        request("/api/v1/agents", "POST"),
    ],
    ids=lambda asked: f"{asked.method} {asked.path}",
)
async def test_what_goes_on_for_long_holds_no_turn(asked):
    assert await Restaurant().begun_at_once(*[asked] * 50) == 50


async def test_what_takes_no_turn_waits_for_none_that_is_taken():
    restaurant = Restaurant()
    pages = [request("/")] * 50
    assert await restaurant.begun_at_once(*pages, request("/healthz")) == AT_ONCE + 1


@pytest.mark.parametrize("path", ["/healthz", EVENTS, "/ws/agent"])
async def test_a_crowd_that_takes_no_turn_begins_in_pieces(path):
    """A thousand refused handshakes in one turn of the loop would make it late as well."""
    begun, begun_by_turn = [], []

    async def refuse(one):
        begun.append(one)

    serve = Turns().middleware()
    crowd = [request(path, Upgrade="websocket") for _ in range(100)]
    orders = asyncio.gather(*(serve(one, refuse) for one in crowd))
    while not orders.done():
        begun_by_turn.append(len(begun))
        await asyncio.sleep(0)
    assert len(begun) == 100
    assert max(after - before for before, after in itertools.pairwise(begun_by_turn)) <= BEGIN_AT_ONCE
