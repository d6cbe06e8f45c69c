"""Checkers: jumps, crowning, ends, and what is read and refused; others' games, counts and rules."""

import csv
import json
import random
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from agreement import agrees
from corpus import random_games, sample
from fuzz import check_text, nearly, texts_of
from hypothesis import given

import games
from games import InputError, Position
from games.checkers import CELLS, COLUMNS, square_text
from games.checkers_state import MOST_QUIET, Checkers, Features
from games.kernel.counting import count_turns
from games.kernel.jit import native
from games.perft import perft, turns

GAME = games.load("checkers")
DATA = Path(__file__).parents[1] / "data" / "truth"
START = ".+.+.+.+/+.+.+.+./.+.+.+.+/......../......../o.o.o.o./.o.o.o.o/o.o.o.o. o - 0"
SQUARES = [square_text(bit) for bit in CELLS]
PLAIN = 10**6
DEEP = 5 * 10**7
STUCK_AT_FORTY = (
    "e3d4 h6g5 a3b4 f6e5 d4f6 g7e5 c3d4 e5c3 b2d4 d6e5 d4f6 h8g7 f6h8 c7d6 g3h4 g5f4 f2g3 f8g7 h8f6 e7g5 "
    "g3e5 e5c7 b8d6 h4f6 d6e5 g1f2 b6c5 b4d6 d8c7 d6b8 a7b6 c1b2 e5d4 h2g3 b6c5 f2e3 d4f2 f6e7 c5b4 e7d8 "
    "f2g1 d2c3 b4d2 e1c3 g1f2 d8c7 f2h4 b8a7 h4g5 b2a3 g5f6 a7b8 f6g5 b8a7 g5h6 a1b2 h6g7 c3b4 g7h8 c7d6 "
    "h8g7 b4a5 g7f8 d6c7 f8e7 c7b8 e7f8 b2c3 f8g7 c3d4 g7f8 a7b6 f8g7 b6a7 g7f6 a3b4 f6g5 d4c5 g5f4 c5b6 "
    "f4g5 b6c7 g5f6 a5b6 f6e7 b4a5 e7d8"
)
"""A random game whose fortieth step without a capture leaves the opponent without a move."""

ON_LIGHT_SQUARES = ("checkers-cc-03",)
"""Seen in a mirror, these corner cases stand on the dark squares, as they must with us."""


def rows(name: str) -> list[dict]:
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row.get("game", "checkers") == "checkers"]


def named(found: list[dict]) -> list[object]:
    return [pytest.param(row, id=row["id"]) for row in found]


def placed(*pieces: str, to_move: str = "o", chain: str = "-", quiet: int = 0) -> str:
    """Text of a position with pieces such as `oc3`."""
    board = [["."] * 8 for _ in range(8)]
    for letter, column, row in pieces:
        board[8 - int(row)][COLUMNS.index(column)] = letter
    return f"{'/'.join(map(''.join, board))} {to_move} {chain} {quiet}"


def at(*pieces: str, to_move: str = "o", chain: str = "-", quiet: int = 0) -> Position:
    return Position.start(GAME, placed(*pieces, to_move=to_move, chain=chain, quiet=quiet))


def whole_turns(position: Position) -> list[str]:
    """Turns as others write them: `a3-b4`, `a3xc5xa7`."""
    found = []
    for text in position.legal():
        after = position.play(text)
        mark = "x" if after.state.quiet == 0 else "-"
        rest = [turn[2:] for turn in whole_turns(after)] if after.state.mid_turn() else [""]
        found += [f"{text[:2]}{mark}{text[2:]}{more}" for more in rest]
    return found


# what others say --------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", named(rows("games_checkers")))
def test_random_game_of_others(row):
    position = Position.start(GAME)
    steps, whole = [], []
    for move in row["moves"].split():
        steps.append(len(position.legal()))
        if not position.state.mid_turn():
            whole.append(sum(1 for _ in turns(position.state)))
        position = position.play(move)
    assert steps == row["legal"]
    assert whole == row["full_turn_legal"]
    assert position.is_terminal()
    assert list(position.utilities()) == row["returns"]
    assert position.text().partition(" ")[0] == row["final"]
    assert position.rule_draw() is (row["returns"] == [0.0, 0.0])


