"""Matches in the database, as spectators see them."""

from typing import Literal, cast

import games
from agents import protocol
from games.position import Position
from server.db import reads
from server.db.engine import Database
from server.db.rows import MatchRow, SeatRow

_STATES: dict[str, Literal["starting", "running", "finished", "void"]] = {
    "queued": "starting",
    "starting": "starting",
    "running": "running",
    "finished": "finished",
    "void": "void",
}
"""States as spectators know them: a match that waits for its turn has not started either."""


async def past_snapshot(db: Database, match_id: int) -> bytes | None:
    """Return the encoded snapshot of a match from the database; None if there is none of that id."""
    if not 0 < match_id < 2**31:
        return None
    row = await db.read(reads.match, match_id)
    if row is None:
        return None
    moves = await db.read(reads.moves, match_id)
    position = Position.start(games.load(row.game), moves=[move.action for move in moves])
    return protocol.encode(protocol.Snapshot(f"match:{match_id}", 0, [past_view(row, position)]))


def past_view(row: MatchRow, position: Position) -> protocol.MatchView:
    """Show a match whose moves so far led to `position`."""
    state = _STATES[row.state]
    waits = state in {"finished", "void"} or position.is_terminal()
    return protocol.MatchView(
        id=row.id,
        ladder=row.ladder,
        title=row.title,
        game=row.game,
        state=state,
        ply=position.ply,
        to_move=None if waits else position.to_move(),
        players=[_seat(seat) for seat in row.seats],
        board=position.board().to_json(),
        position=position.text(),
        move_ms=int(row.time_control["move_ms"]),
        action=position.actions[-1] if position.actions else None,
        moves=list(position.actions),
        detail=row.detail,
    )


def _seat(seat: SeatRow) -> protocol.Seat:
    return protocol.Seat(
        seat=seat.seat,
        agent=seat.agent,
        version=seat.version,
        elo=round(seat.elo, 1),
        provisional=seat.provisional,
        outcome=cast("protocol.Outcome | None", seat.outcome),
        cause=cast("protocol.Cause | None", seat.cause),
    )
