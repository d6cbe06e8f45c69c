"""A match that a killed server left in play goes on: nothing is lost, and the outage costs nobody time."""

import pytest

from server.core.match import Phase, Terms
from server.core.match_events import (
    Abort,
    Acknowledge,
    Action,
    Announce,
    Ask,
    Back,
    Begin,
    DeadlinePassed,
    Lost,
    Ready,
    Reject,
    Resign,
    SetDeadline,
    Timing,
)

RESUME_S = 60.0
LIMIT_S, MARGIN_S = 1.0, 0.2
PLAYED = ["4", "0", "8"]


@pytest.fixture
def resumed(new_match):
    """Three moves were played, and seat 1 was thinking for half of its time when the server was killed."""
    match = new_match().begin().play(*PLAYED)
    match.hand_over()
    return match.wait(LIMIT_S / 2).restart()


def test_nobody_is_asked_or_charged_before_all_are_back(resumed):
    assert resumed.effects == [SetDeadline(resumed.now + RESUME_S)]
    assert resumed.match.phase is Phase.STARTING
    assert (resumed.match.ply, resumed.match.to_move) == (3, None)
    resumed.wait(RESUME_S - 1).come_back(1)
    assert resumed.match.clock_ms(resumed.now) is None
    assert resumed.of(Ask) == []
    assert resumed.come_back(0)[0] == Begin(resumed.now)
    assert resumed.of(Ask) == [Ask(1, 3, resumed.now)]


def test_whoever_comes_back_is_told_of_the_match_first(resumed):
    assert resumed.tell(Back(0, resumed.now)) == [Announce(0)]
    assert resumed.match.position.actions == tuple(PLAYED)


@pytest.mark.parametrize("outage_s", [0.0, 1.0, 86_400.0])
def test_PB03_an_outage_is_charged_to_nobody(new_match, outage_s):
    match = new_match().begin().play(*PLAYED)
    match.hand_over()
    match.wait(LIMIT_S).restart(outage_s).come_back(0, 1)
    match.hand_over()
    assert match.match.clock_ms(match.now) == LIMIT_S * 1000
    match.wait(LIMIT_S + MARGIN_S / 2).answer("2")
    match.assert_goes_on(ply=4, seat=0)
    assert match.times(0) == (1100, 0, 1100)


def test_the_limit_holds_again_once_it_is_asked(resumed):
    resumed.come_back(0, 1)
    resumed.hand_over()
    resumed.now = resumed.match.deadline
    resumed.tell(DeadlinePassed(resumed.now))
    resumed.assert_forfeit(seat=1, cause="timeout")


def test_each_seat_hears_how_its_last_move_was_timed(new_match):
    match = new_match().begin().play("4", think_s=0.25).play("0", think_s=0.75).restart()
    assert match.match.last == (Timing(250, 0, 250, 1000), Timing(750, 0, 750, 1000))


@pytest.mark.parametrize("all_back", [False, True])
def test_a_move_acknowledged_before_the_kill_is_acknowledged_again(resumed, all_back):
    if all_back:
        resumed.come_back(0, 1)
    before = resumed.match
    for ply, action in enumerate(PLAYED):
        assert resumed.tell(Action(ply % 2, ply, action, resumed.now)) == [Acknowledge(ply % 2, ply)]
    assert resumed.match == before


@pytest.mark.parametrize(
    ("seat", "ply", "action"), [(0, 0, "1"), (1, 0, "4"), (1, 3, "2"), (0, 3, "2"), (0, 4, "1")]
)
def test_any_other_move_has_to_wait_for_its_request(resumed, seat, ply, action):
    before = resumed.match
    (reject,) = resumed.tell(Action(seat, ply, action, resumed.now))
    assert (type(reject), reject.code) == (Reject, "not_started")
    assert resumed.match == before


@pytest.mark.parametrize(
    ("back", "absent"), [((), "seat 1 and seat 2 were"), ((0,), "seat 2 was"), ((1,), "seat 1 was")]
)
def test_a_match_whose_agents_do_not_all_come_back_is_void_and_nobodys_fault(resumed, back, absent):
    for seat in back:
        resumed.come_back(seat)
    resumed.wait(RESUME_S - 0.001)
    assert resumed.tell(DeadlinePassed(resumed.now)) == [SetDeadline(resumed.match.deadline)]
    resumed.wait(0.002).tell(DeadlinePassed(resumed.now))
    resumed.assert_void("infrastructure", "infrastructure")
    assert resumed.match.result.detail == (
        f"{absent} not back and ready 60 s after a restart of the server; counts for nobody"
    )


def test_the_time_to_come_back_is_a_term_of_the_match(new_match):
    match = new_match(Terms(1000, resume_ms=500)).restart()
    assert match.match.deadline == match.now + 0.5


def test_whoever_is_lost_again_has_to_be_ready_again(resumed):
    resumed.come_back(0)
    resumed.tell(Lost(0, resumed.now))
    assert resumed.come_back(1) == []
    assert resumed.come_back(0)[0] == Begin(resumed.now)


def test_a_second_kill_before_all_were_back_changes_nothing(resumed):
    resumed.come_back(1)
    resumed.restart().come_back(0)
    assert resumed.match.phase is Phase.STARTING
    resumed.come_back(1)
    resumed.play("2", "1")
    resumed.assert_goes_on(ply=5, seat=1)


def test_a_match_that_had_not_begun_begins(new_match):
    match = new_match()
    match.tell(Ready(0, match.now))
    match.restart().come_back(0, 1)
    assert match.of(Ask) == [Ask(0, 0, match.now)]


def test_giving_up_meanwhile_loses_and_is_no_way_out(resumed):
    resumed.tell(Resign(1, resumed.now))
    resumed.assert_forfeit(seat=1, cause="resignation")
    assert resumed.match.result.detail == "resigned at ply 3"


def test_giving_up_before_the_first_move_is_not_showing_up(new_match):
    match = new_match().begin().restart()
    match.tell(Resign(1, match.now))
    match.assert_void("normal", "no_show")


def test_a_fault_of_the_server_meanwhile_counts_for_nobody(resumed):
    resumed.tell(Abort(resumed.now, "an agent came with a new version"))
    resumed.assert_void("infrastructure", "infrastructure")


def test_the_game_is_played_to_its_end_after_many_kills(new_match):
    match = new_match().begin()
    for action in ["0", "3", "1", "4", "2"]:
        match.play(action)
        if not match.match.over:
            match.restart().come_back(1, 0)
    match.assert_won(seat=0)
    assert match.match.movers == (0, 1, 0, 1, 0)
