"""Hex: joining edges, swapping, and what is read and refused; others' games, counts and rules."""

import csv
import json
import random
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from agreement import agrees
from fuzz import check_text, nearly, texts_of
from hypothesis import given
from hypothesis import strategies as st

import games
from games import Game, InputError, Position, State
from games.hex import SWAP
from games.kernel.counting import count_paths
from games.kernel.jit import native, njit
from games.perft import merged_perft
from games.protocol import LISTED, mix, u64

DATA = Path(__file__).parents[1] / "data" / "truth"
FILES = {
    "hex5x5": "hex(size=5)",
    "hex5x5_swap": "hex(size=5,swap=true)",
    "hex11x11": "hex",
}
"""Files of others' random games with their variants."""

TABLE_BITS = 20

PYSPIEL_STONES = str.maketrans("yzXpqO", "xxxooo")
"""OpenSpiel has other letters for stones that hang together with an edge or win."""

Cells = set[tuple[int, int]]
TOUCHING = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1))


def sized(size: int, *, swap: bool = False) -> Game:
    return games.load(f"hex(size={size},swap={str(swap).lower()})")


def rows(name: str) -> list[dict[str, Any]]:
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row.get("game", "hex") == "hex"]


def named(found: list[dict[str, Any]]) -> list[object]:
    return [pytest.param(row, id=row["id"]) for row in found]


def stones(position: Position, side: str) -> Cells:
    """Cells of one side, as the text of a position tells them."""
    lines = position.text().partition(" ")[0].split("/")
    return {(r, c) for r, line in enumerate(lines) for c, letter in enumerate(line) if letter == side}


def around(cell: tuple[int, int]) -> Cells:
    return {(cell[0] + down, cell[1] + right) for down, right in TOUCHING}


def joins(own: Cells, size: int, side: str) -> bool:
    """The rule as it is told: walk from stone to stone from one edge to the other."""
    way = 0 if side == "x" else 1
    reached = {cell for cell in own if cell[way] == 0}
    waiting = list(reached)
    while waiting:
        new = (around(waiting.pop()) & own) - reached
        reached |= new
        waiting += new
    return any(cell[way] == size - 1 for cell in reached)


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
    assert row.get("final") in (None, position.text().partition(" ")[0])


@pytest.mark.parametrize("row", named(rows("corner_cases")))
def test_corner_case(row):
    position = Position.start(sized(row["position"]["size"]), None, row["position"]["moves"])
    assert position.is_terminal()
    assert list(position.utilities()) == row["expect"]["result"]


