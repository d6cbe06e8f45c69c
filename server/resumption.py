"""From the record of an interrupted match to the match itself."""

import msgspec

import games
from agents.protocol import TimeControl
from games.errors import InputError
from games.position import Position
from server import time_controls
from server.core import match as core
from server.db.resume import Interrupted
from server.settings import Settings


def reopen(found: Interrupted, settings: Settings, at: float) -> core.Step:
    """Open a match at the position its record leads to, under the terms it began with.

    Raises InputError if there are no rules for it now, or they do not allow what was played.
    """
    terms = time_controls.terms(
        msgspec.convert(found.time_control, TimeControl),
        pace_ms=settings.pace_ms if all(seat.house for seat in found.seats) else 0,
        resume_ms=round(settings.resume_s * 1000),
    )
    played = [(move.seat, move.timing) for move in found.moves]
    return core.resume(_replayed(found), played, terms, at)


def _replayed(found: Interrupted) -> Position:
    position = Position.start(games.load(found.game))
    for move in found.moves:
        if position.to_move() != move.seat:
            got = f"a move of seat {move.seat}"
            raise InputError(
                "bad_record", expected=f"one of seat {position.to_move()}", got=got, where=position.where()
            )
        position = position.play(move.action)
    if position.is_terminal():
        raise InputError(
            "bad_record", expected="a game that goes on", got="one that is over", where=position.where()
        )
    return position
