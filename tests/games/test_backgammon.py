"""Backgammon: others' games, turns and corner cases, OpenSpiel, a second implementation, and the texts."""

import json
import random
import re
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import plain_backgammon
import pyspiel
import pytest
from agreement import agrees
from corpus import random_games, sample

import games
from games import CHANCE, InputError, Position, State
from games.backgammon_checkers import BAR, count_at
from games.backgammon_notation import START, moves_of
from games.backgammon_state import Backgammon
from games.kernel.counting import count_paths, count_turns
from games.kernel.jit import native
from games.perft import perft, turns

DATA = Path(__file__).parents[1] / "data" / "truth"
GAME = games.load("backgammon")


def rows(name: str) -> list[dict[str, Any]]:
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row.get("game", "backgammon") == "backgammon"]


def at(text: str) -> Position:
    return Position.start(GAME, text)


def sides(state: Backgammon) -> list[plain_backgammon.Side]:
    """Counts of the player whose turn it is and of the other one, place by place."""
    return [[count_at(checkers, place) for place in range(26)] for checkers in (state.me, state.other)]


def dice_of(state: Backgammon) -> tuple[int, int]:
    return state.dice >> 3, state.dice & 7


def ends(state: Backgammon) -> set[str]:
    """Boards after each play, seen from the player who made it."""
    after = [state.result(action) for action in state.actions()]
    return {str(sides(end) if end.mid_turn() else sides(end)[::-1]) for end in after}


def ways(state: Backgammon) -> list[tuple[tuple[plain_backgammon.Step, ...], Any, Any]]:
    """Ways to play that the second implementation finds: the two moves of a play in each order possible."""
    return plain_backgammon.longest(*sides(state), dice_of(state))


# others' games ------------------------------------------------------------------------------------------

GAMES_KNOWN = [
    pytest.param(row, id=row["id"], marks=[] if row["verified"] else [pytest.mark.deep])
    for row in rows("games_backgammon")
]


@pytest.mark.parametrize("row", rows("games_backgammon"), ids=lambda row: row["id"])
def test_random_game(row):
    """Every play of OpenSpiel's random games is legal and written as there; the utilities are the same."""
    position = Position.start(GAME)
    for move in row["moves"].split():
        chance = position.to_move() == CHANCE
        position = position.play(move)
        roll = re.fullmatch(r"roll(\d)(\d)", move)
        assert position.actions[-1] == (f"roll{max(roll.groups())}{min(roll.groups())}" if roll else move)
        assert chance is move.startswith("roll")
    assert position.is_terminal()
    assert list(position.utilities()) == row["returns"]


@pytest.mark.parametrize("row", GAMES_KNOWN)
def test_number_of_legal_plays_in_random_game(row):
    """OpenSpiel counts each order of the two moves. No row differs, be it `verified` or not."""
    position = Position.start(GAME)
    for move, legal in zip(row["moves"].split(), row["legal"], strict=True):
        assert (0 if position.to_move() == CHANCE else len(ways(position.state))) == legal
        position = position.play(move)


def test_machine_code_agrees_on_positions_of_the_games():
    weights = np.linspace(-0.7, 1.1, len(GAME.feature_names))
    for row in rows("games_backgammon")[::40]:
        position = Position.start(GAME)
        for move in row["moves"].split():
            agrees(position, weights)
            position = position.play(move)
        agrees(position, weights)
    drawn = at(f"{START} = x")
    agrees(drawn, weights)
    assert [str(utility) for utility in drawn.utilities()] == ["0.0", "0.0"], "no minus zero in JSON"


# turns and corner cases ---------------------------------------------------------------------------------


START_POINTS = [{6: 5, 8: 3, 13: 5, 24: 2}.get(point, 0) for point in range(1, 25)]
OPENING = {
    "mover_points_1_to_24": START_POINTS,
    "opponent_on_movers_points": START_POINTS[::-1],
    "mover_bar": 0,
    "mover_off": 0,
}
"""What the rows of the opening leave out."""


