"""Go: rules by hand, others' games, and the same rules written a second time (go_rules)."""

import csv
import json
import random
from pathlib import Path
from typing import Any

import fuzz
import go_rules
import numpy as np
import pytest
from agreement import agrees
from hypothesis import given, settings

import games
from games import InputError, Position, go
from games.go import GAME, MOST_MOVES, PASS, Features, board_class, lead
from games.go_points import (
    NOTHING,
    WORD_BITS,
    WORDS,
    Points,
    around,
    bits_of,
    count,
    first,
    flood,
    member,
    point,
    points_of,
)
from games.kernel.jit import native, njit
from games.perft import divide, merged_perft, perft
from games.protocol import mix, u64

DATA = Path(__file__).parents[1] / "data" / "truth"
KOMI = {"go5x5": "go(size=5,komi=0.5)", "go9x9": "go"}


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def at(text: str, size: int = 5, **options: float) -> Position:
    """A position of a small board."""
    return Position.start(GAME.with_options(size=size, **options), text)


def random_game(position: Position, rng: random.Random, eager: bool) -> list[Position]:
    """All positions of a random game; an eager player passes only where no point is legal."""
    played = [position]
    while not played[-1].is_terminal():
        moves = played[-1].legal()
        played.append(played[-1].play(rng.choice(moves[:-1] if eager and len(moves) > 1 else moves)))
    return played


# others' games and cases ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row["id"]) for name in KOMI for row in rows(f"games_{name}")]
)
def test_others_game(row):
    position = Position.start(games.load(KOMI[row["id"].partition("-")[0]]))
    numbers = []
    for move in row["moves"].split():
        numbers.append(len(position.legal()))
        position = position.play(move)
    assert numbers == row["legal"]
    assert lead(position.state) == row["black_minus_white"]
    assert position.text().partition(" ")[0] == row["final"]
    assert position.is_terminal() is not row["truncated"]
    assert [position.state.utility(0), position.state.utility(1)] == row["returns"]


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row["id"]) for row in rows("corner_cases") if row["game"] == "go"]
)
def test_corner_case(row):
    where, expect = row["position"], dict(row["expect"])
    size = where["size"]
    if "moves" in where:
        moves = [move.partition(" ")[2].lower() for move in where["moves"]]
        position = Position.start(GAME.with_options(size=size), None, moves)
    else:
        position = at(f"{where['rows_top_down']} {where.get('to_move', 'O')} 0 -", size)
    if "legal" in expect:
        before = len(position.board().pieces)
        after = position.play(expect["move"])
        assert (expect["legal"], expect["captured"]) == (True, before + 1 - len(after.board().pieces))
    elif "tromp_taylor_black_minus_white" in expect:
        assert lead(position.state) == expect["tromp_taylor_black_minus_white"]
    elif "a1" in expect:
        assert position.board().pieces == {(7, 0): 0, (8, 1): 0}
        assert "a1" not in position.legal()
        assert "suicide" in expect["reason"]
        assert position.state.barred == NOTHING
    else:
        assert position.legal() == expect["legal_positional_superko"]
        assert go.notation.points_text(position.state.barred, size) == ",".join(
            expect["positional_superko_forbids"]
        )
        assert len(position.legal()) + 1 == expect["openspiel_legal_count"]


@njit
def count_legal(bit: Any, stones: Any, full: Any, shape: Any) -> int:
    """Ways to fill the points of `full` from `bit` on, so that every group has a liberty."""
    rows, columns, stride = shape
    if bit >= rows * stride:
        black, white = stones
        empty = full ^ black ^ white
        found = 1
        for colour in (black, white):
            some = Points(colour, u64(0), u64(0), u64(0), u64(0), u64(0))
            free = Points(empty, u64(0), u64(0), u64(0), u64(0), u64(0))
            if flood(around(free, stride, some), stride, some) != some:
                found = 0
        return found
    if bit % stride >= columns:
        return count_legal(bit + 1, stones, full, shape)
    black, white = stones
    here = u64(1) << bit
    total = count_legal(bit + 1, stones, full, shape)
    total += count_legal(bit + 1, (black | here, white), full, shape)
    total += count_legal(bit + 1, (black, white | here), full, shape)
    return total


