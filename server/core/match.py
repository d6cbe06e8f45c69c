"""One match as a state machine without I/O: events with time stamps go in, effects come out.

`advance(match, event)` returns the next `Match` and the effects that the shell carries out. Nothing here
reads a clock or draws lots: every event says when it happened (`at`, seconds on the server's monotonic
clock), and where chance moves, the shell is asked to draw.

The life of a match is `TABLE`; what is not in the table cannot happen. A finished or void match never
changes again, so whichever of several ending events comes first decides, and exactly one `Finish` is given.

The clock of a move runs from the hand-over of its request to the receipt of the reply; server.core.clock says
what of it is charged. An action received up to `margin_ms` after the limit still counts. Later, a random
action is played in its place while the mover has strikes left; then it has lost on time.

A match that an earlier server left in play is opened by `resume`. It starts once more, from where it was:
when all are ready again, it goes on.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec.structs import replace

from games.errors import InputError
from games.position import Position
from games.protocol import CHANCE
from server.core import match_clock
from server.core.clock import after
from server.core.match_answers import answer_old, reject
from server.core.match_clock import ms
from server.core.match_events import (
    Abort,
    Accept,
    Acknowledge,
    Action,
    Announce,
    Ask,
    Back,
    Begin,
    DeadlinePassed,
    Draw,
    Drawn,
    Effect,
    Finish,
    HandedOver,
    Lost,
    MatchEvent,
    Ready,
    Record,
    Reject,
    Resign,
    SetDeadline,
    Timing,
    Unfinished,
)
from server.core.match_state import Match, Open, Phase, Step, Terms, resume, start
from server.core.outcome import Cause, Result, by_utilities, forfeit, void

__all__ = [
    "HAND_OVER_S",
    "OVERLOAD_S",
    "TABLE",
    "Abort",
    "Accept",
    "Acknowledge",
    "Action",
    "Announce",
    "Ask",
    "Back",
    "Begin",
    "DeadlinePassed",
    "Draw",
    "Drawn",
    "Effect",
    "Finish",
    "HandedOver",
    "Lost",
    "Match",
    "MatchEvent",
    "Phase",
    "Ready",
    "Record",
    "Reject",
    "Resign",
    "SetDeadline",
    "Step",
    "Terms",
    "Timing",
    "Unfinished",
    "advance",
    "resume",
    "start",
]

HAND_OVER_S = 60.0
"""A request that cannot be handed over for so long (database away, say) makes the match void."""

OVERLOAD_S = 10.0
"""A server that is so late can measure nobody's time: the match is void."""

RESTART = "a restart of the server; counts for nobody"


def advance(match: Match, event: MatchEvent) -> Step:
    """Take one event. Raises ValueError if a handler breaks the table, which is a bug."""
    handler, phases = TABLE[match.phase, type(event)]
    after, effects = handler(match, event)
    if after.phase not in phases:
        raise ValueError(f"{match.phase} -> {after.phase} by {event} is not in the table")
    return after, effects


# handlers -------------------------------------------------------------------------------------------


def _ignore(match: Match, _event: MatchEvent) -> Step:
    return match, ()


def _on_ready(match: Match, event: Ready) -> Step:
    ready = _with(match.ready, event.seat, value=True)
    match = replace(match, ready=ready)
    if not all(ready):
        return match, ()
    match = replace(match, phase=Phase.RUNNING)
    match, effects = _ask(match, event.at)
    return match, (Begin(event.at), *effects)


def _ask(match: Match, at: float) -> Step:
    """Ask whoever is to move: a seat, or chance."""
    mover = match.position.to_move()
    not_before = at if match.ply == 0 or mover == CHANCE else at + match.terms.pace_ms / 1000
    match = replace(match, asked_at=not_before, open=None, deadline=not_before + HAND_OVER_S)
    ask = (
        Draw(match.ply, tuple(match.position.outcomes()))
        if mover == CHANCE
        else Ask(mover, match.ply, not_before)
    )
    return match, (SetDeadline(match.deadline), ask)


