"""A minute of chaos with everybody in it, and the promises that must hold after it."""

import sys
from pathlib import Path

import pytest

from tests.chaos.report import report
from tests.chaos.storm import Plan, Storm, seed_of

LEAST = {
    "agents killed": 5,
    "server launched": 3,
    "reset": 20,
    "close": 10,
    "stall": 20,
    "connected": 120,
    "overthought": 5,
}
"""A storm is one if at least so much has happened in it: about a quarter of what does."""


@pytest.mark.deep
def test_a_minute_of_chaos_breaks_no_promise(tmp_path: Path) -> None:
    plan = Plan(seed_of(None), seconds=60)
    sys.stdout.write(f"seed {plan.seed}\n")  # shown where the test fails
    verdict = Storm(tmp_path, plan).run()
    told = list(report(verdict, tmp_path))
    assert (verdict.findings, verdict.doctor) == ([], []), "\n".join(told)
    counts, matches = verdict.evidence.counts, verdict.record.matches.values()
    assert {what: counts[what] for what, least in LEAST.items() if counts[what] < least} == {}
    assert sum(match.row.state == "finished" for match in matches) > 100
    assert sum(match.row.attempt > 1 for match in matches) > 20, "matches that a later server went on with"
    causes = {seat.cause for match in matches for seat in match.seats}
    assert causes >= {"normal", "timeout"}
    assert any(move.timed_out for match in matches for move in match.moves), "a strike"
