"""The match, told in scenarios on a fake clock: who is asked, who is charged, who loses and why."""

from dataclasses import replace
from itertools import permutations

import pytest

from games.position import Position
from server.core.match import HAND_OVER_S, Phase
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
    Finish,
    Lost,
    Ready,
    Reject,
    Resign,
    SetDeadline,
    Timing,
)
from server.core.outcome import Cause

LIMIT_S, MARGIN_S, READY_S = 1.0, 0.2, 10.0
MS = 0.001
WON_BY_SEAT_0 = ["0", "3", "1", "4", "2"]
NO_MOVES = ["None", "(none)", "0000", "NULL", "", " 4", "04", "+4", "4\n", "٤", "²", "\ud800", "9" * 5000]
DRAWN = ["0", "1", "2", "4", "3", "5", "7", "6", "8"]


def codes(effects):
    """Codes of rejects, where there is nothing but rejects."""
    assert all(type(effect) is Reject for effect in effects), effects
    return [effect.code for effect in effects]


# start-up ---------------------------------------------------------------------------------------------


def test_both_seats_are_told_and_get_the_start_up_allowance(new_match):
    match = new_match()
    assert match.effects == [Announce(0), Announce(1), SetDeadline(match.now + READY_S)]
    assert match.match.to_move is None


@pytest.mark.parametrize("change", [(Lost, Back), (Back,)], ids=["dropped", "taken over"])
def test_whoever_connects_again_before_the_start_has_to_be_ready_again(new_match, change):
    match = new_match()
    match.tell(Ready(0, match.now))
    for event in change:
        effects = match.tell(event(0, match.now))
    assert effects == [Announce(0)]
    assert match.tell(Ready(1, match.now)) == []
    assert match.tell(Ready(0, match.now))[0] == Begin(match.now)


def test_the_match_begins_when_all_are_ready_however_often_one_says_so(new_match):
    match = new_match()
    assert match.tell(Ready(1, match.now)) == []
    assert match.tell(Ready(1, match.now)) == []
    assert match.match.phase is Phase.STARTING
    effects = match.tell(Ready(0, match.now))
    assert effects == [Begin(match.now), SetDeadline(match.now + HAND_OVER_S), Ask(0, 0, match.now)]


def test_PB33_start_up_does_not_count_against_the_first_move(new_match):
    match = new_match().wait(9.9).begin()
    match.wait(0.05).hand_over()
    assert match.of(SetDeadline)[-1].at == pytest.approx(match.now + LIMIT_S + MARGIN_S)
    match.wait(LIMIT_S).answer("4")
    match.assert_goes_on(ply=1, seat=1)
    assert match.times(0) == (1000, 0, 1000)


@pytest.mark.parametrize(
    ("present", "causes"),
    [
        ([0], ("normal", "no_show")),
        ([1], ("no_show", "normal")),
        ([], ("no_show", "no_show")),
    ],
)
def test_PB33_a_seat_that_is_not_ready_in_time_makes_the_match_void(new_match, present, causes):
    match = new_match()
    for seat in present:
        match.tell(Ready(seat, match.now))
    match.wait(READY_S).tell(DeadlinePassed(match.now))
    match.assert_void(*causes)
    assert match.match.result.detail == "not ready within 10000 ms"


def test_nobody_is_a_no_show_before_the_allowance_is_used_up(new_match):
    match = new_match().wait(READY_S - MS)
    assert match.tell(DeadlinePassed(match.now)) == [SetDeadline(match.match.deadline)]
    match.begin()
    match.assert_goes_on(ply=0, seat=0)


# moves ------------------------------------------------------------------------------------------------


def test_a_game_is_played_to_its_end(new_match):
    match = new_match().begin().play(*WON_BY_SEAT_0)
    match.assert_won(seat=0)
    assert match.match.result.detail == ""


def test_a_full_board_is_a_draw(new_match):
    match = new_match().begin().play(*DRAWN)
    match.assert_over_once(Phase.FINISHED)
    assert match.match.result.scores == (0.5, 0.5)
    assert match.match.result.causes == (Cause.NORMAL, Cause.NORMAL)


def test_what_the_agent_says_of_its_move_is_recorded_with_it(running):
    running.answer("4", info={"nodes": 9})
    assert running.of(Accept) == [Accept(0, 0, "4", Timing(0, 0, 0, 1000), {"nodes": 9}, running.now)]


