"""Hex: on a rhombus of six-cornered cells, join your two edges by an unbroken chain of stones.

Cell (row, column) touches (row, column +- 1), (row +- 1, column), (row + 1, column - 1) and (row - 1,
column + 1). It is bit size * row + column, from the top left, of a board of two words. Seat 0 joins the
top and the bottom edge, seat 1 the left and the right one. An action is its cell's bit; to swap is a bit
of its own, outside every board.

A full board has exactly one side joined (Gale: The game of Hex and the Brouwer fixed-point theorem, 1979),
so there are no draws, and a side that is not joined yet is cut off only by the other's whole chain.
"""

from collections.abc import Iterator
from typing import NamedTuple

from games.board import Board, Cell
from games.game import Game
from games.hex_cells import (
    HexCells,
    board_cells,
    bottom,
    count,
    down,
    flood,
    left,
    lowest,
    masks,
    mirrored,
    neighbours,
    numbered,
    one,
    right,
    some,
    top,
    up,
)
from games.notation import SIDES, bad_position, read_action, split_side
from games.options import Option, flag
from games.protocol import (
    LISTED,
    State,
    as_state,
    compiled,
    draw,
    kernel,
    like,
    mix,
    trailing_zeros,
    u64,
    variant,
    word,
)

SWAP = 127
SWAP_TEXT = "swap"
LARGEST = 11
"""Cells in a row of the largest board: 121 fit into two words."""
LETTERS = "abcdefghijk"
EMPTY = "."
SECOND = 0x94D0_49BB_1331_11EB
"""Any number without a pattern: it tells apart the keys of boards alike but for the side to move."""


class Features(NamedTuple):
    """Own minus the opponent's.

    `distance` is the number of stones still needed to join the edges if the opponent passed (fewer is
    better); `bridges` are pairs of stones apart that two empty cells link, so that the opponent cannot cut
    them with one stone; `links` are pairs of stones that touch; `centre` are stones in the middle third of
    the rows and columns.
    """

    distance: int
    bridges: int
    links: int
    centre: int


