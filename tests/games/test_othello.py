"""Othello: turning discs, passing, ends, and what is read and refused."""

import json
import random
from itertools import product
from pathlib import Path

import pytest

import games
from games import InputError, Position
from games.othello import PASS, Features, board_class

GAME = games.load("othello")
DATA = Path(__file__).parents[1] / "data" / "truth"
START = "---------------------------OX------XO--------------------------- X"


def moves_of(number: str) -> list[str]:
    lines = (DATA / "corner_cases.jsonl").read_text(encoding="utf-8").splitlines()
    return next(case["position"]["moves"] for case in map(json.loads, lines) if case["id"] == number)


def grid(position: Position, size: int = 8) -> list[str]:
    letters = position.text().partition(" ")[0]
    return [letters[row * size : (row + 1) * size] for row in range(size)]


def turned_by_walking(rows: list[str], row: int, column: int, own: str) -> set[tuple[int, int]]:
    """The rule as it is told: walk from the new disc over the opponent's to an own one."""
    size, turned = len(rows), set()
    for down, right in product((-1, 0, 1), repeat=2):
        run, r, c = [], row + down, column + right
        while (down, right) != (0, 0) and 0 <= r < size and 0 <= c < size and rows[r][c] not in (own, "-"):
            run.append((r, c))
            r, c = r + down, c + right
        if run and 0 <= r < size and 0 <= c < size and rows[r][c] == own:
            turned.update(run)
    return turned


def test_start():
    position = Position.start(GAME)
    assert position.text() == START
    assert position.to_move() == 0
    assert position.legal() == ["d3", "c4", "f5", "e6"]
    assert Position.start(games.load("othello(size=4)")).text() == "-----OX--XO----- X"


@pytest.mark.parametrize("size", [4, 6, 8])
def test_moves_and_turned_discs_are_those_of_the_rule(size):
    game = games.load(f"othello(size={size})")
    rng = random.Random(size)
    for _ in range(8):
        position = Position.start(game)
        while not position.is_terminal():
            rows, own = grid(position, size), "XO"[position.to_move()]
            turned = {
                f"{'abcdefgh'[c]}{r + 1}": cells
                for r, c in product(range(size), repeat=2)
                if rows[r][c] == "-" and (cells := turned_by_walking(rows, r, c, own))
            }
            assert position.legal() == (list(turned) or ["pass"])
            text = rng.choice(position.legal())
            after = grid(position.play(text), size)
            for r, c in product(range(size), repeat=2):
                takes = (r, c) in turned.get(text, ()) or text == f"{'abcdefgh'[c]}{r + 1}"
                assert after[r][c] == (own if takes else rows[r][c])
            position = position.play(text)


def test_who_cannot_turn_a_disc_passes_and_that_is_a_ply():
    position = Position.start(GAME, moves=moves_of("othello-cc-01"))
    assert position.legal() == ["pass"]
    assert list(position.state.actions()) == [PASS]
    after = position.play("pass")
    assert (after.ply, after.to_move()) == (position.ply + 1, 1 - position.to_move())
    assert grid(after) == grid(position)
    assert "pass" not in after.legal()
    assert after.board().last == ()


@pytest.mark.parametrize("text", ["pass", "a1", "D3", "d33", "3d", "d9", "i3", "-"])
def test_nobody_passes_who_can_move_and_nobody_moves_without_turning(text):
    with pytest.raises(InputError) as refusal:
        Position.start(GAME).play(text)
    assert refusal.value.available == ("d3", "c4", "f5", "e6")


def test_over_when_neither_side_can_move():
    wiped_out = Position.start(GAME, moves=moves_of("othello-cc-04"))
    assert wiped_out.is_terminal()
    assert wiped_out.legal() == []
    assert wiped_out.utilities() == (1.0, -1.0)


def test_equal_discs_are_a_draw():
    half = "XXXXXXXX" * 4 + "OOOOOOOO" * 4
    assert Position.start(GAME, f"{half} X").utilities() == (0.0, 0.0)
    ahead = half.replace("O", "X", 1)
    for side in "XO":
        assert Position.start(GAME, f"{ahead} {side}").utilities() == (1.0, -1.0)


