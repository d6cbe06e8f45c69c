"""Boards of every style, made by hand: what any of them can show is on one of these."""

from games import Board

FILES = tuple("abcdefgh")


def _placed(*rows: str) -> dict[tuple[int, int], str]:
    return {(r, c): letter for r, row in enumerate(rows) for c, letter in enumerate(row) if letter != "."}


def _seats(cells: dict[tuple[int, int], str], letters: str = "xo") -> dict[tuple[int, int], int]:
    return {cell: letters.index(letter) for cell, letter in cells.items()}


def _chess() -> Board:
    men = _placed(
        "r..q.rk.", "pp..bppp", "..n.pn..", "..pp.b..", "...P.B..", "..PBPN..", "PP.N.PPP", "R..Q.RK."
    )
    names = {"k": "king", "q": "queen", "r": "rook", "b": "bishop", "n": "knight", "p": "pawn"}
    return Board(
        rows=8,
        columns=8,
        pieces={cell: int(letter.islower()) for cell, letter in men.items()},
        style="chequered",
        kinds={cell: names[letter.lower()] for cell, letter in men.items()},
        last=((0, 4), (0, 6)),
        line=((0, 6), (3, 5)),
        column_labels=FILES,
        row_labels=tuple("87654321"),
    )


def _checkers() -> Board:
    men = _placed(
        "........", "o.O.....", ".o...X..", "..x.....", ".....x..", "x.......", ".x.x....", "x...x..."
    )
    return Board(
        rows=8,
        columns=8,
        pieces=_seats({cell: letter.lower() for cell, letter in men.items()}),
        style="chequered",
        kinds={cell: "crowned" if letter.isupper() else "man" for cell, letter in men.items()},
        last=((5, 2), (4, 5)),
        column_labels=FILES,
        row_labels=tuple("87654321"),
    )


def _breakthrough() -> Board:
    men = _placed("oooo.o", "ooo..o", "...o..", "..x...", "xx.xxx", "xxxxx.")
    return Board(rows=6, columns=6, pieces=_seats(men), style="chequered", last=((3, 2),))


def _go(size: int) -> Board:
    stones = _placed(
        ".........",
        "....x....",
        "..xoox...",
        "..oxoo...",
        "..oxxoxo.",
        ".x.xooxx.",
        "..xooo...",
        ".........",
        ".",
    )
    return Board(
        rows=size,
        columns=size,
        pieces={cell: seat for cell, seat in _seats(stones).items() if max(cell) < size},
        style="wood",
        geometry="points",
        last=((4, 3),) if size > 4 else (),
        column_labels=tuple("ABCDEFGHJKLMNOPQRST"[:size]),
        row_labels=tuple(str(size - row) for row in range(size)),
    )


def _hex(size: int) -> Board:
    chain = tuple((row, size - 2 - row // 2) for row in range(size))
    pieces = dict.fromkeys(chain, 0) | {(2, 1): 1, (1, 2): 1, (2, 2): 1}
    return Board(
        rows=size,
        columns=size,
        pieces=pieces,
        style="cells",
        geometry="hex",
        last=(chain[-1],),
        line=chain,
        column_labels=tuple("abcdefghijk"[:size]),
        row_labels=tuple(str(row + 1) for row in range(size)),
    )


def _kalah() -> Board:
    upper, lower = (7, 0, 1, 2, 9, 14, 0), (4, 3, 0, 11, 5, 25, 1)
    cells = {(0, column): (1, seeds) for column, seeds in enumerate(upper)}
    cells |= {(1, column + 1): (0, seeds) for column, seeds in enumerate((*lower[:-1], 30))}
    return Board(
        rows=2,
        columns=8,
        pieces={cell: seat for cell, (seat, _) in cells.items()},
        style="pits",
        counts={cell: seeds for cell, (_, seeds) in cells.items()},
        last=((1, 3),),
        column_labels=("", "13/1", "12/2", "11/3", "10/4", "9/5", "8/6", ""),
    )


def _backgammon() -> Board:
    piles = {(0, 0): (1, 5), (0, 4): (0, 3), (0, 5): (0, 1), (0, 6): (0, 7), (0, 11): (1, 2), (0, 12): (0, 1)}
    piles |= {(1, 0): (0, 5), (1, 4): (1, 3), (1, 6): (1, 8), (1, 7): (1, 1), (1, 11): (0, 2)}
    piles |= {(1, 12): (1, 2), (1, 13): (0, 4), (0, 13): (1, 1)}
    return Board(
        rows=2,
        columns=14,
        pieces={cell: seat for cell, (seat, _) in piles.items()},
        style="points",
        counts={cell: count for cell, (_, count) in piles.items()},
        dice=(6, 2),
        last=((0, 5), (0, 12), (1, 4), (1, 13)),
        column_labels=(*(str(point) for point in range(12, 0, -1)), "bar", "off"),
    )


def _three_in_a_frame() -> Board:
    discs = _placed(
        "........." * 2, ".........", ".........", "...t.....", "..txo....", ".xoxtxo..", "xotoxtot."
    )
    return Board(
        rows=6,
        columns=9,
        pieces=_seats({(row - 1, c): letter for (row, c), letter in discs.items()}, "xot"),
        style="frame",
        last=((2, 3),),
        line=((2, 3), (3, 2), (4, 1)),
        column_labels=tuple("123456789"),
    )


def _table() -> Board:
    return Board(
        rows=3,
        columns=2,
        pieces={(0, 0): 1, (0, 1): 1, (2, 0): 0, (2, 1): 0},
        style="table",
        cards={(0, 0): "?", (2, 0): "Q♥", (1, 0): "7"},
        counts={(0, 1): 3, (2, 1): 13},
        last=((2, 1),),
        column_labels=("card", "chips"),
    )


def _felt() -> Board:
    discs = _placed("........", "..x.o...", "..xoo...", "..xoooo.", "..xxoo..", "....o...")
    return Board(
        rows=8,
        columns=8,
        pieces=_seats(discs),
        style="felt",
        last=((3, 2),),
        column_labels=FILES,
        row_labels=tuple("12345678"),
    )


def _lines() -> Board:
    marks = _placed("xo.", ".xo", "..x")
    return Board(
        rows=3,
        columns=3,
        pieces=_seats(marks),
        style="lines",
        last=((2, 2),),
        line=((0, 0), (1, 1), (2, 2)),
        targets={"2": (0, 2), "3": (1, 0)},
    )


EVERY_STYLE = {
    "frame of three": _three_in_a_frame(),
    "felt": _felt(),
    "chess": _chess(),
    "checkers": _checkers(),
    "breakthrough": _breakthrough(),
    "wood of 9": _go(9),
    "wood of 19": _go(19),
    "wood of 5": _go(5),
    "wood of 6": _go(6),
    "cells of 11": _hex(11),
    "cells of 5": _hex(5),
    "pits": _kalah(),
    "points": _backgammon(),
    "table": _table(),
    "lines": _lines(),
}
"""Boards by what they show."""
