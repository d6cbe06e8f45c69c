"""Rounds of the spectators: what is sent is made once for all, and who does not read is nobody's trouble."""

import asyncio
import itertools
from types import SimpleNamespace

import pytest

from agents import protocol
from server import watch
from server.broadcast import Broadcast, Sight, match_channel
from server.watch import Rounds, Spectator

FIRST = 1_000
MATCH = match_channel(7)
PATIENCE_S = 60


class Line:
    """A transport that keeps what is written, with as much unsent as a test says."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.unsent = 0
        self.aborted = False

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True


class Hall:
    """A broadcast with one match, and spectators of it."""

    def __init__(self) -> None:
        self.broadcast = Broadcast(FIRST)
        self.rounds = Rounds(self.broadcast)

    def seat(self) -> tuple[Spectator, Line]:
        line = Line()
        spectator = Spectator(SimpleNamespace(closed=False), line, self.broadcast, self.rounds)
        spectator.follow(MATCH, None)
        return spectator, line

    def move(self, ply: int) -> None:
        view = protocol.MatchView(
            7, "tic_tac_toe", "", "tic_tac_toe", "running", ply, 0, [], {}, "", 5000, moves=[]
        )
        self.broadcast.publish(Sight(7, "tic_tac_toe", lambda: view, over=False))


@pytest.fixture
async def hall() -> Hall:
    hall = Hall()
    hall.move(0)
    return hall


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(watch, "COALESCE_S", 0.001)
    monkeypatch.setattr(watch, "LOOK_AGAIN_S", 0.001)


async def until(happened):
    async with asyncio.timeout(PATIENCE_S):
        while not happened():
            await asyncio.sleep(0.001)


def heard(line: Line) -> list[int]:
    """Plies of all events that a spectator was sent, in order."""
    plies = []
    for data in line.written:
        for message in data.split(b'{"type":"')[1:]:
            text = b'{"type":"' + message
            decoded = protocol.decode_to_spectator(text[: text.rindex(b"}") + 1])
            if isinstance(decoded, protocol.Event):
                plies.append(decoded.match.ply)
    return plies


async def test_more_than_are_served_at_once_all_hear_the_same_bytes(hall):
    lines = [hall.seat()[1] for _ in range(3 * watch.AT_ONCE + 1)]
    await until(lambda: all(line.written for line in lines))
    hall.move(1)
    await until(lambda: all(len(line.written) == 2 for line in lines))
    for sent in zip(*(line.written for line in lines), strict=True):
        assert len(set(sent)) == 1
    assert len({id(line.written[1]) for line in lines}) == 1, "the frames were made more than once"


async def test_moves_of_one_round_go_out_together(hall):
    _, line = hall.seat()
    await until(lambda: line.written)
    for ply in (1, 2, 3):
        hall.move(ply)
    await until(lambda: len(line.written) == 2)
    assert heard(line) == [1, 2, 3]


async def test_who_does_not_read_delays_nobody_and_hears_everything_later(hall):
    _, reads = hall.seat()
    _, stalls = hall.seat()
    await until(lambda: reads.written and stalls.written)
    stalls.unsent = watch.SKIP_ABOVE_BYTES + 1
    for ply in range(1, 6):
        hall.move(ply)
        await until(lambda ply=ply: heard(reads)[-1:] == [ply])
    assert heard(stalls) == []
    stalls.unsent = 0
    await until(lambda: heard(stalls) == [1, 2, 3, 4, 5])
    hall.move(6)
    await until(lambda: heard(stalls) == [1, 2, 3, 4, 5, 6])


async def test_looking_after_one_who_does_not_read_is_no_round(hall, monkeypatch):
    spectator, line = hall.seat()
    await until(lambda: line.written)
    line.unsent = watch.SKIP_ABOVE_BYTES + 1
    hall.move(1)
    await until(lambda: spectator._behind_since is not None and hall.rounds._next is None)
    began, looks = hall.rounds._began, itertools.count()
    monkeypatch.setattr(line, "get_write_buffer_size", lambda: watch.SKIP_ABOVE_BYTES + 1 + next(looks))
    await until(lambda: next(looks) > 5)
    assert hall.rounds._began == began, "the next move would have had to wait for its round"


async def test_who_has_not_read_for_long_is_cut_off(hall, monkeypatch):
    monkeypatch.setattr(watch, "STALLED_S", 0.01)
    _, line = hall.seat()
    await until(lambda: line.written)
    line.unsent = watch.SKIP_ABOVE_BYTES + 1
    hall.move(1)
    await until(lambda: line.aborted)
    assert heard(line) == []


async def test_who_has_left_hears_nothing_more(hall):
    stays, leaves = hall.seat(), hall.seat()
    await until(lambda: stays[1].written and leaves[1].written)
    hall.move(1)
    leaves[0].leave()
    await until(lambda: heard(stays[1]) == [1])
    hall.move(2)
    await until(lambda: heard(stays[1]) == [1, 2])
    assert heard(leaves[1]) == []
    stays[0].leave()
    assert not hall.broadcast.channel(MATCH).followers
