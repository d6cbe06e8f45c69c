"""What a match says to its agents, as wire messages: to each seat no more than it may know."""

from collections.abc import Sequence

from agents import protocol
from server.core import match as core
from server.core.outcome import Result
from server.db.ladders import Ladder


def match_start(
    match_id: int, ladder: Ladder, players: Sequence[protocol.Player], seat: int, match: core.Match
) -> protocol.MatchStart:
    """Announce a match, or all of it so far to an agent that comes back."""
    terms = match.terms
    return protocol.MatchStart(
        match=match_id,
        game=match.position.game.variant,
        ladder=ladder.name,
        seat=seat,
        players=list(players),
        time_control=protocol.TimeControl(terms.move_ms, margin_ms=terms.margin_ms, ready_ms=terms.ready_ms),
        position=match.position.text(seat),
        history=list(match.position.seen_actions(seat)),
    )


def your_move(match_id: int, ask: core.Ask, match: core.Match, now: float) -> protocol.YourMove:
    """Ask a seat for its action; `now` in seconds tells what is left of a clock that runs already."""
    timing = match.last[ask.seat]
    left_ms = match.clock_ms(now)
    return protocol.YourMove(
        match=match_id,
        ply=ask.ply,
        position=match.position.text(ask.seat),
        last_actions=list(match.position.seen_actions(ask.seat)[_since(match.movers, ask.seat) :]),
        legal=match.position.legal(),
        clock=protocol.ClockView(match.terms.move_ms if left_ms is None else left_ms),
        last=None
        if timing is None
        else protocol.LastMove(timing.elapsed_ms, timing.refunded_ms, timing.charged_ms),
    )


def _since(movers: Sequence[int], seat: int) -> int:
    """Return the ply after the seat's last action."""
    ply = len(movers)
    while ply > 0 and movers[ply - 1] != seat:
        ply -= 1
    return ply


def match_end(match_id: int, result: Result) -> protocol.MatchEnd:
    """Tell how a match ended."""
    return protocol.MatchEnd(
        match=match_id,
        outcome=[outcome.value for outcome in result.outcomes],
        cause=[cause.value for cause in result.causes],
        scores=list(result.scores),
        record=f"/api/v1/matches/{match_id}/record",
        detail=result.detail or None,
    )
