"""What must be true of recorded times: the clocks add up, and nobody lost a game to the server.

A match is held against its time control by playing its clocks through once more with `server.core.clock`.
Those of before there were such clocks are let be: their time control does not name `grace_ms`, and none of
their moves has a limit on record.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, Row, or_, select

from agents.protocol import TimeControl
from games.protocol import CHANCE
from server.core import clock
from server.core.clock import Clock
from server.core.fault import ROUNDING_MS, overran, stayed_away
from server.core.match import OVERLOAD_S
from server.core.match_clock import ABSENT_S
from server.core.match_events import Timing
from server.core.outcome import Cause
from server.core.round_trip import CAP_MS
from server.db.finding import Finding, Findings, grouped
from server.db.records import move_row
from server.db.schema import matches, moves, seats

LONGEST_DELAY_MS = 3_600_000
"""How much longer than its limit a move may have taken, whatever happened to the server meanwhile."""

CLOCK_STEP = timedelta(minutes=1)
"""How far the wall clock may have been set back while a match ran."""

MOST_LAG_MS = round((OVERLOAD_S + ABSENT_S) * 1000) + ROUNDING_MS
"""The most of a move that is the server's own doing: its loop was late, and it let nobody in."""

_OWN_FAULTS = (Cause.TIMEOUT, Cause.DISCONNECT, Cause.ILLEGAL_ACTION)
"""Causes that the request which was open at the end has to show."""

_NEW = '"grace_ms"'
"""Every time control names it since clocks are as `server.core.clock` has them."""


class _Request(Struct, frozen=True):
    """What was open at the end, as far as it is checked; server.db.rows.MatchRow says more."""

    seat: int
    ply: int
    received: bool
    grace_ms: int | None = None
    at: datetime | None = None
    timing: Timing = Timing(0, 0, 0, 0)

    def had(self, has: Clock) -> Clock:
        """Return the clock before the request: nothing was forgiven one that would not be back.

        Its agent had come as a newer version.
        """
        return replace(has, grace_ms=0) if self.grace_ms == 0 else has


class _Wrong(Exception):  # noqa: N818 - no error, but what is found
    """The first thing in a match's times that cannot be: its code, and what is wrong."""

    def __init__(self, code: str, what: str) -> None:
        super().__init__(what)
        self.code = code


def moves_took_their_time(conn: Connection) -> Findings:
    """Check that 0 <= charged <= elapsed, and that elapsed is about what the limit allows."""
    elapsed, charged = moves.c.elapsed_ms, moves.c.charged_ms
    query = (
        select(moves.c.match_id, moves.c.ply, elapsed, charged, moves.c.limit_ms, matches.c.time_control)
        .join(matches, matches.c.id == moves.c.match_id)
        .where(or_(elapsed < 0, charged < 0, charged > elapsed, elapsed > LONGEST_DELAY_MS))
        .order_by(moves.c.match_id, moves.c.ply)
    )
    for match_id, rows in grouped(conn, query):
        wrong = [
            row
            for row in rows
            if not 0 <= row.charged_ms <= row.elapsed_ms <= _limit_ms(row) + LONGEST_DELAY_MS
        ]
        if wrong:
            row = wrong[0]
            yield Finding(
                "timing",
                f"match {match_id}, ply {row.ply} took {row.elapsed_ms} ms and was charged {row.charged_ms} "
                f"ms, limit {_limit_ms(row)} ms ({len(wrong)} such moves in this match)",
            )


def _limit_ms(row: Row[Any]) -> int:
    """Return the limit of a move, as it was written down or as the match's time control has it."""
    if row.limit_ms is not None:
        return int(row.limit_ms)
    try:
        return int(msgspec.json.decode(row.time_control)["move_ms"])
    except (msgspec.DecodeError, KeyError, TypeError, ValueError):
        return 0


def clocks_are_fair(conn: Connection) -> Findings:
    """Check every refund, limit and strike, and that the trace shows the fault of whoever forfeited."""
    faults: dict[int, list[Any]] = defaultdict(list)
    blamed = select(seats.c.match_id, seats.c.seat, seats.c.cause).where(seats.c.cause.in_(_OWN_FAULTS))
    for row in conn.execute(blamed.order_by(seats.c.match_id, seats.c.seat)):
        faults[row.match_id].append(row)
    query = (
        select(
            matches.c.id,
            matches.c.state,
            matches.c.time_control,
            matches.c.started_at,
            matches.c.last_request,
            matches.c.moves.label("made"),
            moves,
        )
        .outerjoin(moves, moves.c.match_id == matches.c.id)
        .order_by(matches.c.id, moves.c.ply)
    )
    for match_id, rows in grouped(conn, query):
        try:
            _check_match(rows, faults.get(match_id, []))
        except _Wrong as wrong:
            yield Finding(wrong.code, f"match {match_id}, {wrong}")