@pytest.mark.parametrize("row", named(rows("corner_cases")))
def test_corner_case(row):
    board, expected = row["position"]["rows_8_to_1"], " ".join(row["expect"]["full_turn_moves"])
    if row["id"] in ON_LIGHT_SQUARES:
        board = "/".join(line[::-1] for line in board.split("/"))
        expected = expected.translate(str.maketrans(COLUMNS, COLUMNS[::-1]))
    position = Position.start(GAME, f"{board} {row['position']['to_move']} - 1")
    assert sorted(whole_turns(position)) == sorted(expected.split())
    assert position.is_terminal() is row["expect"]["loses_if_none"]
    if position.is_terminal():
        assert position.utilities() == (-1.0, 1.0)


def counts(low: int, high: int) -> list[object]:
    with (DATA / "counts.csv").open(encoding="utf-8", newline="") as file:
        found = [row for row in csv.DictReader(file) if row["game"] == "checkers"]
    marks = [pytest.mark.deep] if low >= DEEP else []
    return [
        pytest.param(int(row["depth"]), int(row["count"]), id=f"depth {row['depth']}", marks=marks)
        for row in found
        if low < int(row["count"]) <= high
    ]


@pytest.mark.parametrize(("depth", "count"), counts(0, PLAIN))
def test_whole_turns_counted_in_plain_python(depth, count):
    assert perft(GAME.initial_state(), depth) == count


@pytest.mark.parametrize(("depth", "count"), [*counts(0, PLAIN), *counts(PLAIN, DEEP), *counts(DEEP, 10**12)])
def test_whole_turns_counted_by_machine_code(depth, count):
    assert count_turns(native(GAME.initial_state()), depth) == count


def test_no_count_is_left_out():
    assert [len(counts(0, PLAIN)), len(counts(PLAIN, DEEP)), len(counts(DEEP, 10**12))] == [7, 1, 2]


def test_a_thousand_random_games_are_those_of_openspiel():
    """Legal actions, whose turn it is, ends and returns: no difference is known."""
    theirs_from_start = pyspiel.load_game("checkers").new_initial_state()
    rng = random.Random(2)
    drawn = 0
    for _ in range(1_000):
        ours, theirs = GAME.initial_state(), theirs_from_start.clone()
        while not theirs.is_terminal():
            moves = {theirs.action_to_string(action): action for action in theirs.legal_actions()}
            actions = {GAME.format_action(ours, action): action for action in ours.actions()}
            assert sorted(actions) == sorted(moves)
            assert ours.to_move() == theirs.current_player()
            text = rng.choice(list(actions))
            ours = ours.result(actions[text])
            theirs.apply_action(moves[text])
        assert ours.is_terminal()
        assert [ours.utility(0), ours.utility(1)] == theirs.returns()
        drawn += ours.quiet == MOST_QUIET
    assert drawn > 50


def test_machine_code_agrees_on_random_games():
    weights = np.linspace(-0.7, 1.1, len(GAME.feature_names))
    positions = {position.state: position for played in random_games("checkers") for position in played}
    for position in positions.values():
        agrees(position, weights)
    assert len(positions) > 500
    assert any(state.mid_turn() for state in positions)


# the rules --------------------------------------------------------------------------------------------


def test_start():
    position = Position.start(GAME)
    assert position.text() == START
    assert position.to_move() == 0
    assert sorted(position.legal()) == ["a3b4", "c3b4", "c3d4", "e3d4", "e3f4", "g3f4", "g3h4"]


def test_men_step_forward_only_and_kings_everywhere():
    assert at("oc3", "+h6", quiet=1).legal() == ["c3b4", "c3d4"]
    assert at("8c3", "+h6", quiet=1).legal() == ["c3b4", "c3d4", "c3b2", "c3d2"]
    assert at("oc3", "+f6", to_move="+", quiet=2).legal() == ["f6e5", "f6g5"]


def test_men_jump_forward_only():
    assert "d4b2" not in at("od4", "+c3", "+h8", quiet=1).legal()
    assert at("8d4", "+c3", "+h8", quiet=1).legal() == ["d4b2"]


def test_who_can_jump_must():
    assert at("oc3", "og3", "+d4", "+h8", quiet=1).legal() == ["c3e5"]
    both = at("oc3", "oe3", "+d4", "+h8", quiet=1)
    assert both.legal() == ["e3c5", "c3e5"]


def test_any_jump_will_do_not_only_the_longest():
    position = at("oa3", "oe3", "+b4", "+d6", "+f4", "+h8", quiet=1)
    assert sorted(whole_turns(position)) == ["a3xc5xe7", "e3xg5"]


