"""Not a test: a program that plays matches until it is killed. See test_kill.py.

It prints `id elo elo` for each match after the database has said that its result is committed.
"""

import asyncio
import random
import sys
from datetime import UTC, datetime

from sqlalchemy import update

from agents.protocol import TimeControl
from server.db import agents, ladders, matches, resume, schema
from server.db.engine import Database

WORKERS = 8
RESULTS = ((("win", 1.0), ("loss", 0.0)), (("draw", 0.5), ("draw", 0.5)), (("loss", 0.0), ("win", 1.0)))


def now() -> datetime:
    return datetime.now(UTC)


def enter(conn):
    ladder = ladders.sync(conn, [ladders.LadderSpec("go", "Go", "go", TimeControl(1000))])[0]
    # As before there were clocks: these moves are held against none.
    conn.execute(update(schema.ladders).values(time_control='{"move_ms":1000}'))
    versions = []
    for number in range(4):
        identity = agents.ensure_house(conn, f"house-{number}", now())
        version = agents.ensure_version(conn, identity.agent_id, "f", now())
        agents.join_ladder(conn, ladder.id, version.id, now())
        versions.append(version.id)
    return ladder.id, versions


def give_up(conn):
    for left in resume.resume(conn, "child"):
        matches.void(conn, left.id, left.attempt, ["infrastructure"] * 2, "killed", now(), replay=True)


async def play_forever(db: Database, ladder: int, versions: list[int]) -> None:
    while True:
        pair = tuple(random.sample(versions, 2))
        for number in await db.write(matches.queue_table, ladder, pair, {"move_ms": 1000}, now()):
            attempt = (await db.write(matches.begin, number, "child", now())).attempt
            await db.write(matches.set_running, number, attempt, now())
            for ply in range(random.randrange(3)):
                move = matches.MoveRow(ply, ply % 2, "d4", 1, 1, None, now())
                await db.write_together(matches.record_moves, matches.Played(number, attempt, (move,)))
            seats = [
                matches.SeatResult(outcome, "normal", score) for outcome, score in random.choice(RESULTS)
            ]
            end = matches.Ended(number, attempt, seats, None, now())
            after = await db.write_together(matches.finish_all, end, durable=True)
            sys.stdout.write(f"{number} {after[0]!r} {after[1]!r}\n")
            sys.stdout.flush()


async def main(url: str) -> None:
    db = Database.open(url)
    db.migrate()
    ladder, versions = db.write_now(enter)
    db.write_now(give_up)
    await asyncio.gather(*(play_forever(db, ladder, versions) for _ in range(WORKERS)))


asyncio.run(main(sys.argv[1]))
