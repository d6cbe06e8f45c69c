"""New matches wait while the server is later than its margin."""

import pytest
from structlog.testing import capture_logs

from server.gate import LEAST_MARGIN_S, Gate


class Lateness:
    """How late the server was lately, as a test says."""

    def __init__(self) -> None:
        self.s = 0.0
        self.closed = 0

    def count(self) -> None:
        self.closed += 1

    def gate(self, margin_ms: int = 200) -> Gate:
        return Gate(lambda: self.s, margin_ms, self.count)


@pytest.mark.parametrize(("late_s", "is_open"), [(0.0, True), (0.2, True), (0.201, False), (30.0, False)])
def test_new_matches_start_while_the_server_is_no_later_than_the_margin(late_s: float, is_open: bool):
    late = Lateness()
    gate = late.gate()
    late.s = late_s
    assert gate.is_open() is is_open


def test_a_small_margin_closes_nothing_for_everyday_lateness():
    late = Lateness()
    gate = late.gate(margin_ms=0)
    late.s = LEAST_MARGIN_S
    assert gate.is_open()
    late.s += 0.001
    assert not gate.is_open()


def test_each_closing_is_counted_and_each_change_logged_once():
    late = Lateness()
    gate = late.gate()
    with capture_logs() as logs:
        for late.s in (0.0, 0.3, 0.4, 0.3, 0.1, 0.1, 0.5, 0.0):
            gate.is_open()
    assert late.closed == 2
    assert [entry["event"] for entry in logs] == ["admission.waiting", "admission.open"] * 2
    assert logs[0]["lag_ms"] == 300


def test_it_says_in_a_sentence_why_new_matches_wait():
    late = Lateness()
    gate = late.gate()
    assert gate.notice() is None
    late.s = 0.35
    assert gate.notice() == "New matches wait: the server is 350 ms late, the margin is 200 ms."
