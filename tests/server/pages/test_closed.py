"""The page of a match whose cards another match still plays with: it says so, and shows nothing of them."""

import re
from functools import partial

import pytest
from aiohttp import ClientSession

from server.db import matches, reads
from server.db.records import MoveRow

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOT_HIDDEN = re.compile(r'<p class="small text" data-part="closed">Closed: what is played')
CONTROL = {"move_ms": 5000, "margin_ms": 200, "ready_ms": 10000}


async def sealed_set(stage):
    """Two matches with the same cards, both dealt."""
    for name in ("ada", "bob"):
        await stage.agent(name)

    def job(conn):
        queue = partial(matches.queue_table, chance=True, sealed=True)
        table = [stage._versions[name] for name in ("ada", "bob")]
        numbers = queue(conn, stage.ladders["kuhn_poker"].id, table, CONTROL, stage.now())
        for number, begun in zip(
            numbers, matches.begin_all(conn, numbers, "server-1", stage.now()), strict=True
        ):
            matches.set_running(conn, number, begun.attempt, stage.now())
            rows = [MoveRow(ply, -1, card, 0, 0, None, stage.now()) for ply, card in enumerate(("d2", "d0"))]
            matches.record_moves(conn, [matches.Played(number, begun.attempt, rows)])
            stage._attempts[number] = begun.attempt
        return numbers

    return await stage.db.write(job)


async def page(stage, number):
    async with ClientSession() as session, session.get(stage.url(f"/matches/{number}")) as answer:
        assert answer.status == 200
        return await answer.text()


async def test_a_closed_match_says_so_until_all_of_its_set_are_over(stage):
    first, second = await sealed_set(stage)
    for ending in (first, second):
        for number in (first, second):
            told = await page(stage, number)
            assert NOT_HIDDEN.search(told), f"while match {ending} goes on"
            assert "is the start of its hash" in told
        await stage.finish(ending, ["win", "loss"], ["normal", "resignation"])
    for number in (first, second):
        told = await page(stage, number)
        row = stage.db.read_now(reads.match, number)
        assert not NOT_HIDDEN.search(told)
        assert row.seed in told
