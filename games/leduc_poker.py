"""Leduc poker: six cards, two rounds of betting, and a card in the middle that can make a pair.

The game is that of Southey et al. (Bayes' bluff: opponent modelling in poker, 2005). Each of two players
antes one chip and is dealt one of six cards, two of each rank. Player 0 begins both rounds of betting. A
raise adds 2 chips in the first round and 4 in the second; at most two raises are made in a round. Between the
rounds a third card is laid open. Who holds its rank wins, else the higher rank; equal ranks split the pot.
"""

from collections.abc import Iterator
from typing import NamedTuple

from games.board import HIDDEN, Board, Cell
from games.errors import InputError, shown
from games.game import Game
from games.notation import SIDES, bad_position, read_action
from games.perft import plies
from games.protocol import CHANCE, State, as_state, compiled, kernel, like, mix, u64

ACTION_TEXTS = ("f", "c", "r")
"""Fold, call (or check, where nothing is to be called) and raise, by action."""

CARDS = 6
FOLD, CALL, RAISE = range(3)
BITS = 2
"""A play takes so many bits of a round's betting: its action plus 1, the first play lowest."""

CHANCE_MARK = "*"
"""Stands for chance where a position text says who moves."""

NO_CARD = "-"

FACES = ("J♠", "J♥", "Q♠", "Q♥", "K♠", "K♥")
"""What a board shows of each card."""


class Features(NamedTuple):
    """Own minus the opponent's, for those who see all cards; all 0 until both players have one.

    `card` is the rank of the card, 0 for a jack, 1 for a queen, 2 for a king; `pair` is 1 for a pair with
    the open card; `stake` is the chips staked.
    """

    card: int
    """Rank of the card, 0 to 2."""
    pair: int
    """1 for a pair with the open card."""
    stake: int
    """Chips staked."""


@compiled
class LeducPoker(NamedTuple):
    """The cards dealt and the betting of both rounds."""

    first: int
    """Card of player 0 plus 1; 0 before it is dealt."""
    second: int
    """Card of player 1 plus 1; 0 before it is dealt."""
    public: int
    """Open card plus 1; 0 before it is dealt."""
    before: int
    """Betting before the open card, BITS a play."""
    after: int
    """Betting after it."""

    def to_move(self) -> int:
        """Chance where a card is to be dealt, else the players in turn, player 0 first in each round."""
        if self.second == 0 or (self.public == 0 and _called(self.before)):
            return CHANCE
        return _plays(self.before if self.public == 0 else self.after) & 1

    def actions(self) -> Iterator[int]:
        """Fold after a raise only; raise twice a round."""
        if self.to_move() != CHANCE and not self.is_terminal():
            betting = self.before if self.public == 0 else self.after
            raised, limit = _last(betting) == RAISE, _raises(betting) == 2
            for action in range(3):
                if action == CALL or (raised if action == FOLD else not limit):
                    yield action

    def chance(self) -> Iterator[tuple[int, float]]:
        """Cards that are left, all equally likely."""
        if self.to_move() == CHANCE:
            left = CARDS - (1 if self.first != 0 else 0) - (1 if self.second != 0 else 0)
            for card in range(CARDS):
                if card + 1 != self.first and card + 1 != self.second:
                    yield card, 1.0 / left

    def result(self, a: int) -> "LeducPoker":
        """Deal card `a`, or fold, call or raise."""
        first, second, public, before, after = self
        if self.to_move() == CHANCE:
            if first == 0:
                return like(self, a + 1, 0, 0, 0, 0)
            if second == 0:
                return like(self, first, a + 1, 0, 0, 0)
            return like(self, first, second, a + 1, before, 0)
        if public == 0:
            return like(self, first, second, 0, before | (a + 1) << BITS * _plays(before), 0)
        return like(self, first, second, public, before, after | (a + 1) << BITS * _plays(after))

    def is_terminal(self) -> bool:
        """Whether a player folded, or the second round is over."""
        return _last(self.before) == FOLD or _last(self.after) == FOLD or _called(self.after)

    def utility(self, p: int) -> float:
        """Chips won: the opponent's stake."""
        first, second = _stake(self, 0), _stake(self, 1)
        if first != second:  # the smaller stake has folded
            lead = first - second
        else:
            lead = _strength(self.first, self.public) - _strength(self.second, self.public)
        chips = float(min(first, second))
        if lead == 0:
            return 0.0
        return chips if (lead > 0) == (p == 0) else -chips

    def features(self, p: int) -> Features:
        """Compare the cards, which neither player can, and the stakes."""
        if self.second == 0:
            return Features(0, 0, 0)
        card = _rank(self.first) - _rank(self.second)
        pair = _pairs(self.first, self.public) - _pairs(self.second, self.public)
        stake = _stake(self, 0) - _stake(self, 1)
        return Features(card, pair, stake) if p == 0 else Features(-card, -pair, -stake)

    def key(self) -> int:
        """All fields side by side, mixed: different for different states."""
        return mix(u64(_number(self.first, self.second, self)))

    def observation(self, p: int) -> str:
        """Position text with `?` for a card that `p` does not see."""
        return _text(self, _seen(self, p))

    def information(self, p: int) -> int:
        """Own card, whether the other one is dealt, the open card and the betting."""
        cards = enumerate((self.first, self.second))
        first, second = (card if p == player else min(card, 1) for player, card in cards)
        return _number(first, second, self)


