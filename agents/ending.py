"""How a match ended that was over when the connection was made again: the server's API is asked."""

import queue
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from http.client import HTTPException

import msgspec

from agents.address import http_url, opener
from agents.clock import now_ms, wait
from agents.outcome import scores
from agents.protocol import Cause, MatchEnd, MatchStart, Outcome, State

ANSWER_MS = 2_000
"""A server that has not answered in this time is asked once more."""

PAUSE_MS = 500
"""Before it is asked once more."""

MAX_ANSWER_BYTES = 16 * 1024 * 1024
OVER = frozenset({"finished", "void"})
PASSING = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
"""Answers below 500 that another try may change."""


class _Player(msgspec.Struct, frozen=True):
    """A seat of a match, as far as it is needed here."""

    seat: int
    agent: str
    version: int
    outcome: Outcome | None
    cause: Cause | None
    utility: float | None = None


class _Match(msgspec.Struct, frozen=True):
    """A match, as far as it is needed here. Other fields come with it."""

    state: State
    players: list[_Player]
    detail: str | None = None


class Endings:
    """Asks how matches ended, in a thread of its own: a slow answer holds up no match that goes on."""

    def __init__(self, server_url: str, patience_ms: float) -> None:
        self.patience_ms = patience_ms
        self._server_url = server_url
        self._told: queue.SimpleQueue[tuple[MatchStart, MatchEnd | None]] = queue.SimpleQueue()

    def ask(self, starts: Sequence[MatchStart]) -> None:
        """Begin to ask for these matches, for `patience_ms` in all. What comes of it is `told`."""
        asked = (tuple(starts), now_ms() + self.patience_ms)
        threading.Thread(target=self._ask, args=asked, name="endings", daemon=True).start()

    def told(self) -> Iterator[tuple[MatchStart, MatchEnd | None]]:
        """Yield each match that is settled since the last call, with its end; None if there is no telling."""
        while not self._told.empty():  # this thread alone takes from it
            yield self._told.get()

    def _ask(self, starts: Sequence[MatchStart], until_ms: float) -> None:
        for start in starts:
            self._told.put((start, how_it_ended(self._server_url, start, until_ms)))


def how_it_ended(server_url: str, start: MatchStart, until_ms: float) -> MatchEnd | None:
    """Return how a match ended, as its `match_end` would have told.

    A server that does not answer, or does not know the end yet, is asked again until `until_ms` on the
    monotonic clock. None if it cannot be told: no answer, no such match, or another one under this number.
    """
    pause = threading.Event()
    while (left_ms := until_ms - now_ms()) > 0:
        try:
            match: _Match | None = _asked(server_url, start.match, min(left_ms, ANSWER_MS))
        except urllib.error.HTTPError as error:
            error.close()
            if error.code < HTTPStatus.INTERNAL_SERVER_ERROR and error.code not in PASSING:
                return None
            match = None
        except (msgspec.DecodeError, RecursionError):
            return None
        except (OSError, HTTPException):
            match = None  # it may be on its way up again
        if match is not None and match.state in OVER:
            return _end(start, match)
        wait(pause, min(PAUSE_MS, until_ms - now_ms()))
    return None


def _asked(server_url: str, match: int, timeout_ms: float) -> _Match:
    url = http_url(server_url, f"/api/v1/matches/{match}")
    request = urllib.request.Request(url, headers={"Accept": "application/json"})  # noqa: S310 - http(s) alone
    with opener(server_url).open(request, timeout=timeout_ms / 1000) as answer:
        return msgspec.json.decode(answer.read(MAX_ANSWER_BYTES), type=_Match)


def _end(start: MatchStart, match: _Match) -> MatchEnd | None:
    """Put the answer into the words of the protocol; None if it is not about this match."""
    seats = sorted(match.players, key=lambda player: player.seat)
    ours = [(player.seat, player.agent, player.version) for player in start.players]
    if [(player.seat, player.agent, player.version) for player in seats] != sorted(ours):
        return None
    outcomes = [player.outcome for player in seats if player.outcome is not None]
    causes = [player.cause for player in seats if player.cause is not None]
    if len(outcomes) != len(ours) or len(causes) != len(ours):
        return None
    record = f"/api/v1/matches/{start.match}/record"
    made = scores(outcomes, [player.utility for player in seats])
    return MatchEnd(start.match, outcomes, causes, made, record, match.detail)