def test_keys_tell_colours_and_the_side_to_move_apart():
    cells = Position.start(GAME, moves=["d3", "c3", "c4"]).text().partition(" ")[0]
    swapped = cells.translate(
        str.maketrans("XO", "OX")
    )  # the same for the player to move if that is swapped too
    keys = {GAME.parse_position(f"{board} {side}").key() for board in (cells, swapped) for side in "XO"}
    assert len(keys) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (START[1:], "expected 64 cells, got 63"),
        (START.replace("-", ".", 1), "expected X, O or -, got '.' at a1"),
        (START.lower(), "a board, one blank, and X or O to move"),
        (START[:-1] + "x", "a board, one blank, and X or O to move"),
        (START[:-1] + "O", "the start, with four discs"),
        (START.replace("OX", "XX"), "the start, with four discs"),
        (START.replace("OX", "-X"), "discs on all four cells in the middle"),
        ("X" + START[1:], "discs that hang together"),
        ("-" * 64 + " X", "discs on all four cells in the middle"),
    ],
)
def test_unusable_position_says_why(text, message):
    with pytest.raises(InputError) as refusal:
        GAME.parse_position(text)
    assert message in str(refusal.value)
    assert refusal.value.code == "bad_position"


@pytest.mark.parametrize("size", [5, 7])
def test_a_board_without_a_middle_is_refused(size):
    with pytest.raises(InputError, match=f"expected an even size, got {size} in othello"):
        games.load(f"othello(size={size})")


def test_every_position_of_others_endgames_is_read_and_has_their_moves():
    for line in (DATA / "othello_endgames.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        position = Position.start(GAME, f"{case['board']} {case['to_move']}")
        assert case["board"].count("-") == case["empties"]
        assert sorted(position.legal()) == sorted(case["move_scores"])
        assert set(case["best"]) <= set(position.legal())


def test_mobility_and_frontier_by_hand():
    """White is walled in: it has 18 moves over the wall, black none; the wall's 12 discs can be turned."""
    rows = ["-" * 8] * 2 + ["--XXXX--", "--XOOX--", "--XOXX--", "--XXXX--"] + ["-" * 8] * 2
    position = Position.start(GAME, "".join(rows) + " X")
    assert position.legal() == ["pass"]
    seen = Features(corners=0, mobility=-18, discs=10, edges=0, x_squares=0, frontier=12)
    assert position.state.features(0) == seen
    assert position.play("pass").state.features(0) == seen


def test_corners_and_edges_by_hand():
    rows = ["XO------", "-XO-----", "--OX----", "---OX---", "---XO---", "---XXO--", "-----X--", "---XXXO-"]
    features = Position.start(GAME, "".join(rows) + " O").state.features(0)
    assert (features.corners, features.edges, features.discs) == (1, 1, 4)
    assert Position.start(GAME, "".join(rows) + " O").state.features(1).corners == -1


def test_an_x_square_counts_while_its_corner_is_empty():
    rows = [
        "--------",
        "-X------",
        "--X-----",
        "---XX---",
        "---XOO--",
        "------X-",
        "-------O",
        "--------",
    ]
    text = "".join(rows)
    assert Position.start(GAME, f"{text} X").state.features(0).x_squares == 1
    assert Position.start(GAME, f"{text} X").state.features(1).x_squares == -1
    taken = "O" + text[1:]
    assert Position.start(GAME, f"{taken} X").state.features(0).x_squares == 0
    assert Position.start(GAME, f"{taken} X").state.features(0).corners == -1


@pytest.mark.parametrize("size", [4, 6, 8])
def test_kinds_of_cells_on_every_size_of_board(size):
    def cells(mask: int) -> set[tuple[int, int]]:
        assert mask < 1 << 64
        return {divmod(bit, 8) for bit in range(64) if mask >> bit & 1}

    cls, last = board_class(size), size - 1
    every = set(product(range(size), repeat=2))
    corners = set(product((0, last), repeat=2))
    assert cls.size == size
    assert cells(cls.full) == every
    assert cells(cls.corner_cells) == corners
    assert cells(cls.edge_cells) == {(r, c) for r, c in every if {r, c} & {0, last}} - corners
    assert cells(cls.x_cells) == set(product((1, last - 1), repeat=2))
    assert cells(cls.middle) == {(r, c) for r, c in every if 0 < c < last}


def test_board_has_labels_targets_and_discs():
    board = Position.start(GAME, moves=["d3"]).board()
    assert (board.style, board.rows, board.columns) == ("felt", 8, 8)
    assert board.pieces == {(2, 3): 0, (3, 3): 0, (3, 4): 0, (4, 3): 0, (4, 4): 1}
    assert board.last == ((2, 3),)
    assert board.targets == {"c3": (2, 2), "e3": (2, 4), "c5": (4, 2)}
    assert board.column_labels == tuple("abcdefgh")
    assert board.row_labels == tuple("12345678")