@pytest.mark.parametrize("text", NO_MOVES, ids=lambda text: ascii(text[:8]))
def test_PB38_no_move_loses_at_once_with_its_text_in_the_reason(running, text):
    running.answer(text)
    running.assert_forfeit(seat=0, cause="illegal_action")
    assert repr(text)[1:-1][:40] in running.match.result.detail
    assert len(running.match.result.detail) < 400


def test_a_taken_cell_is_an_illegal_action(running):
    running.play("4").hand_over()
    running.answer("4")
    running.assert_forfeit(seat=1, cause="illegal_action")
    assert running.match.result.detail.startswith("ply 1: expected a legal action, got '4'")


def test_a_repeated_move_is_acknowledged_again_and_changes_nothing(running):
    running.answer("4")
    before = running.match
    again = Action(0, 0, "4", running.now)
    assert [running.tell(again) for _ in range(3)] == [[Acknowledge(0, 0)]] * 3
    assert running.match == before


def test_a_repeated_last_move_is_acknowledged_after_the_end(new_match):
    match = new_match().begin().play(*WON_BY_SEAT_0)
    assert match.tell(Action(0, 4, "2", match.now)) == [Acknowledge(0, 4)]
    assert codes(match.tell(Action(0, 4, "8", match.now))) == ["match_over"]
    assert codes(match.tell(Action(1, 5, "8", match.now))) == ["match_over"]
    match.assert_won(seat=0)


@pytest.mark.parametrize(
    ("seat", "ply", "action", "code"),
    [
        (0, 0, "5", "wrong_ply"),  # another action for a ply that is played
        (1, 0, "4", "wrong_ply"),  # the other seat's action as its own
        (1, 2, "0", "wrong_ply"),
        (0, 2, "0", "wrong_ply"),
        (1, -1, "0", "wrong_ply"),
        (0, -1, "4", "wrong_ply"),
        (0, 1, "0", "not_your_turn"),
        (0, 1, "nonsense", "not_your_turn"),
    ],
)
def test_a_move_that_is_not_due_is_rejected_and_changes_nothing(running, seat, ply, action, code):
    running.play("4").hand_over()
    before = running.match
    assert codes(running.tell(Action(seat, ply, action, running.now))) == [code]
    assert running.match == before


@pytest.mark.parametrize("after_s", [0.1, 100.0])
def test_a_move_before_the_request_is_out_is_rejected_whatever_it_says(new_match, after_s):
    match = new_match().begin().play("4").wait(after_s)
    assert codes(match.answer("4")) == ["not_asked"]
    match.assert_goes_on(ply=1, seat=1)


def test_a_move_before_the_match_begins_is_rejected(new_match):
    match = new_match()
    assert codes(match.tell(Action(0, 0, "4", match.now))) == ["not_started"]
    assert codes(match.tell(Action(0, 3, "4", match.now))) == ["not_started"]
    assert match.match.phase is Phase.STARTING


def test_a_reject_says_what_was_expected_and_what_came(running):
    (reject,) = running.tell(Action(1, 5, "0", running.now))
    assert reject == Reject(1, 5, "wrong_ply", "expected ply 0, got a move for ply 5")


# endings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("crashed", "cause", "word"), [(False, "resignation", "resigned"), (True, "crash", "crashed")]
)
def test_resigning_loses_at_any_time(new_match, seat, crashed, cause, word):
    for moves in ([], ["4"], ["4", "0"]):
        match = new_match().begin().play(*moves)
        match.tell(Resign(seat, match.now, crashed=crashed))
        match.assert_forfeit(seat=seat, cause=cause)
        assert match.match.result.detail == f"{word} at ply {len(moves)}"


def test_giving_up_before_the_start_is_not_showing_up(new_match):
    match = new_match()
    match.tell(Ready(0, match.now))
    match.tell(Resign(1, match.now))
    match.assert_void("normal", "no_show")
    assert match.match.result.detail == "declined before the start"


def test_the_clock_of_a_dropped_agent_runs_on_and_ends_the_match_as_a_disconnect(running):
    assert running.tell(Lost(0, running.now)) == []
    running.assert_goes_on(ply=0, seat=0)
    running.now = running.match.deadline
    running.tell(DeadlinePassed(running.now))
    running.assert_forfeit(seat=0, cause="disconnect")


