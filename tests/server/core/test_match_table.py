"""Each cell of the match's transition table: an event in a phase, what follows and what comes out."""

from itertools import product
from typing import get_args

import pytest

from server.core import match as match_module
from server.core.match import OVERLOAD_S, TABLE, Phase, advance
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
    Finish,
    HandedOver,
    Lost,
    MatchEvent,
    Ready,
    Record,
    Reject,
    Resign,
    SetDeadline,
)

SOON, LATE = 1000.5, 9000.0
S, R, F, V = Phase.STARTING, Phase.RUNNING, Phase.FINISHED, Phase.VOID

CELLS = [
    (S, Ready(0, SOON), S, []),
    (S, HandedOver(0, SOON), S, []),
    (S, Action(0, 0, "4", SOON), S, [Reject]),
    (S, Drawn(0, "4", SOON), S, []),
    (S, Resign(1, SOON), V, [Finish]),
    (S, Lost(0, SOON), S, []),
    (S, Back(0, SOON), S, [Announce]),
    (S, DeadlinePassed(SOON), S, [SetDeadline]),
    (S, DeadlinePassed(LATE), V, [Finish]),
    (S, Abort(SOON, "power cut"), V, [Finish]),
    (R, Ready(0, SOON), R, []),
    (R, HandedOver(1, SOON), R, []),
    (R, Action(1, 1, "0", SOON), R, [Accept, SetDeadline, Ask]),
    (R, Action(1, 1, "4", SOON), F, [Finish]),
    (R, Action(1, 1, "0", LATE), F, [Finish]),
    (R, Action(0, 0, "4", SOON), R, [Acknowledge]),
    (R, Action(0, 1, "0", SOON), R, [Reject]),
    (R, Drawn(1, "0", SOON), R, []),
    (R, Resign(0, SOON), F, [Finish]),
    (R, Lost(0, SOON), R, []),
    (R, Back(0, SOON), R, [Announce]),
    (R, Back(1, SOON), R, [Announce, Ask]),
    (R, DeadlinePassed(SOON), R, [SetDeadline]),
    (R, Action(1, 1, "0", LATE, lag_s=OVERLOAD_S + 1), V, [Finish]),
    (R, DeadlinePassed(LATE), F, [Finish]),
    (R, Abort(SOON, "power cut"), V, [Finish]),
]
CELLS += [
    (over, event, over, effects)
    for over in (F, V)
    for event, effects in [
        (Ready(0, SOON), []),
        (HandedOver(1, SOON), []),
        (Action(0, 0, "4", SOON), [Acknowledge]),
        (Action(1, 1, "0", SOON), [Reject]),
        (Drawn(1, "0", SOON), []),
        (Resign(1, SOON), []),
        (Lost(0, SOON), []),
        (Back(1, SOON), []),
        (DeadlinePassed(LATE), []),
        (Abort(SOON, "power cut"), []),
    ]
]


def in_phase(new_match, phase):
    """A match that stands in a phase; all but the starting one have had one move, and ask for the second."""
    match = new_match()
    if phase is not S:
        match.begin().play("4").hand_over()
    if phase is F:
        match.tell(Resign(0, match.now))
    if phase is V:
        match.tell(Abort(match.now, "power cut"))
    assert match.match.phase is phase
    return match


@pytest.mark.parametrize(("phase", "event", "follows", "effects"), CELLS)
def test_what_follows_an_event_in_a_phase(new_match, phase, event, follows, effects):
    match = in_phase(new_match, phase)
    came_out = match.tell(event)
    assert match.match.phase is follows
    assert [type(effect) for effect in came_out] == effects


@pytest.mark.parametrize(
    ("phase", "event"), [(phase, event) for phase, event, _, _ in CELLS if phase in (F, V)]
)
def test_a_match_that_is_over_never_changes(new_match, phase, event):
    match = in_phase(new_match, phase)
    before = match.match
    match.tell(event)
    assert match.match == before


def test_the_last_ready_begins_the_match(new_match):
    match = new_match()
    match.tell(Ready(1, SOON))
    assert [type(effect) for effect in match.tell(Ready(0, SOON))] == [Begin, SetDeadline, Ask]
    assert match.match.phase is R


def test_a_request_that_never_goes_out_makes_the_match_void(new_match):
    match = new_match().begin()
    assert [type(effect) for effect in match.tell(DeadlinePassed(LATE))] == [Finish]
    assert match.match.phase is V


def test_giving_up_a_match_that_goes_on_after_a_restart_loses_it(new_match):
    match = new_match().begin().play("4").restart()
    assert match.match.phase is S
    assert [type(effect) for effect in match.tell(Resign(0, SOON))] == [Finish]
    assert match.match.phase is F


@pytest.mark.parametrize(
    ("landed", "follows", "effects"), [("0", R, [SetDeadline, Draw]), ("1", F, [Finish])]
)
def test_an_outcome_of_chance_may_go_on_or_end_the_game(new_match, coin, landed, follows, effects):
    match = new_match(position=coin).begin()
    came_out = match.tell(Drawn(0, landed, SOON))
    assert [type(effect) for effect in came_out] == [Record, *effects]
    assert match.match.phase is follows


def test_each_pair_of_phase_and_event_has_one_cell():
    assert set(TABLE) == set(product(Phase, get_args(MatchEvent)))


def test_each_cell_and_each_arrow_of_the_table_is_tried_here():
    tried = {(phase, type(event), follows) for phase, event, follows, _ in CELLS}
    tried |= {(S, Ready, R), (S, Resign, F), (R, DeadlinePassed, V), (R, Drawn, F)}
    assert tried == {(*cell, follows) for cell, (_, phases) in TABLE.items() for follows in phases}


def test_a_handler_that_breaks_the_table_is_a_bug(new_match, monkeypatch):
    match = in_phase(new_match, R)
    handler, _ = TABLE[R, Abort]
    monkeypatch.setitem(match_module.TABLE, (R, Abort), (handler, frozenset({F})))
    with pytest.raises(ValueError, match=r"running -> void .* is not in the table"):
        advance(match.match, Abort(SOON, "power cut"))