@kernel
def _number(first: int, second: int, s: LeducPoker) -> int:
    return first | second << 3 | s.public << 6 | s.before << 9 | s.after << 17


@kernel
def _plays(betting: int) -> int:
    """Count the plays of a round: it has four at most."""
    return (betting > 0) + (betting > 3) + (betting > 15) + (betting > 63)


@kernel
def _last(betting: int) -> int:
    """Return the last action of a round, -1 before the first."""
    return -1 if betting == 0 else (betting >> BITS * (_plays(betting) - 1)) - 1


@kernel
def _called(betting: int) -> bool:
    """Whether a round has ended with both players in the game: any call but a check that begins it."""
    return _plays(betting) > 1 and _last(betting) == CALL


@kernel
def _raises(betting: int) -> int:
    """Count the raises: plays whose two bits are both set."""
    pairs = betting & betting >> 1
    return (pairs & 1) + (pairs >> 2 & 1) + (pairs >> 4 & 1) + (pairs >> 6 & 1)


@kernel
def _stake(s: LeducPoker, p: int) -> int:
    """Chips that a player has staked: the ante and both rounds."""
    return 1 + 2 * _paid(s.before, p) + 4 * _paid(s.after, p)


@kernel
def _paid(betting: int, p: int) -> int:
    """Return how many raises of a round a player has paid: all made before the last call, or by the raise."""
    made, paid = 0, 0
    for play in range(_plays(betting)):
        action = (betting >> BITS * play & 3) - 1
        made += action == RAISE
        if play & 1 == p and action != FOLD:
            paid = made
    return paid


@kernel
def _rank(card: int) -> int:
    """Rank of a card, given plus 1: 0 to 2."""
    return (card - 1) // 2


@kernel
def _pairs(card: int, public: int) -> int:
    return 1 if public != 0 and _rank(card) == _rank(public) else 0


@kernel
def _strength(card: int, public: int) -> int:
    """Order of hands: a pair before any rank."""
    return 3 * _pairs(card, public) + _rank(card)


def start() -> State:
    """Return the state before the deal."""
    return as_state(LeducPoker(0, 0, 0, 0, 0))


def parse_action(state: LeducPoker, text: str) -> int:
    """Read `f`, `c` or `r`, at a chance node `d0` to `d5`."""
    choices = plies(as_state(state))
    return read_action(
        text, ((format_action(state, choice), choice) for choice in choices), lambda: "leduc_poker"
    )


def format_action(state: LeducPoker, action: int) -> str:
    """Write `f` to fold, `c` to call (or check), or `r` to raise; a card dealt is `d0` to `d5`.

    `d0` and `d1` are the jacks, `d2` and `d3` the queens, `d4` and `d5` the kings.
    """
    return f"d{action}" if state.to_move() == CHANCE else ACTION_TEXTS[action]


def format_seen(state: LeducPoker, action: int, p: int) -> str:
    """Write an action as `p` sees it: the other player's card is `d?`, the open one everybody's."""
    private = state.to_move() == CHANCE and state.second == 0
    dealt_to = 0 if state.first == 0 else 1
    return f"d{HIDDEN}" if private and p != dealt_to else format_action(state, action)


def format_position(state: LeducPoker) -> str:
    """Write three cards, `/` and the first round, `/` and the second, a blank, and who moves.

    The cards are player 0's, player 1's and the open one, `-` where one is not dealt yet. Player 0 is x,
    player 1 o, and `*` says that a card is to be dealt: `---// *` before the deal, `52-/r/ o` in the first
    round, `521/rc/c o` in the second.
    """
    return _text(state, (state.first, state.second))


