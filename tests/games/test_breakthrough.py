"""Breakthrough: steps, captures, ends, and what is read and refused; others' games and counts."""

import csv
import json
import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from agreement import agrees
from corpus import sample
from fuzz import check_text, nearly, texts_of
from hypothesis import given
from hypothesis import strategies as st

import games
from games import Game, InputError, Position
from games.kernel.counting import count_paths
from games.kernel.jit import native, njit
from games.perft import merged_perft
from games.protocol import LISTED, mix, u64

GAME = games.load("breakthrough")
SMALL = games.load("breakthrough(size=4)")
DATA = Path(__file__).parents[1] / "data" / "truth"
FILES = {"breakthrough": "breakthrough", "breakthrough6x6": "breakthrough(size=6)"}
"""Files of others' random games with their variants."""
PLAIN = 500_000
START = "bbbbbbbb/bbbbbbbb/......../......../......../......../wwwwwwww/wwwwwwww b"
LETTERS = "abcdefgh"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def grid(position: Position) -> list[str]:
    return position.text().partition(" ")[0].split("/")


def steps_by_the_rule(position: Position) -> set[str]:
    """The rule as it is told: straight on to an empty cell, diagonally on to any but an own piece."""
    board, own = grid(position), "bw"[position.to_move()]
    size, down = len(board), 1 if own == "b" else -1
    found = set()
    for row, column, side in product(range(size), range(size), (-1, 0, 1)):
        to_row, to_column = row + down, column + side
        if board[row][column] != own or not (0 <= to_row < size and 0 <= to_column < size):
            continue
        there = board[to_row][to_column]
        if there == "." or (side != 0 and there != own):
            found.add(f"{LETTERS[column]}{size - row}{LETTERS[to_column]}{size - to_row}")
    return found


def random_positions(game: Game, number: int) -> Iterator[Position]:
    """Every position of some random games."""
    rng = random.Random(game.variant)
    for _ in range(number):
        position = Position.start(game)
        while not position.is_terminal():
            yield position
            position = position.play(rng.choice(position.legal()))
        yield position


# what others say --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "variant"), [(row, FILES[name]) for name in FILES for row in rows(f"games_{name}")]
)
def test_random_game_of_others(row, variant):
    position = Position.start(games.load(variant))
    numbers = []
    for move in row["moves"].split():
        numbers.append(len(position.legal()))
        position = position.play(move)
    assert numbers == row["legal"]
    assert position.is_terminal()
    assert list(position.utilities()) == row["returns"]
    assert position.text().partition(" ")[0] == row["final"]


def counts() -> list[object]:
    with (DATA / "counts.csv").open(encoding="utf-8", newline="") as file:
        found = [row for row in csv.DictReader(file) if row["game"] == "breakthrough"]
    assert {row["position"] for row in found} == {"8x8 perft", "6x6 perft"}
    return [
        pytest.param(int(row["position"][0]), int(row["depth"]), int(row["count"]), id=row["id"])
        for row in found
    ]


@pytest.mark.parametrize(("size", "depth", "count"), counts())
def test_paths(size, depth, count):
    state = games.load(f"breakthrough(size={size})").initial_state()
    assert count_paths(native(state), depth) == count
    if count < PLAIN:
        assert merged_perft(state, depth) == count


def test_no_count_is_left_out():
    assert len(counts()) == 9


def test_openspiel_has_one_row_of_pieces_on_small_boards():
    """The one difference of rules: below six rows we keep two rows of pieces a side, as the game has."""
    for size in (4, 5, 6, 7, 8):
        theirs = str(pyspiel.load_game(f"breakthrough(rows={size},columns={size})").new_initial_state())
        rows_of_pieces = 1 if size < 6 else 2
        assert theirs.count("b" * size) == rows_of_pieces
        assert Position.start(games.load(f"breakthrough(size={size})")).text().count("b" * size) == 2


@pytest.mark.parametrize("size", [6, 7, 8])
@pytest.mark.parametrize("number", [65, pytest.param(340, marks=pytest.mark.deep)])
def test_random_games_are_those_of_openspiel(size, number):
    """About 200 games, 1,000 in the deep tests: legal actions, boards and ends are the same.

    OpenSpiel marks captures by a star, we do not.
    """
    game, rng = games.load(f"breakthrough(size={size})"), random.Random(size)
    first = pyspiel.load_game(f"breakthrough(rows={size},columns={size})").new_initial_state()
    captures = 0
    for _ in range(number):
        ours, theirs = Position.start(game), first.clone()
        while not theirs.is_terminal():
            texts = {theirs.action_to_string(action): action for action in theirs.legal_actions()}
            captures += sum("*" in text for text in texts)
            by_text = {text.removesuffix("*"): action for text, action in texts.items()}
            assert sorted(ours.legal()) == sorted(by_text)
            assert ours.to_move() == theirs.current_player()
            text = rng.choice(ours.legal())
            ours = ours.play(text)
            theirs.apply_action(by_text[text])
            assert game.parse_position(ours.text()) == ours.state
        assert ours.is_terminal()
        assert list(ours.utilities()) == theirs.returns()
        lines = str(theirs).splitlines()[:size]
        assert grid(ours) == [line.lstrip("0123456789") for line in lines]
    assert captures > number


