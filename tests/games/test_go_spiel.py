"""Go against OpenSpiel's: the same games, ply by ply.

One difference is known. OpenSpiel 2.0.1 bars the simple ko alone; a stone that makes a board which has been
there before ends its game as a draw. Ours bars such stones. So at every ply OpenSpiel's legal actions are
ours and the points that superko bars beyond the simple ko, and each of those ends its game with 0 for both.
"""

import random

import pytest

from games import Position
from games.go import GAME, MOST_MOVES
from games.go_notation import NO_POINT, PASS_TEXT
from games.kernel.counting import count_paths
from games.kernel.jit import native
from games.perft import merged_perft

pyspiel = pytest.importorskip("pyspiel")

SIZES = (5, 5, 5, 6, 5, 7, 5, 9)


def spiel(size: int):
    length = MOST_MOVES * size * size
    return pyspiel.load_game(f"go(board_size={size},komi=7.5,max_game_length={length})")


def by_text(state) -> dict[str, int]:
    return {state.action_to_string(action).split()[1].lower(): action for action in state.legal_actions()}


def check_game(seed: int) -> int:
    """Play a random game, half of them without passes where there is a choice; count the differences."""
    rng, size = random.Random(seed), SIZES[seed % len(SIZES)]
    position, theirs = Position.start(GAME.with_options(size=size)), spiel(size).new_initial_state()
    differences = 0
    while not position.is_terminal():
        assert not theirs.is_terminal()
        ours, actions = position.legal(), by_text(theirs)
        more = set(actions) - set(ours)
        assert set(ours) <= set(actions)
        assert more <= set(position.text().split(" ")[3].split(",")) - {NO_POINT}
        for text in more:
            child = theirs.child(actions[text])
            assert child.is_terminal()
            assert child.returns() == [0, 0]
            differences += 1
        stones = [text for text in ours if text != PASS_TEXT]
        move = rng.choice(stones if stones and seed // len(SIZES) % 2 else ours)
        position = position.play(move)
        theirs.apply_action(actions[move])
    assert theirs.is_terminal()
    assert list(position.utilities()) == theirs.returns()
    return differences


def test_random_games():
    assert sum(map(check_game, range(200))) > 0


@pytest.mark.deep
def test_a_thousand_random_games():
    assert sum(map(check_game, range(1000))) > 0


def count(state, depth: int) -> int:
    """Paths of play, without those where a stone repeats a board: its game is over after that."""
    if depth == 0:
        return 1
    children = [(text, state.child(action)) for text, action in by_text(state).items()]
    return sum(count(child, depth - 1) for text, child in children if may_follow(text, child))


def may_follow(text: str, child) -> bool:
    return text == PASS_TEXT or not child.is_terminal()


def ours(position: Position, depth: int) -> int:
    """Paths of play with all their history."""
    if depth == 1:
        return len(position.legal())
    return sum(ours(position.play(text), depth - 1) for text in position.legal())


@pytest.mark.parametrize(("size", "depth"), [(5, 3), (6, 3), (9, 2), (13, 2)])
def test_paths_from_the_start(size, depth):
    state = native(GAME.with_options(size=size).initial_state())
    assert count_paths(state, depth) == count(spiel(size).new_initial_state(), depth)


@pytest.mark.parametrize("plies", [20, 30, 40, 50, 60])
def test_paths_from_crowded_boards(plies):
    """There captures, suicide, ko and superko matter."""
    rng = random.Random(plies)
    position, theirs = Position.start(GAME.with_options(size=5)), spiel(5).new_initial_state()
    while position.ply < plies:
        move = rng.choice(position.legal()[:-1] or [PASS_TEXT])
        theirs.apply_action(by_text(theirs)[move])
        position = position.play(move)
    assert ours(position, 3) == count(theirs, 3)
    assert count_paths(native(position.state), 3) == merged_perft(position.state, 3)