def test_a_chain_is_finished_by_the_same_piece_and_the_same_side():
    position = at("oa3", "oe3", "+b4", "+d6", "+f4", "+h8", quiet=1).play("a3c5")
    assert (position.to_move(), position.state.mid_turn()) == (0, True)
    assert position.text() == placed("oc5", "oe3", "+d6", "+f4", "+h8", chain="c5")
    assert position.legal() == ["c5e7"]
    after = position.play("c5e7")
    assert (after.to_move(), after.state.mid_turn()) == (1, False)


def test_two_pieces_that_jump_are_two_turns():
    """Another piece could jump, but the one that has jumped cannot: the turn ends."""
    position = at("oa3", "oe3", "+b4", "+f4", "+h8", quiet=1).play("a3c5")
    assert not position.state.mid_turn()
    assert position.to_move() == 1


def test_a_king_may_jump_back_to_where_it_began_but_over_no_piece_twice():
    """Captured pieces leave the board at once; a chain never meets their squares again."""
    position = at("8c1", "+b2", "+d2", "+b4", "+d4", quiet=1)
    assert sorted(whole_turns(position)) == ["c1xa3xc5xe3xc1", "c1xe3xc5xa3xc1"]
    for text in ("c1a3", "a3c5", "c5e3", "e3c1"):
        position = position.play(text)
    assert position.utilities() == (1.0, -1.0)


def test_a_man_that_steps_or_jumps_onto_the_last_row_becomes_a_king():
    assert at("oc7", "+h4", quiet=1).play("c7b8").text() == placed("8b8", "+h4", to_move="+", quiet=2)
    assert at("oh4", "+a3", to_move="+", quiet=2).play("a3b2").play("h4g5").play("b2a1").text() == placed(
        "og5", "*a1", quiet=5
    )


def test_crowning_ends_the_turn_and_the_king_jumps_next_time():
    position = at("ob6", "+c7", "+e7", "+h4", quiet=1).play("b6d8")
    assert not position.state.mid_turn()
    assert position.text() == placed("8d8", "+e7", "+h4", to_move="+")
    assert position.play("h4g3").legal() == ["d8f6"]


def test_a_king_goes_on_jumping_from_the_last_row():
    position = at("8b6", "+c7", "+e7", "+h4", quiet=1).play("b6d8")
    assert position.legal() == ["d8f6"]


def test_who_has_no_piece_or_no_move_loses():
    nothing_left = at("oc3", "+d4", quiet=1).play("c3e5")
    assert nothing_left.is_terminal()
    assert nothing_left.utilities() == (1.0, -1.0)
    assert not nothing_left.rule_draw()
    walled_in = at("oa3", "+b4", "+c5", quiet=1)
    assert walled_in.utilities() == (-1.0, 1.0)
    assert walled_in.board().targets == {}


def test_forty_steps_without_a_capture_are_a_draw_and_nothing_but_a_capture_starts_anew():
    """Neither a man's step nor a crowning does."""
    position = at("oc7", "og1", "+h4", "+a5", quiet=37)
    for text in ("c7d8", "a5b4"):
        position = position.play(text)
    assert (position.state.quiet, position.is_terminal()) == (39, False)
    drawn = position.play("g1f2")
    assert drawn.is_terminal()
    assert drawn.legal() == []
    assert drawn.utilities() == (0.0, 0.0)
    assert drawn.rule_draw()
    taken = at("oc3", "+d4", "+h8", quiet=39).play("c3e5")
    assert (taken.state.quiet, taken.is_terminal()) == (0, False)


def test_the_fortieth_step_draws_even_if_the_opponent_cannot_move():
    """As OpenSpiel has it."""
    theirs = pyspiel.load_game("checkers").new_initial_state()
    for text in STUCK_AT_FORTY.split():
        theirs.apply_action({theirs.action_to_string(a): a for a in theirs.legal_actions()}[text])
    position = Position.start(GAME, None, STUCK_AT_FORTY.split())
    assert position.utilities() == tuple(theirs.returns()) == (0.0, 0.0)
    assert not list(position.state._replace(quiet=0).actions())
    assert position.rule_draw()


@pytest.mark.parametrize(
    "text", ["", "c3", "c3c4", "c3d4 ", "c3d5", "C3D4", "c3-d4", "9-13", "b6a5", "c3d4e5"]
)
def test_unusable_action(text):
    with pytest.raises(InputError) as refusal:
        Position.start(GAME).play(text)
    assert refusal.value.code == "illegal_action"
    assert set(refusal.value.available) == {"a3b4", "c3b4", "c3d4", "e3d4", "e3f4", "g3f4", "g3h4"}