def counts() -> list[dict[str, str]]:
    with (DATA / "counts.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["game"] == "hex"]


@pytest.mark.parametrize("row", named(counts()))
def test_paths_on_3x3(row):
    state, depth = sized(3).initial_state(), int(row["depth"])
    assert "3x3 perft, no swap" in row["position"]
    assert merged_perft(state, depth) == count_paths(native(state), depth) == int(row["count"])


@njit
def mover_wins(s: Any, known: Any) -> bool:
    """Whether the player to move can win, since only the last mover can have won.

    `known` is a table of keys whose lowest bit says so; a key's highest bits are its place.
    """
    key, place = s.key() | np.uint64(1), np.int64(s.key() >> np.uint64(64 - TABLE_BITS))
    if known[place] | np.uint64(1) == key:
        return known[place] == key
    wins = False
    for a in s.actions():
        after = s.result(a)
        if after.is_terminal() or not mover_wins(after, known):
            wins = True
            break
    known[place] = key if wins else key ^ np.uint64(1)
    return wins


def can_win(state: State) -> bool:
    return bool(mover_wins(native(state), np.zeros(1 << TABLE_BITS, np.uint64)))


def opening_wins(size: int) -> dict[str, bool]:
    """Whether the first mover wins after each first move."""
    game = sized(size)
    start = game.initial_state()
    return {game.format_action(start, a): not can_win(start.result(a)) for a in start.actions()}


def test_openings_are_won_and_lost_as_others_found():
    by_size: dict[int, dict[str, bool]] = {}
    for row in rows("hex_openings"):
        by_size.setdefault(row["size"], {})[row["first_move"]] = row["first_player_wins"]
    assert {size: len(openings) for size, openings in by_size.items()} == {2: 2, 3: 5, 4: 10}
    for size, openings in by_size.items():
        assert openings.items() <= opening_wins(size).items()


def test_the_first_player_wins_without_swap_and_the_second_with_it():
    """Fact 16, and what the swap is for: no first move is so good that one would not rather have it."""
    [fact] = [row for row in rows("facts") if row["id"] == "fact-16"]
    assert fact["value"] is True
    for size in (2, 3, 4):
        assert any(opening_wins(size).values()) is True
        assert not can_win(sized(size, swap=True).initial_state())


@pytest.mark.parametrize("size", range(2, 12))
def test_a_full_board_has_one_side_joined(size):
    """No draws: whatever half of the cells is whose, exactly one side has joined its edges."""
    rng, game = random.Random(size), sized(size)
    every = list(product(range(size), repeat=2))
    for _ in range(40):
        rng.shuffle(every)
        half = (len(every) + 1) // 2
        won = joins(set(every[:half]), size, "x")
        assert won is not joins(set(every[half:]), size, "o")
        position = Position.start(game)
        for number in range(len(every)):
            row, column = every[number // 2 + half * (number % 2)]
            if not position.is_terminal():
                position = position.play(f"{'abcdefghijk'[column]}{row + 1}")
        assert position.utilities() == ((1.0, -1.0) if won else (-1.0, 1.0))


def differences_from_openspiel(size: int, swap: bool, number: int) -> int:
    """Plies of random games; every one has the same legal actions, mover, board and end."""
    game, rng = sized(size, swap=swap), random.Random(size)
    first = pyspiel.load_game(f"hex(board_size={size},swap={swap})").new_initial_state()
    plies = 0
    for _ in range(number):
        ours, theirs = Position.start(game), first.clone()
        while not theirs.is_terminal():
            by_text = {theirs.action_to_string(action): action for action in theirs.legal_actions()}
            assert ours.legal() == list(by_text)
            assert ours.to_move() == theirs.current_player()
            text = rng.choice(ours.legal())
            if swap and ours.ply == 1 and rng.random() < 0.5:
                text = "swap"
            ours = ours.play(text)
            theirs.apply_action(by_text[text])
            plies += 1
        assert ours.is_terminal()
        assert list(ours.utilities()) == theirs.returns()
        board = "".join(str(theirs).split()).translate(PYSPIEL_STONES)
        assert ours.text().partition(" ")[0].replace("/", "") == board
    return plies


@pytest.mark.parametrize(("size", "number"), [(2, 100), (3, 200), (5, 110), (8, 50), (11, 40)])
@pytest.mark.parametrize("swap", [False, True])
def test_random_games_are_those_of_openspiel(size, number, swap):
    """1,000 games in all; no difference is known, the swap included."""
    assert differences_from_openspiel(size, swap, number) > 2 * number


# machine code -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["hex(size=2,swap=true)", "hex(size=5,swap=true)", "hex(size=9)", "hex"])
def test_machine_code_agrees(variant):
    game = games.load(variant)
    positions = list(random_positions(game, 4))
    random.Random(3).shuffle(positions)
    for position in positions[: 1_000 // game.chosen["size"] ** 2 if game.chosen else 15]:
        agrees(position, np.linspace(-0.7, 1.1, len(game.feature_names)))


@njit
def drawn(s: Any, rng: Any) -> int:
    return s.playout_action(rng)


def test_machine_code_draws_the_same_actions_in_playouts():
    for variant in ("hex(size=3,swap=true)", "hex"):
        for position in random_positions(games.load(variant), 2):
            bits = mix(u64(position.ply))
            assert drawn(native(position.state), np.uint64(bits)) == position.state.playout_action(bits)


def test_nothing_is_drawn_when_the_game_is_over():
    over = Position.start(sized(2), None, ["a1", "b1", "a2"])
    assert over.is_terminal()
    assert over.state.playout_action(7) == LISTED
    assert over.state.count_actions() == 0


def test_to_swap_is_drawn_as_often_as_a_cell():
    state = Position.start(sized(3, swap=True), None, ["b2"]).state
    draws = [state.playout_action(mix(u64(seed))) for seed in range(900)]
    assert 60 < draws.count(SWAP) < 140
    assert sorted(set(draws)) == list(state.actions())


# the rules --------------------------------------------------------------------------------------------


def test_start():
    position = Position.start(sized(3))
    assert position.text() == ".../.../... x"
    assert position.legal() == ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]
    assert len(Position.start(games.load("hex")).legal()) == 121


@pytest.mark.parametrize("variant", ["hex(size=3)", "hex(size=7,swap=true)", "hex(size=9)", "hex"])
def test_over_when_a_side_walks_from_edge_to_edge_and_not_before(variant):
    game = games.load(variant)
    size = len(Position.start(game).board().row_labels)
    for position in random_positions(game, 6):
        won = [side for side in "xo" if joins(stones(position, side), size, side)]
        assert position.is_terminal() is bool(won)
        if won:
            assert position.utilities() == ((1.0, -1.0) if won == ["x"] else (-1.0, 1.0))


def test_each_side_has_edges_of_its_own():
    row = Position.start(sized(3), None, ["a1", "a2", "b1", "b2", "c1"])
    assert not row.is_terminal()
    assert row.play("c2").utilities() == (-1.0, 1.0)


def test_a_cell_touches_six_others_and_not_the_two_sharp_corners():
    assert not Position.start(sized(2), None, ["a1", "b1", "b2"]).is_terminal()
    assert Position.start(sized(2), None, ["b1", "a1", "a2"]).is_terminal()


def test_rows_do_not_go_on_at_the_other_side():
    """The last cell of a row and the first of the next are neighbours as bits, not on the board."""
    wrapped = Position.start(sized(3), "..x/x../.oo x")
    assert wrapped.state.features(0).links == -1
    assert not Position.start(sized(3), None, ["c1", "b3", "a2", "c3", "a3"]).is_terminal()


def test_swap_mirrors_the_stone_and_changes_its_colour():
    """Size 3, by hand: the stone on b1 becomes the second player's, on a2; then the first moves again."""
    before = Position.start(sized(3, swap=True), None, ["b1"])
    assert before.text() == ".x./.../... o"
    assert before.legal() == ["a1", "c1", "a2", "b2", "c2", "a3", "b3", "c3", "swap"]
    assert "swap" not in before.board().targets
    position = before.play("swap")
    assert position.text() == ".../o../... x"
    assert position.board().last == ((1, 0),)
    assert position.legal() == ["a1", "b1", "c1", "b2", "c2", "a3", "b3", "c3"]
    for text in ("b1", "b2", "c1"):
        position = position.play(text)
    assert position.text() == ".xx/oo./... o"
    won = position.play("c2")
    assert won.utilities() == (-1.0, 1.0)
    assert won.text() == ".xx/ooo/... x"
    assert won.board().line == ((1, 0), (1, 1), (1, 2))


@pytest.mark.parametrize(
    ("first", "mirror"), [("a1", "a1"), ("c1", "a3"), ("a3", "c1"), ("c2", "b3"), ("b2", "b2")]
)
def test_swap_mirrors_across_the_main_diagonal(first, mirror):
    position = Position.start(sized(3, swap=True), None, [first, "swap"])
    column, row = "abc".index(mirror[0]), int(mirror[1]) - 1
    assert stones(position, "o") == {(row, column)}
    assert stones(position, "x") == set()


def test_a_swapped_stone_joins_as_any_other():
    position = Position.start(sized(3, swap=True), None, ["a1", "swap", "b2", "b1", "c2", "c1"])
    assert position.utilities() == (-1.0, 1.0)


def test_swap_is_for_the_second_ply_alone_and_for_games_with_it():
    for game, moves in (
        (sized(3), ["b2"]),
        (sized(3, swap=True), []),
        (sized(3, swap=True), ["b2", "a1"]),
        (sized(3, swap=True), ["b2", "swap"]),
        (sized(3, swap=True), ["b2", "swap", "a1"]),
        (sized(3, swap=True), ["b2", "a1", "c3"]),
    ):
        position = Position.start(game, None, moves)
        assert SWAP not in list(position.state.actions())
        with pytest.raises(InputError, match="a legal action"):
            position.play("swap")


@pytest.mark.parametrize("text", ["b4", "d1", "B2", "b02", "2b", "pass", "b2", "swap", "b", ""])
def test_only_empty_cells_are_played(text):
    with pytest.raises(InputError) as refusal:
        Position.start(sized(3), None, ["b2"]).play(text)
    assert refusal.value.available == ("a1", "b1", "c1", "a2", "c2", "a3", "b3", "c3")


# features ---------------------------------------------------------------------------------------------


def stones_needed(own: Cells, other: Cells, size: int, way: int) -> int:
    """Cheapest way from edge to edge, an empty cell for 1 and an own one for nothing: Bellman and Ford."""
    cells = set(product(range(size), repeat=2)) - other
    cost = {cell: 0 if cell in own else 1 for cell in cells}
    best = {cell: cost[cell] if cell[way] == 0 else size * size for cell in cells}
    for _ in cells:
        for cell in cells:
            best[cell] = min([best[cell], *(best[near] + cost[cell] for near in around(cell) & cells)])
    return min([size * size, *(best[cell] for cell in cells if cell[way] == size - 1)])


@pytest.mark.parametrize("size", [2, 3, 5, 6])
def test_features_are_what_their_names_say(size):
    for position in random_positions(sized(size), 3):
        sides = [stones(position, side) for side in "xo"]
        empty = set(product(range(size), repeat=2)) - sides[0] - sides[1]
        middle = range(size // 3, size - size // 3)
        found = []
        for way, own in enumerate(sides):
            needed = stones_needed(own, sides[1 - way], size, way)
            pairs = [(a, b) for a in own for b in own if a < b]
            bridges = sum(b not in around(a) and len(around(a) & around(b) & empty) == 2 for a, b in pairs)
            links = sum(b in around(a) for a, b in pairs)
            found.append((needed, bridges, links, sum(r in middle and c in middle for r, c in own)))
        assert position.state.features(0) == tuple(x - o for x, o in zip(*found, strict=True))


# positions --------------------------------------------------------------------------------------------


def reachable(game: Game) -> set[str]:
    """Texts of all positions of all games."""
    layer: set[State] = {game.initial_state()}
    texts = set()
    while layer:
        texts |= {game.format_position(state) for state in layer}
        layer = {state.result(a) for state in layer for a in state.actions()}
    return texts


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("swap", [False, True])
def test_a_text_is_read_if_and_only_if_a_game_can_reach_it(size, swap):
    game = sized(size, swap=swap)
    expected = reachable(game)
    for letters in product(".xo", repeat=size * size):
        lines = ["".join(letters[row * size : (row + 1) * size]) for row in range(size)]
        for side in "xo":
            text = f"{'/'.join(lines)} {side}"
            assert check_text(game, text) is (text in expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".../.../...", "a board, one blank, and x or o to move"),
        (".../.../... z", "a board, one blank, and x or o to move"),
        (".../... x", "3 rows of 3 cells"),
        ("..../.../... x", "3 rows of 3 cells"),
        ("......... x", "3 rows of 3 cells"),
        (".../.X./... o", "expected x, o or ., got 'X' at b2"),
        (".../.../... o", "got 0 x, 0 o and o to move"),
        (".../.x./... x", "got 1 x, 0 o and x to move"),
        (".../.o./... x", "got 0 x, 1 o and x to move"),
        ("oox/.x./x.. x", "got 3 x, 2 o and x to move"),
        ("xo./xo./x.o x", "edges joined by the last move"),
        ("ooo/xx./xx. o", "edges joined by the last move"),
    ],
)
def test_unusable_position_says_why(text, message):
    with pytest.raises(InputError) as refusal:
        sized(3).parse_position(text)
    assert message in str(refusal.value)


def test_the_last_stone_must_have_joined_the_edges():
    """Two columns of stones side by side: without any one of them the edges are joined as well."""
    with pytest.raises(InputError, match="edges joined some moves ago"):
        sized(4).parse_position("xxoo/xxoo/xxoo/xxo. o")
    assert check_text(sized(4), "xxoo/xoxo/xxoo/xxo. o")


def test_numbers_of_stones_tell_a_swap():
    swapped = sized(3, swap=True)
    for text in (".../o../... x", ".x./o../... o", ".x./o../..o x"):
        assert check_text(swapped, text)
        assert not check_text(sized(3), text)
    assert not check_text(swapped, ".../.../... o")
    with pytest.raises(InputError, match="after a swap one o more"):
        swapped.parse_position(".../.../o.o x")


FUZZED = {variant: texts_of(variant) for variant in ("hex(size=3)", "hex(size=4,swap=true)", "hex")}


@given(data=st.data())
def test_no_text_crashes_the_parser(data):
    variant = data.draw(st.sampled_from(sorted(FUZZED)))
    check_text(games.load(variant), data.draw(nearly(FUZZED[variant])))


def test_keys_tell_the_side_to_move():
    game = sized(3, swap=True)
    assert game.parse_position(".x./o../... x").key() != game.parse_position(".x./o../... o").key()


def test_line_is_a_shortest_chain_of_the_winner():
    for position in random_positions(sized(6), 30):
        line = position.board().line
        if not position.is_terminal():
            assert line == ()
            continue
        side, way = ("x", 0) if position.utilities()[0] > 0 else ("o", 1)
        own = stones(position, side)
        assert set(line) <= own
        assert (line[0][way], line[-1][way]) == (0, 5)
        assert all(after in around(cell) for cell, after in pairwise(line))
        others = set(product(range(6), repeat=2)) - own
        assert len(line) == stones_needed(set(), others, 6, way)


def test_board_is_of_six_cornered_cells():
    board = Position.start(games.load("hex"), None, ["f6", "k11"]).board()
    assert (board.style, board.geometry, board.rows, board.columns) == ("cells", "hex", 11, 11)
    assert board.pieces == {(5, 5): 0, (10, 10): 1}
    assert board.last == ((10, 10),)
    assert board.targets["a11"] == (10, 0)
    assert len(board.targets) == 119
    assert board.column_labels == tuple("abcdefghijk")
