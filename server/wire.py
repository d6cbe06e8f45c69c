"""What a match says to its agents, as wire messages: to each seat no more than it may know."""

from collections.abc import Sequence

from agents import protocol
from server.core import clock as core_clock
from server.core import match as core
from server.core import seeds
from server.core.clock import Clock, Control
from server.core.outcome import Result
from server.db.ladders import Ladder


def match_start(
    match_id: int,
    ladder: Ladder,
    players: Sequence[protocol.Player],
    seat: int,
    match: core.Match,
    seed: str | None,
) -> protocol.MatchStart:
    """Announce a match, or all of it so far to an agent that comes back."""
    return protocol.MatchStart(
        match=match_id,
        game=match.position.game.variant,
        ladder=ladder.name,
        seat=seat,
        players=list(players),
        time_control=time_control(match.terms),
        position=match.position.text(seat),
        history=list(match.position.seen_actions(seat)),
        seed_hash=None if seed is None else seeds.commitment(seed, match_id),
    )


def your_move(match_id: int, ask: core.Ask, match: core.Match, now: float) -> protocol.YourMove:
    """Ask a seat for its action; `now` in seconds tells what is left of a clock that runs already."""
    return protocol.YourMove(
        match=match_id,
        ply=ask.ply,
        position=match.position.text(ask.seat),
        last_actions=list(match.position.seen_actions(ask.seat)[_since(match, ask.seat) :]),
        legal=match.position.legal(),
        clock=clock(match.terms, match.clocks[ask.seat], match.clock_ms(now)),
        last=last_move(match.last[ask.seat]),
    )


def clock(control: Control, has: Clock, left_ms: int | None = None) -> protocol.ClockView:
    """Show what a seat has; `left_ms` is what is left for a move whose clock runs."""
    limit_ms = core_clock.limit_ms(control, has)
    used_ms = 0 if left_ms is None else limit_ms - left_ms
    return protocol.ClockView(
        move_ms=limit_ms - used_ms,
        bank_ms=max(0, has.bank_ms - used_ms),
        increment_ms=control.increment_ms,
        byoyomi_ms=control.byoyomi_ms,
        periods=has.periods,
        strikes=has.strikes,
    )


def last_move(timing: core.Timing | None) -> protocol.LastMove | None:
    """Show how a move was measured."""
    if timing is None:
        return None
    return protocol.LastMove(
        elapsed_ms=timing.elapsed_ms,
        refunded_ms=timing.refunded_ms,
        charged_ms=timing.charged_ms,
        limit_ms=timing.limit_ms,
        round_trip_ms=timing.round_trip_ms,
        lag_ms=timing.lag_ms,
        away_ms=timing.away_ms,
        timed_out=timing.timed_out,
    )


def time_control(terms: core.Terms) -> protocol.TimeControl:
    """Show the time control of a match."""
    return protocol.TimeControl(
        **{field: getattr(terms, field) for field in protocol.TimeControl.__struct_fields__}
    )


def _since(match: core.Match, seat: int) -> int:
    """Return the ply after the seat's last own action; one that was drawn for it, it has not seen."""
    ply = len(match.movers)
    while ply > 0 and (match.movers[ply - 1] != seat or ply - 1 in match.substituted):
        ply -= 1
    return ply


def match_end(match_id: int, result: Result, seed: str | None) -> protocol.MatchEnd:
    """Tell how a match ended, and the seed of its chance if it may be known."""
    return protocol.MatchEnd(
        match=match_id,
        outcome=[outcome.value for outcome in result.outcomes],
        cause=[cause.value for cause in result.causes],
        scores=list(result.scores),
        record=f"/api/v1/matches/{match_id}/record",
        detail=result.detail or None,
        seed=seed,
    )
