"""The lines from a match to its agents: what is said reaches whoever plays the seat now."""

from collections.abc import Callable, Sequence

from agents import protocol
from server.presence import Connection, Presence


class Lines:
    """One line a seat. A connection hears nothing of a match that could puzzle it before `match_start`.

    A connection can be replaced by another at any moment: a request then waits until the new one has been
    told of the match.
    """

    def __init__(self, presence: Presence, versions: Sequence[int]) -> None:
        self._presence = presence
        self._versions = list(versions)
        self._told: list[Connection | None] = [None] * len(self._versions)
        self._held: dict[int, Callable[[], None]] = {}

    def say(self, seat: int, message: protocol.ToAgent) -> None:
        """Send if the agent is connected."""
        connection = self._presence.get(self._versions[seat])
        if connection is not None:
            connection.post(message)

    def has_unread(self, seat: int) -> bool:
        """Whether something has come in from the agent that nobody has heard yet."""
        connection = self._presence.get(self._versions[seat])
        return connection is not None and connection.has_unread()

    def announce(self, seat: int, start: protocol.MatchStart) -> None:
        """Tell of the match, then ask what waited for this."""
        self._told[seat] = self._presence.get(self._versions[seat])
        self.say(seat, start)
        held = self._held.pop(seat, None)
        if held is not None:
            held()

    def ask(
        self, seat: int, request: Callable[[], protocol.YourMove], handed_over: Callable[[float | None], None]
    ) -> None:
        """Hand a request over; `handed_over` is called once, when a socket has it or nobody is there.

        It is given the line's round trip in milliseconds as it was known before.
        """
        connection = self._presence.get(self._versions[seat])
        if connection is not None and connection is not self._told[seat]:
            self._held[seat] = lambda: self.ask(seat, request, handed_over)
            return
        round_trip_ms = None
        if connection is not None:
            round_trip_ms = connection.round_trip_ms
            connection.ping()  # ahead of the request, so that a client has answered before it thinks
            connection.post(request())
        handed_over(round_trip_ms)
