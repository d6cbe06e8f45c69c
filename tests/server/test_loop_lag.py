"""How late the loop was, measured with real stalls and real sockets, on both event loops."""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from server import loop_lag
from server.app import loop_factory
from server.loop_lag import BEAT_S, LoopLag

STALL_S = 0.4
PATIENCE_S = 60.0

LOOPS = pytest.mark.parametrize("loop", [None, loop_factory()], ids=["asyncio", "the server's"])

Loop = Callable[[], asyncio.AbstractEventLoop] | None


class Watch:
    """A LoopLag that runs, and when its beats came."""

    def __init__(self) -> None:
        self.beats: list[float] = []
        self.lag = LoopLag(time.monotonic, lambda _late_s: self.beats.append(time.monotonic()))

    async def beat(self, more: int = 3) -> None:
        """Wait until the loop has beaten some more times."""
        wanted = len(self.beats) + more
        async with asyncio.timeout(PATIENCE_S):
            while len(self.beats) < wanted:
                await asyncio.sleep(BEAT_S)

    async def quiet(self) -> None:
        """Wait until the loop is on time."""
        async with asyncio.timeout(PATIENCE_S):
            while await asyncio.sleep(BEAT_S / 2, self.lag.behind(time.monotonic()) > 0):
                pass


@contextlib.asynccontextmanager
async def watching() -> AsyncIterator[Watch]:
    watch = Watch()
    running = asyncio.create_task(watch.lag.run())
    await watch.beat(1)
    try:
        yield watch
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def run(loop: Loop, test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(2 * PATIENCE_S):
            await test()

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(bounded())


class Receipts(asyncio.Protocol):
    """Notes when each piece came and how late the loop was then."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.noted: list[tuple[float, float, float]] = []

    def data_received(self, data: bytes) -> None:
        at = time.monotonic()
        before = [beat for beat in self.watch.beats if beat < at - STALL_S / 2]
        self.noted.append((at, self.watch.lag.behind(at), before[-1]))


@LOOPS
def test_a_frame_that_waited_for_a_stalled_loop_was_late_by_the_stall(loop: Loop):
    async def test() -> None:
        async with watching() as watch:
            receipts = Receipts(watch)
            ours, theirs = socket.socketpair()
            ours.setblocking(False)
            await asyncio.get_running_loop().create_connection(lambda: receipts, sock=ours)
            for _ in range(5):
                await watch.quiet()
                sending = threading.Timer(STALL_S / 4, theirs.send, (b"move",))
                sending.start()
                begun = time.monotonic()
                time.sleep(STALL_S)
                ended = time.monotonic()
                await watch.beat()
                sending.join()
                at, behind_s, last_beat = receipts.noted[-1]
                assert at >= ended, "the loop read nothing while it stood"
                assert behind_s >= ended - begun - BEAT_S
                assert behind_s <= at - (last_beat + BEAT_S) + 0.001, "no more than it stood"
                assert watch.lag.behind(at) == pytest.approx(behind_s), "it is remembered"
            theirs.close()

    run(loop, test)


@LOOPS
def test_what_is_read_after_the_late_beat_in_the_same_turn_was_late_too(loop: Loop):
    """Some loops take timers before what has come in, others after it."""

    async def test() -> None:
        async with watching() as watch:
            noted: list[tuple[int, float]] = []

            def note() -> None:
                noted.append((len(watch.beats), watch.lag.behind(time.monotonic())))

            await watch.quiet()
            before = len(watch.beats)
            asyncio.get_running_loop().call_later(STALL_S / 2, note)
            begun = time.monotonic()
            time.sleep(STALL_S)
            stood_s = time.monotonic() - begun
            await watch.beat()
            [(beats, behind_s)] = noted
            assert beats > before, "the late beat came first"
            assert behind_s >= stood_s - BEAT_S

    run(loop, test)


@LOOPS
def test_the_loop_is_on_time_again_after_a_stall(loop: Loop):
    async def test() -> None:
        async with watching() as watch:
            time.sleep(STALL_S)
            stood_until = time.monotonic()
            await watch.beat()
            await watch.quiet()
            now = time.monotonic()
            assert watch.lag.behind(now) == 0
            assert watch.lag.behind(stood_until) >= STALL_S - BEAT_S, "what was late stays so"
            assert watch.lag.behind(stood_until - 10 * STALL_S) == 0

    run(loop, test)


@LOOPS
def test_the_worst_of_the_last_seconds_is_kept_for_so_long(loop: Loop, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(loop_lag, "RECENT_S", 1.5)

    async def test() -> None:
        async with watching() as watch:
            time.sleep(STALL_S)
            assert watch.lag.recent_s >= STALL_S - BEAT_S, "the stall is seen while it lasts"
            await watch.beat()
            assert watch.lag.recent_s >= STALL_S - BEAT_S
            async with asyncio.timeout(PATIENCE_S):
                while watch.lag.recent_s >= STALL_S / 2:
                    await asyncio.sleep(BEAT_S)

    run(loop, test)


class Clock:
    """A monotonic clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_loop_that_is_not_measured_is_not_late():
    assert LoopLag(Clock(), lambda _late_s: None).behind(1e9) == 0


async def test_a_loop_on_time_is_behind_by_nothing():
    clock = Clock()
    lag = LoopLag(clock, lambda _late_s: None)
    running = asyncio.create_task(lag.run())
    await asyncio.sleep(0)
    assert [lag.behind(clock.now + late_s) for late_s in (-1.0, 0.0, BEAT_S, BEAT_S + 0.001)] == [0] * 4
    assert lag.recent_s == 0
    clock.now += 3.0
    assert lag.behind(clock.now) == pytest.approx(3.0 - BEAT_S)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert lag.behind(clock.now) == 0, "nor once it is not measured any more"


async def test_every_beat_is_observed_and_never_as_early():
    seen: list[float] = []
    lag = LoopLag(time.monotonic, seen.append)
    running = asyncio.create_task(lag.run())
    async with asyncio.timeout(PATIENCE_S):
        while len(seen) < 5:
            await asyncio.sleep(BEAT_S)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert min(seen) >= 0


@LOOPS
def test_the_time_in_which_the_server_stood_still_is_lost_to_whoever_thought_then(loop: Loop):
    async def test() -> None:
        async with watching() as watch:
            await watch.quiet()
            asked = time.monotonic()
            time.sleep(STALL_S)
            await watch.beat()
            await watch.quiet()
            await asyncio.sleep(loop_lag.SETTLE_S)
            now = time.monotonic()
            assert STALL_S - BEAT_S <= watch.lag.lost(asked, now) <= now - asked
            assert watch.lag.lost(now, now) == 0, "that was before"
            assert watch.lag.lost(now - 0.01, now) <= 0.01
            assert watch.lag.lost(asked - 100, asked) < loop_lag.STILL_S, "that came later"

    run(loop, test)


@LOOPS
def test_what_comes_while_all_settles_after_a_stall_was_late_by_it_too(loop: Loop):
    async def test() -> None:
        async with watching() as watch:
            await watch.quiet()
            asked = time.monotonic()
            time.sleep(STALL_S)
            await watch.beat()
            assert watch.lag.lost(asked, time.monotonic()) >= STALL_S - BEAT_S

    run(loop, test)


@LOOPS
def test_a_short_stall_is_lost_only_to_what_came_in_it(loop: Loop):
    async def test() -> None:
        async with watching() as watch:
            await watch.quiet()
            asked = time.monotonic()
            while True:
                begun = time.monotonic()
                time.sleep(loop_lag.STILL_S / 4)
                if time.monotonic() - begun < loop_lag.STILL_S / 2:
                    break
                asked = time.monotonic()
            await watch.beat()
            await watch.quiet()
            now = time.monotonic()
            if watch.lag.recent_s < loop_lag.STILL_S:
                assert watch.lag.lost(asked, now) == 0

    run(loop, test)
