"""Where chance moves, the shell is asked to draw; players are asked and charged as ever."""

import pytest

from games import CHANCE, load
from games.position import Position
from server.core.match import HAND_OVER_S, Terms
from server.core.match_events import (
    Accept,
    Acknowledge,
    Action,
    Ask,
    Begin,
    DeadlinePassed,
    Draw,
    Drawn,
    Record,
    Reject,
    SetDeadline,
)
from server.core.outcome import Outcome


@pytest.fixture
def poker(new_match):
    """A match of Kuhn poker; nobody is ready yet."""
    return new_match(position=Position.start(load("kuhn_poker")))


def deal(match, first="d2", second="d0"):
    match.begin()
    match.tell(Drawn(0, first, match.now))
    match.tell(Drawn(1, second, match.now))
    return match


def test_nothing_is_drawn_before_all_are_ready(poker):
    poker.tell(Drawn(0, "d2", poker.now))
    assert poker.of(Draw) == []
    poker.begin()
    thirds = tuple((f"d{card}", pytest.approx(1 / 3)) for card in range(3))
    assert poker.effects[-3:] == [Begin(poker.now), SetDeadline(poker.now + HAND_OVER_S), Draw(0, thirds)]


def test_the_next_draw_follows_from_the_one_before(poker):
    poker.begin()
    effects = poker.tell(Drawn(0, "d2", poker.now))
    halves = (("d0", 0.5), ("d1", 0.5))
    assert effects == [Record(0, "d2", poker.now), SetDeadline(poker.now + HAND_OVER_S), Draw(1, halves)]
    assert poker.tell(Drawn(1, "d0", poker.now)) == [
        Record(1, "d0", poker.now),
        SetDeadline(poker.now + HAND_OVER_S),
        Ask(0, 2, poker.now),
    ]


def test_outcomes_count_as_plies_of_nobody(poker):
    deal(poker).play("p", "b")
    poker.assert_goes_on(ply=4, seat=0)
    assert poker.match.movers == (CHANCE, CHANCE, 0, 1)
    assert [accept.ply for accept in poker.of(Accept)] == [2, 3]


@pytest.mark.parametrize("ply", [-1, 1, 5])
def test_an_outcome_for_another_ply_changes_nothing(poker, ply):
    before = poker.begin().match
    assert poker.tell(Drawn(ply, "d2", poker.now)) == []
    assert poker.match == before


def test_an_outcome_where_a_player_moves_changes_nothing(poker):
    before = deal(poker).match
    assert poker.tell(Drawn(2, "d1", poker.now)) == []
    assert poker.match == before


def test_a_move_while_chance_moves_is_rejected(poker):
    poker.begin()
    for seat in (0, 1):
        (reject,) = poker.tell(Action(seat, 0, "p", poker.now))
        assert (type(reject), reject.code) == (Reject, "not_asked")
    assert poker.match.ply == 0
    assert poker.match.to_move is None


@pytest.mark.parametrize("seat", [0, 1])
def test_nobody_is_acknowledged_for_an_outcome(poker, seat):
    deal(poker)
    (reject,) = poker.tell(Action(seat, 0, "d2", poker.now))
    assert (type(reject), reject.code) == (Reject, "wrong_ply")
    assert poker.of(Acknowledge) == []


def test_no_clock_runs_while_chance_moves(poker):
    poker.begin().wait(30)
    assert poker.match.clock_ms(poker.now) is None
    deal(poker)
    poker.hand_over()
    assert poker.match.clock_ms(poker.now) == 1000


def test_a_draw_that_never_comes_is_nobodys_fault(poker):
    poker.begin().wait(HAND_OVER_S).tell(DeadlinePassed(poker.now))
    poker.assert_void("infrastructure", "infrastructure")


def test_there_is_no_pause_before_a_draw(new_match):
    poker = new_match(Terms(1000, pace_ms=400), Position.start(load("kuhn_poker")))
    deal(poker)
    assert poker.of(SetDeadline)[2].at == poker.now + HAND_OVER_S
    assert poker.of(Ask) == [Ask(0, 2, poker.now + 0.4)]


@pytest.mark.parametrize(
    ("actions", "utilities", "outcomes"),
    [
        (["p", "p"], (1.0, -1.0), (Outcome.WIN, Outcome.LOSS)),
        (["b", "b"], (2.0, -2.0), (Outcome.WIN, Outcome.LOSS)),
        (["p", "b", "p"], (-1.0, 1.0), (Outcome.LOSS, Outcome.WIN)),
    ],
)
def test_more_chips_than_the_other_win_however_many(poker, actions, utilities, outcomes):
    deal(poker).play(*actions)
    assert poker.match.position.utilities() == utilities
    assert poker.match.result.outcomes == outcomes
    assert sorted(poker.match.result.scores) == [0.0, 1.0]


@pytest.mark.parametrize("dealt", [0, 1, 2])
def test_after_a_restart_what_was_dealt_stays_and_the_rest_is_drawn(poker, dealt):
    poker.begin()
    for ply, card in enumerate(["d2", "d0"][:dealt]):
        poker.tell(Drawn(ply, card, poker.now))
    poker.restart()
    assert poker.of(Draw) == []
    effects = poker.come_back(0, 1)
    assert poker.match.position.actions == ("d2", "d0")[:dealt]
    assert type(effects[-1]) is (Ask if dealt == 2 else Draw)
