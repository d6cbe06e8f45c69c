"""A match of three players: whose turn it is, how it ends by the rules, and by a forfeit for all."""

import pytest

from games.position import Position
from server.core.match import Phase
from server.core.match_events import Action, DeadlinePassed, Lost, Ready, Resign
from server.core.outcome import Cause, Outcome

WIN, DRAW, LOSS = Outcome.WIN, Outcome.DRAW, Outcome.LOSS


@pytest.fixture
def three(new_match, share_out):
    """A match whose first request is to be handed over."""
    match = new_match(position=Position.start(share_out))
    for seat in range(3):
        assert match.match.phase is Phase.STARTING
        match.tell(Ready(seat, match.now))
    assert match.match.phase is Phase.RUNNING
    return match


@pytest.mark.parametrize(
    ("actions", "utilities", "outcomes", "scores"),
    [
        ("2 1 1 2 1", (4, 2, 1), (WIN, LOSS, LOSS), (1.0, 0.5, 0.0)),
        ("2 2 1 0 0 1 1", (3, 2, 2), (WIN, LOSS, LOSS), (1.0, 0.25, 0.25)),
        ("1 2 2 0 1 1", (1, 3, 3), (LOSS, DRAW, DRAW), (0.0, 0.75, 0.75)),
    ],
)
def test_a_game_of_three_is_won_by_place(three, actions, utilities, outcomes, scores):
    seats = []
    for action in actions.split():
        seats.append(three.match.to_move)
        three.play(action)
    assert seats == [ply % 3 for ply in range(len(seats))]
    three.assert_over_once(Phase.FINISHED)
    result = three.match.result
    assert (result.utilities, result.outcomes, result.scores) == (utilities, outcomes, scores)
    assert result.causes == (Cause.NORMAL,) * 3


def test_a_draw_by_a_rule_of_the_game_has_that_cause(three):
    three.play("2", "0", "0", "0")
    three.assert_over_once(Phase.FINISHED)
    result = three.match.result
    assert (result.outcomes, result.causes) == ((DRAW,) * 3, (Cause.RULE_DRAW,) * 3)
    assert result.utilities == (0.0,) * 3


def overtime(match):
    match.hand_over()
    match.tell(DeadlinePassed(match.match.deadline, 0.0))


def disconnect(match):
    match.hand_over()
    match.tell(Lost(match.match.to_move, match.now))
    match.tell(DeadlinePassed(match.match.deadline, 0.0))


def cheat(match):
    match.hand_over()
    match.tell(Action(match.match.to_move, match.match.ply, "3", match.now))


FAULTS = {
    "timeout": overtime,
    "disconnect": disconnect,
    "illegal_action": cheat,
    "resignation": lambda match: match.tell(Resign(match.match.to_move, match.now)),
    "crash": lambda match: match.tell(Resign(match.match.to_move, match.now, crashed=True)),
}


@pytest.mark.parametrize("cause", FAULTS)
@pytest.mark.parametrize("seat", range(3))
def test_a_forfeit_ends_the_match_for_all_whoever_has_more(three, cause, seat):
    """The seat is last, even with the most tokens, and the two others are equal, although not in tokens."""
    three.play("2", "1", "0", *("1", "0")[:seat])
    FAULTS[cause](three)
    three.assert_over_once(Phase.FINISHED)
    result = three.match.result
    others = [other for other in range(3) if other != seat]
    assert (result.outcomes[seat], result.causes[seat], result.scores[seat]) == (LOSS, cause, 0.0)
    assert {result.outcomes[other] for other in others} == {DRAW}
    assert {result.causes[other] for other in others} == {Cause.NORMAL}
    assert {result.scores[other] for other in others} == {0.75}
    assert result.utilities == ()


def test_who_resigns_out_of_turn_forfeits_too(three):
    three.play("2")
    three.tell(Resign(2, three.now))
    assert three.match.result.outcomes == (DRAW, DRAW, LOSS)


def test_before_the_start_one_that_does_not_show_up_makes_it_void_for_all(new_match, share_out):
    match = new_match(position=Position.start(share_out))
    match.tell(Ready(0, match.now))
    match.tell(Ready(2, match.now))
    match.tell(DeadlinePassed(match.match.deadline, 0.0))
    match.assert_over_once(Phase.VOID)
    assert match.match.result.causes == (Cause.NORMAL, Cause.NO_SHOW, Cause.NORMAL)
    assert match.match.result.scores == (None,) * 3