def test_a_seat_that_is_gone_while_the_other_thinks_loses_nothing(running):
    running.tell(Lost(1, running.now))
    running.wait(0.5).answer("4")
    running.assert_goes_on(ply=1, seat=1)


def test_a_seat_that_came_back_and_stays_silent_has_timed_out(running):
    running.tell(Lost(0, running.now))
    running.tell(Back(0, running.now))
    running.now = running.match.deadline
    running.tell(DeadlinePassed(running.now))
    running.assert_forfeit(seat=0, cause="timeout")


def test_a_fault_of_the_server_counts_for_nobody(running):
    running.play("4").tell(Abort(running.now, "the server stops"))
    running.assert_void("infrastructure", "infrastructure")
    assert running.match.result.detail == "the server stops"


@pytest.fixture
def last_ply(new_match):
    """Seat 0 is asked for the move that can win."""
    match = new_match().begin().play(*WON_BY_SEAT_0[:-1])
    match.hand_over()
    match.now = match.match.deadline
    return match


def ending_events(match):
    won = Action(0, 4, "2", match.now)
    others = [DeadlinePassed(match.now), Lost(0, match.now), Abort(match.now, "stop"), Resign(1, match.now)]
    return won, others


def test_PB12_a_move_received_first_beats_all_other_endings_of_the_same_tick(last_ply):
    won, others = ending_events(last_ply)
    opened = last_ply.match
    for order in permutations(others):
        last_ply.match, last_ply.effects = opened, []
        for event in (won, *order):
            last_ply.tell(event)
        last_ply.assert_won(seat=0)
        assert last_ply.effects[1:] == [Finish(last_ply.match.result, last_ply.now)]


def test_PB12_whatever_the_order_there_is_one_end_and_the_first_decides(last_ply):
    won, others = ending_events(last_ply)
    opened = last_ply.match
    for order in permutations([won, *others]):
        last_ply.match, last_ply.effects = opened, []
        results = []
        for event in order:
            last_ply.tell(event)
            results.append(last_ply.match.result)
        assert [finish.result for finish in last_ply.of(Finish)] == [results[-1]]
        decided = [result for result in results if result is not None]
        assert all(result is decided[0] for result in decided)
        # A loss of the connection alone decides nothing; every other first event does.
        assert len(decided) == len(order) - (type(order[0]) is Lost)


# connections ------------------------------------------------------------------------------------------


def test_PB37_a_reconnection_in_the_own_turn_repeats_the_request_and_not_the_clock(running):
    running.play("4", "0").hand_over()
    deadline = running.match.deadline
    running.wait(0.1).tell(Lost(0, running.now))
    assert running.wait(0.1).tell(Back(0, running.now)) == [
        Announce(0),
        Ask(0, 2, running.now, again=True),
    ]
    assert running.match.deadline == deadline
    assert running.match.clock_ms(running.now) == pytest.approx(800, abs=1)
    running.answer("8")
    assert_same_plies(running, ["4", "0", "8"])


def test_PB37_a_reconnection_in_the_opponents_turn_asks_nothing(running):
    running.play("4", "0").hand_over()
    running.tell(Lost(1, running.now))
    assert running.tell(Back(1, running.now)) == [Announce(1)]
    running.answer("8")
    running.play("2")
    assert_same_plies(running, ["4", "0", "8", "2"])


def test_a_reconnection_before_the_request_is_out_brings_one_request(new_match):
    match = new_match().begin().play("4")
    match.tell(Lost(1, match.now))
    assert match.tell(Back(1, match.now)) == [Announce(1)]
    assert [ask.ply for ask in match.of(Ask)] == [0, 1]


def assert_same_plies(match, actions):
    """State, requests, acknowledgements and history number the moves alike, from 0."""
    assert [accept.action for accept in match.of(Accept)] == actions
    assert [accept.ply for accept in match.of(Accept)] == list(range(len(actions)))
    assert [ask.ply for ask in match.of(Ask) if not ask.again] == list(range(len(actions) + 1))
    assert match.match.ply == len(actions)
    assert match.match.movers == tuple(ply % 2 for ply in range(len(actions)))
    again = Position.start(match.match.position.game, moves=actions)
    assert replace(again, last=None) == replace(match.match.position, last=None)