with (DATA / "counts.csv").open(encoding="utf-8", newline="") as file:
    COUNTED = [row for row in csv.DictReader(file) if row["game"] == "go"]


@pytest.mark.parametrize("row", COUNTED, ids=lambda row: row["id"].replace("|", " "))
def test_number_of_boards_whose_groups_have_liberties(row):
    height, width = map(int, row["id"].partition("|")[2].split("x"))
    shape = (height, width, width + 1)
    full = sum(((1 << width) - 1) << line * (width + 1) for line in range(height))
    nothing = (np.uint64(0), np.uint64(0))
    assert count_legal(0, nothing, np.uint64(full), shape) == int(row["count"])


def test_paths_by_hand():
    """After the first stone one point fewer; two passes end the game; suicide and ko come much later."""
    for size in (5, 9, 13, 19):
        points = size * size
        state = games.load(f"go(size={size},komi=7.5)" if size != 9 else "go").initial_state()
        assert perft(state, 1) == points + 1
        assert merged_perft(state, 2) == points * points + points + 1
    assert set(divide(GAME, GAME.initial_state(), 2).values()) == {81, 82}


# the same rules a second time ---------------------------------------------------------------------------


def check_position(position: Position, boards: list[str]) -> None:
    """Legal points, barred ones and area are what the slow rules say."""
    rows_text, side, passes, barred = position.text().split(" ")
    stones, size = go_rules.read(rows_text)
    legal, repeats = [], []
    for cell in go_rules.cells(size):
        after = None if cell in stones else go_rules.play(cell, side, stones, size)
        if after is not None:
            into = repeats if go_rules.written(after, size) in boards else legal
            into.append(go_rules.name(cell, size))
    assert lead(position.state) == go_rules.area(stones, size)
    if int(passes) < go.OVER:
        assert position.legal() == [*legal, "pass"]
        assert barred == (",".join(repeats) or "-")


@pytest.mark.parametrize("size", range(5, 20))
def test_every_size_of_board_keeps_the_rules(size):
    rng = random.Random(size)
    for eager in (False, True) if size < 10 else (False,):
        played = random_game(Position.start(GAME.with_options(size=size)), rng, eager)
        boards = [position.text().partition(" ")[0] for position in played]
        some = (
            range(len(played))
            if size == 5
            else sorted(rng.sample(range(len(played)), 20 if size < 12 else 8))
        )
        for ply in some:
            check_position(played[ply], boards[:ply])
        assert played[-1].ply <= MOST_MOVES * size * size


def test_superko_bars_exactly_what_repeats_a_board():
    """Games without passes on the smallest board: captures of all sizes, and boards that come again."""
    rng, barred = random.Random(4), 0
    for _ in range(40):
        played = random_game(Position.start(GAME.with_options(size=5)), rng, eager=True)
        boards = [position.text().partition(" ")[0] for position in played]
        for ply, position in enumerate(played):
            if position.state.barred != NOTHING or ply % 10 == 0:
                check_position(position, boards[:ply])
                barred += not position.is_terminal() and position.state.barred != NOTHING
    assert barred > 20


@pytest.mark.parametrize(
    "variant", ["go(size=5,komi=0.5)", "go", "go(size=13,komi=7.5)", "go(size=19,komi=7.5)"]
)
def test_machine_code_agrees_on_positions_of_random_games(variant):
    game, rng = games.load(variant), random.Random(variant)
    weights = np.linspace(-0.7, 1.1, len(game.feature_names))
    played = random_game(Position.start(game), rng, eager=False)
    number = {5: 30, 9: 10}.get(game.initial_state().size, 3)
    for position in (played[0], *rng.sample(played, min(number, len(played))), played[-1]):
        agrees(position, weights)


