"""Why a match ended as it did, in a sentence for people, from its clock trace.

The trace decides what is said, not the cause alone: where it does not show that an agent used up its time,
the sentence says so and blames nobody. Seats are counted from 1, as on the pages, and plies from 0, as in all
messages.
"""

from collections.abc import Sequence

from msgspec import Struct

from server.core import clock, fault
from server.core.fault import Control
from server.core.match_events import Timing
from server.core.outcome import Cause, Outcome

NOBODY = "counts for nobody"


class Request(Struct, frozen=True):
    """A request of the trace. `received` says that an answer came, `counted` that it became a move.

    A `limit_ms` of 0 in the timing says that the limit was not recorded.
    """

    ply: int
    seat: int
    timing: Timing
    received: bool = True
    counted: bool = True


class Case(Struct, frozen=True):
    """A match to be judged: names, outcomes and causes by seat (None before the end), and its requests.

    `restarts` counts how often the server was started anew while it was played.
    """

    state: str
    agents: Sequence[str]
    outcomes: Sequence[str | None]
    causes: Sequence[str | None]
    control: Control
    trace: Sequence[Request]
    detail: str | None = None
    restarts: int = 0


def verdict(case: Case) -> str:
    """Return the sentence."""
    if case.state == "void":
        return _void(case)
    if case.state != "finished":
        begun = case.state == "running" or len(case.trace) > 0
        return f"Not over yet; {_server(case)}." if begun else "Not begun: no clock has run yet."
    loser = next((seat for seat in range(len(case.agents)) if _at_fault(case, seat)), None)
    if loser is None:
        return f"{_played_out(case)}; {_server(case)}."
    cause = Cause(case.causes[loser] or Cause.NORMAL)
    if cause not in _HOW:
        return _on_time(case, loser)
    return f"{_seat(case, loser)} {_HOW[cause]} at ply {_last_ply(case)}; {_server(case)}."


_HOW = {
    Cause.ILLEGAL_ACTION: "lost by an illegal action",
    Cause.CRASH: "lost by a crash of its own code",
    Cause.RESIGNATION: "resigned",
}


def _at_fault(case: Case, seat: int) -> bool:
    """Whether a seat lost by what it did or did not do, not by the rules of the game."""
    faults = {Cause.TIMEOUT, Cause.DISCONNECT, *_HOW}
    return case.outcomes[seat] == Outcome.LOSS and case.causes[seat] in faults


# ends -------------------------------------------------------------------------------------------------


def _played_out(case: Case) -> str:
    """Say who won a match that no fault ended."""
    causes = {cause for cause in case.causes if cause is not None}
    by = next((how for cause, how in _DRAWN_BY.items() if cause in causes), "by the rules of the game")
    first = [seat for seat, outcome in enumerate(case.outcomes) if outcome in {Outcome.WIN, Outcome.DRAW}]
    if Outcome.WIN in case.outcomes:
        return f"{_seats(case, first)} won {by}, not by the clock"
    if Outcome.LOSS in case.outcomes:
        return f"{_seats(case, first)} share first place {by}, not by the clock"
    return f"Drawn {by}, not by the clock"


_DRAWN_BY = {
    Cause.ADJUDICATION: "by adjudication",
    Cause.AGREEMENT: "by agreement",
    Cause.RULE_DRAW: "by a rule of the game, such as one on repetition",
}


def _void(case: Case) -> str:
    """Say why a match counts for nobody, and that its open request does not either."""
    absent = [seat for seat, cause in enumerate(case.causes) if cause == Cause.NO_SHOW]
    why = (case.detail or "a fault of the server").removesuffix(f"; {NOBODY}")
    if absent:
        who = _seats(case, absent)
        why = f"{who[0].lower()}{who[1:]} did not show up{f' ({case.detail})' if case.detail else ''}"
    request = _open_at_the_end(case)
    if request is None:
        return f"Counts for nobody: {why}."
    waited = f"the {_ms(request.timing.elapsed_ms)} that ply {request.ply} was open are charged to nobody"
    return f"Counts for nobody: {why}; {waited}."