def _on_handed_over(match: Match, event: HandedOver) -> Step:
    if event.ply != match.ply or match.open is not None:
        return match, ()
    seat = match.position.to_move()
    request = Open(
        at=event.at,
        limit_ms=match.limit_ms(seat),
        waited_ms=ms(event.at - match.asked_at),
        round_trip_ms=event.round_trip_ms,
        lost_at=None if match.connected[seat] else event.at,
    )
    return _set_deadline(replace(match, open=request))


def _set_deadline(match: Match) -> Step:
    """Give the open request its deadline, anew when its seat goes or comes back."""
    at = match_clock.deadline(match)
    return replace(match, deadline=at), () if at == match.deadline else (SetDeadline(at),)


def _on_action(match: Match, event: Action) -> Step:
    if event.ply < match.ply:
        return answer_old(match, event)
    request = match.open
    if event.ply > match.ply or event.seat != match.position.to_move() or request is None or request.striking:
        return match, (reject(match, event),)
    if event.lag_s > OVERLOAD_S:
        return _abort(match, event.at, f"overload: the server was {event.lag_s:.1f} s late")
    match, _ = _returned(match, event.at)  # who answers is here, whatever was heard of its connection
    # In seconds, against the very deadline that was set: rounding must not decide a game.
    if event.at - event.lag_s > match.deadline:
        late = match_clock.timing(match, event.at, event.lag_s)
        detail = f"ply {match.ply} was answered after {late.elapsed_ms} ms"
        return _overtime(match, event.at, Cause.TIMEOUT, detail, late, received=True)
    return _play(match, event)


def _play(match: Match, event: Action) -> Step:
    timing = match_clock.timing(match, event.at, event.lag_s)
    try:
        position = match.position.play(event.text)
    except InputError as error:
        detail = f"ply {match.ply}: {error}"
        request = _unfinished(match, timing, received=True)
        return _forfeit(match, event.seat, event.at, Cause.ILLEGAL_ACTION, detail, request)
    return _made(match, position, event, timing)


def _made(match: Match, position: Position, event: Action, timing: Timing) -> Step:
    """Take an action into the match, and ask for the next one."""
    seat = event.seat
    clock = after(match.terms, match.clocks[seat], timing)
    match = replace(
        match,
        position=position,
        movers=(*match.movers, seat),
        clocks=_with(match.clocks, seat, value=clock),
        last=_with(match.last, seat, value=timing),
    )
    accept = Accept(seat, event.ply, position.actions[-1], timing, event.info, event.at)
    match, effects = _go_on(match, event.at)
    return match, (accept, *effects)


def _go_on(match: Match, at: float) -> Step:
    """Ask for the next action, if there is one."""
    if match.position.is_terminal():
        result = by_utilities(match.position.utilities(), rule_draw=match.position.rule_draw())
        return _finish(replace(match, open=None), at, result)
    return _ask(match, at)


def _overtime(match: Match, at: float, cause: Cause, detail: str, timing: Timing, *, received: bool) -> Step:
    """End the time of the seat to move: a strike while it has one, then the loss of the match."""
    seat = match.position.to_move()
    assert match.open is not None, "a time that is over has begun"
    if match.clocks[seat].strikes == 0:
        return _forfeit(match, seat, at, cause, detail, _unfinished(match, timing, received=received))
    struck = replace(match.open, struck=replace(timing, timed_out=True))
    match = replace(match, open=struck, deadline=at + HAND_OVER_S)
    legal = match.position.legal()
    lots = Draw(match.ply, tuple((action, 1 / len(legal)) for action in legal))
    return match, (SetDeadline(match.deadline), lots)


def _on_drawn(match: Match, event: Drawn) -> Step:
    if event.ply != match.ply:
        return match, ()
    if match.open is not None and match.open.struck is not None:
        return _strike(match, event, match.open.struck)
    if match.position.to_move() != CHANCE:
        return match, ()
    position = match.position.play(event.text)
    match = replace(match, position=position, movers=(*match.movers, CHANCE))
    record = Record(event.ply, position.actions[-1], event.at)
    match, effects = _go_on(match, event.at)
    return match, (record, *effects)