@compiled
class Hex(NamedTuple):
    """Stones as bitboards, on a board of 11 by 11 without swapping."""

    first: HexCells
    """Stones of seat 0."""
    second: HexCells
    """Stones of seat 1."""
    joined: HexCells
    """Stones that hang together with the edge their owner begins at: top for seat 0, left for seat 1."""
    mover: int
    """Seat of the player to move: after a swap the numbers of stones tell another one."""

    # mypy knows no constants in a NamedTuple.
    size = 11  # type: ignore[misc]
    swaps = 0  # type: ignore[misc]
    board_lo = masks(11)["board_lo"]  # type: ignore[misc]
    board_hi = masks(11)["board_hi"]  # type: ignore[misc]
    top_lo = masks(11)["top_lo"]  # type: ignore[misc]
    top_hi = masks(11)["top_hi"]  # type: ignore[misc]
    bottom_lo = masks(11)["bottom_lo"]  # type: ignore[misc]
    bottom_hi = masks(11)["bottom_hi"]  # type: ignore[misc]
    left_lo = masks(11)["left_lo"]  # type: ignore[misc]
    left_hi = masks(11)["left_hi"]  # type: ignore[misc]
    right_lo = masks(11)["right_lo"]  # type: ignore[misc]
    right_hi = masks(11)["right_hi"]  # type: ignore[misc]
    centre_lo = masks(11)["centre_lo"]  # type: ignore[misc]
    centre_hi = masks(11)["centre_hi"]  # type: ignore[misc]

    def to_move(self) -> int:
        """Seat whose turn it is."""
        return self.mover

    def actions(self) -> Iterator[int]:
        """Empty cells, row by row, then to swap where that is allowed."""
        free = choices(self)
        for base in (0, 64):
            bits = free.lo if base == 0 else free.hi
            while bits != u64(0):
                yield base + trailing_zeros(bits)
                bits &= bits - u64(1)

    def count_actions(self) -> int:
        """Return how many actions there are."""
        return count(choices(self))

    def playout_action(self, rng: word) -> int:
        """Draw one of `actions()`, all equally likely."""
        free = choices(self)
        number = count(free)
        return LISTED if number == 0 else numbered(free, draw(rng, 0, number))

    def result(self, a: int) -> "Hex":
        """Set a stone, or take the opponent's first stone over as an own one, mirrored."""
        first, second, joined, cell = self.first, self.second, self.joined, a
        if self.swaps == 1 and a == SWAP:
            cell = mirrored(lowest(first), self.size)
            first = joined = HexCells(u64(0), u64(0))
        stone = one(cell)
        if self.mover == 0:
            first, own, edge = first | stone, first | stone, top(self)
        else:
            second, own, edge = second | stone, second | stone, left(self)
        if some(stone & edge) or some(neighbours(self, stone) & own & joined):
            joined = joined | flood(self, stone, own & ~joined)
        return like(self, first, second, joined, 1 - self.mover)

    def is_terminal(self) -> bool:
        """Whether a side has joined its edges."""
        return some(self.joined & (self.first & bottom(self) | self.second & right(self)))

    def utility(self, p: int) -> float:
        """+1 for the last mover, who joined the edges, -1 for the other."""
        return -1.0 if p == self.mover else 1.0

    def features(self, p: int) -> Features:
        """Ways left to go and how stones stand together, own minus the opponent's."""
        first, second = self.first, self.second
        empty = board_cells(self) & ~(first | second)
        sign = 1
        if p != 0:
            sign = -1
        to_bottom = distance(self, first, empty, top(self), bottom(self))
        to_right = distance(self, second, empty, left(self), right(self))
        middle = HexCells(u64(self.centre_lo), u64(self.centre_hi))
        return Features(
            sign * (to_bottom - to_right),
            sign * (bridges(self, first, empty) - bridges(self, second, empty)),
            sign * (links(self, first) - links(self, second)),
            sign * (count(first & middle) - count(second & middle)),
        )

    def key(self) -> int:
        """All stones and the side to move, mixed one word into the other."""
        bits = self.first.lo
        if self.mover == 1:
            bits ^= u64(SECOND)
        bits = mix(u64(mix(bits) + self.first.hi))
        bits = mix(u64(bits + self.second.lo))
        return mix(u64(bits + self.second.hi))


# rules and features -----------------------------------------------------------------------------------


@kernel
def choices(s: Hex) -> HexCells:
    """Return the legal actions as a set of bits, SWAP among them; none when the game is over."""
    free = board_cells(s) & ~(s.first | s.second)
    if s.swaps == 1 and s.mover == 1 and not some(s.second):
        free = free | one(SWAP)
    return HexCells(u64(0), u64(0)) if s.is_terminal() else free


@kernel
def distance(s: Hex, own: HexCells, empty: HexCells, edge: HexCells, goal: HexCells) -> int:
    """Fewest stones that join the edges: waves over one empty cell and any number of own stones each.

    Who is cut off, because the opponent has won, needs as many as there are cells.
    """
    reached, stones = own & s.joined, 0
    while not some(reached & goal):
        wave = (neighbours(s, reached) | edge) & empty & ~reached
        if not some(wave):
            stones = s.size * s.size
            break
        reached = reached | flood(s, wave, own & ~reached)
        stones += 1
    return stones


@kernel
def bridges(s: Hex, own: HexCells, empty: HexCells) -> int:
    """Pairs of stones two apart with both cells between them empty, each counted at its lower stone.

    The upper stone is a row higher and a column to the left, or two rows higher and a column to the right,
    or a row higher and two columns to the right.
    """
    size = s.size
    above, above_right = up(empty, size), up(empty, size - 1)
    falling = up(own, size + 1) & up(empty, 1) & above & ~left(s)
    steep = up(own, 2 * size - 1) & above & above_right & ~right(s)
    flat = up(own & ~left(s), size - 2) & down(empty, 1) & above_right & ~right(s)
    return count(own & falling) + count(own & steep) + count(own & flat)