def text_of(own: dict[int, int], others: dict[int, int], bar: int, dice: list[int], side: str) -> str:
    """Text of a position; `own` and `others` are checkers by the mover's points."""
    one, other = ("A", "a") if side == "x" else ("a", "A")
    letters = ["-"] * 26
    for place, count in {**own, BAR: bar}.items():
        letters[place] = chr(ord(one) + count - 1) if count else "-"
    for place, count in others.items():
        letters[place] = chr(ord(other) + count - 1) if count else letters[place]
    high, low = max(dice), min(dice)
    board = "".join(letters if side == "x" else reversed(letters))
    return f"{board} {f'{high}' * 4 if high == low else f'{high}{low}'} {side}"


def dice_used(state: State) -> set[int]:
    """Numbers of dice that a whole turn can use."""
    used = set()
    for action in state.actions():
        after, moves = state.result(action), len(moves_of(action))
        used |= {moves + more for more in dice_used(after)} if after.mid_turn() else {moves}
    return used


@pytest.mark.parametrize("side", ["x", "o"])
@pytest.mark.parametrize("row", rows("backgammon_turns"), ids=lambda row: row["id"])
def test_turn(row, side):
    row = OPENING | row
    own = dict(enumerate(row["mover_points_1_to_24"], start=1))
    others = dict(enumerate(row["opponent_on_movers_points"], start=1))
    state = at(text_of(own, others, row["mover_bar"], row["dice"], side)).state
    assert count_at(state.me, 0) == row["mover_off"]
    assert dice_used(state) == {row.get("dice_used", 4 if len(set(row["dice"])) == 1 else 2)}
    assert len(set(turns(state))) == row["distinct_results"]


def end_of_turn(position: Position, moves: list[str]) -> State:
    """State after all moves of a turn, in any order that can be played."""
    for order in permutations(moves):
        end = position
        try:
            for first in range(0, max(len(moves), 1), 2):
                end = end.play(" ".join(order[first : first + 2]) or "Pass")
        except InputError:
            continue
        assert not end.state.mid_turn()
        return end.state
    raise AssertionError(f"{moves} cannot be played")


@pytest.mark.parametrize("side", ["x", "o"])
@pytest.mark.parametrize("row", rows("corner_cases"), ids=lambda row: row["id"])
def test_corner_case(row, side):
    where, expect = row["position"], row["expect"]
    own = {int(point): count for point, count in where["mover_points_24_to_1"].items()}
    others = {int(point): count for point, count in where["opponent_on_movers_points"].items()}
    position = at(text_of(own, others, where["mover_bar"], where["dice"], side))
    assert count_at(position.state.me, 0) == where["mover_off"]
    assert dice_used(position.state) == {expect["dice_used"]}
    assert len(set(turns(position.state))) == expect["distinct_results"]
    reached = {end_of_turn(position, play.split()) for play in expect["example_plays"]}
    assert reached <= set(turns(position.state))
    assert len(reached) == len(expect["example_plays"])


def test_results_of_the_opening_rolls():
    """Fact 18: the 21 rolls from the start lead to 447 different positions."""
    [fact] = rows("facts")
    texts = [
        f"{high}{low}" if high != low else f"{high}" * 4 for high in range(1, 7) for low in range(1, high + 1)
    ]
    found = [len(set(turns(at(f"{START} {dice} x").state))) for dice in texts]
    assert (fact["id"], sum(found)) == ("fact-18", fact["value"])


def test_a_double_is_never_cut_short_by_its_first_two_moves():
    """Any two moves of a double leave the longest turn possible.

    So to ask of each half only that it be as long as possible, as OpenSpiel does, is the rule about all four
    numbers of a double: a move never takes another checker's move away.
    """
    seen: set[tuple[object, ...]] = set()
    for played in random_games("backgammon"):
        for position in played:
            state = position.state
            if state.plays == 2 and len(list(state.actions())) < 12 and state[:3] not in seen:
                seen.add(state[:3])
                whole = plain_backgammon.longest(*sides(state), dice_of(state) * 2)
                assert {str([own, other]) for _, own, other in whole} == {
                    str(sides(end)[::-1]) for end in turns(state)
                }
    assert len(seen) > 100