def _strike(match: Match, event: Drawn, timing: Timing) -> Step:
    """Play the action that was drawn; nothing that passed since the time was over is charged."""
    seat = match.position.to_move()
    drawn = Action(seat, event.ply, event.text, event.at)
    match = replace(match, substituted=(*match.substituted, event.ply))
    match, (accept, *others) = _made(match, match.position.play(event.text), drawn, timing)
    late = f"ply {event.ply} was not answered within {timing.limit_ms} ms"
    told = Reject(seat, event.ply, "timed_out", f"{late}; a random action was played, a strike")
    return match, (accept, told, *others)  # in one step: no strike is told before it is on record


def _on_decline(match: Match, event: Resign) -> Step:
    """Before the first action nobody can lose: whoever gives up then has not shown up."""
    if match.ply > 0:
        return _on_resign(match, event)
    causes = [Cause.NO_SHOW if seat == event.seat else Cause.NORMAL for seat in range(len(match.ready))]
    return _finish(match, event.at, void(causes, "declined before the start"))


def _on_resign(match: Match, event: Resign) -> Step:
    cause, what = (Cause.CRASH, "crashed") if event.crashed else (Cause.RESIGNATION, "resigned")
    own = match.open is not None and match.to_move == event.seat
    request = _unfinished(match, match_clock.timing(match, event.at), received=True) if own else None
    return _forfeit(match, event.seat, event.at, cause, f"{what} at ply {match.ply}", request)


def _on_lost(match: Match, event: Lost) -> Step:
    """Note the absence. The clock runs on: the time away is forgiven as far as the seat's grace goes."""
    was_here = match.connected[event.seat]
    match = _unready(match, event.seat, connected=False)
    if event.gone:
        clock = replace(match.clocks[event.seat], grace_ms=0)
        match = replace(match, clocks=_with(match.clocks, event.seat, value=clock))
    if not was_here or not _waits_for(match, event.seat) or event.at > match.deadline:
        return match, ()
    assert match.open is not None, "it waits"
    return _set_deadline(replace(match, open=replace(match.open, lost_at=event.at)))


def _on_back(match: Match, event: Back) -> Step:
    match = _unready(match, event.seat, connected=True)
    if not _waits_for(match, event.seat):
        return match, (Announce(event.seat),)
    match, moved = _returned(match, event.at, event.kept_s)
    return match, (Announce(event.seat), *moved, Ask(event.seat, match.ply, event.at, again=True))


def _returned(match: Match, at: float, kept_s: float = 0.0) -> Step:
    """End the absence of the seat that the open request waits for, if it was away."""
    request = match.open
    if request is None or request.lost_at is None:
        return match, ()
    return _set_deadline(replace(match, open=match_clock.returned(request, at, kept_s)))


def _waits_for(match: Match, seat: int) -> bool:
    return match.open is not None and not match.open.striking and match.to_move == seat


def _unready(match: Match, seat: int, *, connected: bool) -> Match:
    """Note a change of connection; before the start, whoever comes back has to say `ready` again."""
    ready = match.ready
    if match.phase is Phase.STARTING:
        ready = _with(ready, seat, value=False)
    return replace(match, ready=ready, connected=_with(match.connected, seat, value=connected))


def _on_not_ready(match: Match, event: DeadlinePassed) -> Step:
    if event.at < match.deadline:
        return match, (SetDeadline(match.deadline),)
    if match.resumed:
        absent = [f"seat {seat + 1}" for seat, ready in enumerate(match.ready) if not ready]
        who = f"{' and '.join(absent)} {'was' if len(absent) == 1 else 'were'}"
        detail = f"{who} not back and ready {match.terms.resume_ms / 1000:g} s after {RESTART}"
        return _abort(match, event.at, detail)
    causes = [Cause.NORMAL if ready else Cause.NO_SHOW for ready in match.ready]
    return _finish(match, event.at, void(causes, f"not ready within {match.terms.ready_ms} ms"))


