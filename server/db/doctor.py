"""What must be true of the data at any moment, whatever was killed when."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row, and_, func, or_, select
from sqlalchemy.exc import DatabaseError

from games.protocol import CHANCE
from server.core import elo
from server.core.names import name_key
from server.core.outcome import PLAYED_OUT, Cause, Outcome, Result
from server.db import doctor_clock
from server.db.doctor_clock import CLOCK_STEP
from server.db.finding import Finding, Findings, grouped
from server.db.schema import agents, ladders, matches, moves, ratings, results, seats, versions

TOLERANCE = 1e-6
"""Elo points by which a rating may differ from its recomputation."""

_RATED_OUTCOMES = frozenset({Outcome.WIN, Outcome.DRAW, Outcome.LOSS})
_RATED_CAUSES = frozenset(Cause) - {Cause.INFRASTRUCTURE}


def check(conn: Connection) -> list[Finding]:
    """Return every broken invariant; an empty list means that all is well.

    Matches may be in play, also while no server runs: the next one takes them up. The tables must be those
    of this code (`upgrade.check`). Moves are held against the rules of their game by `doctor_replay`.
    """
    found = list(_file_is_sound(conn))
    if any(finding.code == "corrupt" for finding in found):
        return found  # nothing else that it says can be trusted
    for invariant in INVARIANTS:
        found.extend(invariant(conn))
    return found


def _file_is_sound(conn: Connection) -> Findings:
    """Ask SQLite for damage and broken references; PostgreSQL guards against both by itself."""
    if conn.dialect.name != "sqlite":
        return
    try:
        for (message,) in conn.exec_driver_sql("PRAGMA quick_check").all():
            if message != "ok":
                yield _corrupt(message)
        for table, row, parent, _ in conn.exec_driver_sql("PRAGMA foreign_key_check").all():
            yield Finding("orphan", f"{table} row {row} refers to a row of {parent} that is not there")
    except DatabaseError as error:
        yield _corrupt(error.orig)


def _corrupt(message: object) -> Finding:
    return Finding("corrupt", f"the database file is damaged: {' '.join(str(message).split())}")


def _one_result_each(conn: Connection) -> Findings:
    """Check that a finished match has one result and every other match none."""
    count = func.count(results.c.seq)
    query = (
        select(matches.c.id, matches.c.state, count.label("results"))
        .outerjoin(results, results.c.match_id == matches.c.id)
        .group_by(matches.c.id, matches.c.state)
        .having(
            (count != 1) & (matches.c.state == "finished") | (count != 0) & (matches.c.state != "finished")
        )
        .order_by(matches.c.id)
    )
    for row in conn.execute(query):
        code = (
            "result_stray"
            if row.state != "finished"
            else "result_doubled"
            if row.results
            else "result_missing"
        )
        yield Finding(code, f"match {row.id} is {row.state} and has {row.results} results")
    elsewhere = (
        select(matches.c.id)
        .join(results, results.c.match_id == matches.c.id)
        .where(results.c.ladder_id != matches.c.ladder_id)
    )
    for match_id in conn.execute(elsewhere).scalars():
        yield Finding("result_ladder", f"the result of match {match_id} is on another ladder")


def _seats_are_whole(conn: Connection) -> Findings:
    """Check seats, outcomes and causes: rated ones if finished, void ones if void, else none."""
    query = select(matches.c.id, matches.c.state, seats).outerjoin(seats, seats.c.match_id == matches.c.id)
    for match_id, rows in grouped(conn, query.order_by(matches.c.id, seats.c.seat)):
        state = rows[0].state
        if len(rows) < 2 or [row.seat for row in rows] != list(range(len(rows))):
            yield Finding("seats", f"match {match_id} has the seats {[row.seat for row in rows]}")
        elif state == "finished":
            yield from _finished_seats(match_id, rows)
        elif any(row.elo_after is not None or row.elo_before is not None for row in rows):
            yield Finding("rated", f"match {match_id} is {state}, yet a seat has a new rating")
        elif {row.outcome for row in rows} != ({"void"} if state == "void" else {None}):
            yield Finding(
                "outcome", f"match {match_id} is {state}, with outcomes {[row.outcome for row in rows]}"
            )
        elif any((row.cause is None) == (state == "void") for row in rows):
            yield Finding("cause", f"match {match_id} is {state}, with causes {[row.cause for row in rows]}")
        elif any(row.utility is not None for row in rows):
            yield Finding("utility", f"match {match_id} is {state}, yet a seat has a utility")


def _finished_seats(match_id: int, rows: list[Row[Any]]) -> Findings:
    """Check that one seat alone has won or several have drawn, as the utilities say if there are any."""
    outcomes, causes = [row.outcome for row in rows], [row.cause for row in rows]
    rated = tuple(Outcome(outcome) for outcome in outcomes if outcome in _RATED_OUTCOMES)
    sound = len(rated) == len(rows) and Result(rated, ()).sound
    if not sound:
        yield Finding("outcome", f"match {match_id} is finished, with outcomes {outcomes}")
    if any(cause not in _RATED_CAUSES for cause in causes):
        yield Finding("cause", f"match {match_id} is finished, with causes {causes}")
    utilities = tuple(row.utility for row in rows if row.utility is not None)
    if sound and utilities:
        whole = len(utilities) == len(rows) and PLAYED_OUT.issuperset(causes)
        if not whole or not Result(rated, (), utilities=utilities).sound:
            ended = f"has outcomes {outcomes} and causes {causes}"
            shown = [row.utility for row in rows]
            yield Finding("utility", f"match {match_id} {ended}, with utilities {shown}")


def _utilities_are_written(conn: Connection) -> Findings:
    """Check that games played to their end have utilities: all since the first that has them, by result."""
    first = (
        select(func.min(results.c.seq))
        .join(seats, seats.c.match_id == results.c.match_id)
        .where(seats.c.utility.is_not(None))
        .scalar_subquery()
    )
    without = (
        select(results.c.match_id)
        .join(seats, seats.c.match_id == results.c.match_id)
        .where(results.c.seq > first)
        .group_by(results.c.match_id)
        .having(func.count(seats.c.utility) == 0)
        .having(func.count().filter(seats.c.cause.not_in(PLAYED_OUT)) == 0)
    )
    for match_id in conn.execute(without.order_by(results.c.match_id)).scalars():
        yield Finding("utility_missing", f"match {match_id} was played to its end and has no utilities")


def _moves_are_whole(conn: Connection) -> Findings:
    """Check that plies count from 0 without a gap, and that the match knows how many there are."""
    rows, first, last = func.count(moves.c.ply), func.min(moves.c.ply), func.max(moves.c.ply)
    query = (
        select(matches.c.id, matches.c.moves, rows.label("rows"), first.label("first"), last.label("last"))
        .outerjoin(moves, moves.c.match_id == matches.c.id)
        .group_by(matches.c.id, matches.c.moves)
        .having(or_(rows != matches.c.moves, last != rows - 1, first != 0))
        .order_by(matches.c.id)
    )
    for row in conn.execute(query):
        if row.rows != row.moves:
            yield Finding("moves", f"match {row.id} counts {row.moves} moves and has {row.rows}")
        if row.rows and (row.first != 0 or row.last != row.rows - 1):
            yield Finding(
                "plies", f"match {row.id} has {row.rows} moves with plies from {row.first} to {row.last}"
            )


def _moves_are_of_seats(conn: Connection) -> Findings:
    """Check that a move is of a seat of its match, or of chance and took no time."""
    query = (
        select(moves.c.match_id, moves.c.ply, moves.c.seat, moves.c.elapsed_ms)
        .outerjoin(seats, (seats.c.match_id == moves.c.match_id) & (seats.c.seat == moves.c.seat))
        .where(seats.c.seat.is_(None), or_(moves.c.seat != CHANCE, moves.c.elapsed_ms != 0))
        .order_by(moves.c.match_id, moves.c.ply)
    )
    for match_id, rows in grouped(conn, query):
        row = rows[0]
        yield Finding(
            "move_seat",
            f"match {match_id}, ply {row.ply} is of seat {row.seat} and took {row.elapsed_ms} ms "
            f"({len(rows)} such moves in this match)",
        )


def _attempts_are_counted(conn: Connection) -> Findings:
    """Check that a match was taken up if its state says so, and resumed if it starts with moves."""
    state, attempt, lease = matches.c.state, matches.c.attempt, matches.c.lease
    query = select(matches.c.id, state, attempt, lease, matches.c.moves).where(
        or_(
            and_(state == "queued", or_(attempt != 0, lease.is_not(None))),
            and_(state.in_(("starting", "running", "finished")), or_(attempt < 1, lease.is_(None))),
            and_(state == "starting", attempt == 1, matches.c.moves > 0),
        )
    )
    for row in conn.execute(query.order_by(matches.c.id)):
        yield Finding(
            "attempt",
            f"match {row.id} is {row.state} with {row.moves} moves, attempt {row.attempt}, lease {row.lease}",
        )


def _times_are_in_order(conn: Connection) -> Findings:
    """Check that a match has begun and ended when its state says so, and in this order."""
    state, started, finished = matches.c.state, matches.c.started_at, matches.c.finished_at
    over = state.in_(("finished", "void"))
    query = select(matches.c.id, state, started, finished).where(
        or_(
            and_(over, finished.is_(None)),
            and_(~over, finished.is_not(None)),
            and_(state.in_(("starting", "running", "finished")), started.is_(None)),
            and_(state == "queued", started.is_not(None)),
            started > finished,
        )
    )
    for row in conn.execute(query.order_by(matches.c.id)):
        both = row.started_at and row.finished_at
        if not both or row.state == "queued" or row.started_at - row.finished_at > CLOCK_STEP:
            yield Finding(
                "times",
                f"match {row.id} is {row.state}, started {row.started_at or 'never'}, "
                f"finished {row.finished_at or 'never'}",
            )


def _void_is_explained(conn: Connection) -> Findings:
    """Check that a void match says why, and that one whose play was broken off was queued again.

    One that ended before its first move may not have begun, and then the ladder pairs its agents again.
    """
    void = select(matches.c.id, matches.c.moves).where(matches.c.state == "void").order_by(matches.c.id)
    for row in conn.execute(void.where(func.coalesce(matches.c.detail, "") == "")):
        yield Finding("detail", f"match {row.id} is void and does not say why")
    again = matches.alias("again")
    query = void.outerjoin(again, again.c.replay_of == matches.c.id)
    for row in conn.execute(query.where(again.c.id.is_(None), matches.c.moves > 0)):
        yield Finding("replay", f"match {row.id} is void after {row.moves} moves and was not queued again")


def _names_are_found(conn: Connection) -> Findings:
    """Check that an agent is looked up by the key of its name."""
    for row in conn.execute(select(agents.c.id, agents.c.name, agents.c.name_key).order_by(agents.c.id)):
        if row.name_key != name_key(row.name):
            yield Finding("name_key", f"agent {row.id}, {row.name!r}, has the key {row.name_key!r}")


def _starts_are_given(conn: Connection) -> Findings:
    """Check that a rating begins at 1500 unless an ancestor was rated on the ladder."""
    own = select(ratings.c.ladder_id, ratings.c.version_id, ratings.c.start_elo)
    unusual = conn.execute(
        own.where(ratings.c.start_elo != elo.START).order_by(ratings.c.ladder_id, ratings.c.version_id)
    ).all()
    if not unusual:
        return
    parents = {row.id: row.parent_id for row in conn.execute(select(versions.c.id, versions.c.parent_id))}
    rated = {(row.ladder_id, row.version_id) for row in conn.execute(own)}
    for row in unusual:
        if not any((row.ladder_id, ancestor) in rated for ancestor in _ancestors(row.version_id, parents)):
            yield Finding(
                "start_elo",
                f"version {row.version_id} on ladder {row.ladder_id} began at {row.start_elo}, "
                f"and no ancestor is rated there: expected {elo.START}",
            )


def _ancestors(version_id: int, parents: dict[int, int | None]) -> set[int]:
    """Find the versions before one; damaged data may go round in circles."""
    found: set[int] = set()
    parent = parents.get(version_id)
    while parent is not None and parent not in found | {version_id}:
        found.add(parent)
        parent = parents.get(parent)
    return found


def _ratings_follow_results(conn: Connection) -> Findings:
    """Check that ratings and counters are what the results, rated anew in their order, give."""
    for ladder in conn.execute(select(ladders.c.id, ladders.c.name)).all():
        stored = conn.execute(select(ratings).where(ratings.c.ladder_id == ladder.id)).all()
        entries = {row.version_id: elo.Entry(row.start_elo, 0) for row in stored}
        record: Counter[tuple[int, str]] = Counter()
        yield from _rate_anew(conn, ladder, entries, record)
        for row in stored:
            entry = entries[row.version_id]
            where = f"version {row.version_id} on {ladder.name}"
            if abs(row.elo - entry.elo) > TOLERANCE:
                yield Finding("rating", f"{where} is rated {row.elo:.6f}, its results give {entry.elo:.6f}")
            counted = (row.games, row.wins, row.draws, row.losses)
            given = tuple(record[row.version_id, outcome] for outcome in ("win", "draw", "loss"))
            if counted != (sum(given), *given):
                yield Finding(
                    "counters", f"{where} counts {counted}, its results give {(sum(given), *given)}"
                )


def _rate_anew(
    conn: Connection, ladder: Row[Any, Any], entries: dict[int, elo.Entry], record: Counter[tuple[int, str]]
) -> Findings:
    """Fold a ladder's results into `entries` and `record` as `elo.recompute` does, looking at every step.

    Of the seats with a wrong rating only the first is reported: those after it are wrong because of it.
    """
    told = False
    query = (
        select(results.c.match_id, results.c.seq, seats)
        .join(seats, seats.c.match_id == results.c.match_id)
        .where(results.c.ladder_id == ladder.id)
        .order_by(results.c.seq, seats.c.seat)
    )
    for match_id, rows in grouped(conn, query):
        missing = [row.version_id for row in rows if row.version_id not in entries]
        if missing:
            yield Finding("unrated", f"match {match_id}: versions {missing} have no rating on {ladder.name}")
        if missing or len(rows) < 2 or not _RATED_OUTCOMES.issuperset(row.outcome for row in rows):
            continue
        before = [entries[row.version_id] for row in rows]
        after = elo.update(before, _scores(rows))
        for row, old, new in zip(rows, before, after, strict=True):
            entries[row.version_id] = elo.Entry(new, old.games + 1)
            record[row.version_id, row.outcome] += 1
            if not told and not (_near(row.elo_before, old.elo) and _near(row.elo_after, new)):
                told = True
                shown = f"{row.elo_before} -> {row.elo_after}"
                yield Finding(
                    "seat_elo",
                    f"match {match_id}, seat {row.seat} says {shown}, results give {old.elo} -> {new}",
                )


def _scores(rows: list[Row[Any]]) -> list[float]:
    """Return the scores of a result, by its utilities, or by its outcomes where there are none."""
    outcomes = tuple(Outcome(row.outcome) for row in rows)
    utilities = tuple(row.utility for row in rows if row.utility is not None)
    whole = utilities if len(utilities) == len(rows) else ()
    return [score for score in Result(outcomes, (), utilities=whole).scores if score is not None]


INVARIANTS: tuple[Callable[[Connection], Findings], ...] = (
    _one_result_each,
    _seats_are_whole,
    _utilities_are_written,
    _moves_are_whole,
    _moves_are_of_seats,
    doctor_clock.moves_took_their_time,
    doctor_clock.clocks_are_fair,
    _attempts_are_counted,
    _times_are_in_order,
    _void_is_explained,
    _names_are_found,
    _starts_are_given,
    _ratings_follow_results,
)


def _near(stored: float | None, given: float) -> bool:
    return stored is not None and abs(stored - given) <= TOLERANCE
