"""What is told of the time of a match: each request as it was measured, and the verdict in a sentence."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from agents.protocol import TimeControl
from games.protocol import CHANCE
from server.core.match_events import Timing
from server.core.verdict import Case, Request, verdict
from server.db.reads import MatchRow, MoveRow
from server.http.views import ClockEntry

CLOSED = "Closed until all matches with the same dice or cards have ended."
"""What is said of a match in place of its verdict."""


def time_control(row: MatchRow) -> TimeControl:
    """Return the time control of a match; fields that an old one lacks are 0."""
    return msgspec.convert(row.time_control, TimeControl)


def timing(move: MoveRow) -> Timing:
    """Return how a move was timed. What an old server refunded was its own lateness, and nothing else."""
    timed = move.timing
    return timed if move.limit_ms is not None else replace(timed, lag_ms=timed.refunded_ms)


def figures(timed: Timing) -> dict[str, Any]:
    """Return a timing field by field; a limit that an old server did not note is null."""
    return {**asdict(timed), "limit_ms": timed.limit_ms or None}


def clock(row: MatchRow, moves: Sequence[MoveRow]) -> tuple[list[ClockEntry], str]:
    """Return the requests of a match by ply, and the verdict. They hold times alone, which hide nothing.

    Of a match that is closed neither is told.
    """
    if row.closed:
        return [], CLOSED
    requests = _requests(row, moves)
    case = Case(
        state=row.state,
        agents=[seat.agent for seat in row.seats],
        outcomes=[seat.outcome for seat in row.seats],
        causes=[seat.cause for seat in row.seats],
        control=time_control(row),
        trace=[request for request, _ in requests],
        detail=row.detail,
        restarts=max(0, row.attempt - 1),
    )
    return [_entry(request, at) for request, at in requests], verdict(case)


def _requests(row: MatchRow, moves: Sequence[MoveRow]) -> list[tuple[Request, datetime]]:
    """Return the requests, each with the time up to which it was measured; chance was asked for nothing.

    The last one may be what was open when the match ended.
    """
    requests = [
        (Request(move.ply, move.seat, timing(move), received=not move.timed_out), move.received_at)
        for move in moves
        if move.seat != CHANCE
    ]
    last = row.last_request
    if last is not None:
        timed = msgspec.convert(last, Timing)
        request = Request(last["ply"], last["seat"], timed, received=last["received"], counted=False)
        requests.append((request, datetime.fromisoformat(last["at"])))
    return requests


def _entry(request: Request, at: datetime) -> ClockEntry:
    """Write a request that was measured up to `at`."""
    timed = request.timing
    handed_over_at = at - timedelta(milliseconds=timed.elapsed_ms)
    return ClockEntry(
        ply=request.ply,
        seat=request.seat,
        asked_at=handed_over_at - timedelta(milliseconds=timed.waited_ms),
        handed_over_at=handed_over_at,
        received_at=at if request.received else None,
        **figures(timed),
        counted=request.counted,
    )