def _on_time(case: Case, seat: int) -> str:
    """Say by how much a seat overran its time, or that it did not."""
    who, request = _seat(case, seat), _open_at_the_end(case)
    away = case.causes[seat] == Cause.DISCONNECT
    how = f"{who} {'lost by a lost connection' if away else 'lost on time'}"
    if request is None:
        told = f" ({case.detail})" if case.detail else ""
        return f"{how} at ply {_last_ply(case)}{told}; how it was timed is not on record."
    timing = request.timing
    how += f" at ply {request.ply}{_after_strikes(case)}"
    charged = f"{_ms(timing.charged_ms)} charged of {_limit(case.control, request)}"
    if not request.received:  # its time was up at the end of the margin, so nothing is over it
        charged = f"no answer came, {_ms(timing.charged_ms)} of {_limit(case.control, request)} were used up"
    refunds = f"{_refunds(timing)}{_restarts(case)}"
    if fault.overran(case.control, timing):
        return f"{how}: {charged}; {refunds}."
    if away:  # it is not waited for to the end of a long limit, nor where no clock runs
        return f"{how}: no answer came in {_ms(timing.elapsed_ms)}, and it was not back; {refunds}."
    return (
        f"{who} was given a loss on time at ply {request.ply} that its clock does not show: {charged}; "
        f"{refunds}. This is a fault of the server, not of the agent."
    )


def _after_strikes(case: Case) -> str:
    strikes = case.control.strikes
    return "" if strikes == 0 else f", after {strikes} {'strikes' if strikes > 1 else 'strike'}"


# time -------------------------------------------------------------------------------------------------


def _limit(control: Control, request: Request) -> str:
    """Say what a move could take."""
    limit = _ms(request.timing.limit_ms)
    if not clock.timed(control):
        limit += " (no clock runs, this is the most for a move)"
    elif request.timing.limit_ms != control.move_ms:
        limit += f" left in its {' and '.join(_banks(control))}"
    return f"{limit} and a margin of {_ms(control.margin_ms)}" if control.margin_ms else limit


def _banks(control: Control) -> list[str]:
    return [name for name, ms in (("bank", control.bank_ms), ("byo-yomi", control.byoyomi_ms)) if ms > 0]


def _refunds(timing: Timing) -> str:
    """Say what was refunded, and for what."""
    given = _given(timing.trip_ms, timing.lag_ms, timing.away_ms)
    late = "" if timing.lag_ms else ", the server was not late"
    if not given:
        return f"nothing was refunded{late}"
    return f"{_list(given)} were refunded{late}"


def _given(trip_ms: int, lag_ms: int, away_ms: int) -> list[str]:
    refunds = (
        (trip_ms, "of the way there and back"),
        (lag_ms, "that the server was late"),
        (away_ms, "without a connection"),
    )
    return [f"{_ms(ms)} {what}" for ms, what in refunds if ms > 0]


def _server(case: Case) -> str:
    """Say what the server took of everybody's time, all of which was given back."""
    moves = [request.timing for request in case.trace if request.counted and request.seat >= 0]
    lag_ms, away_ms = sum(move.lag_ms for move in moves), sum(move.away_ms for move in moves)
    trip_ms = sum(move.trip_ms for move in moves)
    given = _given(trip_ms, lag_ms, away_ms)
    late = "" if lag_ms else "it was not late"
    refunded = f"{_list(given)} were refunded" if given else ""
    drawn = _drawn(case)
    told = " and ".join(part for part in (late, refunded) if part)
    return f"no time was lost to the server: {told}{drawn}{_restarts(case)}"


def _restarts(case: Case) -> str:
    if case.restarts == 0:
        return ""
    times = "once" if case.restarts == 1 else f"{case.restarts} times"
    return f"; the server was started anew {times}, which is charged to nobody"


def _drawn(case: Case) -> str:
    """Say for whom lots were drawn."""
    strikes = [
        (seat, sum(request.timing.timed_out for request in case.trace if request.seat == seat))
        for seat in range(len(case.agents))
    ]
    return "".join(
        f"; {n} {'actions' if n > 1 else 'action'} of {_named(case, seat)} came too late, and "
        f"{'each was' if n > 1 else 'was'} drawn by lot"
        for seat, n in strikes
        if n > 0
    )


# words ------------------------------------------------------------------------------------------------


def _open_at_the_end(case: Case) -> Request | None:
    return case.trace[-1] if case.trace and not case.trace[-1].counted else None


def _last_ply(case: Case) -> int:
    """Return the ply that was to be played when the match ended."""
    request = _open_at_the_end(case)
    if request is not None:
        return request.ply
    return case.trace[-1].ply + 1 if case.trace else 0


def _seat(case: Case, seat: int) -> str:
    return f"Seat {seat + 1} ({case.agents[seat]})"


def _named(case: Case, seat: int) -> str:
    return f"seat {seat + 1} ({case.agents[seat]})"


def _seats(case: Case, seats: Sequence[int]) -> str:
    names = [f"{seat + 1} ({case.agents[seat]})" for seat in seats]
    return f"{'Seat' if len(seats) == 1 else 'Seats'} {_list(names)}"


def _list(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _ms(ms: int) -> str:
    return f"{ms:,} ms"