@njit
def playout(s: Any, rng: Any) -> Any:
    """Play to the end; return the number of moves and the key of the end."""
    moves = 0
    action = s.playout_action(mix(rng))
    while action >= 0:
        s = s.result(action)
        rng = u64(rng + u64(1))
        moves += 1
        action = s.playout_action(mix(rng))
    return moves, s.key(), s.utility(0)


@pytest.mark.parametrize("size", [5, 9, 11, 19])
def test_playouts_end_and_are_the_same_in_machine_code(size):
    state = board_class(size)._make((NOTHING, NOTHING, NOTHING, 0, 0, 15))
    for seed in range(0, 4000, 1000 if size == 5 else 2000):
        plain, moves, rng = state, 0, seed
        while (action := plain.playout_action(mix(rng))) != -1:
            plain, moves, rng = plain.result(action), moves + 1, rng + 1
        assert playout(native(state), np.uint64(seed)) == (moves, plain.key(), plain.utility(0))
    lengths = [playout(native(state), np.uint64(seed << 32))[0] for seed in range(300)]
    assert max(lengths) < 4 * size * size
    assert sum(lengths) / 300 < 2 * size * size


# rules by hand ----------------------------------------------------------------------------------------


def test_a_stone_without_liberties_is_taken_in_the_middle_at_the_edge_and_in_the_corner():
    assert (
        at("...../..X../.XOX./...../..... X 0 -").play("c2").text() == "...../..X../.X.X./..X../..... O 0 -"
    )
    assert at("...../...../X..../O..../..... X 0 -", 5).play("b2").play("e5").play("a1").board().pieces == {
        (2, 0): 0,
        (3, 1): 0,
        (4, 0): 0,
        (0, 4): 1,
    }
    assert (
        at("...../...../...../X..../O.... X 0 -").play("b1").text() == "...../...../...../X..../.X... O 0 -"
    )


def test_one_stone_can_take_several_groups():
    text = "OX.../.OX../OX.../X..../..... X 0 -"
    assert at(text).play("a4").text() == ".X.../X.X../.X.../X..../..... O 0 -"


def test_suicide_is_illegal_for_one_stone_and_for_a_group():
    assert "a5" not in at(".O.../O..../...../...../....X X 0 -").legal()
    assert "a5" not in at(".XO../XO.../O..../...../....X X 0 -").legal()
    assert "a5" in at(".XO../XO.../...../...../....X X 0 -").legal()
    assert "a5" in at(".XO../XO.../O..../...../....X O 0 -").legal()  # it takes two stones


def test_a_ko_cannot_be_taken_back_at_once_but_after_another_move_elsewhere():
    taken = at(".XO../XO.O./.XO../...../..... X 0 -").play("c4")
    assert taken.text() == ".XO../X.XO./.XO../...../..... O 0 b4"
    assert "b4" not in taken.legal()
    later = taken.play("e1").play("a1")
    assert later.text().split(" ")[3] == "-"
    assert later.play("b4").text() == ".XO../XO.O./.XO../...../X...O X 0 c4"


def test_after_a_pass_nothing_is_barred():
    """It is the other side's turn then, and two passes end the game."""
    taken = at(".XO../XO.O./.XO../...../..... X 0 -").play("c4")
    assert taken.state.result(PASS).barred == taken.play("pass").state.barred == NOTHING
    assert "b4" in taken.play("pass").legal()


def test_two_stones_taken_by_one_are_no_ko():
    """Whoever took two may lose the one stone again: the board is not as it was."""
    taken = at(".OOX./OXX../XX.../...../..... X 0 -", 5)
    assert taken.play("a5").state.barred == NOTHING


