"""Go on boards of 5 by 5 to 19 by 19, by area, with positional superko and without suicide.

The rules are those of J. Tromp and B. Taylor (The game of Go, 1995), except that suicide is illegal. A state
knows no history: after a move it bars the simple ko. The referee, who has the history, puts in its place all
points where a stone would make a whole board that has been there before, and ends a game that has lasted for
MOST_MOVES moves a point.

An action is the bit of a point (see games.go_points), or PASS.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from games import go_notation as notation
from games.board import Board
from games.game import Game
from games.go_groups import area, eyes, influence, last_liberties, no_suicide, stifled
from games.go_points import (
    NOTHING,
    WORD_BITS,
    WORDS,
    Points,
    around,
    bits_of,
    count,
    member,
    nothing,
    point,
    points_of,
    shifted,
    some,
    without,
)
from games.notation import bad_position, read_action
from games.options import Option
from games.protocol import (
    LISTED,
    State,
    as_state,
    compiled,
    draw,
    kernel,
    like,
    mix,
    routine,
    trailing_zeros,
    u64,
    variant,
    word,
)

PASS = WORDS * WORD_BITS - 1
"""A bit that is no point on any board, and comes after all of them."""
OVER = notation.TWO_PASSES
"""So many passes end the game."""
MOST_MOVES = 4
"""Moves of a game, passes among them, for each point of the board."""


def masks(size: int) -> dict[str, int]:
    """Return the constants of a size of board: `full` is all its points, word by word."""
    full = points_of(sum(((1 << size) - 1) << (size + 1) * row for row in range(size)))
    return {"size": size, **{f"full_{name}": bits for name, bits in full._asdict().items()}}


class Features(NamedTuple):
    """Own minus the opponent's.

    `area` is stones and the empty points that only they reach: what is counted in the end, komi aside;
    `stones` are those on the board; `liberties` the empty points next to them; `atari` the points where the
    next move of the opponent would capture; `eyes` the empty points with own stones all around;
    `influence` the empty points nearer to own stones than to the opponent's, three steps away at most.
    """

    area: int
    stones: int
    liberties: int
    atari: int
    eyes: int
    influence: int


@compiled
class Go(NamedTuple):
    """Stones as sets of points, on a board of 9 by 9. Seat 0 is black and begins."""

    me: Points
    """Stones of the player to move."""
    other: Points
    """Stones of the opponent."""
    barred: Points
    """Where the player to move may not play, since that would repeat a position."""
    passes: int
    """Passes in a row, up to OVER; or go_notation.STOPPED."""
    mover: int
    """Seat of the player to move."""
    komi: int
    """Half points that white gets for moving second."""

    # mypy knows no constants in a NamedTuple.
    size = 9  # type: ignore[misc]
    full_a = masks(9)["full_a"]  # type: ignore[misc]
    full_b = masks(9)["full_b"]  # type: ignore[misc]
    full_c = masks(9)["full_c"]  # type: ignore[misc]
    full_d = masks(9)["full_d"]  # type: ignore[misc]
    full_e = masks(9)["full_e"]  # type: ignore[misc]
    full_f = masks(9)["full_f"]  # type: ignore[misc]

    def to_move(self) -> int:
        """Seat whose turn it is."""
        return self.mover

    def actions(self) -> Iterator[int]:
        """Points row by row from the top, then to pass."""
        moves = nothing()
        if self.passes < OVER:
            moves = legal(self) | point(PASS)
        for at in range(WORDS):
            bits = moves[at]
            while bits != u64(0):
                yield WORD_BITS * at + trailing_zeros(bits)
                bits &= bits - u64(1)

    def result(self, a: int) -> "Go":
        """Set a stone and capture what it leaves without a liberty, or pass."""
        me, other, empty = sides(self)
        barred, passes, stride = nothing(), self.passes + 1, self.size + 1
        if a != PASS:
            passes = 0
            stone = point(a) & empty
            me = me | stone
            empty = without(empty, stone)
            captured = stifled(stone, other, empty, stride)
            other = without(other, captured)
            # A single stone that took a single one, and has no other liberty, could be taken back.
            if count(captured) == 1 and not some(around(stone, stride, me | empty)):
                barred = captured
        return like(self, other, me, barred, passes, 1 - self.mover, self.komi)

    def is_terminal(self) -> bool:
        """Whether both passed, or the referee ended the game."""
        return self.passes >= OVER

    def utility(self, p: int) -> float:
        """+1 for more area, komi included, -1 for less, 0 for as much."""
        me, other, empty = sides(self)
        ahead = 2 * area(me, other, empty, self.size + 1)
        if self.mover == 1:
            ahead = -ahead
        ahead -= self.komi
        if p == 1:
            ahead = -ahead
        return 1.0 if ahead > 0 else -1.0 if ahead < 0 else 0.0

    def features(self, p: int) -> Features:
        """Stones, what they hold and how safe they are, own minus the opponent's."""
        me, other, empty = sides(self)
        stride = self.size + 1
        sign = 1
        if p != self.mover:
            sign = -1
        return Features(
            sign * area(me, other, empty, stride),
            sign * (count(me) - count(other)),
            sign * (count(around(me, stride, empty)) - count(around(other, stride, empty))),
            sign * (count(last_liberties(me, empty, stride)) - count(last_liberties(other, empty, stride))),
            sign * (count(eyes(other, empty, stride)) - count(eyes(me, empty, stride))),
            sign * influence(me, other, empty, stride),
        )

    def key(self) -> int:
        """All fields but komi, which is the same all game, mixed one into the other."""
        bits = u64(self.mover | self.passes << 1)
        for at in range((self.size * (self.size + 1) + WORD_BITS - 1) // WORD_BITS):
            bits = mix(u64(bits + self.me[at]))
            bits = mix(u64(bits + self.other[at]))
            bits = mix(u64(bits + self.barred[at]))
        return mix(bits)

    def playout_action(self, rng: word) -> int:
        """Draw from pass and all legal points but own eyes, all equally likely.

        An own eye is an empty point with own stones or the edge all around, and the opponent's on at most
        one of the points diagonally next to it, at the edge on none. Whoever fills those cannot live.
        """
        if self.passes >= OVER:
            return LISTED
        me, other, empty = sides(self)
        left = without(empty, self.barred)
        number, drawn = count(left), 0
        while True:  # points that will not do are left out and another one is drawn
            chosen = draw(rng, drawn, number + 1)
            if chosen == number:
                return PASS
            a = member(left, chosen)
            if sensible(self, point(a) & empty, me, other, empty):
                return a
            left = without(left, point(a))
            number, drawn = number - 1, drawn + 1


@kernel
def board_of(state: Go) -> Points:
    """All points of the board: constants."""
    return Points(
        u64(state.full_a),
        u64(state.full_b),
        u64(state.full_c),
        u64(state.full_d),
        u64(state.full_e),
        u64(state.full_f),
    )


@kernel
def sides(state: Go) -> tuple[Points, Points, Points]:
    """Stones of the player to move, the opponent's, and the empty points, all cut to the board."""
    full = board_of(state)
    return state.me & full, state.other & full, without(full, state.me | state.other)


@routine
def legal(state: Go) -> Points:
    """Points where the player to move may set a stone."""
    me, other, empty = sides(state)
    stride = state.size + 1
    free = around(empty, stride, empty)
    tight = without(empty, free)
    return without(free | tight & no_suicide(tight, me, other, empty, stride), state.barred)


@kernel
def sensible(state: Go, spot: Points, me: Points, other: Points, empty: Points) -> bool:
    """Whether a stone on an empty point that is not barred is legal and fills no own eye."""
    stride = state.size + 1
    if some(around(spot, stride, empty)):
        return True
    if not some(around(spot, stride, other)):
        full = board_of(state)
        corners = shifted(spot, stride + 1, full) | shifted(spot, stride - 1, full)
        hostile = count(corners & other)
        if hostile == 0 or (hostile == 1 and count(corners) == 4):
            return False
    return some(spot & no_suicide(spot, me, other, empty, stride))


# history ----------------------------------------------------------------------------------------------


def repetition_key(state: Go) -> int:
    """Return where black and white stones are, exactly: positional superko looks at nothing else."""
    black, white = colours(state)
    return bits_of(black) | bits_of(white) << PASS


def with_history(state: Go, keys: Sequence[int]) -> Go:
    """Bar all points where a stone would make one of the boards before, and stop a game that is too long.

    A stone that captures nothing can also repeat a board, after others have come and gone.
    """
    if state.is_terminal():
        return state
    if len(keys) >= MOST_MOVES * state.size**2:
        return state._replace(barred=NOTHING, passes=notation.STOPPED)
    free, seen, now = state._replace(barred=NOTHING), set(keys), repetition_key(state)
    shift = PASS * state.mover
    _, other, empty = sides(state)
    captures = bits_of(last_liberties(other, empty, state.size + 1))
    barred = 0
    for move in notation.bits(legal(free)):
        after = repetition_key(free.result(move)) if captures >> move & 1 else now | 1 << move + shift
        if after in seen:
            barred |= 1 << move
    return state._replace(barred=points_of(barred))


# what a game declares ---------------------------------------------------------------------------------


def start(size: int = 9, komi: float = 7.5) -> State:
    """Return the empty board."""
    return _state(notation.Setup(NOTHING, NOTHING, mover=0, passes=0), size, komi)


def board_class(size: int) -> type[Go]:
    """Return the state class of a size of board."""
    return Go if size == Go.size else variant(Go, f"Go_{size}", **masks(size))


def __getattr__(name: str) -> type[Go]:
    """Make the class of a variant when code that another process compiled for it asks for it by name."""
    stem, _, size = name.partition("_")
    if stem != "Go" or not size.isdigit():
        raise AttributeError(name)
    return board_class(int(size))


def _state(setup: notation.Setup, size: int, komi: float) -> State:
    me, other = setup.black, setup.white
    if setup.mover == 1:
        me, other = other, me
    fields = (me, other, setup.barred, setup.passes, setup.mover, round(2 * komi))
    return as_state(board_class(size)._make(fields))


def colours(state: Go) -> tuple[Points, Points]:
    """Return the stones of black and of white."""
    return (state.me, state.other) if state.mover == 0 else (state.other, state.me)


def lead(state: Go) -> int:
    """Black's area minus white's as they stand, before komi."""
    me, other, empty = sides(state)
    ahead = area(me, other, empty, state.size + 1)
    return ahead if state.mover == 0 else -ahead


def _actions_by_text(state: Go) -> Iterator[tuple[str, int]]:
    return ((format_action(state, action), action) for action in state.actions())


def parse_action(state: Go, text: str) -> int:
    """Read a point, column and row, such as `d3`, or `pass`."""
    return read_action(text, _actions_by_text(state), lambda: f"go ({format_position(state)})")


def format_action(state: Go, action: int) -> str:
    """Write a point, column (no i: h, then j) and row from below, such as `d3`, or `pass`."""
    return notation.PASS_TEXT if action == PASS else notation.point_text(action, state.size)


def format_position(state: Go) -> str:
    """Write rows from the top (X black, O white), who moves, passes in a row, points that repetition bars."""
    black, white = colours(state)
    return notation.write(notation.Setup(black, white, state.mover, state.passes, state.barred), state.size)


def parse_position(text: str, size: int = 9, komi: float = 7.5) -> State:
    """Read a position text. Raises InputError where no game can reach it.

    Checked are size and letters; that every group has a liberty; that whoever moved last other than to pass
    has a stone; that an empty board comes from passes alone; and that barred points would be legal otherwise.
    Whether they can repeat a position is not.
    """
    setup = notation.read(text, size)
    state = _state(setup, size, komi)
    free = legal(state._replace(barred=NOTHING)) if setup.passes < OVER else NOTHING  # type: ignore[attr-defined]
    if some(without(setup.barred, free)):
        raise bad_position("barred points that would be legal otherwise", "one that would not", "go")
    return state


def board(state: Go, last: int | None) -> Board:
    """Return the board as data, labelled by letters and numbers."""
    black, white = colours(state)
    size = state.size
    return Board(
        rows=size,
        columns=size,
        pieces={notation.cell_of(bit, size): seat for bit, seat in notation.stones(black, white).items()},
        style="wood",
        geometry="points",
        last=() if last is None or last == PASS else (notation.cell_of(last, size),),
        column_labels=tuple(notation.LETTERS[:size]),
        row_labels=tuple(str(size - row) for row in range(size)),
        targets={text: notation.cell_of(bit, size) for text, bit in _actions_by_text(state) if bit != PASS},
    )


GAME = Game(
    name="go",
    title="Go",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    options={
        "size": Option(9, 5, 19, "points in a row and in a column"),
        "komi": Option(7.5, 0, 50, "points that white gets for moving second", step=0.5),
    },
    repetition_key=repetition_key,
    with_history=with_history,
    rules=(
        "Black, the first mover, and White take turns to set a stone on an empty point, or to pass. Stones "
        "of one colour that are neighbours along the lines are a group, and the empty points next to it its "
        "liberties. A stone takes groups of the opponent that it leaves without a liberty; after that its "
        "own group must have one. No stone may make the whole board as it was at any time before. Two passes "
        "in a row end the game, and so do four moves for each point of the board. A player's area is the own "
        "stones and the empty points from which only those can be reached; no stone is taken off as dead. "
        "White gets the komi too. More points win (+1, the other player -1), as many are a draw (0)."
    ),
    typical=(
        *("e5", "e3", "d3", "g5", "f3", "f2", "d2", "g3", "f4", "g4", "e4", "c6", "d6", "c7"),
        *("d7", "d8", "e8", "c3", "c2", "b2", "b1", "c4", "f7", "g7"),
    ),
)
