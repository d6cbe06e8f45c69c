"""A match as spectators see it, from the running match or from the database."""

from datetime import datetime

from agents import protocol
from agents.protocol import MatchView
from games.position import Position
from games.protocol import PUBLIC
from server import wire
from server.core import clock as core_clock
from server.core import match as core
from server.core.standings import PROVISIONAL_GAMES
from server.running_match import RunningMatch


def view_of(
    match: RunningMatch, state: core.Match, monotonic: float, now: datetime, *, closed: bool = False
) -> MatchView:
    """Show a match in a state it is or was in: what everybody may know, and everything when it is over.

    One that is `closed` shows who plays and how it ended, and nothing of what was played.
    """
    result = state.result
    viewer = PUBLIC if result is None else None
    position = Position.start(state.position.game) if closed else state.position
    moves = position.seen_actions(viewer)
    seats = [
        protocol.Seat(
            seat=number,
            agent=seat.name,
            version=seat.version,
            elo=round(seat.elo, 1),
            provisional=seat.games < PROVISIONAL_GAMES,
            outcome=None if result is None else result.outcomes[number].value,
            cause=None if result is None else result.causes[number].value,
            connected=state.connected[number],
            clock=wire.clock(state.terms, core_clock.full(state.terms) if closed else state.clocks[number]),
            last=None if closed else wire.last_move(state.last[number]),
            utility=result.utilities[number] if result and result.utilities and not closed else None,
        )
        for number, seat in enumerate(match.seats)
    ]
    return MatchView(
        id=match.id,
        ladder=match.ladder.name,
        title=match.ladder.title,
        game=match.ladder.game,
        state=state.phase.value,
        ply=position.ply,
        to_move=None if closed else state.to_move,
        players=seats,
        board=position.board(viewer).to_json(),
        position=position.text(viewer),
        move_ms=state.terms.move_ms if closed else state.limit_ms(state.to_move or 0),
        clock_ms=None if closed else _clock_ms(state, monotonic),
        still_ms=0 if closed else state.still_ms(monotonic),
        at=int(now.timestamp() * 1000),
        action=moves[-1] if moves else None,
        moves=list(moves),
        detail=None if result is None or closed else result.detail or None,
        closed=closed,
    )


def _clock_ms(state: core.Match, monotonic: float) -> int | None:
    """Return what the seat to move has left: all of its time while no clock runs."""
    left_ms = state.clock_ms(monotonic)
    return state.limit_ms(state.to_move) if left_ms is None and state.to_move is not None else left_ms
