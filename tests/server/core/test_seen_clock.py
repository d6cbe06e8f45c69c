"""What spectators are told of the clock of the seat to move."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from prometheus_client import CollectorRegistry

from server.broadcast import Broadcast
from server.core.match import Back, Lost, Terms
from server.db.ladders import Ladder
from server.db.resume import Seated
from server.http.metrics import Metrics
from server.referee import Referee
from server.settings import Settings
from server.views import view_of

NOW = datetime(2026, 3, 1, tzinfo=UTC)
GRACE = Terms(move_ms=1000, grace_ms=2000)
LADDER = Ladder(1, "tic_tac_toe", "Tic-tac-toe", "tic_tac_toe", 1000)
SEATS = [Seated(n + 10, n, name, 1, True, 1500.0, 0) for n, name in enumerate(("ada", "bob"))]


def seen(match, after_s=0.0):
    """What is left and for how long that stands still, in a view of so much later."""
    running = SimpleNamespace(id=7, ladder=LADDER, seats=SEATS)
    view = view_of(running, match.match, match.now + after_s, NOW)
    return view.clock_ms, view.still_ms


def shown(match, lost_s):
    """What the referee shows of a match whose server stood still for so long."""
    broadcast = Broadcast(1000)
    times = {"monotonic": lambda: match.now, "wall": lambda _at: NOW, "lost": lambda _since, _at: lost_s}
    metrics, away = Metrics(CollectorRegistry()), lambda _name, _since: False
    referee = Referee(Settings(), None, None, None, broadcast, metrics, "lease", kept_away=away, **times)
    referee.show(SimpleNamespace(id=7, ladder=LADDER, seats=SEATS, match=match.match, seal=None))
    return broadcast.view(7).clock_ms


def test_a_time_in_which_the_server_stood_still_is_not_shown_as_used(new_match):
    match = new_match(GRACE).begin()
    assert shown(match, lost_s=0.0) == 1000
    match.hand_over()
    match.wait(1.25)
    assert shown(match, lost_s=0.0) == 0
    assert shown(match, lost_s=0.75) == 500


def test_the_clock_of_an_agent_that_is_here_runs(new_match):
    match = new_match(GRACE).begin()
    match.hand_over()
    assert seen(match, after_s=0.25) == (750, 0)


def test_the_clock_of_an_absent_agent_stands_still_while_its_grace_lasts(new_match):
    match = new_match(GRACE).begin()
    match.hand_over()
    match.wait(0.25).tell(Lost(0, match.now))
    assert seen(match) == (750, 2000)
    assert seen(match, after_s=0.5) == (750, 1500)
    assert seen(match, after_s=2.0) == (750, 0)
    assert seen(match, after_s=2.5) == (250, 0)
    match.wait(1.5).tell(Back(0, match.now))
    assert seen(match) == (750, 0)
    match.wait(0.25).tell(Lost(0, match.now))
    assert seen(match) == (500, 500), "the grace is filled once"


def test_an_agent_that_will_not_be_back_has_no_grace(new_match):
    match = new_match(GRACE).begin()
    match.hand_over()
    match.wait(0.25).tell(Lost(0, match.now, gone=True))
    assert seen(match) == (750, 0)


def test_the_absence_of_the_other_seat_stops_no_clock(new_match):
    match = new_match(GRACE).begin()
    match.hand_over()
    match.tell(Lost(1, match.now))
    assert seen(match) == (1000, 0)
    match.answer("4")
    assert seen(match) == (1000, 2000), "now it is its turn"
    match.hand_over()
    assert seen(match, after_s=0.5) == (1000, 1500)


@pytest.mark.parametrize("pace_ms", [0, 400])
def test_no_clock_runs_in_the_pause_between_two_moves(new_match, pace_ms):
    match = new_match(Terms(move_ms=1000, pace_ms=pace_ms)).begin()
    match.hand_over()
    assert seen(match) == (1000, 0)
    match.answer("4")
    assert seen(match) == (1000, pace_ms)