def _check_match(rows: Sequence[Row[Any]], faults: Sequence[Row[Any]]) -> None:
    """Raise `_Wrong` for the first thing that cannot be; what comes after it means nothing."""
    match = rows[0]
    old = _NEW not in match.time_control
    if old and all(row.limit_ms is None for row in rows):
        return
    try:
        control = msgspec.json.decode(match.time_control, type=TimeControl)
    except msgspec.MsgspecError as error:
        raise _Wrong("time_control", f"its time control cannot be read: {error}") from None
    clocks: dict[int, Clock] = defaultdict(lambda: clock.full(control))
    for row in rows:
        if row.ply is None or row.seat == CHANCE:
            continue
        move = move_row(row)
        where = f"ply {row.ply} of seat {row.seat}"
        _check_instant(match, move.received_at, where)
        if move.limit_ms is not None:
            old = False  # from here on a server with such clocks went on with it
            _check_move(control, clocks[row.seat], move.timing, where)
        elif not old:
            raise _Wrong("limit", f"{where}: no limit was written down")
        clocks[row.seat] = clock.after(control, clocks[row.seat], move.timing)
    request = _last_request(match)
    if request is not None and request.ply == match.made:
        _check_instant(match, request.at, f"the last request of seat {request.seat}")
        _check_timing(control, request.had(clocks[request.seat]), request.timing, "the last request")
    if match.state == "finished":
        for fault in faults:
            _check_fault(control, clocks[fault.seat], request, match.made, fault)


def _last_request(match: Row[Any]) -> _Request | None:
    """Read what was open at the end, if anything was."""
    if match.last_request is None:
        return None
    try:
        request = msgspec.json.decode(match.last_request, type=_Request)
        timing = msgspec.json.decode(match.last_request, type=Timing)
    except msgspec.MsgspecError as error:
        raise _Wrong("fault", f"its last request cannot be read: {error}") from None
    if timing.refunded_ms != timing.elapsed_ms - timing.charged_ms:
        raise _Wrong("refund", f"the last request: {timing.refunded_ms} ms are not elapsed less charged")
    return replace(request, timing=timing)


def _check_instant(match: Row[Any], at: datetime | None, where: str) -> None:
    """Check that nothing came in before the match had begun."""
    if at is not None and match.started_at is not None and at < match.started_at - CLOCK_STEP:
        raise _Wrong("received", f"{where} was received {at}, and the match began {match.started_at}")


def _check_move(control: TimeControl, has: Clock, timing: Timing, where: str) -> None:
    """Hold a move against the clock that its seat had before it."""
    _check_timing(control, has, timing, where)
    most_ms = timing.limit_ms + control.margin_ms + ROUNDING_MS
    if not timing.timed_out:
        if timing.charged_ms > most_ms:
            raise _Wrong("overtime", f"{where} counted, charged {timing.charged_ms} of {timing.limit_ms} ms")
        return
    if has.strikes < 1:
        raise _Wrong("strikes", f"{where}: a strike, and there were {control.strikes} for the match")
    if not (overran(control, timing) or stayed_away(control, has, timing)):
        raise _Wrong("fault", f"{where}: a strike for {timing.charged_ms} ms of {timing.limit_ms} ms")


def _check_timing(control: TimeControl, has: Clock, timing: Timing, where: str) -> None:
    """Check that a request had the limit and the refunds which the clock of its seat gave before it."""
    limit_ms = clock.limit_ms(control, has)
    if timing.limit_ms != limit_ms:
        raise _Wrong("limit", f"{where} had a limit of {timing.limit_ms} ms, its clock gives {limit_ms} ms")
    _check_refund(has, timing, where)


def _check_refund(has: Clock, timing: Timing, where: str) -> None:
    """Check what was refunded, by its kinds: what the lag bank had to give was given, and no more."""
    if min(timing.charged_ms, timing.lag_ms, timing.away_ms, timing.waited_ms) < 0:
        raise _Wrong("refund", f"{where} has a time below 0")
    if timing.lag_ms > MOST_LAG_MS:
        raise _Wrong("overload", f"{where}: the server was {timing.lag_ms} ms late, and the match went on")
    if timing.round_trip_ms is not None and not 0 <= timing.round_trip_ms <= CAP_MS:
        raise _Wrong("round_trip", f"{where} has a round trip of {timing.round_trip_ms} ms")
    if timing.away_ms > has.grace_ms:
        raise _Wrong("grace", f"{where} was away for {timing.away_ms} ms of {has.grace_ms} ms of grace")
    due_ms = min(
        timing.elapsed_ms - timing.lag_ms - timing.away_ms, clock.allowance_ms(has, timing.round_trip_ms)
    )
    if timing.trip_ms != due_ms:
        trip = "not measured" if timing.round_trip_ms is None else f"{timing.round_trip_ms} ms"
        raise _Wrong(
            "refund",
            f"{where} was refunded {timing.trip_ms} ms for the way, not {due_ms} ms, with a round trip "
            f"{trip} and {has.lag_ms} ms in the lag bank",
        )


def _check_fault(
    control: TimeControl, has: Clock, request: _Request | None, made: int, fault: Row[Any]
) -> None:
    """Check that a forfeit is the agent's own fault: what was asked of it last shows it."""
    where = f"seat {fault.seat} lost by {fault.cause}"
    if request is None:
        raise _Wrong("fault", f"{where}, and the last request is not on record")
    if (request.seat, request.ply) != (fault.seat, made):
        raise _Wrong("fault", f"{where}, and seat {request.seat} was asked last, for ply {request.ply}")
    timing = request.timing
    if fault.cause == Cause.ILLEGAL_ACTION:
        shown = request.received
    elif fault.cause == Cause.TIMEOUT:
        shown = overran(control, timing)
    else:
        shown = not request.received and stayed_away(control, request.had(has), timing)
    if not shown:
        answer = "an answer" if request.received else "no answer"
        raise _Wrong(
            "fault",
            f"{where}, which its clock does not show: {answer}, charged {timing.charged_ms} ms of "
            f"{timing.limit_ms} ms, away for {timing.away_ms} ms of {has.grace_ms} ms of grace",
        )
