"""Matches in the database, as spectators see them."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import cast

import msgspec
from sqlalchemy import Connection

import games
from agents import protocol
from games.position import Position
from games.protocol import CHANCE
from server import wire
from server.core.clock import limit_ms, replay
from server.db import reads
from server.db.engine import Database
from server.db.records import MoveRow
from server.db.rows import MatchRow, SeatRow

KEPT = 256


class Past:
    """Matches that spectators look up in the database; those that are over are kept at hand."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._kept: OrderedDict[int, bytes] = OrderedDict()

    async def snapshot(self, match_id: int) -> bytes | None:
        """Return the encoded snapshot of a match; None if there is none of that id."""
        if match_id in self._kept:
            return self._kept[match_id]
        found = await self._db.read(_snapshot, match_id)
        if found is None:
            return None
        encoded, final = found
        if final:
            self._kept[match_id] = encoded
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return encoded


def _snapshot(conn: Connection, match_id: int) -> tuple[bytes, bool] | None:
    """Play the match through, in a reading thread; also say whether it will stay as it is."""
    row = reads.match(conn, match_id)
    if row is None:
        return None
    played = reads.moves(conn, match_id)
    position = Position.start(games.load(row.game), moves=[move.action for move in played])
    view = past_view(row, position, played)
    return protocol.encode(protocol.Snapshot(f"match:{match_id}", 0, [view])), row.over and not row.closed


def past_view(row: MatchRow, position: Position, played: Sequence[MoveRow]) -> protocol.MatchView:
    """Show a match whose moves so far led to `position`: what its viewer may know."""
    control = msgspec.convert(row.time_control, protocol.TimeControl)
    timings = [(move.seat, move.timing) for move in played if move.seat != CHANCE]
    clocks = replay(control, len(row.seats), timings)
    last = dict(timings)
    viewer = row.viewer
    moves = position.seen_actions(viewer)
    in_play = row.state in {"starting", "running"} and not row.closed and not position.is_terminal()
    plays = in_play and position.to_move() != CHANCE
    return protocol.MatchView(
        id=row.id,
        ladder=row.ladder,
        title=row.title,
        game=row.game,
        state=cast("protocol.State", row.state),
        ply=position.ply,
        to_move=position.to_move() if plays else None,
        players=[
            _seat(seat, wire.clock(control, clocks[seat.seat]), wire.last_move(last.get(seat.seat)))
            for seat in row.seats
        ],
        board=position.board(viewer).to_json(),
        position=position.text(viewer),
        move_ms=limit_ms(control, clocks[position.to_move() if plays else 0]),
        action=moves[-1] if moves else None,
        moves=list(moves),
        detail=row.detail,
        closed=row.closed,
    )


def _seat(seat: SeatRow, clock: protocol.ClockView, last: protocol.LastMove | None) -> protocol.Seat:
    return protocol.Seat(
        seat=seat.seat,
        agent=seat.agent,
        version=seat.version,
        elo=round(seat.elo, 1),
        provisional=seat.provisional,
        outcome=cast("protocol.Outcome | None", seat.outcome),
        cause=cast("protocol.Cause | None", seat.cause),
        clock=clock,
        last=last,
        utility=seat.utility,
    )
