"""Kalah: sowing, captures, ends, others' games, and what is read and refused."""

import json
import random
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest
from agreement import agrees
from fuzz import check_text, nearly, texts_of
from hypothesis import given

import games
from games import InputError, Position
from games.kalah import Features
from games.perft import layers, perft

GAME = games.load("kalah")
DATA = Path(__file__).parents[1] / "data" / "truth" / "games_mancala.jsonl"
ROWS = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
START = "4,4,4,4,4,4,0/4,4,4,4,4,4,0 x"
STORES = (7, 0)
"""The second store stands before pit 1 on the ring of the slow rules below."""


def after(text: str, move: str) -> str:
    return Position.start(GAME, text, [move]).text()


# others' games ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_game_of_others(row):
    position = Position.start(GAME)
    numbers = []
    for move in row["moves"].split():
        numbers.append(len(position.legal()))
        position = position.play(move)
    assert numbers == row["legal"]
    assert position.is_terminal()
    assert list(position.utilities()) == row["returns"]


def test_no_game_of_others_is_left_out():
    assert len(ROWS) == 116


def test_machine_code_agrees_on_games_of_others():
    weights = np.linspace(-0.7, 1.1, len(GAME.feature_names))
    for row in ROWS[::8]:
        position = Position.start(GAME)
        for move in row["moves"].split():
            agrees(position, weights)
            position = position.play(move)
        agrees(position, weights)


def test_a_thousand_random_games_are_those_of_openspiel():
    """Player to move, legal moves and utilities at every ply: no deviation is known."""
    pyspiel = pytest.importorskip("pyspiel")
    mancala, rng = pyspiel.load_game("mancala"), random.Random(1)
    for _ in range(1_000):
        theirs, ours = mancala.new_initial_state(), GAME.initial_state()
        while not theirs.is_terminal():
            assert not ours.is_terminal()
            assert ours.to_move() == theirs.current_player()
            assert list(ours.actions()) == theirs.legal_actions()
            action = rng.choice(theirs.legal_actions())
            theirs.apply_action(action)
            ours = ours.result(action)
        assert ours.is_terminal()
        assert [ours.utility(0), ours.utility(1)] == theirs.returns()


def test_paths_are_as_many_as_those_of_openspiel():
    pyspiel = pytest.importorskip("pyspiel")

    def count(state, depth):
        if depth == 0 or state.is_terminal():
            return int(depth == 0)
        return sum(count(state.child(action), depth - 1) for action in state.legal_actions())

    state = pyspiel.load_game("mancala").new_initial_state()
    assert [perft(GAME.initial_state(), depth) for depth in range(6)] == [count(state, d) for d in range(6)]


# the rules told slowly --------------------------------------------------------------------------------


def sown_slowly(ring: list[int], pit: int, player: int) -> tuple[list[int], bool]:
    """Carry seeds round a ring of 14 pits one by one; return it, and whether the player moves again."""
    ring, own = ring.copy(), range(1, 7) if player == 0 else range(8, 14)
    seeds, ring[pit] = ring[pit], 0
    place = pit
    while seeds > 0:
        place = (place + 1) % 14
        if place != STORES[1 - player]:
            ring[place] += 1
            seeds -= 1
    if place in own and ring[place] == 1 and ring[14 - place] > 0:
        ring[STORES[player]] += 1 + ring[14 - place]
        ring[place] = ring[14 - place] = 0
    return ring, place == STORES[player]


@pytest.mark.parametrize("seeds", range(1, 7))
def test_play_agrees_with_seeds_carried_one_by_one(seeds):
    game, rng = games.load(f"kalah(seeds={seeds})"), random.Random(seeds)
    laps = 0
    for _ in range(150):
        ring, player, state = [0, *[seeds] * 6, 0, *[seeds] * 6], 0, game.initial_state()
        while any(ring[1:7]) and any(ring[8:]):
            pits = range(1, 7) if player == 0 else range(8, 14)
            legal = [pit for pit in pits if ring[pit] > 0]
            assert list(state.actions()) == legal
            pit = rng.choice(legal)
            laps += ring[pit] > 12
            ring, again = sown_slowly(ring, pit, player)
            player, state = (player if again else 1 - player), state.result(pit)
            first, second = (",".join(map(str, row)) for row in (ring[1:8], [*ring[8:], ring[0]]))
            assert game.format_position(state) == f"{first}/{second} {'xo'[player]}"
        assert state.is_terminal()
        ahead = sum(ring[1:8]) - ring[0] - sum(ring[8:])
        assert state.utility(0) == -state.utility(1) == (ahead > 0) - (ahead < 0)
    assert laps > 0 or seeds < 3


