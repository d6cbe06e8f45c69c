"""The times of a ladder's matches: from its settings to what agents are told, and to what a match goes by."""

import msgspec

from agents.protocol import TimeControl
from server.core import match as core
from server.db.ladders import LadderSpec as LadderRow
from server.settings import LadderSpec, Settings, check_times

MOVE_MS = 5_000
"""Limit for each move on a ladder that says nothing about time."""


def time_control(spec: LadderSpec, settings: Settings) -> TimeControl:
    """Return the complete time control of a ladder. Raises InputError, with the key, for a bad one."""
    check_times(spec)
    limited = spec.bank_ms > 0 or spec.byoyomi_ms > 0 or spec.nodes > 0
    default_ms = 0 if limited else MOVE_MS
    return TimeControl(
        move_ms=default_ms if spec.move_ms is None else spec.move_ms,
        bank_ms=spec.bank_ms,
        increment_ms=spec.increment_ms,
        margin_ms=settings.margin_ms,
        ready_ms=settings.ready_ms if spec.ready_ms is None else spec.ready_ms,
        byoyomi_ms=spec.byoyomi_ms,
        periods=spec.periods,
        strikes=spec.strikes,
        nodes=spec.nodes,
        lag_ms=settings.lag_ms,
        grace_ms=settings.grace_ms,
    )


def ladder_rows(settings: Settings) -> list[LadderRow]:
    """Return the ladders of the settings as the database keeps them, in their order."""
    return [
        LadderRow(spec.name, spec.title, spec.game, time_control(spec, settings)) for spec in settings.ladders
    ]


def terms(control: TimeControl, *, pace_ms: int, resume_ms: int) -> core.Terms:
    """Return what a match goes by: its time control, the pause between moves, the time after a restart."""
    return core.Terms(**msgspec.structs.asdict(control), pace_ms=pace_ms, resume_ms=resume_ms)