def test_superko_also_bars_a_stone_that_captures_nothing():
    """The board with a stone on a1 has been there after move 21; the stone was taken and others came."""
    moves = "e4 a4 e2 e1 a1 a2 d5 c5 d2 b2 b4 c4 a3 c3 d4 c1 a5 e3 c2 d3 d1 b5 b1 c1"
    played = [Position.start(GAME.with_options(size=5))]
    for move in moves.split():
        played.append(played[-1].play(move))
    boards = [position.text().partition(" ")[0] for position in played]
    stones, size = go_rules.read(boards[-1])
    after = go_rules.play((4, 0), "X", stones, size)
    assert after == {**stones, (4, 0): "X"}
    assert go_rules.written(after, size) in boards
    assert played[-1].text().endswith("X 0 a1")
    assert "a1" not in played[-1].legal()


def test_barred_points_stand_in_the_text_so_that_an_agent_knows_them():
    text = ".XO../X.XO./.XO../...../..... O 0 b4"
    assert "b4" not in at(text).legal()
    assert "b4" in at(text.replace("b4", "-")).legal()


def test_two_passes_end_the_game_and_points_are_counted():
    end = Position.start(GAME, None, ["pass", "pass"])
    assert end.is_terminal()
    assert end.legal() == []
    assert end.utilities() == (-1.0, 1.0)
    assert not Position.start(GAME, None, ["pass", "e5", "pass"]).is_terminal()
    assert Position.start(GAME, None, ["e5", "pass", "pass"]).utilities() == (1.0, -1.0)


@pytest.mark.parametrize(("komi", "utility"), [(9, 1.0), (9.5, 1.0), (10, 0.0), (10.5, -1.0), (11, -1.0)])
def test_a_whole_komi_allows_a_draw(komi, utility):
    position = at("..X.O/..X.O/..X.O/..X.O/..X.O X 0 -", komi=komi)
    assert lead(position.state) == 10
    for over in (position.play("pass").play("pass"), position.play("b2").play("pass").play("pass")):
        assert over.utilities() == (utility, -utility)


def test_the_referee_ends_a_game_that_lasts_too_long():
    start = Position.start(GAME.with_options(size=5))
    played = random_game(start, random.Random(11), eager=True)
    end = played[-1]
    assert (end.ply, end.state.passes) == (100, go.notation.STOPPED)
    assert not any(position.is_terminal() for position in played[:-1])
    ahead = lead(end.state) - 7.5
    assert end.utilities() == ((1.0, -1.0) if ahead > 0 else (-1.0, 1.0))
    assert Position.start(end.game, end.text()).utilities() == end.utilities()


def test_features_by_hand():
    """Black has an eye at a5 and can take e1 from d1, the one empty point that is not black's alone."""
    seen = Features(area=22, stones=5, liberties=9, atari=-1, eyes=1, influence=17)
    for side in "XO":
        position = at(f".X.../XX.../...../...XX/..X.O {side} 0 -")
        assert position.state.features(0) == seen
        assert position.state.features(1) == Features._make(-value for value in seen)


# texts, boards, options -------------------------------------------------------------------------------