# positions --------------------------------------------------------------------------------------------


def test_keys_tell_every_field_apart():
    one = at("8b6", "oc3", "+c7", "+e7", "+h4", quiet=1).state
    others = [
        one._replace(kings=0),
        one._replace(kings=one.me),
        one._replace(mover=1),
        one._replace(quiet=0),
        one._replace(quiet=0, chain=one.kings),
        one._replace(quiet=0, chain=one.me ^ one.kings),
        one._replace(me=one.other, other=one.me),
        one._replace(kings=one.kings | one.other),
    ]
    assert len({state.key() for state in (one, *others)}) == len(others) + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a board, o or + to move, a square or -, and a number"),
        (START.removesuffix(" 0"), "a board, o or + to move"),
        (START.replace(" o ", " x "), "a board, o or + to move"),
        (START.replace("/......../......../", "/......../"), "8 rows of 8 squares"),
        (START.replace("/........", "/.......", 1), "8 rows of 8 squares"),
        (START.replace("+", "x", 1), "o, 8, +, * or ., got 'x' at b8"),
        (START.replace(".+", "+.", 1), "pieces on dark squares, got + at a8"),
        (START.replace("/......../", "/.o....../", 1), "pieces on dark squares, got o at b5"),
        (START.replace("/......../", "/..o...../", 1), "at most 12 pieces on a side, got 13"),
        (START.replace("+", "o", 1), "kings on the row that crowns"),
        (placed("+a1", "oc3", quiet=1), "kings on the row that crowns"),
        (START.replace(" - ", " a2 "), "the dark square of a piece amid jumps, or -, got 'a2'"),
        (START.replace(" - ", " i9 "), "the dark square of a piece amid jumps, or -, got 'i9'"),
        (START[:-1] + "00", "0 to 40 steps without a capture, got '00'"),
        (START[:-1] + "41", "0 to 40 steps without a capture, got '41'"),
        (START[:-1] + "\u0661", "0 to 40 steps"),
        (START[:-1] + "1", "+ to move after 1 steps, got o"),
        (START[:-1] + "2", "o 1 rows forward after 1 steps, got 0 rows"),
        (START.replace(" o ", " + "), "o to move after 0 steps, got +"),
        (START.replace(" - ", " a1 "), "a piece amid jumps that can jump on"),
        (START.replace("+", ".", 1), "fewer than 12 o after the last capture, got 12"),
        (START.replace("o", ".", 1)[:-1] + "1", "fewer than 12 + after the last capture, got 12"),
    ],
)
def test_unusable_position_says_why(text, message):
    with pytest.raises(InputError) as refusal:
        GAME.parse_position(text)
    assert message in str(refusal.value)
    assert refusal.value.code == "bad_position"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (placed("ob2", to_move="+"), "a capture of o that can have led here"),
        (placed("oc3", quiet=1), "a piece of who moved last"),
        (placed("+c3", quiet=1), "no step after the last capture, which ended the game"),
        (placed("oc3", "+d4", "+h8", chain="c3", quiet=1), "no step since a capture amid jumps"),
        (placed("oc3", "+d4", "+h8", chain="e5"), "a piece of o amid jumps, got none on that square"),
        (placed("oc3", "+d4", "+h8", chain="d4"), "a piece of o amid jumps, got none on that square"),
        (placed("oc3", "+h8", chain="c3"), "a piece amid jumps that can jump on, got one that cannot"),
        (placed("oc1", "+d2", "+h8", chain="c1"), "a capture of o that can have led here"),
        (placed("oc3", "oa1", "ob2", "oe1", "+d4", "+h8", chain="c3"), "a capture of o that can"),
        (placed("oh2", "+h8", quiet=1), "a step of + that can have led here"),
        (placed("oh2", "+c7", "+e7", quiet=0), "a capture of + that can have led here"),
        # The man on a5 would have jumped on; + would have had to jump with c5, not to step with another.
        (placed("+a5", "ob4", "+b8", "oc1", quiet=0), "a capture of + that can have led here"),
        (placed("ob4", "+c5", "+b6", "+d6", quiet=1), "a step of + that can have led here"),
    ],
)
def test_a_position_that_no_last_action_leads_to(text, message):
    with pytest.raises(InputError) as refusal:
        GAME.parse_position(text)
    assert message in str(refusal.value)


def test_positions_on_the_way_to_ends_are_all_read():
    for played in random_games("checkers"):
        for position in played:
            assert GAME.parse_position(position.text()) == position.state


