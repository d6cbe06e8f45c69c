"""Versioned events for spectators.

A channel keeps its newest events. A spectator is a place in each channel it follows, so a slow one costs no
memory: it catches up by version, or by a snapshot when its place is no longer kept. What an event looks like
is worked out when the first spectator needs it, and once for all of them.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from agents import protocol
from agents.protocol import MatchView
from server.frames import text_frame

FRONT = "front"
KEPT_EVENTS = 256
KEPT_FINISHED = 64


def match_channel(match_id: int) -> str:
    """Channel of one match."""
    return f"match:{match_id}"


def ladder_channel(ladder: str) -> str:
    """Channel of one ladder."""
    return f"ladder:{ladder}"


class Sight:
    """A match at an instant. `look` must give the same whenever it is asked: it is asked late or never."""

    def __init__(self, match_id: int, ladder: str, look: Callable[[], MatchView], *, over: bool) -> None:
        self.match_id = match_id
        self.ladder = ladder
        self.over = over
        self.frames: dict[str, bytes] = {}
        self._look = look

    @cached_property
    def view(self) -> MatchView:
        """All there is to see."""
        return self._look()

    @cached_property
    def brief(self) -> MatchView:
        """The same without the list of moves."""
        return replace(self.view, moves=None)

    @cached_property
    def encoded(self) -> bytes:
        """`brief` in JSON."""
        return protocol.encode(self.brief)


class Event(NamedTuple):
    """A sight as one channel tells of it."""

    channel: str
    version: int
    sight: Sight

    @property
    def frame(self) -> bytes:
        """Its WebSocket frame, made once for all who follow the channel."""
        frames = self.sight.frames
        if self.channel not in frames:
            frames[self.channel] = text_frame(self.json)
        return frames[self.channel]

    @property
    def json(self) -> bytes:
        """A protocol.Event around what is encoded already."""
        head = f'{{"type":"event","channel":"{self.channel}","version":{self.version},"match":'
        return b"%s%s}" % (head.encode(), self.sight.encoded)


class Follower(Protocol):
    """Who hears that a channel has changed."""

    def changed(self, channel: str) -> None:
        """Hear it. Must not follow or unfollow at once."""


@dataclass
class Channel:
    """The newest sights of a channel; the last of them has its version."""

    name: str
    version: int
    sights: deque[Sight] = field(default_factory=lambda: deque(maxlen=KEPT_EVENTS))
    followers: set[Follower] = field(default_factory=set)
    _frames: dict[int, bytes] = field(default_factory=dict)
    _snapshot: bytes | None = None

    def add(self, sight: Sight) -> None:
        """Take the next sight, and tell the followers."""
        self.version += 1
        self.sights.append(sight)
        self._frames.clear()
        self._snapshot = None
        for follower in self.followers:
            follower.changed(self.name)

    def frames_after(self, version: int) -> bytes | None:
        """Return the frames of `after` in one piece, made once for all who are at the same place."""
        frames = self._frames.get(version)
        if frames is None:
            events = self.after(version)
            if events is None:
                return None
            frames = self._frames[version] = b"".join([event.frame for event in events])
        return frames

    def snapshot(self, look: Callable[[], Iterable[MatchView]]) -> bytes:
        """Return all there is to see, encoded once for all who come before the next change."""
        if self._snapshot is None:
            self._snapshot = protocol.encode(protocol.Snapshot(self.name, self.version, list(look())))
        return self._snapshot

    def after(self, version: int) -> list[Event] | None:
        """Return the events after `version`, or None if they are not all kept."""
        missing = self.version - version
        if not 0 <= missing <= len(self.sights):
            return None
        # From the end: a deque is quick there.
        return [Event(self.name, self.version + 1 - n, self.sights[-n]) for n in range(missing, 0, -1)]


class Broadcast:
    """All channels, and the matches that can be seen now.

    `first_version` must grow over restarts of the server (milliseconds since the epoch do), so that a
    version of an earlier life is never taken for one of this.
    """

    def __init__(self, first_version: int) -> None:
        self._first = first_version
        self._channels: dict[str, Channel] = {}
        self._running: dict[int, Sight] = {}
        self._finished: OrderedDict[int, Sight] = OrderedDict()

    def follow(self, name: str, follower: Follower) -> None:
        """Tell the follower of every change of a channel from now on."""
        self.channel(name).followers.add(follower)

    def unfollow(self, name: str, follower: Follower) -> None:
        """Tell it no more."""
        channel = self._channels.get(name)
        if channel is not None:
            channel.followers.discard(follower)

    def publish(self, sight: Sight) -> None:
        """Show a match as it is now on its own channel, its ladder's and the front page's."""
        if sight.over:
            self._running.pop(sight.match_id, None)
            self._finished[sight.match_id] = sight
            if len(self._finished) > KEPT_FINISHED:
                gone, _ = self._finished.popitem(last=False)
                self._channels.pop(match_channel(gone), None)
        else:
            self._running[sight.match_id] = sight
        for name in (match_channel(sight.match_id), ladder_channel(sight.ladder), FRONT):
            self.channel(name).add(sight)

    def channel(self, name: str) -> Channel:
        """Return the channel of that name, new if need be."""
        channel = self._channels.get(name)
        if channel is None:
            channel = self._channels[name] = Channel(name, self._first)
        return channel

    def events_after(self, name: str, version: int) -> list[Event] | None:
        """Return a channel's events after `version`, or None if only a snapshot helps."""
        channel = self._channels.get(name)
        if channel is None:
            return [] if version == self._first else None
        return channel.after(version)

    def frames_after(self, name: str, version: int) -> tuple[int, bytes] | None:
        """Return a channel's newest version and the frames that lead there, or None as `events_after` does.

        Without anything new there are no frames: they are empty.
        """
        channel = self._channels.get(name)
        if channel is None:
            return (version, b"") if version == self._first else None
        frames = channel.frames_after(version)
        return None if frames is None else (channel.version, frames)

    def snapshot(self, name: str) -> tuple[int, bytes]:
        """Return the version of a channel and all there is to see on it, encoded."""
        channel = self._channels.get(name) or Channel(name, self._first)
        return channel.version, channel.snapshot(lambda: self._seen_on(name))

    def view(self, match_id: int) -> MatchView | None:
        """Return a match that runs or finished lately."""
        sight = self._running.get(match_id) or self._finished.get(match_id)
        return None if sight is None else sight.view

    def _seen_on(self, name: str) -> Iterable[MatchView]:
        kind, _, key = name.partition(":")
        if kind == "match":
            view = self.view(int(key))
            return () if view is None else (view,)
        return (sight.brief for sight in self._running.values() if name == FRONT or sight.ladder == key)
