"""A board as data and as text."""

from dataclasses import replace

from games import Board


def test_json_is_sorted_plain_data():
    board = Board(
        rows=2, columns=2, pieces={(1, 0): 1, (0, 1): 0}, style="lines", last=((1, 0),), targets={"a": (0, 0)}
    )
    assert board.to_json() == {
        "geometry": "grid",
        "style": "lines",
        "rows": 2,
        "columns": 2,
        "pieces": [[0, 1, 0], [1, 0, 1]],
        "kinds": [],
        "cards": [],
        "counts": [],
        "dice": [],
        "last": [[1, 0]],
        "line": [],
        "column_labels": [],
        "row_labels": [],
        "top_labels": [],
        "below": 0,
        "targets": {"a": [0, 0]},
    }


def test_text_marks_seats_last_move_and_labels():
    board = Board(
        rows=2,
        columns=2,
        pieces={(1, 0): 1, (0, 1): 0},
        style="lines",
        last=((1, 0),),
        column_labels=("a", "b"),
        row_labels=("2", "1"),
    )
    assert board.to_text() == " 2  .  x \n 1 [o] . \n    a  b "
    assert board.to_text(marks="#@").splitlines()[0] == " 2  .  # "


def test_text_numbers_the_top_row_where_it_has_its_own_labels():
    board = Board(2, 2, {(1, 0): 1}, "points", column_labels=("2", "1"), top_labels=("3", "4"))
    assert board.to_text() == "    3  4 \n    .  . \n    o  . \n    2  1 "


def test_text_without_labels_names_the_cells_of_the_actions():
    board = Board(rows=2, columns=2, pieces={(0, 1): 0}, style="lines", targets={"a": (0, 0), "b": (1, 1)})
    assert board.to_text() == "    a  x \n    .  b "


def test_cards_and_piles_are_marks_with_what_is_on_them():
    board = Board(
        rows=2,
        columns=2,
        pieces={(0, 0): 0, (0, 1): 0, (1, 0): 1},
        style="table",
        cards={(1, 0): "?", (0, 0): "2"},
        counts={(0, 1): 10},
        last=((0, 0),),
        column_labels=("card", "chips"),
    )
    assert board.to_json()["cards"] == [[0, 0, "2"], [1, 0, "?"]]
    assert board.to_json()["counts"] == [[0, 1, 10]]
    assert board.to_text().splitlines() == [
        "    [x2]    x10  ",
        "     o?      .   ",
        "    card   chips ",
    ]


def test_kinds_dice_and_slanted_rows():
    board = Board(
        rows=2,
        columns=2,
        pieces={(0, 0): 0, (1, 1): 1},
        kinds={(0, 0): "queen", (1, 1): "knight"},
        geometry="hex",
        style="cells",
        dice=(5, 3),
    )
    assert board.to_text() == "    xq  .  \n      .   on \ndice: 5 3"
    labelled = replace(board, column_labels=("a", "b"), dice=())
    assert labelled.to_text() == "    a   b  \n    xq  .  \n      .   on "
    assert board.to_json()["kinds"] == [[0, 0, "queen"], [1, 1, "knight"]]
    assert board.to_json()["dice"] == [5, 3]
