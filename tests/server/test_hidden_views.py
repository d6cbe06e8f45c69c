"""What is told of a match with hidden cards depends on nothing that its reader may not know.

For every card of the other player the messages are the same, byte for byte, until the match is over.
"""

from collections import defaultdict
from datetime import UTC, datetime
from types import SimpleNamespace

import msgspec
import pytest

from games import CHANCE, load
from games.position import Position
from games.protocol import PUBLIC
from server import views, wire
from server.core.clock import full
from server.core.match import Ask, Match, Phase, Terms, Timing
from server.core.outcome import by_utilities
from server.db.ladders import Ladder
from server.db.matches import MoveRow
from server.db.reads import MatchRow, SeatRow
from server.db.resume import Seated
from server.http.matches import _one, _record
from server.past import past_view

GAME = load("kuhn_poker")
LADDER = Ladder(1, "kuhn_poker", "Kuhn poker", "kuhn_poker", 1000)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
SEATS = [Seated(n + 10, n, name, 1, True, 1500.0, 0) for n, name in enumerate(("ada", "bob"))]


def all_positions():
    """Every position of the game, as it is reached in play."""
    reached = [Position.start(GAME)]
    for position in reached:
        texts = [text for text, _ in position.outcomes()] or position.legal()
        reached += [position.play(text) for text in texts]
    return reached


def as_match(position):
    """A running match at a position, or one that its last action has just ended."""
    over = position.is_terminal()
    movers = tuple(CHANCE if ply < 2 else ply % 2 for ply in range(position.ply))
    return Match(
        position,
        Terms(1000),
        Phase.FINISHED if over else Phase.RUNNING,
        (True, True),
        (True, True),
        deadline=9.0,
        clocks=(full(Terms(1000)),) * 2,
        movers=movers,
        last=(Timing(5, 0, 5), None),
        result=by_utilities(position.utilities()) if over else None,
    )


SEED = "5f" * 32


def told_to_seat(position, seat):
    match = as_match(position)
    told = [wire.match_start(7, LADDER, [], seat, match, SEED)]
    if match.to_move == seat:
        told.append(wire.your_move(7, Ask(seat, match.ply, 0.0), match, 0.0))
    return told


def told_to_spectators(position):
    running = SimpleNamespace(id=7, ladder=LADDER, seats=SEATS)
    return [views.view_of(running, as_match(position), 0.0, NOW), *told_of_the_record(position)]


def told_of_the_record(position):
    """What is read from the database: the API's match and record, and a snapshot for spectators."""
    state = "finished" if position.is_terminal() else "running"
    moves = [
        MoveRow(ply, CHANCE if ply < 2 else ply % 2, action, 0, 0, {"thought": position.text()}, NOW)
        for ply, action in enumerate(position.actions)
    ]
    sitting = tuple(
        SeatRow(n, s.name, 1, n, True, 1500.0, None, 0, True, None, None) for n, s in enumerate(SEATS)
    )
    terms = {"move_ms": 1000}
    row = MatchRow(
        7,
        "kuhn_poker",
        "Kuhn",
        GAME.variant,
        state,
        1,
        7,
        None,
        terms,
        len(moves),
        None,
        NOW,
        NOW,
        None,
        sitting,
    )
    return [_one(row, moves), _record(row, moves), past_view(row, position, moves)]


def known_to(viewer, position):
    """What the viewer may know: the ply, the betting, and the own card."""
    return (
        position.ply,
        position.actions[2:],
        "" if viewer == PUBLIC else "".join(position.actions[viewer : viewer + 1]),
    )


@pytest.mark.parametrize("viewer", [PUBLIC, 0, 1])
def test_what_is_told_is_the_same_whatever_is_hidden(viewer):
    told = defaultdict(set)
    for position in all_positions():
        if not position.is_terminal():
            messages = told_to_spectators(position) if viewer == PUBLIC else told_to_seat(position, viewer)
            told[known_to(viewer, position)].add(msgspec.json.encode(messages))
    assert {len(versions) for versions in told.values()} == {1}
    deals = {known_to(viewer, position) for position in all_positions() if position.ply == 2}
    assert len(deals) == (1 if viewer == PUBLIC else 3), "and it does depend on what may be known"


def test_after_the_end_everybody_may_know_everything():
    for position in all_positions():
        if position.is_terminal():
            told = msgspec.json.encode(told_to_spectators(position)).decode()
            for action in position.actions:
                assert f'"{action}"' in told
            assert told.count(position.text()) >= 3