@given(nearly(texts_of("checkers")))
def test_nearly_positions_are_refused_or_read_exactly(text):
    if check_text(GAME, text):
        state = GAME.parse_position(text)
        assert state.me & state.other == 0
        assert state.kings & ~(state.me | state.other) == 0


def test_what_one_action_leads_to_is_not_refused():
    """Whatever the position before: pieces at random, too few for rules about the number of captures."""
    rng = random.Random(3)
    followed = 0
    while followed < 3_000:
        mover, chosen = rng.randrange(2), rng.sample(SQUARES, rng.randrange(2, 16))
        pieces = [(rng.choice(("o8", "+*")[i % 2]), square) for i, square in enumerate(chosen)]
        text = placed(*(letter + square for letter, square in pieces if not crowns(letter, square)))
        if not {"o", "8"} & set(text[:71]) or not {"+", "*"} & set(text[:71]):
            continue
        state = unchecked(text)._replace(quiet=rng.randrange(MOST_QUIET))
        if mover:
            state = state._replace(me=state.other, other=state.me, mover=1)
        for action in state.actions():
            after = state.result(action)
            assert GAME.parse_position(GAME.format_position(after)) == after
            followed += 1


def crowns(letter: str, square: str) -> bool:
    return letter + square[1] in ("o8", "+1")


def unchecked(text: str) -> Checkers:
    """State of a text that no game need lead to."""
    bits = {square_text(bit): 1 << bit for bit in CELLS}
    found = dict.fromkeys("o8+*", 0)
    for row, line in enumerate(text.partition(" ")[0].split("/")):
        for column, letter in enumerate(line):
            if letter != ".":
                found[letter] |= bits[f"{COLUMNS[column]}{8 - row}"]
    return Checkers(found["o"] | found["8"], found["+"] | found["*"], found["8"] | found["*"], 0, 0, 0)


# looks ------------------------------------------------------------------------------------------------


def test_features_by_hand():
    """o: men a1, c3 and d6, a king f4. +: men b8 and g5, on its first row and in the fourth from there."""
    position = at("oa1", "oc3", "od6", "8f4", "+b8", "+g5", quiet=1)
    men_ahead, men_behind = 0 + 2 + 5, 0 + 3
    steps, others_steps = 1 + 2 + 2 + 3, 2 + 1
    expected = Features(
        men=1,
        kings=1,
        back_row=0,
        centre=3,
        advancement=men_ahead - men_behind,
        mobility=steps - others_steps,
    )
    assert position.state.features(0) == expected
    assert tuple(position.state.features(1)) == tuple(-value for value in expected)


def test_both_sides_play_the_same_game():
    """Turned by half, with the sides exchanged, each player has the other's actions and features."""
    half = str.maketrans("abcdefgh12345678", "hgfedcba87654321")
    for position in sample("checkers"):
        board, side, chain, quiet = position.text().split()
        if board.count(".") == 40:  # the start tells the sides apart: o begins
            continue
        turned = board[::-1].translate(str.maketrans("o8+*", "+*o8"))
        again = GAME.parse_position(f"{turned} {'o+'[side == 'o']} {chain.translate(half)} {quiet}")
        assert again.features(0) == position.state.features(1)
        actions = {GAME.format_action(again, action) for action in again.actions()}
        assert actions == {text.translate(half) for text in position.legal()}


def test_board_has_kinds_labels_targets_and_both_squares_of_the_last_action():
    board = at("8b6", "oc3", "+c7", "+e7", "+h4", quiet=1).play("b6d8").board()
    assert (board.style, board.rows, board.columns) == ("chequered", 8, 8)
    assert board.pieces == {(0, 3): 0, (5, 2): 0, (1, 4): 1, (4, 7): 1}
    assert board.kinds == {(0, 3): "crowned", (5, 2): "man", (1, 4): "man", (4, 7): "man"}
    assert board.last == ((2, 1), (0, 3))
    assert board.targets == {"d8f6": (2, 5)}
    assert board.column_labels == tuple("abcdefgh")
    assert board.row_labels == tuple("87654321")
    assert Position.start(GAME, moves=["c3d4"]).board().last == ((5, 2), (4, 3))
    assert Position.start(GAME).board().last == ()


def test_squares():
    assert len(SQUARES) == len(set(SQUARES)) == 32
    assert SQUARES[:5] == ["a1", "c1", "e1", "g1", "b2"]
    assert SQUARES[-1] == "h8"
