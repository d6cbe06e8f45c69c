"""A match as the scripts of the pages get it: as spectators see it, with the board of every ply."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import Connection

import games
from agents.protocol import MatchView
from games.position import Position
from games.protocol import CHANCE
from server.db import ladders, reads
from server.http.views import ClockEntry
from server.pages import content
from server.past import past_view


class Replay(msgspec.Struct, frozen=True):
    """A match from its record. `boards` and `positions` are by ply: entry n is after n plies.

    `movers` are the seats of the actions, null where it was chance's, and `times` their milliseconds.
    `verdict` is null before the end, `request` is what was asked when the match ended and became no move, if
    anything. `changes` is what the match did to each seat's rating in Elo, null where it did nothing.
    `replayed_by` is the match that repeats this one, if it was void.
    """

    view: MatchView
    boards: list[dict[str, object]]
    positions: list[str]
    movers: list[int | None]
    times: list[int | None]
    changes: list[float | None]
    verdict: str | None = None
    request: ClockEntry | None = None
    replayed_by: int | None = None


@dataclass(frozen=True)
class MatchPage:
    """A match's page; `verdict` is None before the end, `replayed_by` the match that repeats a void one.

    `position` is the last one, `actions` are what may be seen of the moves.
    """

    match: reads.MatchRow
    position: Position
    actions: Sequence[str]
    movers: Sequence[int | None]
    verdict: str | None
    replayed_by: int | None


def match_page(conn: Connection, number: int) -> MatchPage:
    """Read a match's page. Raises InputError for an unknown one."""
    row = content.match(conn, number)
    moves = reads.moves(conn, number)
    position = Position.start(games.load(row.game), moves=[move.action for move in moves])
    _, verdict = content.ending(row, moves)
    actions = position.seen_actions(row.viewer)
    return MatchPage(row, position, actions, movers(moves), verdict, reads.replay_of_match(conn, number))


def movers(moves: Sequence[reads.MoveRow]) -> list[int | None]:
    """Return who made each move: its seat, None where it was chance."""
    return [None if move.seat == CHANCE else move.seat for move in moves]


def replay(conn: Connection, number: int, only_last: bool = False) -> Replay:
    """Play a match through. Raises InputError for an unknown one."""
    return _replay(conn, content.match(conn, number), only_last)


def recent(conn: Connection, ladder: str | None) -> list[MatchView]:
    """Return the latest finished match of each ladder, then others; of one ladder if it is named."""
    if ladder is not None:
        found = reads.latest_results(conn, content.RECENT, ladder)
    else:
        found = [row for one in ladders.all_ladders(conn) for row in reads.latest_results(conn, 2, one.name)]
        found.sort(key=lambda row: row.id, reverse=True)
        firsts = {row.ladder: row for row in reversed(found)}
        found.sort(key=lambda row: firsts[row.ladder].id != row.id)
    return [_replay(conn, row, only_last=True).view for row in found[: content.RECENT]]


def _replay(conn: Connection, row: reads.MatchRow, only_last: bool) -> Replay:
    moves = reads.moves(conn, row.id)
    request, verdict = content.ending(row, moves)
    positions = _positions(row.game, [move.action for move in moves])
    view = past_view(row, positions[-1], moves)
    shown, viewer = ([] if only_last else positions), row.viewer
    return Replay(
        view,
        boards=[position.board(viewer).to_json() for position in shown],
        positions=[position.text(viewer) for position in shown],
        movers=movers(moves),
        times=[None if move.seat == CHANCE else move.elapsed_ms for move in moves],
        verdict=verdict,
        request=request,
        changes=[None if seat.elo_after is None else seat.elo_after - seat.elo for seat in row.seats],
        replayed_by=reads.replay_of_match(conn, row.id) if row.state == "void" else None,
    )


def _positions(variant: str, moves: Sequence[str]) -> list[Position]:
    positions = [Position.start(games.load(variant))]
    for move in moves:
        positions.append(positions[-1].play(move))
    return positions
