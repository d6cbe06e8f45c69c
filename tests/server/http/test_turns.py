"""Few answers are in work at once, and no address keeps the others waiting."""

import asyncio
import itertools

import pytest

from server.db.readers import BusyError
from server.http import turns
from server.http.turns import Turns

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
