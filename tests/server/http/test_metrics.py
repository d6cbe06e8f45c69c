"""The metrics: their names, and that nothing in them tells of one match or agent."""

from types import SimpleNamespace

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from server.core.outcome import Cause, Outcome, Result, by_utilities, forfeit
from server.http.metrics import Metrics
from server.referee import Referee


def test_what_is_counted_is_shown():
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    metrics.matches_finished.inc()
    metrics.matches_void.inc()
    metrics.moves.inc(7)
    metrics.forfeits.labels(cause="timeout").inc()
    metrics.connections.inc()
    metrics.running_matches.set(3)
    metrics.loop_lag.observe(0.002)
    shown = generate_latest(registry).decode()
    for line in (
        "plyground_matches_finished_total 1.0",
        "plyground_matches_void_total 1.0",
        "plyground_moves_total 7.0",
        'plyground_forfeits_total{cause="timeout"} 1.0',
        "plyground_connections 1.0",
        "plyground_running_matches 3.0",
        "plyground_loop_lag_seconds_count 1.0",
        "plyground_loop_lag_recent_seconds 0.0",
        "plyground_admission_open 1.0",
        "plyground_admission_closed_total 0.0",
    ):
        assert line in shown.splitlines()


def test_no_label_names_a_match_or_an_agent():
    registry = CollectorRegistry()
    Metrics(registry).forfeits.labels(cause="timeout").inc()
    labels = {name for family in registry.collect() for sample in family.samples for name in sample.labels}
    assert labels <= {"cause", "le", "reason"}


def test_two_servers_in_one_process_do_not_share():
    first, second = CollectorRegistry(), CollectorRegistry()
    Metrics(first).moves.inc()
    Metrics(second)
    assert first.get_sample_value("plyground_moves_total") == 1
    assert second.get_sample_value("plyground_moves_total") == 0


ABSENT = Result((Outcome.VOID,) * 2, (Cause.NO_SHOW,) * 2, "nobody came")
LOST_HOUSE = Result((Outcome.VOID,) * 2, (Cause.INFRASTRUCTURE,) * 2, "the house agent was lost")
BOTH_OVERRAN = Result((Outcome.LOSS,) * 2, (Cause.TIMEOUT, Cause.CRASH), "each by itself")


@pytest.mark.parametrize(
    ("result", "forfeits", "finished", "void"),
    [
        (by_utilities((1, -1)), {}, 1, 0),
        (by_utilities((0, 0)), {}, 1, 0),
        (forfeit(2, 1, Cause.TIMEOUT, ""), {"timeout": 1}, 1, 0),
        (forfeit(3, 0, Cause.DISCONNECT, ""), {"disconnect": 1}, 1, 0),
        (BOTH_OVERRAN, {"timeout": 1, "crash": 1}, 1, 0),
        (ABSENT, {}, 0, 1),
        (LOST_HOUSE, {}, 0, 1),
        (None, {}, 0, 0),
    ],
)
def test_a_match_that_ends_counts_a_forfeit_for_each_seat_that_gave_it_away_and_none_if_void(
    result, forfeits, finished, void
):
    registry = CollectorRegistry()
    referee = SimpleNamespace(_metrics=Metrics(registry), _running={})
    seats = [SimpleNamespace(name=name) for name in ("ada", "bob", "cat")]
    for number in (1, 2):
        match = SimpleNamespace(id=number, match=SimpleNamespace(result=result), seats=seats)
        Referee._count(referee, match)
    counted = {
        cause.value: registry.get_sample_value("plyground_forfeits_total", {"cause": cause.value})
        for cause in Cause
    }
    assert {cause: count for cause, count in counted.items() if count} == {
        cause: 2 * count for cause, count in forfeits.items()
    }
    assert registry.get_sample_value("plyground_matches_finished_total") == 2 * finished
    assert registry.get_sample_value("plyground_matches_void_total") == 2 * void