BROKEN = {
    "a group without a liberty": "XO.../O..../...../...../..... X 0 -",
    "a row too few": "...../...../...../..... X 0 -",
    "a row too long": "....../...../...../...../..... X 0 -",
    "another letter": "..x../...../...../...../..... O 0 -",
    "another side": "..X../...../...../...../..... W 0 -",
    "no passes": "..X../...../...../...../..... O -",
    "four passes": "..X../...../...../...../..... O 4 -",
    "passes otherwise": "..X../...../...../...../..... O 00 -",
    "white first": "...../...../...../...../..... O 0 -",
    "black again after a pass": "...../...../...../...../..... X 1 -",
    "an empty board that lasted": "...../...../...../...../..... X 3 -",
    "no stone of who set the last one": "..X../...../...../...../..... X 0 -",
    "no stone of who set the last one, after a pass": "..X../...../...../...../..... O 1 -",
    "no stone of who set the last one, after two": "..X../...../...../...../..... X 2 -",
    "a barred stone": "..X../...../...../...../..... O 0 c5",
    "a barred suicide": ".X.../X..../...../...../....O O 0 a5",
    "a barred point on an empty board": "...../...../...../...../..... X 0 c3",
    "barred points in another order": "..X../...../...../...../..... O 0 a1,a5",
    "a barred point twice": "..X../...../...../...../..... O 0 a1,a1",
    "a barred point outside": "..X../...../...../...../..... O 0 f1",
    "a barred pass": "..X../...../...../...../..... O 0 pass",
    "a barred point at the end": "..X../O..../...../...../..... O 2 a1",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_what_no_game_reaches_is_refused(text):
    with pytest.raises(InputError) as refusal:
        at(text)
    assert refusal.value.code == "bad_position"


def test_texts_of_all_kinds_of_states_are_read():
    for text in (
        "...../...../...../...../..... X 0 -",
        "...../...../...../...../..... O 1 -",
        "...../...../...../...../..... X 2 -",
        "..X../...../...../...../..... X 1 -",
        "..X../...../...../...../..... O 2 -",
        "..O../...../...../...../..... X 0 a1,e1",
        "..O../...../...../...../..... O 3 -",
    ):
        assert at(text).text() == text


@settings(max_examples=300, deadline=None)
@given(fuzz.nearly(fuzz.texts_of("go")))
def test_nearly_valid_texts(text):
    fuzz.check_text(GAME, text)


@settings(max_examples=500, deadline=None)
@given(
    fuzz.nearly(
        [
            "..X../.XO../..XOO/...../..... O 0 -",
            ".XO../X.XO./.XO../...../..... O 0 b4",
            "...../...../...../...../..... O 1 -",
        ]
    )
)
def test_nearly_valid_texts_of_a_small_board(text):
    fuzz.check_text(GAME.with_options(size=5), text)


@pytest.mark.parametrize(
    "options", [{"size": 4}, {"size": 20}, {"size": 9.5}, {"komi": -0.5}, {"komi": 7.25}, {"komi": 51}]
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(InputError, match="expected"):
        GAME.with_options(**options)


def test_points_are_named_as_in_gtp():
    """Columns from the left without i, rows from below."""
    start = Position.start(games.load("go(size=19,komi=6.5)"))
    assert start.legal()[:9] == ["a19", "b19", "c19", "d19", "e19", "f19", "g19", "h19", "j19"]
    assert start.legal()[-2:] == ["t1", "pass"]
    board = start.play("q16").board()
    assert (board.style, board.geometry, board.rows, board.columns) == ("wood", "points", 19, 19)
    assert (board.pieces, board.last) == ({(3, 15): 0}, ((3, 15),))
    assert board.column_labels == tuple("abcdefghjklmnopqrst")
    assert board.row_labels == tuple(str(row) for row in range(19, 0, -1))
    assert board.targets["a1"] == (18, 0)
    assert "pass" not in board.targets
    assert len(board.targets) == 360


# sets of points ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bit", [0, 1, 63, 64, 127, 128, 200, 255, 256, 320, 378, 383])
def test_a_point_is_a_bit_of_some_word(bit):
    spot = point(bit)
    assert bits_of(spot) == 1 << bit
    assert (points_of(1 << bit), first(spot), count(spot), member(spot, 0)) == (spot, bit, 1, bit)


def test_members_of_a_set_come_in_their_order():
    numbers = sorted(random.Random(1).sample(range(WORDS * WORD_BITS), 100))
    many = points_of(sum(1 << number for number in numbers))
    assert [member(many, number) for number in range(100)] == numbers
    assert list(go.notation.bits(many)) == numbers
    assert count(many) == 100


@pytest.mark.parametrize("size", [5, 8, 9, 11, 13, 19])
def test_neighbours_stay_on_the_board(size):
    full = go.board_of(board_class(size)._make((NOTHING, NOTHING, NOTHING, 0, 0, 15)))
    for row, column in go_rules.cells(size):
        beside = {(size + 1) * r + c for r, c in go_rules.steps((row, column), size)}
        assert set(go.notation.bits(around(point((size + 1) * row + column), size + 1, full))) == beside
