"""Memory of a server that referees matches as fast as it can, over ten minutes.

Short matches of connect four (seven moves, and a win) are played without a pause by agents that answer at
once: what is lost with a match shows the sooner, the more matches there are. The resident memory is read
every second, and a straight line is laid through the second half: by then all that is kept on purpose is
there (the last finished matches, the database's pages, the pools of the allocator).

The goal is a slope of about zero: at most 64 bytes a match. An object that is kept for each match is at least
48 bytes and the place it is kept in, so less says that none is.
"""

import contextlib
import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.processes import LADDER, Child, child, server
from bench.result import Result

LASTS_S, QUICK_LASTS_S = 600.0, 10.0
EVERY_S = 1.0
AGENTS, HANDS = 12, 8
WON = ["1", "2", "1", "2", "1", "2", "1"]
GOAL_BYTES = 64
THIRDS = 3


@dataclass(frozen=True)
class Sample:
    """What was there at an instant."""

    at_s: float
    matches: int
    kib: float


def run(*, quick: bool) -> list[Result]:
    """Play, and measure the slope."""
    with contextlib.ExitStack() as stack:
        running, address, agents = stack.enter_context(server(AGENTS))
        players = stack.enter_context(child("bench.paced_players"))
        group = {"ladder": LADDER, "agents": agents, "hands": HANDS, "moves": WON}
        players.tell(json.dumps({"url": f"ws://{address}", "groups": [group]}))
        samples = _samples(running, players, QUICK_LASTS_S if quick else LASTS_S)
    return [_row(samples)]


def _samples(running: Child, players: Child, lasts_s: float) -> list[Sample]:
    begun = time.monotonic()
    samples: list[Sample] = []
    while not samples or samples[-1].at_s < lasts_s:
        time.sleep(EVERY_S)
        matches = players.ask("report")["sent"][0] // len(WON)
        samples.append(Sample(time.monotonic() - begun, matches, running.resident_kib()))
    return samples


def _row(samples: Sequence[Sample]) -> Result:
    late = samples[len(samples) // 2 :]
    size = max(2, len(late) // THIRDS)
    parts = [part for at in range(0, len(late), size) if len(part := late[at : at + size]) == size]
    slope = statistics.linear_regression([one.at_s / 60 for one in late], [one.kib for one in late]).slope
    a_match = _bytes_a_match(late)
    return Result(
        "memory that grows with the matches played, slope of the second half",
        (a_match,),
        unit="bytes a match",
        goal=GOAL_BYTES,
        at_most=True,
        detail=(
            f"{slope:+.1f} KiB a minute, {a_match * 1000 / 1024:+.1f} KiB for 1,000 matches; "
            f"{samples[-1].matches:,} matches in {samples[-1].at_s / 60:.1f} minutes, "
            f"{samples[0].kib / 1024:.1f} MiB at first, {late[0].kib / 1024:.1f} halfway, "
            f"{samples[-1].kib / 1024:.1f} at the end; thirds of the second half "
            + ", ".join(f"{_bytes_a_match(part):.0f}" for part in parts)
        ),
    )


def _bytes_a_match(samples: Sequence[Sample]) -> float:
    """Return the slope of a line through them, by least squares; 0 if no match ended between them."""
    matches = [float(one.matches) for one in samples]
    if matches[0] == matches[-1]:
        return 0.0
    return statistics.linear_regression(matches, [one.kib for one in samples]).slope * 1024
