"""A deadline comes once, at the time that was set last, and never early."""

import asyncio
import time

from server.deadline import Deadline


class Passed:
    def __init__(self) -> None:
        self.at: list[float] = []
        self.deadline = Deadline(time.monotonic, lambda: self.at.append(time.monotonic()))

    async def wait(self) -> None:
        async with asyncio.timeout(20):
            while not self.at:
                await asyncio.sleep(0.005)
        await asyncio.sleep(0.1)


async def test_it_comes_once_and_not_early():
    passed, start = Passed(), time.monotonic()
    passed.deadline.set(start + 0.1)
    await passed.wait()
    assert len(passed.at) == 1
    assert passed.at[0] - start >= 0.095  # timers may fire a moment early; the match looks again


async def test_moved_on_it_comes_at_the_later_time_alone():
    passed, start = Passed(), time.monotonic()
    for later in (0.05, 0.1, 0.3):
        passed.deadline.set(start + later)
    await passed.wait()
    assert len(passed.at) == 1
    assert passed.at[0] - start >= 0.295


async def test_moved_forward_it_comes_at_the_earlier_time():
    passed, start = Passed(), time.monotonic()
    passed.deadline.set(start + 3_600)
    passed.deadline.set(start + 0.05)
    await passed.wait()
    assert len(passed.at) == 1


async def test_it_can_be_set_again_after_it_came():
    passed = Passed()
    passed.deadline.set(time.monotonic())
    await passed.wait()
    passed.at.clear()
    passed.deadline.set(time.monotonic() + 0.05)
    await passed.wait()
    assert len(passed.at) == 1


async def test_cancelled_it_does_not_come():
    passed = Passed()
    passed.deadline.set(time.monotonic() + 0.05)
    passed.deadline.cancel()
    await asyncio.sleep(0.15)
    assert passed.at == []
