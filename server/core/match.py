"""One match as a state machine without I/O: events with time stamps go in, effects come out.

`advance(match, event)` returns the next `Match` and the effects that the shell carries out. Nothing here
reads a clock or draws lots: every event says when it happened (`at`, seconds on the server's monotonic
clock), and where chance moves, the shell is asked to draw.

The life of a match is `TABLE`; what is not in the table cannot happen. A finished or void match never
changes again, so whichever of several ending events comes first decides, and exactly one `Finish` is given.

The clock of a move runs from the hand-over of its request to the receipt of the reply. An action received
up to `margin_ms` after the limit still counts; later, the mover has lost on time.

A match that an earlier server left in play is opened by `resume`. It starts once more, from where it was:
when all are ready again, it goes on.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from msgspec.structs import replace

from games.errors import InputError
from games.protocol import CHANCE
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
)
from server.core.match_state import Match, Phase, Step, Terms, resume, start
from server.core.outcome import Cause, Result, by_utilities, forfeit, void

__all__ = [
    "HAND_OVER_S",
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
    "advance",
    "resume",
    "start",
]

HAND_OVER_S = 60.0
"""A request that cannot be handed over for so long (database away, say) makes the match void."""

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
    return match, (Begin(), *effects)


def _ask(match: Match, at: float) -> Step:
    """Ask whoever is to move: a seat, or chance."""
    mover = match.position.to_move()
    not_before = at if match.ply == 0 or mover == CHANCE else at + match.terms.pace_ms / 1000
    match = replace(match, asked=None, deadline=not_before + HAND_OVER_S)
    ask = (
        Draw(match.ply, tuple(match.position.outcomes()))
        if mover == CHANCE
        else Ask(mover, match.ply, not_before)
    )
    return match, (SetDeadline(match.deadline), ask)


def _on_handed_over(match: Match, event: HandedOver) -> Step:
    if event.ply != match.ply or match.asked is not None:
        return match, ()
    deadline = event.at + (match.terms.move_ms + match.terms.margin_ms) / 1000
    return replace(match, asked=event.at, deadline=deadline), (SetDeadline(deadline),)


def _on_action(match: Match, event: Action) -> Step:
    if event.ply < match.ply:
        return _on_old_action(match, event)
    if event.ply > match.ply or event.seat != match.position.to_move() or match.asked is None:
        return match, (_reject(match, event),)
    elapsed_ms = max(0, int((event.at - match.asked) * 1000))
    refunded_ms = min(elapsed_ms, int(event.late_s * 1000))
    # In seconds, against the very deadline that was set: rounding must not decide a game.
    if event.at - event.late_s > match.deadline:
        return _forfeit(
            match, event.seat, Cause.TIMEOUT, f"ply {match.ply} was answered after {elapsed_ms} ms"
        )
    timing = Timing(elapsed_ms, refunded_ms, elapsed_ms - refunded_ms)
    return _play(match, event, timing)


def _play(match: Match, event: Action, timing: Timing) -> Step:
    try:
        position = match.position.play(event.text)
    except InputError as error:
        return _forfeit(match, event.seat, Cause.ILLEGAL_ACTION, f"ply {match.ply}: {error}")
    match = replace(
        match,
        position=position,
        movers=(*match.movers, event.seat),
        last=_with(match.last, event.seat, value=timing),
    )
    accept = Accept(event.seat, event.ply, position.actions[-1], timing, event.info)
    match, effects = _go_on(match, event.at)
    return match, (accept, *effects)


def _go_on(match: Match, at: float) -> Step:
    """Ask for the next action, if there is one."""
    if match.position.is_terminal():
        return _finish(match, by_utilities(match.position.utilities()))
    return _ask(match, at)


def _on_drawn(match: Match, event: Drawn) -> Step:
    if event.ply != match.ply or match.position.to_move() != CHANCE:
        return match, ()
    position = match.position.play(event.text)
    match = replace(match, position=position, movers=(*match.movers, CHANCE))
    record = Record(event.ply, position.actions[-1])
    match, effects = _go_on(match, event.at)
    return match, (record, *effects)


def _on_old_action(match: Match, event: Action) -> Step:
    """Answer a reply to a ply that is played: nothing changes, and nothing is asked again."""
    same = 0 <= event.ply < match.ply and match.movers[event.ply] == event.seat
    if same and match.position.actions[event.ply] == event.text:
        return match, (Acknowledge(event.seat, event.ply),)
    return match, (_reject(match, event),)


def _reject(match: Match, event: Action) -> Reject:
    if match.over:
        code, message = "match_over", f"expected no move, the match is {match.phase}"
    elif match.phase is Phase.STARTING:
        code, message = "not_started", "expected no move before your_move"
    elif event.ply != match.ply:
        code, message = "wrong_ply", f"expected ply {match.ply}"
    elif (mover := match.position.to_move()) not in {event.seat, CHANCE}:
        code, message = "not_your_turn", f"expected seat {mover} to move"
    else:
        code, message = "not_asked", "expected no move before your_move"
    return Reject(event.seat, event.ply, code, f"{message}, got a move for ply {event.ply}")


def _on_early_action(match: Match, event: Action) -> Step:
    """Reject it, unless it repeats an action that an earlier server recorded."""
    return _on_old_action(match, event)


def _on_decline(match: Match, event: Resign) -> Step:
    """Before the first action nobody can lose: whoever gives up then has not shown up."""
    if match.ply > 0:
        return _on_resign(match, event)
    causes = [Cause.NO_SHOW if seat == event.seat else Cause.NORMAL for seat in range(len(match.ready))]
    return _finish(match, void(causes, "declined before the start"))


def _on_resign(match: Match, event: Resign) -> Step:
    if event.crashed:
        return _forfeit(match, event.seat, Cause.CRASH, f"crashed at ply {match.ply}")
    return _forfeit(match, event.seat, Cause.RESIGNATION, f"resigned at ply {match.ply}")


def _on_lost(match: Match, event: Lost) -> Step:
    """Note the absence. The clock runs on: the grace of a dropped agent is the rest of its time."""
    return _unready(match, event.seat, connected=False), ()


def _on_back(match: Match, event: Back) -> Step:
    match = _unready(match, event.seat, connected=True)
    effects: tuple[Effect, ...] = (Announce(event.seat),)
    if match.asked is not None and match.to_move == event.seat:
        effects += (Ask(event.seat, match.ply, event.at, again=True),)
    return match, effects


def _unready(match: Match, seat: int, *, connected: bool) -> Match:
    """Note a change of connection; before the start, whoever comes back has to say `ready` again."""
    ready = match.ready
    if match.phase is Phase.STARTING:
        ready = _with(ready, seat, value=False)
    return replace(match, ready=ready, connected=_with(match.connected, seat, value=connected))


def _on_deadline(match: Match, event: DeadlinePassed) -> Step:
    if event.at < match.deadline:  # timers may fire early; a limit never does
        return match, (SetDeadline(match.deadline),)
    if match.phase is Phase.STARTING:
        if match.resumed:
            return _abort(match, f"not all were back {match.terms.resume_ms} ms after {RESTART}")
        causes = [Cause.NORMAL if ready else Cause.NO_SHOW for ready in match.ready]
        return _finish(match, void(causes, f"not ready within {match.terms.ready_ms} ms"))
    if match.asked is None:
        return _abort(match, f"the request for ply {match.ply} could not be handed over")
    seat = match.position.to_move()
    limit = f"no answer to ply {match.ply} within {match.terms.move_ms} ms"
    if match.connected[seat]:
        return _forfeit(match, seat, Cause.TIMEOUT, limit)
    return _forfeit(match, seat, Cause.DISCONNECT, f"{limit}, connection lost")


def _on_abort(match: Match, event: Abort) -> Step:
    return _abort(match, event.detail)


def _abort(match: Match, detail: str) -> Step:
    return _finish(match, void([Cause.INFRASTRUCTURE] * len(match.ready), detail))


def _forfeit(match: Match, seat: int, cause: Cause, detail: str) -> Step:
    return _finish(match, forfeit(len(match.ready), seat, cause, detail))


def _finish(match: Match, result: Result) -> Step:
    phase = Phase.VOID if result.void else Phase.FINISHED
    return replace(match, phase=phase, asked=None, result=result), (Finish(result),)


def _with(values: tuple[Any, ...], seat: int, *, value: object) -> tuple[Any, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


# life cycle -----------------------------------------------------------------------------------------

Handler: TypeAlias = Callable[[Match, Any], Step]

_S, _R, _F, _V = Phase.STARTING, Phase.RUNNING, Phase.FINISHED, Phase.VOID

TABLE: dict[tuple[Phase, type], tuple[Handler, frozenset[Phase]]] = {
    (_S, Ready): (_on_ready, frozenset({_S, _R})),
    (_S, HandedOver): (_ignore, frozenset({_S})),
    (_S, Action): (_on_early_action, frozenset({_S})),
    (_S, Drawn): (_ignore, frozenset({_S})),
    (_S, Resign): (_on_decline, frozenset({_F, _V})),
    (_S, Lost): (_on_lost, frozenset({_S})),
    (_S, Back): (_on_back, frozenset({_S})),
    (_S, DeadlinePassed): (_on_deadline, frozenset({_S, _V})),
    (_S, Abort): (_on_abort, frozenset({_V})),
    (_R, Ready): (_ignore, frozenset({_R})),
    (_R, HandedOver): (_on_handed_over, frozenset({_R})),
    (_R, Action): (_on_action, frozenset({_R, _F})),
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
    **{(phase, Action): (_on_old_action, frozenset({phase})) for phase in (_F, _V)},
}
