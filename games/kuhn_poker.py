"""Kuhn poker: three cards, one for each of two players, and one round of betting.

The game is H. W. Kuhn's (A simplified two-person poker, 1950). Each player antes one chip and is dealt one of
the cards 0, 1 and 2. Player 0 begins. To play is to pass or to bet one chip; after a bet, to pass is to fold
and to bet is to call. Two passes or a call show the cards, and the higher one wins the pot.
"""

import functools
from collections.abc import Iterator
from typing import NamedTuple

from games.board import HIDDEN, Board, Cell
from games.errors import shown
from games.game import Game
from games.notation import SIDES, bad_position, read_action
from games.perft import layers, plies
from games.protocol import CHANCE, State, as_state, compiled, kernel, like, mix, popcount, u64

ACTION_TEXTS = ("p", "b")
"""Pass and bet, by action."""

CHANCE_MARK = "*"
"""Stands for chance where a position text says who moves."""

NO_CARD = "-"


class Features(NamedTuple):
    """`card` is the own card minus the opponent's; 0 until both are dealt."""

    card: int


@compiled
class KuhnPoker(NamedTuple):
    """The cards dealt and the betting so far."""

    first: int
    """Card of player 0 plus 1; 0 before it is dealt."""
    second: int
    """Card of player 1 plus 1; 0 before it is dealt."""
    plays: int
    """Number of passes and bets so far."""
    bets: int
    """Bit i is set if play i, from 0, was a bet."""

    def to_move(self) -> int:
        """Chance until both cards are dealt, then the players in turn."""
        return CHANCE if self.second == 0 else self.plays & 1

    def actions(self) -> Iterator[int]:
        """Pass and bet."""
        if self.second != 0 and not self.is_terminal():
            yield 0
            yield 1

    def chance(self) -> Iterator[tuple[int, float]]:
        """Cards that are left, all equally likely."""
        if self.second == 0:
            for card in range(3):
                if card + 1 != self.first:
                    yield card, 1.0 / 3.0 if self.first == 0 else 1.0 / 2.0

    def result(self, a: int) -> "KuhnPoker":
        """Deal card `a`, or pass or bet."""
        if self.first == 0:
            return like(self, a + 1, 0, 0, 0)
        if self.second == 0:
            return like(self, self.first, a + 1, 0, 0)
        return like(self, self.first, self.second, self.plays + 1, self.bets | a << self.plays)

    def is_terminal(self) -> bool:
        """Whether both passed, or a bet was answered."""
        return self.plays == 3 or (self.plays == 2 and self.bets != 0b10)

    def utility(self, p: int) -> float:
        """Chips won: the opponent's ante, and one more after a call."""
        winner = 0 if self.first > self.second else 1
        chips = 1.0 if self.bets == 0 else 2.0
        if self.bets in (0b01, 0b10):  # one bet alone: the other player folded
            winner, chips = self.bets - 1, 1.0
        return chips if p == winner else -chips

    def features(self, p: int) -> Features:
        """Compare the cards, which neither player can."""
        lead = 0 if self.second == 0 else self.first - self.second
        return Features(lead if p == 0 else -lead)

    def key(self) -> int:
        """All fields side by side, mixed: different for different states."""
        return mix(u64(_number(self.first, self.second, self.plays, self.bets)))

    def observation(self, p: int) -> str:
        """Position text with `?` for a card that `p` does not see."""
        return _text(self, _faces(self, p))

    def information(self, p: int) -> int:
        """Own card, whether the other one is dealt, and the betting."""
        cards = enumerate((self.first, self.second))
        first, second = (card if p == player else min(card, 1) for player, card in cards)
        return _number(first, second, self.plays, self.bets)


@kernel
def _number(first: int, second: int, plays: int, bets: int) -> int:
    return first | second << 2 | plays << 4 | bets << 6


def start() -> State:
    """Return the state before the deal."""
    return as_state(KuhnPoker(0, 0, 0, 0))


def parse_action(state: KuhnPoker, text: str) -> int:
    """Read `p` or `b`, at a chance node `d0`, `d1` or `d2`."""
    choices = plies(as_state(state))
    return read_action(
        text, ((format_action(state, choice), choice) for choice in choices), lambda: "kuhn_poker"
    )