# hand-written cases -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "move", "then"),
    [
        pytest.param(
            START, "1", "0,5,5,5,5,4,0/4,4,4,4,4,4,0 o", id="seeds go one by one into the next pits"
        ),
        pytest.param(START, "3", "4,4,0,5,5,5,1/4,4,4,4,4,4,0 x", id="a last seed in the store moves again"),
        pytest.param(START, "6", "4,4,4,4,4,0,1/5,5,5,4,4,4,0 o", id="seeds go on into the other's pits"),
        pytest.param(
            "0,5,5,5,5,4,0/4,4,4,4,4,4,0 o", "10", "0,5,5,5,5,4,0/4,4,0,5,5,5,1 o", id="so for the second"
        ),
        pytest.param(
            "0,0,1,0,0,0,19/0,0,1,0,0,0,27 x",
            "3",
            "0,0,0,0,0,0,21/0,0,0,0,0,0,27 o",
            id="a last seed in an empty own pit captures what lies opposite, itself included",
        ),
        pytest.param(
            "4,4,4,4,4,0,1/0,6,6,5,5,5,0 x",
            "2",
            "4,0,5,5,5,1,1/0,6,6,5,5,5,0 o",
            id="nothing opposite, no capture",
        ),
        pytest.param(
            "1,1,2,13,2,8,3/0,2,7,0,2,1,6 x",
            "4",
            "2,2,3,0,3,9,13/1,3,0,1,3,2,6 o",
            id="thirteen seeds end where they came from, which is empty then, and capture",
        ),
        pytest.param(
            "1,15,9,1,0,7,3/1,0,0,1,4,0,6 x",
            "2",
            "2,1,11,3,1,8,4/2,1,1,2,5,1,6 o",
            id="more go round, leave out the other's store, and fill the emptied pit again",
        ),
        pytest.param(
            "3,0,1,3,2,0,6/2,4,14,0,8,2,3 o",
            "10",
            "4,1,2,4,3,1,6/3,5,1,2,9,3,4 x",
            id="so for the second, who leaves out the first's store",
        ),
    ],
)
def test_a_move_in_the_words_of_the_rule(before, move, then):
    assert after(before, move) == then


@pytest.mark.parametrize(
    ("before", "move", "then", "utilities"),
    [
        pytest.param(
            "2,10,0,11,9,1,9/0,0,0,0,0,1,5 o",
            "13",
            "2,10,0,11,9,1,9/0,0,0,0,0,0,6 o",
            (1.0, -1.0),
            id="an own row that is empty ends the game also for who would move again",
        ),
        pytest.param(
            "0,0,6,0,0,0,11/3,2,9,0,9,6,2 o",
            "9",
            "0,0,0,0,0,0,11/3,0,10,0,9,6,9 x",
            (-1.0, 1.0),
            id="a row that was captured empty ends it before its owner moves",
        ),
        pytest.param(
            "0,0,0,0,0,1,23/0,0,0,4,0,9,11 x",
            "6",
            "0,0,0,0,0,0,24/0,0,0,4,0,9,11 x",
            (0.0, 0.0),
            id="seeds left in pits are their side's: 24 to 24 is a draw",
        ),
    ],
)
def test_an_end_in_the_words_of_the_rule(before, move, then, utilities):
    position = Position.start(GAME, before, [move])
    assert position.text() == then
    assert position.is_terminal()
    assert position.legal() == []
    assert position.utilities() == utilities


@pytest.mark.parametrize("text", ["0", "7", "8", "14", "a", "01", "x1"])
def test_only_own_pits_with_seeds_can_be_sown(text):
    with pytest.raises(InputError) as refusal:
        Position.start(GAME, moves=["3"]).play(text)
    assert refusal.value.available == ("1", "2", "4", "5", "6")


def test_moving_again_is_a_ply_of_its_own():
    position = Position.start(GAME, moves=["3"])
    assert (position.ply, position.to_move(), position.state.mid_turn()) == (1, 0, False)


