"""A match on a fake clock: of tic-tac-toe if nothing else is said."""

from typing import NamedTuple

import pytest

from games import CHANCE, Game, load
from games.position import Position
from server.core.match import Phase, Terms, advance, resume, start
from server.core.match_events import (
    Accept,
    Action,
    Back,
    Finish,
    HandedOver,
    Ready,
    Record,
    Timing,
)
from server.core.outcome import Cause, Outcome

TERMS = Terms(move_ms=1000, margin_ms=200, ready_ms=10_000)


class TimedMatch:
    """A match with its clock, in seconds, and every effect that came out of it."""

    def __init__(self, terms=TERMS, position=None):
        self.now = 1000.0
        self.match, first = start(position or Position.start(load("tic_tac_toe")), terms, self.now)
        self.effects = list(first)
        self.played = []

    def restart(self, outage_s=3600.0):
        """Kill the server and start it again: what is recorded stays, on a clock that began anew."""
        before, self.now = self.match, self.now / 2 + outage_s
        position = Position.start(before.position.game, moves=before.position.actions)
        self.match, first = resume(position, self.played, before.terms, self.now)
        self.effects = list(first)
        return self

    def come_back(self, *seats):
        """These seats connect and say that they are ready; return the effects of the last one."""
        for seat in seats:
            self.tell(Back(seat, self.now))
            effects = self.tell(Ready(seat, self.now))
        return effects

    def tell(self, event):
        """Hand in an event; return its effects."""
        self.match, effects = advance(self.match, event)
        self.effects += effects
        for effect in effects:
            if type(effect) is Accept:
                self.played.append((effect.seat, effect.timing))
            elif type(effect) is Record:
                self.played.append((CHANCE, Timing(0, 0, 0)))
        return list(effects)

    def wait(self, seconds):
        self.now += seconds
        return self

    def begin(self):
        """Both seats get ready."""
        for seat in (0, 1):
            self.tell(Ready(seat, self.now))
        return self

    def hand_over(self, round_trip_ms=None):
        """The pending request goes out."""
        return self.tell(HandedOver(self.match.ply, self.now, round_trip_ms))

    def answer(self, action, **more):
        """The seat to move answers the pending request."""
        return self.tell(Action(self.match.to_move, self.match.ply, action, self.now, **more))

    def play(self, *actions, think_s=0.25):
        """Hand over each request at once and answer it after some thought."""
        for action in actions:
            self.hand_over()
            self.wait(think_s).answer(action)
        return self

    def times(self, number=-1):
        """What the number-th accepted move took, and what of it was refunded and charged."""
        timing = self.of(Accept)[number].timing
        return timing.elapsed_ms, timing.refunded_ms, timing.charged_ms

    def of(self, kind):
        """All effects of a kind so far."""
        return [effect for effect in self.effects if type(effect) is kind]

    # assertions -------------------------------------------------------------------------------------

    def assert_over_once(self, phase):
        """The match ended in this phase and said so exactly once."""
        assert self.match.phase is phase
        assert self.match.over
        assert self.match.to_move is None
        assert [finish.result for finish in self.of(Finish)] == [self.match.result]

    def assert_forfeit(self, *, seat, cause):
        """The seat, and no other, lost by this cause."""
        self.assert_over_once(Phase.FINISHED)
        outcomes, causes = self.match.result.outcomes, self.match.result.causes
        assert outcomes == tuple(Outcome.LOSS if other == seat else Outcome.WIN for other in (0, 1))
        assert causes == tuple(Cause(cause) if other == seat else Cause.NORMAL for other in (0, 1))

    def assert_won(self, *, seat):
        """The seat won by the rules of the game."""
        self.assert_over_once(Phase.FINISHED)
        outcomes, causes = self.match.result.outcomes, self.match.result.causes
        assert outcomes == tuple(Outcome.WIN if other == seat else Outcome.LOSS for other in (0, 1))
        assert causes == (Cause.NORMAL, Cause.NORMAL)

    def assert_void(self, *causes):
        """The match counts for nobody, with these causes by seat."""
        self.assert_over_once(Phase.VOID)
        assert self.match.result.scores == (None, None)
        assert self.match.result.causes == tuple(Cause(cause) for cause in causes)

    def assert_goes_on(self, *, ply, seat):
        """The match runs, and this seat is to move at this ply."""
        assert self.match.phase is Phase.RUNNING
        assert (self.match.ply, self.match.to_move) == (ply, seat)
        assert not self.match.over
        assert self.of(Finish) == []


@pytest.fixture
def new_match():
    """Open a match; both seats have been told."""
    return TimedMatch


@pytest.fixture
def running():
    """A match whose first request has just been handed over."""
    match = TimedMatch().begin()
    match.hand_over()
    return match


class Coin(NamedTuple):
    """Chance throws a coin until it shows 1. Nobody else moves, and player 0 wins."""

    thrown: int = 0
    over: bool = False

    def to_move(self):
        return CHANCE

    def actions(self):
        return iter(())

    def chance(self):
        return iter(((0, 0.5), (1, 0.5)))

    def result(self, a):
        return Coin(self.thrown + 1, a == 1)

    def is_terminal(self):
        return self.over

    def utility(self, p):
        return 1.0 - 2.0 * p

    def key(self):
        return self.thrown


@pytest.fixture
def coin():
    """The start of a game that is chance alone."""
    game = Game(
        name="coin",
        title="Coin",
        start=Coin,
        read_position=None,
        format_position=str,
        parse_action=lambda _state, text: int(text),
        format_action=lambda _state, action: str(action),
        board=None,
        feature_names=(),
        has_chance=True,
    )
    return Position.start(game)