def format_action(state: KuhnPoker, action: int) -> str:
    """Write `p` to pass or fold, or `b` to bet or call; a card dealt is `d0`, `d1` or `d2`."""
    return f"d{action}" if state.to_move() == CHANCE else ACTION_TEXTS[action]


def format_seen(state: KuhnPoker, action: int, p: int) -> str:
    """Write an action as `p` sees it: the other player's card is `d?`."""
    dealt_to = 0 if state.first == 0 else 1
    if state.to_move() == CHANCE and p != dealt_to:
        return f"d{HIDDEN}"
    return format_action(state, action)


def format_position(state: KuhnPoker) -> str:
    """Write both cards, `/`, the betting, a blank, and who moves: `12/pb x`, before the deal `--/ *`.

    Player 0's card comes first. Player 0 is x, player 1 o, and `*` says that a card is to be dealt.
    """
    return _text(state, _faces(state, None))


def _faces(state: KuhnPoker, p: int | None) -> tuple[str, str]:
    """Both cards as `p` sees them; None sees all."""
    first, second = (
        HIDDEN if card and p not in (None, player) else _card(card)
        for player, card in enumerate((state.first, state.second))
    )
    return first, second


def _text(state: KuhnPoker, faces: tuple[str, str]) -> str:
    betting = "".join(ACTION_TEXTS[state.bets >> play & 1] for play in range(state.plays))
    mover = state.to_move()
    return f"{''.join(faces)}/{betting} {CHANCE_MARK if mover == CHANCE else SIDES[mover]}"


def _card(card: int) -> str:
    return NO_CARD if card == 0 else str(card - 1)


@functools.cache
def _states_by_text() -> dict[str, State]:
    return {GAME.format_position(state): state for layer in layers(start()) for state in layer}


def parse_position(text: str) -> State:
    """Read a position text. Raises InputError where no game can reach it."""
    known = _states_by_text()
    if not isinstance(text, str) or text not in known:
        raise bad_position(
            "two different cards of 0, 1 and 2 (- for none yet), a slash, p and b as played, a blank, "
            f"and x, o or {CHANCE_MARK} to move",
            shown(text),
            "kuhn_poker",
        )
    return known[text]


def board(state: KuhnPoker, last: int | None) -> Board:
    """Return the board as data: a row for each player, with the card and the chips staked."""
    return _board(state, last, _faces(state, None))


def board_seen(state: KuhnPoker, last: int | None, p: int) -> Board:
    """Return the board with the cards that `p` does not see face down."""
    return _board(state, last, _faces(state, p))


def _board(state: KuhnPoker, last: int | None, faces: tuple[str, str]) -> Board:
    cards = {(_row(player), 0): face for player, face in enumerate(faces) if face != NO_CARD}
    chips = {(_row(player), 1): 1 + popcount(state.bets & own) for player, own in enumerate((0b101, 0b010))}
    return Board(
        rows=2,
        columns=2,
        pieces={(row, column): _row(row) for row, column in (*cards, *chips)},
        style="table",
        cards=cards,
        counts=chips,
        last=_last_cells(state, last),
        column_labels=("card", "chips"),
    )


def _last_cells(state: KuhnPoker, last: int | None) -> tuple[Cell, ...]:
    """Return where the last card or chip lies; a pass leaves nothing."""
    if last is None:
        return ()
    if state.plays == 0:
        return ((_row(0 if state.second == 0 else 1), 0),)
    return ((_row(state.plays - 1 & 1), 1),) if ACTION_TEXTS[last] == "b" else ()


def _row(player: int) -> int:
    """Row of a player: player 0 sits below. The reverse is the same sum."""
    return 1 - player


GAME = Game(
    name="kuhn_poker",
    title="Kuhn poker",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    has_chance=True,
    hidden=True,
    action_texts=ACTION_TEXTS,
    format_seen=format_seen,
    board_seen=board_seen,
    rules=(
        "Each of two players antes one chip and gets one of the three cards 0, 1 and 2, which only that "
        "player sees. The first player passes or bets a chip. After a bet the other player calls by "
        "betting too, or folds by passing; after a pass the second player may bet, and the first then "
        "calls or folds. After two passes or a call the higher card takes the pot. The utility is the "
        "number of chips won or lost: 1 or 2."
    ),
    typical=("d1", "d2", "p", "b"),
)
