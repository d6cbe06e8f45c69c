"""Random events at random times: whatever comes in, a match keeps its promises."""

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from games import load
from games.position import Position
from server.core.match import Phase, Terms, advance, resume, start
from server.core.match_events import (
    Abort,
    Accept,
    Acknowledge,
    Action,
    Ask,
    Back,
    Begin,
    DeadlinePassed,
    Drawn,
    Finish,
    HandedOver,
    Lost,
    Ready,
    Reject,
    Resign,
    SetDeadline,
)
from server.core.outcome import Cause, Outcome

SEATS = st.integers(0, 1)
CELLS = st.integers(0, 8).map(str)
BAD_TEXTS = st.one_of(
    st.sampled_from(["", "None", "9", " 4"]), st.text(max_size=4).filter(lambda t: t not in set("012345678"))
)
OWN_FAULTS = {Cause.TIMEOUT, Cause.ILLEGAL_ACTION, Cause.DISCONNECT, Cause.RESIGNATION}
ROUNDING_S = 1e-6


def seldom(name):
    """An argument that lets a rule act about once in eight times, so that matches last."""
    return {name: st.integers(0, 7).map(lambda n: n == 7)}


CONTROLS = st.one_of(
    st.builds(dict, move_ms=st.integers(50, 2000), strikes=st.integers(0, 2)),
    st.builds(dict, move_ms=st.just(0), bank_ms=st.integers(50, 9000), increment_ms=st.integers(0, 500)),
    st.builds(dict, move_ms=st.integers(50, 900), bank_ms=st.integers(50, 3000)),
    st.builds(
        dict,
        move_ms=st.just(0),
        bank_ms=st.integers(0, 1000),
        byoyomi_ms=st.integers(50, 900),
        periods=st.integers(1, 3),
        strikes=st.integers(0, 2),
    ),
    st.just({"move_ms": 0, "nodes": 1000}),
)
TRIPS = st.none() | st.floats(0, 900)


