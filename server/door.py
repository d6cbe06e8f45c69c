"""The door: who is inside, who keeps us waiting, and who has to go so that the next one gets in.

A connection that waits for its client (no whole request yet, or none after the last answer, a body that is
not all here, an answer that is not read, a WebSocket without its first message) is silent. Anybody can open
thousands of those at no cost, so they may be many, but never so many that there is no room: beyond a limit
the one that has been silent longest is cut, and the newest gets in. Those that play or watch stay, and are
counted by address.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import structlog

from server.http.errors import LimitReachedError
from server.http.security import is_loopback
from server.process import RESERVED_FILES

SILENT = 4_096
"""Silent connections in all, as long as there are files enough; each costs some 20 KB."""

SILENT_AN_ADDRESS = 2_048
"""Silent connections from one address: browsers of a whole lecture hall, six lines each."""

FOR_REQUESTS = 32
"""Files that those who stay leave to the others."""

HEADERS_S = 15.0
"""Time for the first request line and its headers."""

STALLED_S = 30.0
"""An answer of which nothing could be sent for so long is given up."""

SWEEP_S = 2.0

LIFE_S = 0.25
"""In a crowd, a new connection has so long to ask before it is cut for a newer one."""

CROWDED_S = 0.000_625
"""Wait outside for each that was cut so, at least: a crowd that comes back at once would else take all the
time there is."""

NONSENSE_S = 0.002
"""Wait outside for each that sent what is no request: some 500 a second are answered."""

LONGEST_WAIT_S = 0.25

COME_AGAIN_S = 30
"""A connection that found no room may try again after this: when others leave, nobody can tell."""

Count = Callable[[str], None]
"""Is told why a connection was cut."""

log = structlog.get_logger()


class Guest(Protocol):
    """A connection as the door sees it."""

    address: str

    def cut(self) -> None:
        """End the connection at once."""


@dataclass(frozen=True)
class Rules:
    """How many may stay an address (0: any number), and whether the addresses are those of clients."""

    staying_an_address: int
    behind_proxy: bool = False


class Door:
    """Knows each open connection."""

    def __init__(
        self, rules: Rules, files: Callable[[], int], monotonic: Callable[[], float], count: Count
    ) -> None:
        self._rules = rules
        self._files = files
        self._monotonic = monotonic
        self._count = count
        self._inside: set[Guest] = set()
        self._silent: dict[Guest, None] = {}
        self._silent_at: dict[str, dict[Guest, None]] = {}
        self._mute: dict[Guest, float] = {}
        self._stalled: dict[Guest, float] = {}
        self._places: dict[Guest, str] = {}
        self._taken: Counter[str] = Counter()
        self._open_at = 0.0

    def room(self) -> int:
        """Return how many connections there may be."""
        return max(2 * FOR_REQUESTS, self._files() - RESERVED_FILES)

    def silent_limits(self) -> tuple[int, int]:
        """Return how many of them may be silent, in all and from one address."""
        in_all = min(SILENT, max(FOR_REQUESTS, self.room() - len(self._places)))
        return in_all, min(SILENT_AN_ADDRESS, max(FOR_REQUESTS // 2, in_all // 2))

    # who comes and goes

    def enter(self, guest: Guest) -> None:
        """Let a new connection in, which is silent; cut whoever has to go for it."""
        in_all, an_address = self.silent_limits()
        if len(self._silent_at.get(guest.address, ())) >= an_address:
            self._cut(next(iter(self._silent_at[guest.address])), "silent_address")
            self._delay(max(CROWDED_S, LIFE_S / an_address))
        elif len(self._silent) >= in_all or len(self._inside) >= self.room():
            self.cut_oldest("silent_crowd")
            self._delay(max(CROWDED_S, LIFE_S / in_all))
        self._inside.add(guest)
        self._mute[guest] = self._monotonic()
        self.waits(guest)

    def leave(self, guest: Guest) -> None:
        """Forget a connection that is gone."""
        self._inside.discard(guest)
        self._mute.pop(guest, None)
        self._stalled.pop(guest, None)
        self._forget_silent(guest)

    # what they do

    def asks(self, guest: Guest) -> None:
        """Note a request whose headers are here; its body may still be on its way."""
        self._mute.pop(guest, None)

    def served(self, guest: Guest) -> None:
        """Note that it is our turn: this connection waits for us."""
        self._forget_silent(guest)

    def waits(self, guest: Guest) -> None:
        """Note that a connection waits for its client, from now on or still."""
        if guest not in self._inside or guest in self._silent:
            return
        self._silent[guest] = None
        if not self._rules.behind_proxy:
            self._silent_at.setdefault(guest.address, {})[guest] = None

    def stalls(self, guest: Guest) -> None:
        """Note that a client does not read."""
        if guest in self._inside:
            self._stalled[guest] = self._monotonic()
            self.waits(guest)

    def flows(self, guest: Guest) -> None:
        """Note that it reads again."""
        self._stalled.pop(guest, None)
        if guest in self._places:
            self.served(guest)

    @contextlib.contextmanager
    def stay(self, guest: Guest, address: str) -> Iterator[None]:
        """Keep a place for a connection that plays or watches. `address` is the client's, for counting.

        Raises LimitReachedError (`server_full`, `too_many_connections`) if there is none.
        """
        self.check_room()
        limit = self._rules.staying_an_address
        if limit and self._taken[address] >= limit and not is_loopback(address):
            raise LimitReachedError(
                "connections_per_address",
                f"{limit} connections from one address that play or watch",
                COME_AGAIN_S,
                code="too_many_connections",
            )
        self._places[guest] = address
        self._taken[address] += 1
        self.served(guest)
        try:
            yield
        finally:
            del self._places[guest]
            self._taken[address] -= 1
            if not self._taken[address]:
                del self._taken[address]
            self.waits(guest)

    def check_room(self) -> None:
        """Raise LimitReachedError (`server_full`) if nobody else can stay."""
        most = self.room() - FOR_REQUESTS
        if len(self._places) >= most:
            raise LimitReachedError(
                "connections", f"{most} connections that play or watch", COME_AGAIN_S, code="server_full"
            )

    # who has to go

    async def run(self) -> None:
        """Sweep from time to time, until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_S)
            self.sweep()

    def sweep(self) -> None:
        """Cut those that have had their time."""
        now, cut = self._monotonic(), 0
        for since, reason, time_s in (
            (self._mute, "no_request", HEADERS_S),
            (self._stalled, "does_not_read", STALLED_S),
        ):
            late = [guest for guest, at in since.items() if now - at >= time_s]
            for guest in late:
                self._cut(guest, reason)
            cut += len(late)
        if cut:
            log.info("connections.cut", number=cut)

    def cut_oldest(self, reason: str, number: int = 1) -> int:
        """Cut those that have been silent longest; return how many there were to cut."""
        oldest = [guest for guest, _ in zip(self._silent, range(number), strict=False)]
        for guest in oldest:
            self._cut(guest, reason)
        return len(oldest)

    def refuses(self, guest: Guest, reason: str) -> None:
        """Count a connection that sent what is no request, and that ends with the answer."""
        self._delay(NONSENSE_S)
        self._count(reason)
        self.leave(guest)

    def closed_s(self) -> float:
        """Return how long nobody should be accepted from now on."""
        return max(0.0, self._open_at - self._monotonic())

    def _delay(self, seconds: float) -> None:
        now = self._monotonic()
        self._open_at = min(now + LONGEST_WAIT_S, max(now, self._open_at) + seconds)

    def _cut(self, guest: Guest, reason: str) -> None:
        self._count(reason)
        self.leave(guest)
        guest.cut()

    def _forget_silent(self, guest: Guest) -> None:
        if self._silent.pop(guest, self) is self:
            return
        here = self._silent_at.get(guest.address)
        if here is not None:
            here.pop(guest, None)
            if not here:
                del self._silent_at[guest.address]
