"""What an agent is shown of a position: the state, or what it may know of it where something is hidden."""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec.structs import replace

from agents.protocol import ClockView, MatchStart, Player, TimeControl, YourMove
from games import Game, Position, State
from games.observation import Observation

View: TypeAlias = State | Observation

UNTIMED_MS = 60_000
"""What a move may take where no clock runs: every match ends."""

TRIAL_MS = 1_000
"""The most that the clock of a trial shows for a move: an agent that keeps time is tried in no time."""


def of_position(position: Position) -> View:
    """Return what the player to move is shown."""
    return position.observation() if position.game.hidden else position.state


def of_request(game: Game, seat: int, request: YourMove) -> View:
    """Return what a request shows to its seat. Raises InputError for a position that the game cannot read."""
    if game.hidden:
        return Observation(game, seat, request.position, request.legal)
    return game.parse_position(request.position)


def match_start(
    match: int, ladder: str, position: Position, seat: int, names: Sequence[str], control: TimeControl
) -> MatchStart:
    """Return what a server would send to a seat when a match begins, or goes on, at a position."""
    return MatchStart(
        match=match,
        game=position.game.variant,
        ladder=ladder,
        seat=seat,
        players=[Player(number, name, 1) for number, name in enumerate(names)],
        time_control=control,
        position=position.text(seat),
        history=list(position.seen_actions(seat)),
    )


def first_clock(control: TimeControl) -> ClockView:
    """Return what a server would show of the clock at a seat's first move."""
    whole_ms = control.bank_ms + control.periods * control.byoyomi_ms
    limits = [limit_ms for limit_ms in (control.move_ms, whole_ms) if limit_ms > 0]
    return ClockView(
        move_ms=min(limits, default=UNTIMED_MS),
        bank_ms=control.bank_ms,
        increment_ms=control.increment_ms,
        byoyomi_ms=control.byoyomi_ms,
        periods=control.periods,
        strikes=control.strikes,
    )


def trial_clock(control: TimeControl) -> ClockView:
    """Return what a trial shows of the clock at a seat's first move: all of it, but little for the move."""
    first = first_clock(control)
    return replace(first, move_ms=min(TRIAL_MS, first.move_ms))


def your_move(match: int, position: Position, movers: Sequence[int], clock: ClockView) -> YourMove:
    """Return what a server would send to whose turn it is; `movers` tells who moved at each ply before."""
    seat = position.to_move()
    since = max((ply for ply, mover in enumerate(movers, 1) if mover == seat), default=0)
    return YourMove(
        match=match,
        ply=position.ply,
        position=position.text(seat),
        last_actions=list(position.seen_actions(seat)[since:]),
        legal=position.legal(),
        clock=clock,
    )
