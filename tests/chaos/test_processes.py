"""What the processes of a storm write down survives a kill, and what they are told is put in order."""

import subprocess
import sys

from harness import ROOT

from tests.chaos.evidence import Acked, Over, Told, gather
from tests.chaos.journal import Journal, read

WRITES_AND_IS_KILLED = """
import os, signal, sys
from pathlib import Path
from tests.chaos.journal import Journal
Journal(Path(sys.argv[1])).note("acked", ply=3)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_line_that_was_noted_survives_the_kill_that_follows(tmp_path):
    journal = tmp_path / "journal.jsonl"
    process = subprocess.run(
        [sys.executable, "-c", WRITES_AND_IS_KILLED, journal], cwd=ROOT, check=False, timeout=60
    )
    assert process.returncode == -9
    (line,) = read(journal)
    assert (line["what"], line["ply"]) == ("acked", 3)


def test_a_line_that_was_cut_off_is_none(tmp_path):
    path = tmp_path / "journal.jsonl"
    Journal(path).note("acked", ply=1)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"what": "ack')
    assert [line["ply"] for line in read(path)] == [1]


def test_evidence_is_put_in_order(tmp_path):
    agents, proxy = Journal(tmp_path / "agents-0.jsonl"), Journal(tmp_path / "proxy.jsonl")
    storm = Journal(tmp_path / "storm.jsonl")
    agents.note("connected", agent="ada", running=[])
    agents.note("told", agent="ada", match=1, first=2, actions=["4", "5"])
    agents.note("acked", agent="ada", match=1, ply=4, action="6")
    proxy.note("ended", agent="ada")
    proxy.note("stall", agent="bob", seconds=2.5)
    agents.note("connected", agent="ada", running=[1])
    agents.note("over", agent="ada", match=1, outcome=["win", "loss"], cause=["normal", "normal"])
    storm.note("server launched", down_at=1.0, up_at=2.0)
    evidence = gather(tmp_path)
    assert evidence.told == {Told("ada", 1, 2, "4"), Told("ada", 1, 3, "5")}
    assert evidence.acked == {Acked("ada", 1, 4, "6")}
    assert evidence.over == [Over("ada", 1, ["win", "loss"], ["normal", "normal"])]
    (away,) = evidence.troubles["ada"]
    assert away.what == "it was away"
    assert evidence.in_trouble("ada", away.start - 1, away.start) == [away]
    assert evidence.in_trouble("ada", away.end + 1, away.end + 2) == []
    (stalled,) = evidence.troubles["bob"]
    assert stalled.end - stalled.start == 2.5
    assert evidence.outage(0.5, 1.5) is not None
    assert evidence.outage(0.2, 0.9) is None
    assert evidence.outage(2.1, 3.0) is None
