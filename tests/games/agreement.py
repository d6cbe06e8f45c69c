"""Plain Python and machine code give the same answers about a state."""

from typing import Any

import numpy as np
import pytest

from games import Position
from games.kernel.jit import native, njit
from games.perft import plies
from games.protocol import mix, u64


@njit
def look(s: Any, weights: Any, found: Any) -> Any:
    """What the methods of a state answer; its actions or outcomes go into `found`."""
    n, sure = 0, 0.0
    for a in s.actions():
        found[n] = a
        n += 1
    for outcome, probability in s.chance():
        found[n] = outcome
        n += 1
        sure += probability * (outcome + 1)
    values = (s.evaluate(0, weights), s.evaluate(1, weights), sure)
    ends = s.is_terminal(), s.utility(0), s.utility(1)
    return n, s.to_move(), *ends, s.key(), s.players(), s.count_actions(), values


@njit
def follow(s: Any, a: int, rng: Any) -> Any:
    """State after an action or outcome, with its features seen from both sides and an action of a playout."""
    after = s.result(a)
    return after, after.features(0), after.features(1), after.playout_action(rng)


def agrees(position: Position, weights: Any) -> None:
    """Plain Python and machine code give the same answers and the same next states."""
    state, found = position.state, np.zeros(2**15, np.int64)
    n, *answers, values = look(native(state), weights, found)
    assert list(found[:n]) == list(plies(state))
    assert answers == [
        state.to_move(),
        state.is_terminal(),
        state.utility(0),
        state.utility(1),
        state.key(),
        state.players(),
        state.count_actions(),
    ]
    sure = sum(probability * (outcome + 1) for outcome, probability in state.chance())
    expected = (state.evaluate(0, weights), state.evaluate(1, weights), sure)
    assert values == pytest.approx(expected)
    for ply in plies(state):
        after = state.result(ply)
        rng = mix(u64(ply))
        expected_after = after, after.features(0), after.features(1), after.playout_action(rng)
        assert follow(native(state), ply, np.uint64(rng)) == expected_after