@kernel
def links(s: Hex, own: HexCells) -> int:
    """Pairs of stones that touch, each counted at its lower or right stone."""
    beside, above_right = up(own, 1) & ~left(s), up(own, s.size - 1) & ~right(s)
    return count(own & beside) + count(own & above_right) + count(own & up(own, s.size))


# notation ---------------------------------------------------------------------------------------------


def start(size: int = LARGEST, swap: bool = False) -> State:
    """Return the empty board."""
    nothing = HexCells(0, 0)
    return as_state(board_class(size, swap)._make((nothing, nothing, nothing, 0)))


def board_class(size: int, swap: bool) -> type[Hex]:
    """Return the state class of a size of board, with or without swapping."""
    if size == Hex.size and not swap:
        return Hex
    return variant(Hex, f"Hex_{size}{'_swap' if swap else ''}", **masks(size), swaps=int(swap))


def __getattr__(name: str) -> type[Hex]:
    """Make the class of a variant when code that another process compiled for it asks for it by name."""
    first, _, rest = name.partition("_")
    size, _, swap = rest.partition("_")
    if first != "Hex" or not size.isdigit() or swap not in ("", "swap"):
        raise AttributeError(name)
    return board_class(int(size), swap == "swap")


def _actions_by_text(state: Hex) -> Iterator[tuple[str, int]]:
    return ((format_action(state, action), action) for action in state.actions())


def parse_action(state: Hex, text: str) -> int:
    """Read a cell, column and row, such as `d3`, or `swap`."""
    return read_action(text, _actions_by_text(state), lambda: f"hex ({format_position(state)})")


def format_action(state: Hex, action: int) -> str:
    """Write a cell, column and row from the top, such as `d3`, or `swap`."""
    return SWAP_TEXT if action == SWAP else f"{LETTERS[action % state.size]}{action // state.size + 1}"


def _stones(state: Hex) -> dict[Cell, int]:
    """Seat of the stone in each cell that is not empty."""
    taken = {bit: seat for seat, own in enumerate((state.first, state.second)) for bit in _bits(own)}
    return {divmod(bit, state.size): taken[bit] for bit in sorted(taken)}


def _bits(cells: HexCells) -> list[int]:
    bits = int(cells.lo) | int(cells.hi) << 64
    return [bit for bit in range(LARGEST * LARGEST) if bits >> bit & 1]


def format_position(state: Hex) -> str:
    """Write the rows from the top, `/` between them, a blank, and who moves: `x../.o./... x`.

    Player 0 is x, player 1 is o. Numbers of stones and who moves tell whether the second player has swapped.
    """
    stones, span = _stones(state), range(state.size)
    letters = {cell: SIDES[seat] for cell, seat in stones.items()}
    rows = ("".join(letters.get((row, column), EMPTY) for column in span) for row in span)
    return f"{'/'.join(rows)} {SIDES[state.mover]}"


def parse_position(text: str, size: int = LARGEST, swap: bool = False) -> State:
    """Read a position text. Raises InputError where no game can reach it."""
    board, mover = split_side(text, "hex")
    rows = board.split("/")
    if len(rows) != size or any(len(row) != size for row in rows):
        raise bad_position(f"{size} rows of {size} cells, / between them", f"{board[:60]!r}", "hex")
    cells = {"x": 0, "o": 0, EMPTY: 0}
    for bit, letter in enumerate("".join(rows)):
        if letter not in cells:
            place = f"{LETTERS[bit % size]}{bit // size + 1}"
            raise bad_position("x, o or .", f"{letter!r} at {place}", "hex")
        cells[letter] |= 1 << bit
    first, second = (HexCells(u64(cells[side]), cells[side] >> 64) for side in SIDES)
    _check_numbers(count(first), count(second), mover, swap)
    state = _with_joined(board_class(size, swap), first, second, mover)
    if state.is_terminal():
        _check_last_stone(state)
    return as_state(state)