def _text(state: LeducPoker, own: tuple[int, int]) -> str:
    cards = "".join(map(_letter, (*own, state.public)))
    mover = state.to_move()
    side = CHANCE_MARK if mover == CHANCE else SIDES[mover]
    return f"{cards}/{_betting(state.before)}/{_betting(state.after)} {side}"


def _seen(state: LeducPoker, p: int) -> tuple[int, int]:
    """Both players' cards as `p` sees them, each plus 1; -1 for one that lies face down."""
    first, second = (
        -1 if card and p != player else card for player, card in enumerate((state.first, state.second))
    )
    return first, second


def _letter(card: int) -> str:
    return HIDDEN if card < 0 else NO_CARD if card == 0 else str(card - 1)


def _betting(betting: int) -> str:
    return "".join(ACTION_TEXTS[(betting >> BITS * play & 3) - 1] for play in range(_plays(betting)))


def parse_position(text: str) -> State:
    """Read a position text. Raises InputError where no game can reach it."""
    state = start()
    try:
        for ply in _plies_to(text):
            state = state.result(parse_action(state, ply))  # type: ignore[arg-type]
        reached = format_position(state)  # type: ignore[arg-type]
    except InputError:
        reached = None
    if reached is None or reached != text:
        raise bad_position(
            "three different cards of 0 to 5 (- for one not dealt yet), a slash and f, c and r as played "
            f"for each of two rounds, a blank, and x, o or {CHANCE_MARK} to move",
            shown(text),
            "leduc_poker",
        )
    return state


def _plies_to(text: object) -> Iterator[str]:
    """Yield the plies that a position text tells of, in the order of play."""
    if not isinstance(text, str) or len(text) > len("012/crrc/crrc x") or text.count("/") != 2:
        return
    cards, before, rest = text.split("/")
    dealt = [f"d{card}" for card in cards if card != NO_CARD]
    yield from (*dealt[:2], *before, *dealt[2:], *rest.partition(" ")[0])


def board(state: LeducPoker, last: int | None) -> Board:
    """Return the board as data: a row for each player with card and stake, the open card between."""
    return _board(state, last, (state.first, state.second))


def board_seen(state: LeducPoker, last: int | None, p: int) -> Board:
    """Return the board with the cards that `p` does not see face down."""
    return _board(state, last, _seen(state, p))


def _board(state: LeducPoker, last: int | None, own: tuple[int, int]) -> Board:
    shown_cards = ((_row(0), own[0]), (_row(1), own[1]), (1, state.public))
    cards = {(row, 0): HIDDEN if card < 0 else FACES[card - 1] for row, card in shown_cards if card}
    chips = {(_row(player), 1): _stake(state, player) for player in range(2)}
    owned = [cell for cell in (*cards, *chips) if cell[0] != 1]
    return Board(
        rows=3,
        columns=2,
        pieces={(row, column): 1 - row // 2 for row, column in owned},
        style="table",
        cards=cards,
        counts=chips,
        last=_last_cells(state, last),
        column_labels=("card", "chips"),
    )


def _last_cells(state: LeducPoker, last: int | None) -> tuple[Cell, ...]:
    """Return where the last card or chip lies; a check and a fold leave nothing."""
    if last is None:
        return ()
    if state.after == 0 and state.public:
        return ((1, 0),)
    betting = state.after or state.before
    if betting == 0:
        return ((_row(0 if state.second == 0 else 1), 0),)
    paid = last == RAISE or (last == CALL and _raises(betting) > 0)
    return ((_row(_plays(betting) - 1 & 1), 1),) if paid else ()


def _row(player: int) -> int:
    """Row of a player: player 0 sits below."""
    return 2 - 2 * player


GAME = Game(
    name="leduc_poker",
    title="Leduc poker",
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
        "The six cards are two jacks (0 and 1), two queens (2 and 3) and two kings (4 and 5). Each of two "
        "players antes one chip and gets a card that only that player sees. Then a round of betting: players "
        "take turns to call or raise, the first player begins; whoever faces a raise may also fold. A raise "
        "pays what is to be called and 2 chips more; a round has at most two raises and ends when a player "
        "calls, though never with the first play. Then a third card is laid open, and a second round follows "
        "with raises of 4 chips. A fold gives the other player the pot. Otherwise a pair with the open card "
        "wins, else the higher card; equal ones split the pot. The utility is the number of chips won or "
        "lost: 13 at most."
    ),
    typical=("d4", "d2", "c", "r", "c", "d3", "r"),
)
