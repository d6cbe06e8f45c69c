"""Share out, a game of three for tests: places, shared places, a sum that is not zero, and a draw by a rule.

Seven tokens lie in the middle. In turn each player takes none, one or two of them. Who has more has won more.
Three turns in a row without a token end the game as a draw by rule, and nobody has won anything.
"""

from collections.abc import Iterator
from typing import NamedTuple

from games.board import Board
from games.errors import shown
from games.game import Game
from games.notation import bad_position, read_action
from games.protocol import State, as_state, compiled, like, mix, u64

TOKENS = 7
PLAYERS = 3


class Features(NamedTuple):
    """Own tokens."""

    own: int


@compiled
class ShareOut(NamedTuple):
    """The tokens of each player, whose turn it is, and the turns since a token was taken."""

    first: int
    second: int
    third: int
    turn: int
    passes: int

    def to_move(self) -> int:
        """Players move in turn."""
        return self.turn

    def actions(self) -> Iterator[int]:
        """Take none, one or two."""
        left = 7 - self.first - self.second - self.third
        if self.passes < 3:
            for taken in range(3):
                if left > 0 and taken <= left:
                    yield taken

    def result(self, a: int) -> "ShareOut":
        """Take so many."""
        first, second, third = self.first, self.second, self.third
        if self.turn == 0:
            first += a
        elif self.turn == 1:
            second += a
        else:
            third += a
        passes = self.passes + 1 if a == 0 else 0
        return like(self, first, second, third, (self.turn + 1) % 3, passes)

    def is_terminal(self) -> bool:
        """Whether nothing is left, or nobody takes any more."""
        return self.passes == 3 or self.first + self.second + self.third == 7

    def utility(self, p: int) -> float:
        """Tokens taken; nothing after a draw by rule."""
        if self.passes == 3:
            return 0.0
        own = self.first if p == 0 else self.second if p == 1 else self.third
        return 1.0 * own

    def features(self, p: int) -> Features:
        """Own tokens."""
        return Features(self.first if p == 0 else self.second if p == 1 else self.third)

    def key(self) -> int:
        """All fields side by side, mixed."""
        return mix(u64(self.first | self.second << 3 | self.third << 6 | self.turn << 9 | self.passes << 11))

    def players(self) -> int:
        """Three."""
        return 3


def start() -> State:
    """Nobody has a token."""
    return as_state(ShareOut(0, 0, 0, 0, 0))


def parse_action(state: ShareOut, text: str) -> int:
    """Read a number of tokens."""
    return read_action(text, ((str(taken), taken) for taken in state.actions()), lambda: "share_out")


def format_action(_state: ShareOut, action: int) -> str:
    """Write a number of tokens."""
    return str(action)


def format_position(state: ShareOut) -> str:
    """Write all fields: `201/2.0`."""
    return f"{state.first}{state.second}{state.third}/{state.turn}.{state.passes}"


def parse_position(text: str) -> State:
    """Read what `format_position` writes, as far as these tests need it."""
    digits = text.replace("/", "").replace(".", "")
    if len(digits) != 5 or not digits.isdecimal():
        raise bad_position(
            "three numbers of tokens, a slash, the turn, a dot, passes", shown(text), "share_out"
        )
    return as_state(ShareOut(*map(int, digits)))


def board(state: ShareOut, last: int | None) -> Board:
    """Return the tokens of each player, a row each, player 0 at the bottom."""
    cells = {(PLAYERS - 1 - seat, 0): seat for seat in range(PLAYERS)}
    taken = (state.first, state.second, state.third)
    moved = (state.turn - 1) % PLAYERS
    return Board(
        rows=PLAYERS,
        columns=1,
        pieces=cells,
        style="table",
        counts={cell: taken[seat] for cell, seat in cells.items()},
        last=() if last is None else ((PLAYERS - 1 - moved, 0),),
    )


GAME = Game(
    name="share_out",
    title="Share out",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    players=PLAYERS,
    zero_sum=False,
    rule_draw=lambda state: state.passes == PLAYERS,
    rules=(
        "Seven tokens lie in the middle. In turn each of three players takes none, one or two of them. The "
        "utility of each is the number of tokens it has. Three turns in a row without a token are a draw by "
        "rule, with utility 0 for all."
    ),
    typical=("1", "2", "0"),
)