class MatchMachine(RuleBasedStateMachine):
    """Feeds a match and remembers what it was told, what came out, and when requests were handed over."""

    @initialize(
        control=CONTROLS,
        margin_ms=st.integers(0, 300),
        lag_ms=st.sampled_from([0, 400]),
        grace_ms=st.sampled_from([0, 1500]),
        pace_ms=st.sampled_from([0, 400]),
        cells=st.permutations("012345678"),
        opening=st.integers(0, 9),
    )
    def open(self, control, margin_ms, lag_ms, grace_ms, pace_ms, cells, opening):
        self.now = 5000.0
        more = {"margin_ms": margin_ms, "lag_ms": lag_ms, "grace_ms": grace_ms, "pace_ms": pace_ms}
        self.terms = Terms(**control, **more, ready_ms=3000, resume_ms=5000)
        self.life = self.born_at = 0
        self.handed_over = {}
        self.ready_seats = set()
        self.absent_seats = set()
        self.match, effects = start(Position.start(load("tic_tac_toe")), self.terms, self.now)
        self.effects = list(effects)
        if opening:
            self.all_ready()
            for cell in cells[: opening - 1]:
                self.play_opening_move(cell)

    def play_opening_move(self, cell):
        """Lead into the game, up to its last ply but not over it."""
        if not self.match.position.play(cell).is_terminal():
            self.hand_over()
            self.now += 0.02
            self.tell(Action(self.match.to_move, self.match.ply, cell, self.now))

    def tell(self, event):
        before = self.match
        self.match, effects = advance(self.match, event)
        self.effects += effects
        self.check_deadline_of_step(before, effects)
        if before.over:
            assert self.match == before, f"{event} changed a match that was over"
            assert all(type(effect) in (Acknowledge, Reject) for effect in effects)
        return effects

    def check_deadline_of_step(self, before, effects):
        """A step that moves the deadline says so exactly once."""
        told = [effect.at for effect in effects if type(effect) is SetDeadline]
        if self.match.over:
            assert told == []
        elif self.match.deadline != before.deadline:
            assert told == [self.match.deadline]
        else:
            assert told in ([], [self.match.deadline])

    # what can happen --------------------------------------------------------------------------------

    @rule(ms=st.integers(0, 30) | st.integers(0, 3000))
    def wait(self, ms):
        self.now += ms / 1000

    @precondition(lambda self: self.match.phase is not Phase.RUNNING)
    @rule(seat=SEATS)
    def ready(self, seat):
        self.ready_seats.add(seat)
        self.tell(Ready(seat, self.now))

    @precondition(lambda self: self.match.phase is Phase.STARTING)
    @rule()
    def all_ready(self):
        for seat in (0, 1):
            self.ready(seat)

    @precondition(lambda self: self.match.phase is Phase.RUNNING)
    @rule(trip_ms=TRIPS)
    def hand_over(self, trip_ms=None):
        self.handed_over.setdefault(self.match.ply, self.now)
        self.tell(HandedOver(self.match.ply, self.now, trip_ms))

    @rule(off=st.sampled_from([-1, 1, 2]))
    def hand_over_another_ply(self, off):
        before = self.match
        assert self.tell(HandedOver(self.match.ply + off, self.now)) == ()
        assert self.match == before

    @precondition(lambda self: self.match.open is not None)
    @rule()
    def hand_over_twice(self):
        before = self.match
        assert self.tell(HandedOver(self.match.ply, self.now)) == ()
        assert self.match == before, "the clock was restarted"

    @precondition(lambda self: self.match.phase is Phase.RUNNING)
    @rule(data=st.data(), late_ms=st.sampled_from([0, 0, 0, 7, 500]))
    def answer(self, data, late_ms):
        action = data.draw(st.sampled_from(self.match.position.legal()))
        self.tell(Action(self.match.to_move, self.match.ply, action, self.now, lag_s=late_ms / 1000))

    @precondition(lambda self: self.match.phase is Phase.RUNNING)
    @rule(data=st.data(), think_ms=st.integers(0, 300), late_ms=st.sampled_from([0, 7]))
    def hand_over_and_answer_in_time(self, data, think_ms, late_ms):
        self.hand_over()
        self.now = max(self.now, min(self.now + think_ms / 1000, self.match.deadline))
        self.answer(data, late_ms)

    @precondition(lambda self: self.match.open is not None)
    @rule(data=st.data(), late_ms=st.sampled_from([0, 3]))
    def answer_at_the_very_deadline(self, data, late_ms):
        due = self.match.deadline + late_ms / 1000
        if self.now <= due:
            self.now = due if late_ms == 0 else due - ROUNDING_S
            self.answer(data, late_ms)
            assert self.match.result is None or self.match.result.causes == (Cause.NORMAL, Cause.NORMAL)

    @precondition(lambda self: self.match.phase is Phase.RUNNING)
    @rule(text=BAD_TEXTS, **seldom("now_and_then"))
    def answer_nonsense(self, text, now_and_then):
        if now_and_then:
            self.tell(Action(self.match.to_move, self.match.ply, text, self.now))

    @rule(seat=SEATS, off=st.sampled_from([-2, -1, 0, 1]), cell=CELLS)
    def move_out_of_turn(self, seat, off, cell):
        ply = self.match.ply + off
        if off == 0 and seat == self.match.to_move:
            seat = 1 - seat
        before = self.match
        (effect,) = self.tell(Action(seat, ply, cell, self.now))
        assert self.match == before
        played = 0 <= ply < before.ply
        same = played and (before.movers[ply], before.position.actions[ply]) == (seat, cell)
        due = same and ply not in before.substituted
        assert type(effect) is (Acknowledge if due else Reject)

    @precondition(lambda self: self.match.movers)
    @rule(back=st.integers(1, 3))
    def repeat(self, back):
        ply = max(0, self.match.ply - back)
        seat, action = self.match.movers[ply], self.match.position.actions[ply]
        (effect,) = self.tell(Action(seat, ply, action, self.now))
        own = ply not in self.match.substituted
        assert effect == Acknowledge(seat, ply) if own else type(effect) is Reject

    @rule(seat=SEATS)
    def lose_connection(self, seat):
        self.absent_seats.add(seat)
        self.forget_readiness(seat)
        self.tell(Lost(seat, self.now))

    @rule(seat=SEATS, kept_s=st.sampled_from([0.0, 0.5, 30.0]))
    def come_back(self, seat, kept_s):
        self.absent_seats.discard(seat)
        self.forget_readiness(seat)
        effects = self.tell(Back(seat, self.now, kept_s))
        asked = [effect for effect in effects if type(effect) is Ask]
        request = self.match.open
        waits = request is not None and not request.striking and self.match.to_move == seat
        assert asked == ([Ask(seat, self.match.ply, self.now, again=True)] if waits else [])

    def forget_readiness(self, seat):
        """Before the start, another connection has to say `ready` anew."""
        if self.match.phase is Phase.STARTING:
            self.ready_seats.discard(seat)

    @precondition(lambda self: not self.match.over and self.now < self.match.deadline)
    @rule(early_ms=st.floats(0.01, 5.0), at_the_brink=st.booleans())
    def timer_fires_early(self, early_ms, at_the_brink):
        before = self.match
        if at_the_brink:
            self.now = max(self.now, before.deadline - early_ms / 1000)
        assert self.tell(DeadlinePassed(self.now)) == (SetDeadline(before.deadline),)
        assert self.match == before, "a limit fired early"

    @precondition(lambda self: not self.match.over)
    @rule(**seldom("now_and_then"))
    def timer_fires(self, now_and_then):
        if now_and_then:
            before = self.match
            self.now = max(self.now, before.deadline)
            effects = self.tell(DeadlinePassed(self.now))
            if before.open is not None and not before.open.striking and before.clocks[before.to_move].strikes:
                self.assert_strikes(before, effects)
            else:
                self.assert_blames_who_kept_it_waiting(before)

    def assert_strikes(self, before, effects):
        """One of the legal actions is drawn, and nobody is told before."""
        told, lots = effects
        assert told == SetDeadline(self.match.deadline)
        assert [text for text, _ in lots.outcomes] == before.position.legal()
        assert sum(chance for _, chance in lots.outcomes) == pytest.approx(1.0)
        assert self.match.position == before.position

    @precondition(lambda self: self.match.open is not None and self.match.open.striking)
    @rule(data=st.data())
    def lots_are_drawn(self, data):
        seat, strikes = self.match.to_move, self.match.clocks[self.match.to_move].strikes
        drawn = data.draw(st.sampled_from(self.match.position.legal()))
        ply = self.match.ply
        accept, told, *_ = self.tell(Drawn(ply, drawn, self.now))
        assert (told.seat, told.ply, told.code) == (seat, ply, "timed_out")
        assert (accept.seat, accept.action, accept.timing.timed_out) == (seat, drawn, True)
        assert self.match.clocks[seat].strikes == strikes - 1

    @precondition(lambda self: self.match.phase is Phase.RUNNING)
    @rule(cell=CELLS)
    def nobody_draws_lots_unasked(self, cell):
        before = self.match
        if before.open is None or not before.open.striking:
            assert self.tell(Drawn(before.ply, cell, self.now)) == ()
            assert self.match == before

    def assert_blames_who_kept_it_waiting(self, before):
        causes = self.match.result.causes
        if before.phase is Phase.STARTING and before.resumed:
            assert set(causes) == {Cause.INFRASTRUCTURE}
        elif before.phase is Phase.STARTING:
            assert [s for s in (0, 1) if causes[s] is Cause.NO_SHOW] == sorted({0, 1} - self.ready_seats)
        elif before.open is None or before.open.striking:
            assert set(causes) == {Cause.INFRASTRUCTURE}
        else:
            absent = before.open.lost_at is not None
            assert absent <= (before.to_move in self.absent_seats)
            assert causes[before.to_move] is (Cause.DISCONNECT if absent else Cause.TIMEOUT)

    @rule(seat=SEATS, resigns=st.booleans(), **seldom("now_and_then"))
    def give_up(self, seat, resigns, now_and_then):
        if now_and_then:
            self.tell(Resign(seat, self.now) if resigns else Abort(self.now, "power cut"))
            assert self.match.over

    @precondition(lambda self: not self.match.over)
    @rule(outage_ms=st.integers(0, 100_000), **seldom("now_and_then"))
    def kill_and_start_again(self, outage_ms, now_and_then):
        """What was recorded is all that is left; nobody is there, and no request is out."""
        if not now_and_then:
            return
        before = self.match
        self.now += outage_ms / 1000
        recorded = Position.start(before.position.game, moves=[move.action for move in self.of(Accept)])
        played = [(move.seat, move.timing) for move in self.of(Accept)]
        self.match, effects = resume(recorded, played, self.terms, self.now)
        assert (self.match.movers, self.match.last) == (before.movers, before.last)
        assert (self.match.clocks, self.match.substituted) == (before.clocks, before.substituted)
        self.life, self.born_at = len(self.effects), self.match.ply
        self.effects += effects
        self.handed_over.pop(before.ply, None)
        self.ready_seats, self.absent_seats = set(), {0, 1}

    @precondition(lambda self: self.match.resumed and self.match.phase is Phase.STARTING)
    @rule()
    def all_come_back(self):
        for seat in (0, 1):
            self.come_back(seat, 0.0)
        self.all_ready()
        assert self.match.phase is Phase.RUNNING

    # what always holds ------------------------------------------------------------------------------

    def of(self, kind):
        return [effect for effect in self.effects if type(effect) is kind]

    @invariant()
    def one_end(self):
        finishes = self.of(Finish)
        assert [finish.result for finish in finishes] == ([self.match.result] if self.match.over else [])
        assert self.match.over == (self.match.phase in (Phase.FINISHED, Phase.VOID))
        if self.match.over:
            assert self.match.result.void == (self.match.phase is Phase.VOID)

    @invariant()
    def nothing_is_asked_after_the_end_or_before_the_beginning(self):
        kinds = [type(effect) for effect in self.effects[self.life :]]
        assert kinds.count(Begin) <= 1
        assert (Begin in kinds) <= (self.ready_seats == {0, 1})
        first_ask = kinds.index(Ask) if Ask in kinds else len(kinds)
        assert first_ask == len(kinds) or Begin in kinds[:first_ask]
        if Finish in kinds:
            assert set(kinds[kinds.index(Finish) + 1 :]) <= {Acknowledge, Reject}

    @invariant()
    def plies_are_contiguous(self):
        accepted = self.of(Accept)
        assert [move.ply for move in accepted] == list(range(self.match.ply))
        assert tuple(move.action for move in accepted) == self.match.position.actions
        assert tuple(move.seat for move in accepted) == self.match.movers
        asked = [e.ply for e in self.effects[self.life :] if type(e) is Ask and not e.again]
        assert asked == list(range(self.born_at, self.born_at + len(asked)))
        if self.match.phase is Phase.STARTING:
            assert asked == []
        elif self.match.phase is Phase.RUNNING:
            assert asked[-1] == self.match.ply

    @invariant()
    def the_history_leads_to_the_position(self):
        replayed = Position.start(self.match.position.game, moves=self.match.position.actions)
        assert replayed.state == self.match.position.state

    @invariant()
    def time_is_charged_fairly(self):
        for move in self.of(Accept):
            timing = move.timing
            assert 0 <= timing.refunded_ms <= timing.elapsed_ms
            assert timing.charged_ms == timing.elapsed_ms - timing.refunded_ms >= 0
            assert timing.lag_ms + timing.away_ms <= timing.refunded_ms
            over_ms = timing.charged_ms - timing.limit_ms - self.terms.margin_ms
            assert timing.timed_out or over_ms <= 1

    @invariant()
    def no_more_is_given_than_there_was(self):
        for seat in (0, 1):
            timings = [move.timing for move in self.of(Accept) if move.seat == seat]
            assert sum(t.timed_out for t in timings) <= self.terms.strikes
            assert sum(t.away_ms for t in timings) <= self.terms.grace_ms
            given = [t.trip_ms for t in timings]
            assert sum(given) <= self.terms.lag_ms * (1 + len(given) / 4)
            clock = self.match.clocks[seat]
            assert min(clock.bank_ms, clock.strikes, clock.lag_ms, clock.grace_ms) >= 0
            assert clock.periods >= min(1, self.terms.periods)

    @invariant()
    def who_lost_on_time_had_used_it_up(self):
        """Within a millisecond: times are cut to whole ones."""
        for finish in self.of(Finish):
            if not {Cause.TIMEOUT, Cause.DISCONNECT} & set(finish.result.causes):
                continue
            timing = finish.request.timing
            assert finish.result.causes[finish.request.seat] is not Cause.NORMAL
            waited_for = timing.limit_ms + self.terms.margin_ms - 2
            absent = Cause.DISCONNECT in finish.result.causes and timing.away_ms == self.terms.grace_ms
            assert timing.charged_ms >= waited_for or (absent and self.terms.nodes)

    @invariant()
    def each_seat_knows_how_its_last_move_was_timed(self):
        timings = {move.seat: move.timing for move in self.of(Accept)}
        assert self.match.last == (timings.get(0), timings.get(1))

    @invariant()
    def one_deadline_is_pending(self):
        if not self.match.over:
            assert self.of(SetDeadline)[-1].at == self.match.deadline
            assert self.match.deadline > 0

    @invariant()
    def the_clock_is_bounded(self):
        left = self.match.clock_ms(self.now)
        assert left is None or 0 <= left <= self.match.open.limit_ms
        assert (left is None) == (self.match.open is None)

    @invariant()
    def outcomes_follow_from_causes(self):
        if not self.match.over:
            return
        outcomes, causes = self.match.result.outcomes, self.match.result.causes
        if self.match.result.void:
            assert set(outcomes) == {Outcome.VOID}
            assert set(causes) == {Cause.INFRASTRUCTURE} or Cause.NO_SHOW in causes
            return
        assert sum(self.match.result.scores) == 1
        assert set(causes) <= OWN_FAULTS | {Cause.NORMAL}
        guilty = [seat for seat in (0, 1) if causes[seat] in OWN_FAULTS]
        if guilty:
            assert [seat for seat in (0, 1) if outcomes[seat] is Outcome.LOSS] == guilty
        else:
            assert self.match.position.is_terminal()
            winner = (
                self.match.position.utilities().index(1.0) if 1.0 in self.match.position.utilities() else None
            )
            assert winner is None or outcomes[winner] is Outcome.WIN

    @invariant()
    def nobody_times_out_before_the_limit_and_the_margin(self):
        for finish in self.of(Finish):
            if {Cause.TIMEOUT, Cause.DISCONNECT} & set(finish.result.causes):
                request = finish.request
                assert (request.seat, request.ply) == (self.match.position.to_move(), self.match.ply)
                used_s = finish.at - self.handed_over[self.match.ply]
                if Cause.TIMEOUT in finish.result.causes or not self.terms.nodes:
                    least_s = (request.timing.limit_ms + self.terms.margin_ms) / 1000
                    assert used_s >= least_s - ROUNDING_S


TestMatch = MatchMachine.TestCase
TestMatch.settings = settings(max_examples=120, stateful_step_count=30, deadline=None)


@pytest.mark.deep
class TestMatchForLong(MatchMachine.TestCase):
    settings = settings(max_examples=2000, stateful_step_count=50, deadline=None)
