"""Finished matches a second, and moves: the writer of the database alone, on a SQLite file.

200 matches are open, each waiting for its own commit, as in the server. A finish commits with
synchronous=FULL, a move with NORMAL. `python -m bench.finished_matches` prints the medians as JSON.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec
from sqlalchemy import Connection, insert

from agents.protocol import TimeControl
from bench.result import Result
from server.db import agents, ladders, matches, schema
from server.db.engine import Database

OPEN = 200
"""Matches that are played at once."""

AGENTS = 50
GOAL = 1_500.0

_SEATS = (matches.SeatResult("win", "normal", 1.0), matches.SeatResult("loss", "normal", 0.0))


@dataclass(frozen=True)
class Rate:
    """What a second of wall time did, and the CPU time of each in microseconds, all threads together."""

    per_s: float
    cpu_us: float


def run(*, quick: bool) -> list[Result]:
    """Measure runs of a few seconds; each is on a fresh file."""
    rounds = [_round(400 if quick else 6_000, 10 if quick else 100) for _ in range(1 if quick else 5)]
    finished, moves = ([rates[side] for rates in rounds] for side in (0, 1))
    return [
        Result(
            name="finished matches a second, SQLite FULL",
            figures=tuple(rate.per_s for rate in finished),
            unit="1/s",
            goal=GOAL,
            detail=f"{_cpu(finished):.0f} us of CPU each",
        ),
        Result(
            name="recorded moves a second, 200 matches open",
            figures=tuple(rate.per_s for rate in moves),
            unit="1/s",
            detail=f"{_cpu(moves):.0f} us of CPU each",
        ),
    ]


def _cpu(rates: Sequence[Rate]) -> float:
    return statistics.median(rate.cpu_us for rate in rates)


def _round(finishing: int, plies: int) -> tuple[Rate, Rate]:
    """Play on a fresh file: moves of some matches first, then the ends of all."""
    with tempfile.TemporaryDirectory() as folder:
        db = Database.open(f"sqlite:///{folder}/plyground.db")
        try:
            db.migrate()
            ids = db.write_now(_begin, finishing)
            moves = asyncio.run(_measured(lambda: _play(db, ids[:OPEN], plies), OPEN * plies))
            return asyncio.run(_measured(lambda: _finish(db, iter(ids)), finishing)), moves
        finally:
            db.close()


async def _measured(work: Callable[[], Awaitable[object]], times: int) -> Rate:
    wall, cpu = time.perf_counter(), time.process_time()
    await work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Rate(times / wall, cpu / times * 1e6)


def _begin(conn: Connection, number: int) -> list[int]:
    """Make matches that run, between agents that meet again and again."""
    now = datetime.now(UTC)
    spec = ladders.LadderSpec("connect_four", "Connect four", "connect_four", TimeControl(5_000))
    [ladder] = ladders.sync(conn, [spec])
    versions = []
    for name in range(AGENTS):
        house = agents.ensure_house(conn, f"agent-{name}", now)
        versions.append(agents.ensure_version(conn, house.agent_id, None, now).id)
        agents.join_ladder(conn, ladder.id, versions[-1], now)
    ids = range(1, number + 1)
    row = {"ladder_id": ladder.id, "game": ladder.game, "state": "running", "attempt": 1, "lease": "bench"}
    row |= {"time_control": "{}", "moves": 0, "created_at": now, "started_at": now}
    conn.execute(insert(schema.matches), [{"id": match, **row} for match in ids])
    conn.execute(
        insert(schema.seats),
        [
            {
                "match_id": match,
                "seat": seat,
                "version_id": versions[(match * (1 + 6 * seat) + seat) % AGENTS],
            }
            for match in ids
            for seat in (0, 1)
        ],
    )
    return list(ids)


async def _play(db: Database, ids: Sequence[int], plies: int) -> None:
    async def play(match: int) -> None:
        for ply in range(plies):
            move = matches.MoveRow(ply, ply % 2, "4", 120, 100, None, datetime.now(UTC))
            await db.write_together(matches.record_moves, matches.Played(match, 1, (move,)))

    await asyncio.gather(*(play(match) for match in ids))


async def _finish(db: Database, ids: Iterator[int]) -> None:
    async def finish() -> None:
        for match in ids:
            end = matches.Ended(match, 1, _SEATS, None, datetime.now(UTC))
            await db.write_together(matches.finish_all, end, durable=True)

    await asyncio.gather(*(finish() for _ in range(OPEN)))


if __name__ == "__main__":
    found = run(quick="--quick" in sys.argv)
    medians = {"finished_per_s": found[0].median, "moves_per_s": found[1].median}
    detail = {"finished": found[0].detail, "moves": found[1].detail}
    sys.stdout.buffer.write(msgspec.json.encode(medians | detail) + b"\n")
