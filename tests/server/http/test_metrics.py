"""The metrics: their names, and that nothing in them tells of one match or agent."""

from prometheus_client import CollectorRegistry, generate_latest

from server.http.metrics import Metrics


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
