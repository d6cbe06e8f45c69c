"""What must be true of recorded moves: the rules of the game allow them, and they lead to the recorded end.

The server writes down the move that ends a game together with the result, in one transaction.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, select

import games
from games.errors import InputError
from games.game import Game
from games.position import Position
from games.protocol import CHANCE
from server.core import seeds
from server.core.outcome import PLAYED_OUT, Cause, by_utilities, forfeit
from server.db.finding import Finding, Findings
from server.db.schema import matches, moves, seats

NEWEST = 2_000
"""Matches that are played again unless all are asked for."""

CHUNK = 500
"""Matches in memory at once."""

_FAULTS_OF_THE_MOVER = frozenset({Cause.TIMEOUT, Cause.ILLEGAL_ACTION, Cause.DISCONNECT})
_FAULTS = _FAULTS_OF_THE_MOVER | {Cause.CRASH, Cause.RESIGNATION}


@dataclass(frozen=True)
class _Record:
    """A match as the database has it: the rows of its seats and moves in their order."""

    match: Row[Any]
    seats: list[Row[Any]]
    moves: list[Row[Any]]

    @property
    def whole(self) -> bool:
        """Whether no move is missing; `doctor.check` tells those that are."""
        return [move.ply for move in self.moves] == list(range(self.match.moves))


def replay(conn: Connection, newest: int | None = NEWEST) -> list[Finding]:
    """Play the newest matches that began once more, all of them if None; return what the rules contradict."""
    loaded: dict[str, Game | None] = {}
    found: list[Finding] = []
    for record in _records(conn, newest):
        variant = record.match.game
        if variant not in loaded:
            try:
                loaded[variant] = games.load(variant)
            except InputError as error:
                loaded[variant] = None  # told once, not for each of its matches
                found.append(Finding("game", f"match {record.match.id} cannot be replayed: {error}"))
        game = loaded[variant]
        if game is not None and record.whole:
            found.extend(_contradictions(game, record))
    return found


def _records(conn: Connection, newest: int | None) -> Iterator[_Record]:
    """Read matches in the order of their ids, some at a time."""
    columns = (matches.c.id, matches.c.game, matches.c.state, matches.c.moves, matches.c.seed)
    query: Select[Any] = select(*columns)
    query = query.where(matches.c.state.in_(("starting", "running", "finished", "void")))
    last = 0
    if newest is not None:
        ids = query.with_only_columns(matches.c.id).order_by(matches.c.id.desc()).limit(newest)
        last = min(conn.execute(ids).scalars(), default=1) - 1
    while chunk := conn.execute(query.where(matches.c.id > last).order_by(matches.c.id).limit(CHUNK)).all():
        first, last = chunk[0].id, chunk[-1].id
        sitting = _by_match(
            conn,
            select(seats.c.match_id, seats.c.seat, seats.c.outcome, seats.c.cause, seats.c.utility)
            .where(seats.c.match_id.between(first, last))
            .order_by(seats.c.match_id, seats.c.seat),
        )
        played = _by_match(
            conn,
            select(moves.c.match_id, moves.c.ply, moves.c.seat, moves.c.action)
            .where(moves.c.match_id.between(first, last))
            .order_by(moves.c.match_id, moves.c.ply),
        )
        for match in chunk:
            yield _Record(match, sitting[match.id], played[match.id])


def _by_match(conn: Connection, query: Select[Any]) -> dict[int, list[Row[Any]]]:
    found: dict[int, list[Row[Any]]] = defaultdict(list)
    for row in conn.execute(query):
        found[row.match_id].append(row)
    return found


def _contradictions(game: Game, record: _Record) -> Findings:
    """Play a match again. Its first bad move is told; what comes after it means nothing."""
    if len(record.seats) != game.players:
        told = f"match {record.match.id} has {len(record.seats)} seats"
        yield Finding("players", f"{told}, and {game.variant} is for {game.players} players")
        return
    position, events = Position.start(game), 0
    for move in record.moves:
        where = f"match {record.match.id}, ply {move.ply}"
        if position.is_terminal():
            yield Finding("after_end", f"{where}: {move.action!r} was recorded, and the game was over")
            return
        if move.seat != position.to_move():
            yield Finding(
                "mover", f"{where} is of seat {move.seat}, and seat {position.to_move()} was to move"
            )
            return
        if move.seat == CHANCE and record.match.seed is not None:
            drawn = seeds.outcome(record.match.seed, events, position.outcomes())
            if move.action != drawn:
                yield Finding(
                    "chance", f"{where}: {move.action!r} is on record, and its seed gives {drawn!r}"
                )
                return
            events += 1
        try:
            position = position.play(move.action)
        except InputError as error:
            yield Finding("illegal", f"{where}: {error}")
            return
    if record.match.state == "finished":
        yield from _contradicted_end(record, position)
    elif position.is_terminal():
        yield Finding("over", f"match {record.match.id} is {record.match.state}, and its game is over")


def _contradicted_end(record: _Record, position: Position) -> Findings:
    """Check a result against the final position.

    The move that ends a game is recorded with its result, so nobody can forfeit a game that is over.
    """
    where = f"match {record.match.id}"
    causes = [seat.cause for seat in record.seats]
    if position.is_terminal():
        if PLAYED_OUT.issuperset(causes):
            yield from _contradicted_utilities(record, position)
        else:
            yield Finding("over", f"{where} was played to its end, with causes {causes}")
        return
    if PLAYED_OUT.issuperset(causes):
        yield Finding("unended", f"{where} has causes {causes}, and its game is not over")
    for seat in record.seats:
        if seat.cause in _FAULTS_OF_THE_MOVER and seat.seat != position.to_move():
            blamed = f"seat {seat.seat} lost by {seat.cause}, and seat {position.to_move()} was to move"
            yield Finding("forfeit", f"{where}, {blamed}")
        elif seat.cause in _FAULTS:
            outcomes = [other.outcome for other in record.seats]
            given = forfeit(len(outcomes), seat.seat, Cause(seat.cause), "").outcomes
            if outcomes != list(given):
                yield Finding(
                    "forfeit", f"{where} has outcomes {outcomes}, by {seat.cause} of seat {seat.seat}"
                )


def _contradicted_utilities(record: _Record, position: Position) -> Findings:
    """Check outcomes, utilities and causes against a position in which the game is over.

    A match of two players may be older than the utilities; `doctor.check` finds a newer one without.
    """
    where = f"match {record.match.id}"
    given = by_utilities(position.utilities(), rule_draw=position.rule_draw())
    outcomes = [seat.outcome for seat in record.seats]
    utilities = [seat.utility for seat in record.seats]
    causes = [seat.cause for seat in record.seats]
    old = len(utilities) == 2 and not any(utility is not None for utility in utilities)
    if outcomes != list(given.outcomes):
        expected = [outcome.value for outcome in given.outcomes]
        yield Finding("utilities", f"{where} has outcomes {outcomes}, its final position gives {expected}")
    elif utilities != list(given.utilities) and not old:
        expected_utilities = list(given.utilities)
        yield Finding(
            "utilities", f"{where} has utilities {utilities}, its final position gives {expected_utilities}"
        )
    elif causes != list(given.causes):
        expected = [cause.value for cause in given.causes]
        yield Finding("rule_draw", f"{where} has causes {causes}, its final position gives {expected}")