# machine code -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["breakthrough(size=4)", "breakthrough(size=5)", "breakthrough"])
def test_machine_code_agrees(variant):
    game = games.load(variant)
    positions = list(random_positions(game, 20))
    random.Random(3).shuffle(positions)
    for position in positions[:100]:
        agrees(position, np.linspace(-0.7, 1.1, len(game.feature_names)))


@njit
def drawn(s: Any, rng: Any) -> int:
    return s.playout_action(rng)


def test_machine_code_draws_the_same_actions_in_playouts():
    for variant in ("breakthrough(size=5)", "breakthrough"):
        for position in random_positions(games.load(variant), 3):
            bits = mix(u64(position.ply))
            state = position.state
            assert drawn(native(state), np.uint64(bits)) == state.playout_action(bits)
            assert state.count_actions() == len(position.legal())
            assert (state.playout_action(bits) == LISTED) is position.is_terminal()


# the rules --------------------------------------------------------------------------------------------


def test_start():
    position = Position.start(GAME)
    assert position.text() == START
    assert position.to_move() == 0
    assert len(position.legal()) == 22
    assert Position.start(SMALL).text() == "bbbb/bbbb/wwww/wwww b"


@pytest.mark.parametrize("size", [4, 5, 6, 7, 8])
def test_steps_are_those_of_the_rule_and_there_is_always_one(size):
    for position in random_positions(games.load(f"breakthrough(size={size})"), 15):
        if position.is_terminal():
            assert position.legal() == []
        else:
            assert sorted(position.legal()) == sorted(steps_by_the_rule(position))
            assert position.legal()
        assert position.ply < 2 * size * (2 * size - 3)


def test_straight_on_only_to_an_empty_cell_diagonally_also_to_capture():
    """On 4 by 4 the sides touch at the start: all straight steps are barred, all diagonal ones capture."""
    assert sorted(Position.start(SMALL).legal()) == ["a3b2", "b3a2", "b3c2", "c3b2", "c3d2", "d3c2"]
    position = Position.start(SMALL, None, ["a3b2"])
    assert position.text() == "bbbb/.bbb/wbww/wwww w"
    assert sorted(position.legal()) == ["a1b2", "a2a3", "a2b3", "c1b2", "c2b3", "c2d3", "d2c3"]
    taken = position.play("a1b2")
    assert taken.text() == "bbbb/.bbb/wwww/.www b"
    assert taken.board().last == ((3, 0), (2, 1))


def test_nobody_has_to_capture():
    position = Position.start(games.load("breakthrough(size=5)"), None, ["b4b3"])
    assert {"a2b3", "c2b3", "a2a3"} <= set(position.legal())
    assert "b2b3" not in position.legal()


def test_own_pieces_bar_every_step():
    assert not any(text[:2] in ("a8", "d8", "h8") for text in Position.start(GAME).legal())


@pytest.mark.parametrize(
    "text", ["a7a5", "a7a8", "a2a3", "a7h6", "h7a5", "A7a6", "a7-a6", "a7xa6", "a6", "pass"]
)
def test_no_other_step_is_legal(text):
    with pytest.raises(InputError, match="a legal action"):
        Position.start(GAME).play(text)


def test_the_first_piece_through_wins():
    text = "b..../...../...../w...b/..w.. b"
    position = Position.start(games.load("breakthrough(size=5)"), text)
    assert not position.is_terminal()
    won = position.play("e2e1")
    assert won.utilities() == (1.0, -1.0)
    assert won.legal() == []
    assert won.board().line == ((4, 4),)
    assert position.play("e2d1").is_terminal()
    lost = Position.start(games.load("breakthrough(size=5)"), "b...b/w..../...../.b.../..... w").play("a4b5")
    assert lost.utilities() == (-1.0, 1.0)
    assert lost.board().line == ((0, 1),)


def test_who_captures_all_wins_too():
    before = Position.start(SMALL, "..../b.../.w../.... b")
    assert not before.is_terminal()
    after = before.play("a3b2")
    assert after.text() == "..../..../.b../.... w"
    assert after.utilities() == (1.0, -1.0)
    assert after.board().line == ()


def test_keys_tell_colours_and_the_side_to_move_apart():
    texts = [f"{board} {side}" for board in ("b.../..w./b.../....", "b.../..b./w.../....") for side in "bw"]
    assert len({SMALL.parse_position(text).key() for text in texts}) == 4


