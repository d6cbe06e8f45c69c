"""The moves and results of matches, written many at a time as `writer` says: all of a call or none.

The statements are made once; their parameters have names that no column of the table has.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, bindparam, insert, or_, select, update

from server.core import elo
from server.core.match_events import Timing
from server.core.outcome import PLAYED_OUT, Cause, Outcome, Result
from server.db.schema import matches, moves, ratings, results, seats


class Stale(RuntimeError):  # noqa: N818 - a word of the domain: the caller's view is out of date
    """The match is not in the state or the attempt that a change belongs to. Nothing was changed."""


class MoveRow(NamedTuple):
    """A recorded move. Plies count from 0; how it was timed is as in `server.core.Timing`.

    `limit_ms` is None where there was none: of a chance outcome, and of an old record.
    """

    ply: int
    seat: int
    action: str
    elapsed_ms: int
    charged_ms: int
    info: dict[str, Any] | None
    received_at: datetime
    waited_ms: int = 0
    round_trip_ms: float | None = None
    lag_ms: int = 0
    away_ms: int = 0
    limit_ms: int | None = None
    timed_out: bool = False

    @property
    def timing(self) -> Timing:
        """How it was timed; an old record has no limit, which is 0 then."""
        return Timing(
            elapsed_ms=self.elapsed_ms,
            refunded_ms=self.elapsed_ms - self.charged_ms,
            charged_ms=self.charged_ms,
            limit_ms=self.limit_ms or 0,
            waited_ms=self.waited_ms,
            round_trip_ms=self.round_trip_ms,
            lag_ms=self.lag_ms,
            away_ms=self.away_ms,
            timed_out=self.timed_out,
        )


def move_row(row: Row[Any]) -> MoveRow:
    """Read a row of the table."""
    return MoveRow(
        row.ply,
        row.seat,
        row.action,
        row.elapsed_ms,
        row.charged_ms,
        None if row.info is None else msgspec.json.decode(row.info),
        row.received_at,
        row.waited_ms,
        row.round_trip_ms,
        row.lag_ms,
        row.away_ms,
        row.limit_ms,
        row.timed_out,
    )


class SeatResult(NamedTuple):
    """What a seat got, why, its score as in `server.core.outcome.Result`, and its utility, if it has one."""

    outcome: str
    cause: str
    score: float
    utility: float | None = None


class Played(NamedTuple):
    """Moves of a running match in their order; it waits for the first of them."""

    match_id: int
    attempt: int
    moves: Sequence[MoveRow]


class Ended(NamedTuple):
    """A match that is over: what each seat got; `last` are the moves that have not been recorded before.

    `request` is what was asked and not answered as it should have been, as in `rows.MatchRow`.
    """

    match_id: int
    attempt: int
    by_seat: Sequence[SeatResult]
    detail: str | None
    now: datetime
    last: Sequence[MoveRow] = ()
    request: Mapping[str, Any] | None = None


class _Rated(NamedTuple):
    """What has a rating."""

    ladder_id: int
    version_id: int


_COUNT_MOVES = (
    update(matches)
    .where(matches.c.id == bindparam("match"), matches.c.attempt == bindparam("of_attempt"))
    .where(matches.c.state == "running", matches.c.moves == bindparam("ply"))
    .values(moves=bindparam("following"))
)
_INSERT_MOVES = insert(moves)
_END = (
    update(matches)
    .where(matches.c.id == bindparam("match"), matches.c.attempt == bindparam("of_attempt"))
    .where(or_(matches.c.state == "starting", matches.c.state == "running"))
    .values(
        state=bindparam("end"),
        detail=bindparam("why"),
        finished_at=bindparam("at"),
        last_request=bindparam("request"),
    )
)
_SITTING = (
    select(seats.c.match_id, matches.c.ladder_id, seats.c.version_id, ratings.c.elo, ratings.c.games)
    .join(matches, matches.c.id == seats.c.match_id)
    .join(
        ratings, (ratings.c.version_id == seats.c.version_id) & (ratings.c.ladder_id == matches.c.ladder_id)
    )
    .where(seats.c.match_id.in_(bindparam("matches", expanding=True)))
    .order_by(seats.c.match_id, seats.c.seat)
)
_INSERT_RESULTS = insert(results)
_RATE = (
    update(ratings)
    .where(ratings.c.ladder_id == bindparam("ladder"), ratings.c.version_id == bindparam("version"))
    .values(
        elo=bindparam("now"),
        games=ratings.c.games + bindparam("played"),
        wins=ratings.c.wins + bindparam("win"),
        draws=ratings.c.draws + bindparam("draw"),
        losses=ratings.c.losses + bindparam("loss"),
    )
)
_END_SEAT = (
    update(seats)
    .where(seats.c.match_id == bindparam("match"), seats.c.seat == bindparam("number"))
    .values(
        outcome=bindparam("got"),
        cause=bindparam("why"),
        elo_before=bindparam("before"),
        elo_after=bindparam("after"),
        utility=bindparam("value"),
    )
)


def record_moves(conn: Connection, played: Sequence[Played]) -> list[None]:
    """Write down the next moves of running matches."""
    rows = []
    for match_id, _, row in played:
        for ply, move in enumerate(row, row[0].ply):
            if move.ply != ply:
                raise ValueError(f"match {match_id}: expected ply {ply}, got {move.ply}")
            rows.append({**move._asdict(), "match_id": match_id, "info": _json(move.info)})
    counted = conn.execute(
        _COUNT_MOVES,
        [
            {
                "match": match_id,
                "of_attempt": attempt,
                "ply": row[0].ply,
                "following": row[0].ply + len(row),
            }
            for match_id, attempt, row in played
        ],
    )
    if counted.rowcount != len(played):
        raise Stale(f"{_named(played)}: not waiting for these moves")
    conn.execute(_INSERT_MOVES, rows)
    return [None] * len(played)


def finish_all(conn: Connection, ended: Sequence[Ended]) -> list[list[float]]:
    """Write results: states, outcomes, result rows, ratings and counters. Return each one's new Elos by seat.

    Ratings move from where they are now, not from where they were when a match began. Raises `Stale` if
    one is over or taken up by another attempt.
    """
    scores = [_scores(match) for match in ended]
    last = [Played(match.match_id, match.attempt, match.last) for match in ended if match.last]
    if last:
        record_moves(conn, last)
    _end(conn, "finished", ended)
    sitting: dict[int, list[Any]] = defaultdict(list)
    for row in conn.execute(_SITTING, {"matches": [match.match_id for match in ended]}):
        sitting[row.match_id].append(row)
    rated: dict[_Rated, elo.Entry] = {}
    counted: dict[_Rated, Counter[str]] = defaultdict(Counter)
    result_rows, seat_rows, answers = [], [], []
    for match, score in zip(ended, scores, strict=True):
        rows = sitting[match.match_id]
        if len(rows) != len(score):
            raise ValueError(f"match {match.match_id} has {len(rows)} rated seats, not {len(score)}")
        who = [_Rated(row.ladder_id, row.version_id) for row in rows]
        before = [rated.get(key) or elo.Entry(row.elo, row.games) for key, row in zip(who, rows, strict=True)]
        after = elo.update(before, score)
        for number, (key, seat) in enumerate(zip(who, match.by_seat, strict=True)):
            rated[key] = elo.Entry(after[number], before[number].games + 1)
            counted[key][seat.outcome] += 1
            seat_rows.append(_seat_row(match.match_id, number, seat, before[number].elo, after[number]))
        result_rows.append(
            {"match_id": match.match_id, "ladder_id": who[0].ladder_id, "finished_at": match.now}
        )
        answers.append(list(after))
    conn.execute(_INSERT_RESULTS, result_rows)
    conn.execute(_RATE, [_rating_row(key, entry.elo, counted[key]) for key, entry in rated.items()])
    conn.execute(_END_SEAT, seat_rows)
    return answers


def end_void(conn: Connection, match: Ended) -> None:
    """End a match that counts for nobody."""
    _end(conn, "void", [match])
    rows = [_seat_row(match.match_id, number, seat) for number, seat in enumerate(match.by_seat)]
    conn.execute(_END_SEAT, rows)


def _end(conn: Connection, state: str, ended: Sequence[Ended]) -> None:
    """Close matches that are being played; the one place that guards an end."""
    closed = conn.execute(
        _END,
        [
            {"match": match.match_id, "of_attempt": match.attempt, "end": state}
            | {"why": match.detail, "at": match.now, "request": _json(match.request)}
            for match in ended
        ],
    )
    if closed.rowcount != len(ended):
        raise Stale(f"{_named(ended)}: not being played")


def _scores(match: Ended) -> list[float]:
    """Return the scores by seat of a result that makes sense."""
    outcomes = tuple(Outcome(seat.outcome) for seat in match.by_seat)
    causes = tuple(Cause(seat.cause) for seat in match.by_seat)
    scores = [seat.score for seat in match.by_seat]
    utilities = tuple(seat.utility for seat in match.by_seat if seat.utility is not None)
    result = Result(outcomes, causes, utilities=utilities)
    whole = not utilities or (len(utilities) == len(scores) and PLAYED_OUT.issuperset(causes))
    if len(scores) < 2 or not whole or not result.sound or scores != list(result.scores):
        given = f"{outcomes} by {causes} with scores {scores} and utilities {utilities}"
        raise ValueError(f"match {match.match_id} cannot be rated: {given}")
    return scores


def _rating_row(rated: _Rated, now: float, counted: Mapping[str, int]) -> dict[str, Any]:
    by_outcome = {outcome.value: counted[outcome] for outcome in (Outcome.WIN, Outcome.DRAW, Outcome.LOSS)}
    return {
        "ladder": rated.ladder_id,
        "version": rated.version_id,
        "now": now,
        "played": sum(by_outcome.values()),
        **by_outcome,
    }


def _seat_row(
    match_id: int, number: int, seat: SeatResult, before: float | None = None, after: float | None = None
) -> dict[str, Any]:
    got, why = Outcome(seat.outcome).value, Cause(seat.cause).value
    return {
        "match": match_id,
        "number": number,
        "got": got,
        "why": why,
        "before": before,
        "after": after,
        "value": seat.utility,
    }


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def _named(changes: Sequence[Played] | Sequence[Ended]) -> str:
    return ", ".join(f"match {change.match_id}, attempt {change.attempt}" for change in changes)
