"""The benches of load count what they say: each is caught when it looks away."""

import importlib
import time
from types import SimpleNamespace

import pytest

from agents import protocol
from bench import lateness, memory_slope, traced_server
from bench.lateness import Trace, percentile, read_ms
from bench.memory_slope import Sample
from bench.paced_players import SILENT_PLIES, Group, Table
from server.core import match as core

LOADS = ("crowded", "deadlines", "memory_slope", "refereed_moves", "spectators")


def test_a_percentile_is_a_figure_that_was_measured():
    figures = [float(n) for n in range(1, 1_001)]
    assert [percentile(figures, percent) for percent in (0, 50, 99, 99.9, 100)] == [1, 500, 990, 999, 1000]
    assert percentile([3.0], 99.9) == 3
    with pytest.raises(ValueError, match="figures"):
        percentile([], 50)


def test_lateness_is_read_of_a_stretch_of_time_only(tmp_path):
    trace = Trace(str(tmp_path / "late"))
    for at, late_s in ((9.9, 1.0), (10.0, 0.002), (11.0, -0.001), (20.0, 1.0)):
        trace.note(at, late_s)
    assert read_ms(tmp_path / "late", 10.0, 20.0) == pytest.approx([-1, 2])
    assert lateness.in_words([1.0, 2.0]) == "1.00/2.00/2.00 ms"
    assert read_ms(tmp_path / "nowhere", 0, 1) == []


@pytest.mark.parametrize(
    ("event", "phase", "over", "noted"),
    [
        (core.DeadlinePassed(5.0), core.Phase.RUNNING, True, True),
        (core.DeadlinePassed(5.0), core.Phase.RUNNING, False, False),
        (core.DeadlinePassed(5.0), core.Phase.STARTING, True, False),
        (core.Ready(0, 5.0), core.Phase.RUNNING, True, False),
    ],
    ids=["a time-out", "a timer that was early", "not ready in time", "another event"],
)
def test_time_outs_and_nothing_else_are_noted_by_the_server(tmp_path, monkeypatch, event, phase, over, noted):
    before = SimpleNamespace(phase=phase, deadline=time.monotonic() + 3600)
    monkeypatch.setattr(core, "advance", lambda _match, _event: (SimpleNamespace(over=over), ()))
    traced_server.trace(str(tmp_path / "late"))
    core.advance(before, event)
    found = read_ms(tmp_path / "late", 0, float("inf"))
    assert len(found) == noted
    assert all(late < 0 for late in found), "a match that ends early must be seen to end early"


class Line:
    """What an agent of the bench sent."""

    def __init__(self) -> None:
        self.sent = []

    def send(self, payload: bytes) -> None:
        self.sent.append(protocol.decode_from_agent(payload))


def asked(match: int, ply: int) -> bytes:
    clock = protocol.ClockView(1000)
    return protocol.encode(protocol.YourMove(match, ply, "", [], [], clock))


def ended(match: int, *causes: str) -> bytes:
    outcome = ["loss", "win"] if "normal" in causes[1:] else ["win", "loss"]
    return protocol.encode(protocol.MatchEnd(match, outcome, list(causes), [None, None], ""))


def test_a_silent_agent_answers_until_its_ply_and_its_time_out_is_meant():
    line, table = Line(), Table(Group("any", [], ["1"] * 9, silent=True))
    match = SILENT_PLIES + 1
    for ply in (0, 1):
        table._hear(line, asked(match, ply))
    assert [move.ply for move in line.sent] == [0]
    for _ in range(2):  # both agents hear it
        table._hear(line, ended(match, "normal", "timeout"))
    assert table.causes == {"timeout": 1}
    assert not table.unintended


@pytest.mark.parametrize("silent", [False, True])
def test_any_other_end_by_fault_is_not_meant(silent):
    line, table = Line(), Table(Group("any", [], ["1"] * 9, silent=silent))
    table._hear(line, asked(SILENT_PLIES, 0))
    for cause in (("normal", "timeout"), ("infrastructure", "infrastructure"), ("normal", "normal")):
        for _ in range(2):
            table._hear(line, ended(SILENT_PLIES, *cause))
    assert table.unintended == {"timeout": 1, "infrastructure": 2}


def test_a_match_is_held_at_the_gate_until_it_is_let_go():
    line, table = Line(), Table(Group("any", [], ["1"] * 9, gate=2))
    for ply in range(3):
        table._hear(line, asked(7, ply))
    assert [move.ply for move in line.sent] == [0, 1]
    table.let_go()
    table._hear(line, asked(7, 3))
    table._hear(line, ended(7, "normal", "normal"))
    assert [move.ply for move in line.sent] == [0, 1, 2, 3]
    assert table.ended == 1


def test_memory_that_grows_only_at_first_does_not_grow():
    level = [Sample(float(n), 100 * n, 1000 + min(n, 30) * 50) for n in range(100)]
    result = memory_slope._row(level)
    assert result.reached
    assert result.median == pytest.approx(0)


def test_memory_that_is_lost_with_each_match_is_seen():
    lost = [Sample(float(n), 100 * n, 1000 + 100 * n * 100 / 1024) for n in range(100)]
    result = memory_slope._row(lost)
    assert result.reached is False
    assert result.median == pytest.approx(100)
    assert "+585.9 KiB a minute" in result.detail


@pytest.mark.deep
@pytest.mark.parametrize("name", LOADS)
def test_a_bench_of_load_measures_something(name):
    results = importlib.import_module(f"bench.{name}").run(quick=True)
    assert results
    assert all(result.figures and not result.missing for result in results)
