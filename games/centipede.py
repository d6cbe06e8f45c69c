"""The centipede game: take the larger pile now, or pass and let both piles double.

The game is R. W. Rosenthal's (Games of perfect information, predatory pricing and the chain-store paradox,
1981). The piles are those of R. D. McKelvey and T. R. Palfrey (An experimental study of the centipede game,
1992), who played it with four and with six moves for piles of 4 and 1 dimes at first. Whoever reasons
backwards from the end takes at once; people rarely do, and both are better off for it.
"""

import functools
from collections.abc import Iterator
from typing import NamedTuple

from games.board import Board
from games.errors import shown
from games.game import Game
from games.notation import SIDES, bad_position, read_action
from games.options import Option
from games.perft import layers
from games.protocol import State, as_state, compiled, kernel, like, mix, u64, variant

LARGE, SMALL = 4, 1
"""The piles at first, in chips."""

ACTION_TEXTS = ("pass", "take")
TAKE = 1
OPEN = "."


class Features(NamedTuple):
    """What a player would get if the game ended now, and what could still come.

    `own` and `other` are the chips of the player and the opponent if the player to move took now; `left` is
    the number of moves left.
    """

    own: int
    other: int
    left: int


@compiled
class Centipede(NamedTuple):
    """The moves so far. Seat 0 begins."""

    passes: int
    """Number of passes so far; both piles double with each."""
    taken: int
    """1 if the larger pile was taken."""

    plies = 6  # type: ignore[misc]

    def to_move(self) -> int:
        """Seat whose turn it is: they alternate."""
        return (self.passes + self.taken) & 1

    def actions(self) -> Iterator[int]:
        """Pass, then take."""
        if not self.is_terminal():
            for action in range(2):  # noqa: UP028 - numba knows no `yield from`
                yield action

    def result(self, a: int) -> "Centipede":
        """Pass or take."""
        return like(self, self.passes + 1 - a, a)

    def is_terminal(self) -> bool:
        """Whether somebody took, or the last move was a pass."""
        return self.taken == TAKE or self.passes == self.plies

    def utility(self, p: int) -> float:
        """Chips of player `p`. After passes alone, the larger pile goes to whose turn it would be."""
        return float(chips(self.passes, p))

    def features(self, p: int) -> Features:
        """Piles as they would be shared now, and moves left."""
        left = 0 if self.is_terminal() else self.plies - self.passes
        return Features(chips(self.passes, p), chips(self.passes, 1 - p), left)

    def key(self) -> int:
        """Both fields side by side, mixed: different for different states."""
        return mix(u64(2 * self.passes + self.taken))


@kernel
def chips(passes: int, p: int) -> int:
    """Chips of player `p` if the game ends after so many passes: who moves then has the larger pile."""
    pile = LARGE if passes & 1 == p else SMALL
    return pile << passes


def start(plies: int = 6) -> State:
    """Return the state before the first move."""
    return as_state(game_class(plies)._make((0, 0)))


def game_class(plies: int) -> type[Centipede]:
    """Return the state class of a game of so many moves."""
    return Centipede if plies == Centipede.plies else variant(Centipede, f"Centipede_{plies}", plies=plies)


def __getattr__(name: str) -> type[Centipede]:
    """Make the class of a variant when code that another process compiled for it asks for it by name."""
    first, _, plies = name.partition("_")
    if first != "Centipede" or not plies.isdigit():
        raise AttributeError(name)
    return game_class(int(plies))


def parse_action(state: Centipede, text: str) -> int:
    """Read `pass` or `take`."""
    actions = ((format_action(state, action), action) for action in state.actions())
    return read_action(text, actions, lambda: f"centipede ({format_position(state)})")


def format_action(_state: Centipede, action: int) -> str:
    """Write `pass` or `take`."""
    return ACTION_TEXTS[action]


def format_position(state: Centipede) -> str:
    """Write a letter for each move, `p` or `t` as played and `.` for those left, a blank, and who moves.

    Player 0 is x, player 1 is o.
    """
    played = "p" * state.passes + "t" * state.taken
    return f"{played.ljust(state.plies, OPEN)} {SIDES[state.to_move()]}"


@functools.cache
def _states_by_text(plies: int) -> dict[str, State]:
    return {GAME.format_position(state): state for layer in layers(start(plies)) for state in layer}


def parse_position(text: str, plies: int = 6) -> State:
    """Read a position text. Raises InputError where no game can reach it."""
    known = _states_by_text(plies)
    if not isinstance(text, str) or text not in known:
        raise bad_position(
            f"{plies} moves, p for each pass so far, then t if somebody took, . for each that is left, a "
            "blank, and x or o to move",
            shown(text),
            "centipede",
        )
    return known[text]


def board(state: Centipede, last: int | None) -> Board:
    """Return the board as data: before each player the pile that would be theirs if the game ended now.

    Player 0 sits below. The larger pile lies before the player to move, who hands it on with a pass.
    """
    rows = {1 - p: p for p in range(2)}
    actor = (state.passes + state.taken + 1) & 1
    taker = state.passes & 1
    return Board(
        rows=2,
        columns=1,
        pieces={(row, 0): p for row, p in rows.items()},
        style="table",
        counts={(row, 0): chips(state.passes, p) for row, p in rows.items()},
        last=() if last is None else ((1 - actor, 0),),
        column_labels=("chips",),
        targets={} if state.is_terminal() else {ACTION_TEXTS[TAKE]: (1 - taker, 0)},
    )


GAME = Game(
    name="centipede",
    title="Centipede",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    zero_sum=False,
    options={"plies": Option(6, 2, 12, "moves after which the game ends if nobody takes")},
    rules=(
        "Two piles lie on the table, of 4 chips and of 1. The players take turns. Who takes gets the larger "
        "pile, the opponent gets the smaller one, and the game is over; who passes doubles both piles and "
        "leaves the choice to the opponent. After six passes (option `plies`) the player whose turn it "
        "would be gets the larger pile. The utility of each player is the number of chips, so that both gain "
        "by passing, though to take is always better than to let the opponent take next. "
        "A ladder counts only who has more chips at the end, not how many: there, whoever takes wins, and "
        "to take at once is best, though both get more chips by passing."
    ),
    typical=("pass", "pass", "pass"),
)