def _on_deadline(match: Match, event: DeadlinePassed) -> Step:
    if event.at < match.deadline:  # timers may fire early; a limit never does
        return match, (SetDeadline(match.deadline),)
    request = match.open
    if request is None or request.striking:
        return _abort(match, event.at, f"the request for ply {match.ply} could not be handed over")
    if event.lag_s > OVERLOAD_S:
        return _abort(match, event.at, f"overload: the server was {event.lag_s:.1f} s late")
    # What was late was the timer: the time of the seat itself was over at the deadline.
    timing = match_clock.timing(match, event.at, min(event.lag_s, event.at - match.deadline))
    detail = f"no answer to ply {match.ply} within {request.limit_ms} ms"
    cause = Cause.TIMEOUT
    if request.lost_at is not None:
        cause, detail = Cause.DISCONNECT, f"{detail}, connection lost"
    return _overtime(match, event.at, cause, detail, timing, received=False)


def _on_abort(match: Match, event: Abort) -> Step:
    return _abort(match, event.at, event.detail)


def _abort(match: Match, at: float, detail: str) -> Step:
    request = None
    if match.open is not None:
        request = _unfinished(match, match_clock.timing(match, at), received=False)
    return _finish(match, at, void([Cause.INFRASTRUCTURE] * len(match.ready), detail), request)


def _unfinished(match: Match, timing: Timing, *, received: bool) -> Unfinished:
    seat = match.position.to_move()
    return Unfinished(seat, match.ply, timing, received, match.clocks[seat].grace_ms)


def _forfeit(
    match: Match, seat: int, at: float, cause: Cause, detail: str, request: Unfinished | None
) -> Step:
    return _finish(match, at, forfeit(len(match.ready), seat, cause, detail), request)


def _finish(match: Match, at: float, result: Result, request: Unfinished | None = None) -> Step:
    phase = Phase.VOID if result.void else Phase.FINISHED
    return replace(match, phase=phase, open=None, result=result), (Finish(result, at, request),)


def _with(values: tuple[Any, ...], seat: int, *, value: object) -> tuple[Any, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


# life cycle -----------------------------------------------------------------------------------------

Handler: TypeAlias = Callable[[Match, Any], Step]

_S, _R, _F, _V = Phase.STARTING, Phase.RUNNING, Phase.FINISHED, Phase.VOID

TABLE: dict[tuple[Phase, type], tuple[Handler, frozenset[Phase]]] = {
    (_S, Ready): (_on_ready, frozenset({_S, _R})),
    (_S, HandedOver): (_ignore, frozenset({_S})),
    (_S, Action): (answer_old, frozenset({_S})),
    (_S, Drawn): (_ignore, frozenset({_S})),
    (_S, Resign): (_on_decline, frozenset({_F, _V})),
    (_S, Lost): (_on_lost, frozenset({_S})),
    (_S, Back): (_on_back, frozenset({_S})),
    (_S, DeadlinePassed): (_on_not_ready, frozenset({_S, _V})),
    (_S, Abort): (_on_abort, frozenset({_V})),
    (_R, Ready): (_ignore, frozenset({_R})),
    (_R, HandedOver): (_on_handed_over, frozenset({_R})),
    (_R, Action): (_on_action, frozenset({_R, _F, _V})),
    (_R, Drawn): (_on_drawn, frozenset({_R, _F})),
    (_R, Resign): (_on_resign, frozenset({_F})),
    (_R, Lost): (_on_lost, frozenset({_R})),
    (_R, Back): (_on_back, frozenset({_R})),
    (_R, DeadlinePassed): (_on_deadline, frozenset({_R, _F, _V})),
    (_R, Abort): (_on_abort, frozenset({_V})),
    # A match that is over answers moves and takes no other notice.
    **{
        (phase, event): (_ignore, frozenset({phase}))
        for phase in (_F, _V)
        for event in (Ready, HandedOver, Drawn, Resign, Lost, Back, DeadlinePassed, Abort)
    },
    **{(phase, Action): (answer_old, frozenset({phase})) for phase in (_F, _V)},
}
