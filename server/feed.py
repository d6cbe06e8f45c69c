"""One match as it goes on, for listeners that are no WebSocket: the events of its channel, batch by batch.

A listener is a place in the channel and no queue: however slow it reads, it costs no memory, and it gets a
snapshot when its place is not kept any more.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

import msgspec

from agents import protocol
from games.errors import InputError
from server.broadcast import Broadcast, match_channel
from server.http.services import Told
from server.watch import COALESCE_S, Lookup

ALIVE_S = 15.0
"""After so long without an event a batch without any tells that the stream is alive."""

PAST = 0
"""Version of a match out of the database, which the broadcast does not know."""

_OVER = frozenset({"finished", "void"})


class _Ear:
    """Hears that the channel has changed."""

    def __init__(self) -> None:
        self.woken = asyncio.Event()

    def changed(self, _channel: str) -> None:
        self.woken.set()


class Feed:
    """Follows matches in the broadcast, and in the database those that are not there."""

    def __init__(self, broadcast: Broadcast, lookup: Lookup) -> None:
        self._broadcast = broadcast
        self._lookup = lookup

    async def __call__(self, match_id: int, since: int | None) -> AsyncGenerator[list[Told], None]:
        """Yield what is new after version `since`, until the match is over; nothing if it was over then.

        The first batch comes at once, empty if nothing is new. Raises InputError (`unknown_match`).
        """
        if self._broadcast.view(match_id) is None:
            snapshot = await self._lookup(match_id)
            if snapshot is None:
                raise InputError("unknown_match", expected="a match", got=str(match_id))
            over = msgspec.json.decode(snapshot, type=protocol.Snapshot).matches[0].state in _OVER
            if over and since == PAST:
                return
            yield [Told("snapshot", PAST, snapshot)]
            if over:
                return
        async with contextlib.aclosing(self._live(match_id, since)) as batches:
            async for batch in batches:
                yield batch

    async def _live(self, match_id: int, place: int | None) -> AsyncGenerator[list[Told], None]:
        channel, ear = match_channel(match_id), _Ear()
        self._broadcast.follow(channel, ear)
        try:
            while True:
                ear.woken.clear()
                view = self._broadcast.view(match_id)
                batch = [] if view is None else self._new(channel, place)
                over = view is not None and view.state in _OVER
                if batch or not over:
                    yield batch
                if over:
                    return
                place = batch[-1].version if batch else place
                await self._change(ear)
        finally:
            self._broadcast.unfollow(channel, ear)

    def _new(self, channel: str, place: int | None) -> list[Told]:
        events = None if place is None else self._broadcast.events_after(channel, place)
        if events is None:
            return [Told("snapshot", *self._broadcast.snapshot(channel))]
        return [Told("event", event.version, event.json) for event in events]

    async def _change(self, ear: _Ear) -> None:
        """Wait for a change, and a moment more for those that come with it."""
        try:
            async with asyncio.timeout(ALIVE_S):
                await ear.woken.wait()
        except TimeoutError:
            return
        await asyncio.sleep(COALESCE_S)