def _with_joined(cls: type[Hex], first: HexCells, second: HexCells, mover: int) -> Hex:
    """Return the state of some stones, what hangs together with the edges found anew."""
    bare = cls._make((first, second, HexCells(0, 0), mover))
    joined = flood(bare, first & top(bare), first) | flood(bare, second & left(bare), second)
    return cls._make((first, second, joined, mover))


def _check_numbers(first: int, second: int, mover: int, swap: bool) -> None:
    """Check numbers of stones and the side to move: each turn sets a stone, but to swap takes one away."""
    swapped = swap and second > 0 and first - second == mover - 1
    if first - second != mover and not swapped:
        expected = "as many x as o when x is to move, and one x more when o is"
        if swap:
            expected += ", or after a swap one o more, and as many"
        raise bad_position(expected, f"{first} x, {second} o and {SIDES[mover]} to move", "hex")


def _check_last_stone(state: Hex) -> None:
    """Check that the last mover has joined the edges, with a stone without which they were not."""
    winner = 1 - state.mover
    own = state.first if winner == 0 else state.second
    for bit in _bits(own & state.joined):
        before = own ^ one(bit)
        first, second = (before, state.second) if winner == 0 else (state.first, before)
        if not _with_joined(type(state), first, second, winner).is_terminal():
            return
    got = f"edges joined some moves ago, and {SIDES[state.mover]} to move"
    raise bad_position("edges joined by the last move", got, "hex")


def winning_line(state: Hex) -> tuple[Cell, ...]:
    """Return a shortest chain that joins the edges of the winner, from its first edge on; else nothing."""
    if not state.is_terminal():
        return ()
    winner = 1 - state.mover
    own = state.first if winner == 0 else state.second
    edge, goal = (top(state), bottom(state)) if winner == 0 else (left(state), right(state))
    waves, reached = [own & edge], own & edge
    while not some(reached & goal):
        waves.append(neighbours(state, waves[-1]) & own & ~reached)
        reached = reached | waves[-1]
    chain = [lowest(waves.pop() & goal)]
    while waves:
        chain.append(lowest(waves.pop() & neighbours(state, one(chain[-1]))))
    return tuple(divmod(bit, state.size) for bit in reversed(chain))


def board(state: Hex, last: int | None) -> Board:
    """Return the board as data, labelled by letters and numbers."""
    if last == SWAP:
        last = lowest(state.second)
    return Board(
        rows=state.size,
        columns=state.size,
        pieces=_stones(state),
        style="cells",
        geometry="hex",
        last=() if last is None else (divmod(last, state.size),),
        line=winning_line(state),
        column_labels=tuple(LETTERS[: state.size]),
        row_labels=tuple(str(row + 1) for row in range(state.size)),
        targets={text: divmod(cell, state.size) for text, cell in _actions_by_text(state) if cell != SWAP},
    )


GAME = Game(
    name="hex",
    title="Hex",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    options={
        "size": Option(LARGEST, 2, LARGEST, "cells in a row and in a column"),
        "swap": flag(False, "whether the second player may take the first stone over"),
    },
    rules=(
        "Two players take turns to set a stone in an empty cell. The first mover joins the top and the "
        "bottom edge, the second the left and the right one; who has an unbroken chain of own stones "
        "from edge to edge wins (+1, the other player -1). There are no draws. With the option swap the "
        "second player may, as the first move, swap: the stone becomes the second player's, mirrored "
        "across the diagonal from the top left corner, and the first player moves again."
    ),
    typical=("f6", "g4", "e7", "d8", "e5", "h3", "d7", "e8", "c9", "i5"),
)