def test_play_goes_forward():
    """Why every game ends: a move brings a seed to the store, or only moves seeds ahead within its row."""

    def row(text: str, mover: int) -> list[int]:
        return [int(seeds) for seeds in text.partition(" ")[0].split("/")[mover].split(",")]

    for seed in range(10):
        rng, position = random.Random(seed), Position.start(games.load("kalah(seeds=6)"))
        played = [position]
        while not position.is_terminal():
            position = position.play(rng.choice(position.legal()))
            played.append(position)
        for before, following in pairwise(played):
            mover = before.to_move()
            was, now = row(before.text(), mover), row(following.text(), mover)
            assert now[6] > was[6] or (
                sum(now) == sum(was)
                and sum(map(int.__mul__, now, range(7))) > sum(map(int.__mul__, was, range(7)))
            )


def test_features_by_hand():
    """x ends in the store from pits 3 and 6; o ends there from 13, and from 8 in pit 11 opposite 6 in 3."""
    position = Position.start(GAME, "4,0,4,0,0,1,12/3,0,0,0,6,1,17 x")
    expected = Features(store=-5, seeds=-1, choices=0, again=1, capture=-4)
    assert position.state.features(0) == expected
    assert position.state.features(1) == Features(*(-value for value in expected))


# what is read -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a board, one blank, and x or o to move"),
        (START[:-2], "a board, one blank, and x or o to move"),
        (START.replace("x", "X"), "a board, one blank, and x or o to move"),
        (START.replace("4,4", "4,04", 1), "seven numbers joined by commas"),
        (START.replace("4,4", "4,4,4", 1), "seven numbers joined by commas"),
        (START.replace("4,4", "4,-4", 1), "seven numbers joined by commas"),
        (START.replace("4,4", "4,100", 1), "seven numbers joined by commas"),
        (START.replace("/", ","), "seven numbers joined by commas"),
        (START.replace("/", "//"), "seven numbers joined by commas"),
        (START.replace("4", "\u0664", 1), "seven numbers joined by commas"),
        (START.replace("4", "5", 1), "expected 48 seeds, got 49"),
        (START.replace("x", "o"), "what a sowing leads to"),
        ("4,4,4,4,4,4,0/4,4,4,3,4,4,1 x", "what a sowing leads to"),
        ("1,1,1,1,1,1,18/1,1,1,1,1,1,18 x", "what a sowing leads to"),
        ("0,0,0,0,0,0,0/0,0,0,0,0,0,48 o", "what a sowing leads to"),
    ],
)
def test_unusable_position_says_why(text, message):
    with pytest.raises(InputError) as refusal:
        GAME.parse_position(text)
    assert message in str(refusal.value)
    assert refusal.value.code == "bad_position"


def test_every_position_of_the_first_moves_is_read():
    """Of a small game: also those that random games hardly come to."""
    game = games.load("kalah(seeds=1)")
    states = {state for layer in islice(layers(game.initial_state()), 7) for state in layer}
    texts = {game.format_position(state) for state in states}
    assert len({state.key() for state in states}) == len(texts) == len(states) > 1_000
    for text in texts:
        assert game.format_position(game.parse_position(text)) == text


@given(text=nearly(texts_of("kalah")))
def test_nearly_valid_texts_are_refused_or_read_exactly(text):
    check_text(GAME, text)


# looks ------------------------------------------------------------------------------------------------


def test_board_has_both_rows_and_a_store_at_each_end():
    board = Position.start(GAME, moves=["3", "1"]).board()
    assert (board.style, board.rows, board.columns) == ("pits", 2, 8)
    below = {(1, column): 0 for column in range(1, 8)}
    above = {(0, column): 1 for column in range(7)}
    assert board.pieces == below | above
    assert [board.counts[1, column] for column in range(1, 8)] == [0, 5, 1, 6, 6, 5, 1]
    assert [board.counts[0, column] for column in range(7)] == [0, 4, 4, 4, 4, 4, 4]
    assert board.last == ((1, 1),)
    assert board.targets == {str(pit): (0, 14 - pit) for pit in range(8, 14)}
    assert board.column_labels == ("", "13/1", "12/2", "11/3", "10/4", "9/5", "8/6", "")
