"""Versioned events for spectators.

A channel keeps its newest events, encoded once. A spectator is a cursor into each channel it follows, so
a slow one costs no memory: it catches up by version, or by a snapshot when its place is no longer kept.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from msgspec.structs import replace

from agents import protocol
from agents.protocol import MatchView

FRONT = "front"
KEPT_EVENTS = 256
KEPT_FINISHED = 64


def match_channel(match_id: int) -> str:
    """Channel of one match."""
    return f"match:{match_id}"


def ladder_channel(ladder: str) -> str:
    """Channel of one ladder."""
    return f"ladder:{ladder}"


@dataclass
class Channel:
    """The newest events of a channel as (version, encoded)."""

    version: int
    events: deque[tuple[int, bytes]] = field(default_factory=lambda: deque(maxlen=KEPT_EVENTS))

    def after(self, version: int) -> list[tuple[int, bytes]] | None:
        """Return the events after `version`, or None if they are not all kept."""
        if version > self.version:
            return None
        if version == self.version:
            return []
        missing = self.version - version
        if missing > len(self.events):
            return None
        return list(self.events)[-missing:]


class Broadcast:
    """All channels, and the matches that can be seen now.

    `first_version` must grow over restarts of the server (milliseconds since the epoch do), so that a
    version of an earlier life is never taken for one of this.
    """

    def __init__(self, first_version: int) -> None:
        self._first = first_version
        self._channels: dict[str, Channel] = {}
        self._running: dict[int, MatchView] = {}
        self._finished: OrderedDict[int, MatchView] = OrderedDict()
        self._listeners: set[Callable[[set[str]], None]] = set()

    def subscribe(self, listener: Callable[[set[str]], None]) -> Callable[[], None]:
        """Call `listener` with the names of changed channels; returns what ends it."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    def publish(self, view: MatchView) -> None:
        """Show a match as it is now on its own channel, its ladder's and the front page's."""
        over = view.state in {"finished", "void"}
        if over:
            self._running.pop(view.id, None)
            self._finished[view.id] = view
            if len(self._finished) > KEPT_FINISHED:
                gone, _ = self._finished.popitem(last=False)
                self._channels.pop(match_channel(gone), None)
        else:
            self._running[view.id] = view
        event = replace(view, moves=None)
        names = {match_channel(view.id), ladder_channel(view.ladder), FRONT}
        for name in names:
            channel = self.channel(name)
            channel.version += 1
            encoded = protocol.encode(protocol.Event(name, channel.version, event))
            channel.events.append((channel.version, encoded))
        for listener in list(self._listeners):
            listener(names)

    def channel(self, name: str) -> Channel:
        """Return the channel of that name, new if need be."""
        return self._channels.setdefault(name, Channel(self._first))

    def events_after(self, name: str, version: int) -> list[tuple[int, bytes]] | None:
        """Return a channel's events after `version`, or None if only a snapshot helps."""
        channel = self._channels.get(name)
        if channel is None:
            return [] if version == self._first else None
        return channel.after(version)

    def snapshot(self, name: str) -> tuple[int, bytes]:
        """Return the version of a channel and all there is to see on it, encoded."""
        channel = self._channels.get(name)
        version = self._first if channel is None else channel.version
        snapshot = protocol.Snapshot(name, version, list(self._seen_on(name)))
        return version, protocol.encode(snapshot)

    def view(self, match_id: int) -> MatchView | None:
        """Return a match that runs or finished lately."""
        return self._running.get(match_id) or self._finished.get(match_id)

    def _seen_on(self, name: str) -> Iterable[MatchView]:
        kind, _, key = name.partition(":")
        if kind == "match":
            view = self.view(int(key))
            return () if view is None else (view,)
        return (
            replace(view, moves=None)
            for view in self._running.values()
            if name == FRONT or view.ladder == key
        )