def test_plays_are_those_of_the_second_implementation():
    for position in sample("backgammon"):
        if position.to_move() != CHANCE and not position.is_terminal():
            known = {str([own, other]) for _, own, other in ways(position.state)}
            assert ends(position.state) == known


# OpenSpiel ----------------------------------------------------------------------------------------------


def spiel_texts(spiel: Any) -> dict[str, list[int]]:
    """OpenSpiel's actions by our texts: it has one for each order of the two moves."""
    found: dict[str, list[int]] = {}
    mover = spiel.current_player()
    for action in spiel.legal_actions():
        text = spiel.action_to_string(mover, action)
        roll = re.search(r"(?:([XO]) starts, )?\(roll: (\d)(\d)\)", text)
        if roll is None:
            text = f"{mover}:{text.rpartition(' - ')[2].replace(' ', '+')}"
        elif roll[1]:
            text = f"roll{roll[2]}{roll[3]}:{roll[1]}"
        else:
            text = f"roll{max(roll[2], roll[3])}{min(roll[2], roll[3])}"
        found.setdefault(text, []).append(action)
    return found


def play_both(rng: random.Random) -> Counter[str]:
    """Play a random game by both rules; count what was compared."""
    spiel = pyspiel.load_game("backgammon(scoring_type=full_scoring)").new_initial_state()
    position, compared = Position.start(GAME), Counter[str]()
    while not spiel.is_terminal():
        texts = spiel_texts(spiel)
        if spiel.is_chance_node():
            chances = dict(spiel.chance_outcomes())
            expected = {text: sum(chances[action] for action in same) for text, same in texts.items()}
            assert dict(position.outcomes()) == pytest.approx(expected)
        else:
            assert position.to_move() == spiel.current_player()
            assert set(position.legal()) == set(texts)
            assert len(list(position.state.actions())) == len(texts)
        compared["doubles" if position.state.plays == 2 else "others"] += 1
        text = rng.choice(sorted(texts))
        spiel.apply_action(rng.choice(texts[text]))
        position = position.play(text)
    assert position.is_terminal()
    assert list(position.utilities()) == spiel.returns()
    return compared


@pytest.mark.parametrize("number", [100, pytest.param(900, marks=pytest.mark.deep)])
def test_open_spiel_agrees(number):
    """Legal plays, rolls with their probabilities, utilities and ends of random games: no difference.

    OpenSpiel has two outcomes for a roll of different dice, and one action for each order of the two moves of
    a play: those are merged here. Its games end in a draw after 500 turns, ours after 1,500 plies; random
    games are shorter.
    """
    rng, compared = random.Random(number), Counter[str]()
    for _ in range(number):
        compared += play_both(rng)
    assert compared["doubles"] > 10 * number
    assert compared["others"] > 100 * number


def spiel_paths(spiel: Any, depth: int) -> int:
    """Paths of OpenSpiel, with texts that mean the same taken together."""
    texts = spiel_texts(spiel)
    if depth == 1:
        return len(texts)
    return sum(spiel_paths(spiel.child(same[0]), depth - 1) for same in texts.values())


def test_paths_are_as_many_as_in_open_spiel():
    spiel = pyspiel.load_game("backgammon").new_initial_state()
    state = GAME.initial_state()
    for depth, paths in enumerate([30, 428, 8_988], start=1):
        assert spiel_paths(spiel, depth) == paths
        assert count_paths(native(state), depth) == paths
    assert count_paths(native(state), 4) == 120_906
    assert count_paths(native(state), 5) == 2_349_886


def test_machine_code_counts_turns_as_plain_python_does():
    """A double is one ply for perft: four moves, two actions."""
    state = GAME.initial_state()
    counts = [count_turns(native(state), depth) for depth in range(1, 5)]
    assert counts[:3] == [perft(state, depth) for depth in range(1, 4)] == [30, 428, 8_988]
    assert counts[3] == 424_206
