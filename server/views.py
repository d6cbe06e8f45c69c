"""A match as spectators see it, from the running match or from the database."""

from datetime import datetime

from agents import protocol
from agents.protocol import MatchView
from games.protocol import PUBLIC
from server import wire
from server.core import match as core
from server.core.standings import PROVISIONAL_GAMES
from server.running_match import RunningMatch


def view_of(match: RunningMatch, state: core.Match, monotonic: float, now: datetime) -> MatchView:
    """Show a match in a state it is or was in: what everybody may know, and everything when it is over."""
    result = state.result
    viewer = PUBLIC if result is None else None
    moves = state.position.seen_actions(viewer)
    left_ms = state.clock_ms(monotonic)
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
            clock=wire.clock(state.terms, state.clocks[number]),
            last=wire.last_move(state.last[number]),
        )
        for number, seat in enumerate(match.seats)
    ]
    return MatchView(
        id=match.id,
        ladder=match.ladder.name,
        title=match.ladder.title,
        game=match.ladder.game,
        state=state.phase.value,
        ply=state.ply,
        to_move=state.to_move,
        players=seats,
        board=state.position.board(viewer).to_json(),
        position=state.position.text(viewer),
        move_ms=state.limit_ms(state.to_move or 0),
        clock_ms=state.limit_ms(state.to_move) if left_ms is None and state.to_move is not None else left_ms,
        still_ms=state.still_ms(monotonic),
        at=int(now.timestamp() * 1000),
        action=moves[-1] if moves else None,
        moves=list(moves),
        detail=None if result is None else result.detail or None,
    )
