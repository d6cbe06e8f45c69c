"""kill -9 at any moment: what was told is kept, what is kept is whole, and nothing counts twice."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import text

from server.db.doctor import check
from server.db.engine import Database

CHILD = Path(__file__).with_name("finishing_forever.py")
ROOT = CHILD.parents[3]


def killed_after(url: str, told: int, pause_s: float) -> list[str]:
    """Let the program finish some matches, kill it a moment later; return every whole line it printed."""
    with subprocess.Popen(
        [sys.executable, str(CHILD), url],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            lines = []
            while len(lines) < told:
                line = child.stdout.readline()
                assert line, f"the program ended by itself: {child.stderr.read()}"
                lines.append(line)
            time.sleep(pause_s)
        finally:
            child.kill()
        lines += child.stdout.readlines()  # communicate() knows nothing of what readline() read ahead
    return [line for line in lines if line.endswith("\n")]


@pytest.mark.parametrize("rounds", [3, pytest.param(25, marks=pytest.mark.deep)])
def test_no_result_is_lost_or_doubled(url, rounds):
    seed = random.randrange(2**32)
    draw = random.Random(seed)
    told: dict[int, tuple[float, float]] = {}
    for _ in range(rounds):
        for line in killed_after(url, draw.randrange(1, 60), draw.random() / 20):
            number, *ratings = line.split()
            assert int(number) not in told, f"seed {seed}: match {number} was finished twice"
            told[int(number)] = tuple(map(float, ratings))
        db = Database.open(url)
        assert db.read_now(check) == [], f"seed {seed}"
        db.close()

    db = Database.open(url)
    seats = db.read_now(
        lambda conn: conn.execute(
            text("SELECT match_id, elo_after FROM seats WHERE elo_after IS NOT NULL ORDER BY match_id, seat")
        ).all()
    )
    kept: dict[int, tuple[float, ...]] = {}
    for row in seats:
        kept[row.match_id] = (*kept.get(row.match_id, ()), row.elo_after)
    assert {number: kept.get(number) for number in told} == told, f"seed {seed}"
    results = Counter(
        db.read_now(lambda conn: conn.execute(text("SELECT match_id FROM results")).scalars().all())
    )
    assert set(results) == set(kept)
    assert set(results.values()) == {1}
    db.close()