# features ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [4, 6, 8])
def test_features_are_what_their_names_say(size):
    for position in random_positions(games.load(f"breakthrough(size={size})"), 6):
        board, found = grid(position), []
        for own, down in (("b", 1), ("w", -1)):
            cells = [(r, c) for r, c in product(range(size), repeat=2) if board[r][c] == own]
            rows_on = [r if own == "b" else size - 1 - r for r, _ in cells]
            ahead = {(r + down, c + side) for r, c in cells for side in (-1, 1)}
            on_board = [(r, c) for r, c in ahead if 0 <= r < size and 0 <= c < size]
            letters = [board[r][c] for r, c in on_board]
            other = "w" if own == "b" else "b"
            hits = (letters.count(own), letters.count(other))
            found.append((len(cells), sum(rows_on), max(rows_on, default=0), *hits))
        assert position.state.features(0) == tuple(b - w for b, w in zip(*found, strict=True))


# positions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (START[:-2], "a board, one blank, and b or w to move"),
        (START[:-1] + "x", "a board, one blank, and b or w to move"),
        (START[1:], "8 rows of 8 cells"),
        (START[9:], "8 rows of 8 cells"),
        (START.replace(".", "-", 1), "expected b, w or ., got '-' at a6"),
        (START.replace(".", "b", 1), "at most 16 b"),
        (START.replace(".", "w", 1), "at most 16 w"),
        (START[:-1] + "w", "numbers of moves made that fit who is to move"),
        (
            "......../bbbbbbbb/......../......../......../......../wwwwwwww/wwwwwwww b",
            "numbers of moves made",
        ),
    ],
)
def test_unusable_position_says_why(text, message):
    with pytest.raises(InputError) as refusal:
        GAME.parse_position(text)
    assert message in str(refusal.value)


def test_a_tempo_can_be_lost_by_a_piece_that_was_captured_alone():
    """With all pieces on the board both sides' moves are known; a captured one may have made any number."""
    one_on = START.replace("bbbbbbbb/......../", "bbbbbbb./.......b/", 1)
    assert check_text(GAME, one_on[:-1] + "w")
    assert not check_text(GAME, one_on)


@pytest.mark.parametrize(
    "text",
    [
        "..../..../..../b..w b",  # black is through, but black is to move
        "w.../..../..../...b w",
        "w.../..../..../...b b",  # both are through
        "..../..../.w../.... w",  # who has lost all pieces moved last
        "..../..../..../.... b",
        "..../..../.w../bb.. w",  # two are through
    ],
)
def test_only_the_last_move_ends_a_game(text):
    assert not check_text(SMALL, text)
    with pytest.raises(InputError, match="a game that only the last move can have ended"):
        SMALL.parse_position(text)


def test_pieces_must_have_cells_to_come_from():
    """Six pieces in a corner that five cells lead to; beside one of them less, all is well."""
    crowded = "bbb...../bb....../b......./......../......../......../......ww/......ww "
    fine = "bb....../bb....../b......./......../......../......../......ww/......ww "
    assert any(check_text(GAME, crowded + side) for side in "bw") is False
    with pytest.raises(InputError, match="b where the two rows they start on let them come"):
        GAME.parse_position(crowded + "b")
    assert check_text(GAME, fine + "b")


def test_positions_of_few_moves_are_all_read():
    """Every position of the first five plies on 4 by 4, where captures come at once."""
    layer, seen = {SMALL.initial_state()}, 0
    for ply in range(6):
        for state in layer:
            text = SMALL.format_position(state)
            assert SMALL.parse_position(text) == state
            seen += 1
            if ply == 0:
                assert not check_text(SMALL, text[:-1] + "w")
        layer = {state.result(a) for state in layer for a in state.actions()}
    assert seen > 2_000


FUZZED = {variant: texts_of(variant) for variant in ("breakthrough(size=4)", "breakthrough")}


@given(data=st.data())
def test_no_text_crashes_the_parser(data):
    variant = data.draw(st.sampled_from(sorted(FUZZED)))
    check_text(games.load(variant), data.draw(nearly(FUZZED[variant])))


def test_the_side_to_move_is_mostly_told_by_the_pieces():
    """Until a piece is captured, no text can be read with the other side to move."""
    for position in sample("breakthrough"):
        text = position.text()
        if text.count("b") + text.count("w") == 33:
            assert not check_text(GAME, text[:-1] + "wb"["bw".index(text[-1])])


def test_board_is_chequered():
    board = Position.start(GAME, None, ["d7d6"]).board()
    assert (board.style, board.rows, board.columns) == ("chequered", 8, 8)
    assert board.pieces[2, 3] == 0
    assert board.pieces[6, 0] == 1
    assert board.last == ((1, 3), (2, 3))
    assert board.targets["a2b3"] == (5, 1)
    assert board.row_labels == tuple("87654321")
