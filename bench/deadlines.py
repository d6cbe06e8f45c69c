"""How late time-outs are declared at 2,000 moves a second, beside a process that only sleeps.

A real server referees 200 matches whose agents are made to play 2,000 moves a second, and some 50 more in
which one agent falls silent at one of the first plies, over and over: each of these ends by a time-out, noted
by the server's own clock in the moment it is declared. On the same cores, in the same seconds, a process on
the same kind of loop sleeps to deadlines of its own. What the server is later than it, is its own doing; what
both are late, is the machine's.

No match may end early, and nobody may run out of time but those who fell silent.
"""

import contextlib
import json
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from bench.lateness import in_words, percentile, read_ms
from bench.processes import LADDER, Child, child, server
from bench.refereed_moves import drawn_match
from bench.result import Result

SILENT = "silent"
MOVE_MS, SILENT_MS = 10_000, 300
RATE = 2_000
SETTLE_S, QUICK_SETTLE_S = 10.0, 3.0
STRETCHES, STRETCH_S = 6, 10.0
QUICK_STRETCHES, QUICK_STRETCH_S = 1, 3.0
PLAYING = {"agents": 50, "hands": 8}
QUIET = {"agents": 12, "hands": 8}
GOAL_MS = 2.0


def run(*, quick: bool) -> list[Result]:
    """Measure stretches of time one after the other, all while the matches go on."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ours, control = folder / "server", folder / "sleeper"
        _, address, agents = stack.enter_context(
            server(
                PLAYING["agents"] + QUIET["agents"],
                "bench.traced_server",
                {LADDER: MOVE_MS, SILENT: SILENT_MS},
                BENCH_LATENESS=str(ours),
            )
        )
        stack.enter_context(child("bench.sleeper", str(control)))
        players = stack.enter_context(child("bench.paced_players"))
        players.tell(json.dumps({"url": f"ws://{address}", "groups": _groups(agents)}))
        time.sleep(QUICK_SETTLE_S if quick else SETTLE_S)
        begun = time.monotonic()
        before = players.ask("report")
        edges = _stretches(players, begun, quick=quick)
        after = players.ask("report")
        rate = (after["sent"][0] - before["sent"][0]) / (edges[-1] - begun)
        return _rows(ours, control, edges, rate, after)


def _groups(agents: list[tuple[str, str]]) -> list[dict[str, object]]:
    playing, quiet = agents[: PLAYING["agents"]], agents[PLAYING["agents"] :]
    moves = drawn_match()
    return [
        {"ladder": LADDER, "agents": playing, "hands": PLAYING["hands"], "moves": moves, "rate": RATE},
        {"ladder": SILENT, "agents": quiet, "hands": QUIET["hands"], "moves": moves, "silent": True},
    ]


def _stretches(players: Child, begun: float, *, quick: bool) -> list[float]:
    """Let time go by; return where each stretch begins, and the end of the last."""
    count, each_s = (QUICK_STRETCHES, QUICK_STRETCH_S) if quick else (STRETCHES, STRETCH_S)
    edges = [begun]
    for _ in range(count):
        time.sleep(each_s)
        edges.append(time.monotonic())
        if players.process.poll() is not None:
            raise RuntimeError("the players have gone")
    return edges


def _rows(
    ours: Path, control: Path, edges: list[float], rate: float, report: dict[str, dict[str, int]]
) -> list[Result]:
    stretches = list(pairwise(edges))
    apart = tuple(
        percentile(read_ms(ours, *stretch), 99) - percentile(read_ms(control, *stretch), 99)
        for stretch in stretches
    )
    all_ours, all_control = (read_ms(path, edges[0], edges[-1]) for path in (ours, control))
    words = (
        f"p50/p99/p99.9 of {len(all_ours):,} time-outs {in_words(all_ours)}, "
        f"of {len(all_control):,} sleeps {in_words(all_control)}; {rate:,.0f} moves a second"
    )
    early = tuple(float(sum(late < 0 for late in read_ms(ours, *stretch))) for stretch in stretches)
    earliest = f"the least late was {all_ours[0]:.3f} ms late"
    unintended = sum(report["unintended"].values())
    return [
        Result(
            f"lateness of deadlines at {RATE:,} moves a second, p99 less a sleeping process's",
            apart,
            unit="ms",
            goal=GOAL_MS,
            at_most=True,
            detail=words,
        ),
        Result("deadlines that took effect early", early, unit="", goal=0, at_most=True, detail=earliest),
        Result(
            "time-outs and other ends by fault, of agents that answered",
            (float(unintended),),
            unit="",
            goal=0,
            at_most=True,
            detail=f"beside {report['causes'].get('timeout', 0):,} intended ones",
        ),
    ]
