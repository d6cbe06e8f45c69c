"""The open request of a match, timed: by when it must be answered, and what of the time is charged."""

from msgspec.structs import replace

from server.core.clock import allowance_ms, timed
from server.core.match_events import Timing
from server.core.match_state import Match, Open

ABSENT_S = 60.0
"""An agent without a connection is waited for no longer, beside its grace, however much time it has."""

ROUNDING_MS = 1e-4
"""0.18 s is 180 ms, although a difference of two floats may say a little less."""


def deadline(match: Match) -> float:
    """Return by when the open request must be answered: its limit, and all that is added to it."""
    request, clock = _request(match), match.clocks[match.position.to_move()]
    grace_ms = min(request.away_ms, clock.grace_ms)
    trip_ms = allowance_ms(clock, request.round_trip_ms)
    added_ms = match.terms.margin_ms + trip_ms + grace_ms + request.kept_ms
    at = request.at + (request.limit_ms + added_ms) / 1000
    if request.lost_at is None:
        return at
    # Where no clock runs, an absent agent would be waited for as long as one that thinks.
    absent = min(at, request.lost_at + ABSENT_S) if timed(match.terms) else request.lost_at
    return absent + (clock.grace_ms - grace_ms) / 1000


def timing(match: Match, at: float, lag_s: float = 0.0) -> Timing:
    """Measure the open request up to `at`; server.core.clock has the formula."""
    request, clock = _request(match), match.clocks[match.position.to_move()]
    elapsed_ms = ms(at - request.at)
    absent_ms = request.away_ms + (0 if request.lost_at is None else ms(at - request.lost_at))
    lag_ms = min(elapsed_ms, ms(lag_s) + request.kept_ms)
    away_ms = min(elapsed_ms - lag_ms, absent_ms, clock.grace_ms)
    trip_ms = min(elapsed_ms - lag_ms - away_ms, allowance_ms(clock, request.round_trip_ms))
    refunded_ms = lag_ms + away_ms + trip_ms
    return Timing(
        elapsed_ms=elapsed_ms,
        refunded_ms=refunded_ms,
        charged_ms=elapsed_ms - refunded_ms,
        limit_ms=request.limit_ms,
        waited_ms=request.waited_ms,
        round_trip_ms=request.round_trip_ms,
        lag_ms=lag_ms,
        away_ms=away_ms,
    )


def returned(request: Open, at: float, kept_s: float) -> Open:
    """End the absence of the seat that was asked, which the server kept away for the last `kept_s` of it."""
    assert request.lost_at is not None, "whoever returns was away"
    absent_ms = ms(at - request.lost_at)
    kept_ms = min(absent_ms, ms(kept_s), max(0, round(ABSENT_S * 1000) - request.kept_ms))
    return replace(
        request,
        lost_at=None,
        away_ms=request.away_ms + absent_ms - kept_ms,
        kept_ms=request.kept_ms + kept_ms,
    )


def ms(seconds: float) -> int:
    """Return whole milliseconds; none before a beginning."""
    return max(0, int(seconds * 1000 + ROUNDING_MS))


def _request(match: Match) -> Open:
    assert match.open is not None, "only an open request is timed"
    return match.open
