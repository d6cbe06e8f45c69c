"""Chess positions as text: Forsyth-Edwards Notation, six fields (PGN standard, section 16.1)."""

import re

from games.chess_board import (
    BISHOP,
    FILES,
    KING,
    KNIGHT,
    LAST_RANKS,
    LETTERS,
    LIGHT,
    PAWN,
    QUEEN,
    ROOK,
    Pieces,
    everyone,
    forward,
    kind_on,
    kings,
    of_kind,
    pawns,
    side,
    square_name,
)
from games.chess_checks import attackers, checkers_of, king_square, together
from games.chess_moves import takers_in_passing
from games.chess_state import LONGEST_LIMIT, Chess, variant_class
from games.errors import InputError, shown
from games.notation import bad_position
from games.protocol import State, as_state, popcount, trailing_zeros, word

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
SIDES = "wb"
NAMES = ("White", "Black")
ROOKS = {"K": 1 << 7, "Q": 1 << 0, "k": 1 << 63, "q": 1 << 56}
"""Squares of the rooks by the letters of castling rights, in the order of the letters."""
HIGHEST_NUMBER = 9999
"""No game is so long: 75 moves, at most, between two of at most 118 captures and moves of pawns."""

_FEN = re.compile(
    r"(?P<board>[1-8pnbrqkPNBRQK/]{15,71}) (?P<side>[wb]) (?P<castling>-|(?=[KQkq])K?Q?k?q?) "
    r"(?P<passing>-|[a-h][36]) (?P<clock>0|[1-9][0-9]{0,2}) (?P<number>[1-9][0-9]{0,3})"
)


def format_position(state: Chess) -> str:
    """Write Forsyth-Edwards Notation (FEN), with a square for passing only where a pawn may capture so."""
    rights = "".join(letter for letter, rook in ROOKS.items() if state.castling & rook)
    landing = state.passing & ~everyone(state.pieces)
    passing = square_name(trailing_zeros(landing)) if landing else "-"
    board = "/".join(_rank(state.pieces, rank) for rank in reversed(range(8)))
    return f"{board} {SIDES[state.mover]} {rights or '-'} {passing} {state.clock} {state.number}"


def letter_on(pieces: Pieces, square: int) -> str:
    """Letter of what stands on a square, a capital for White's; a blank for nothing."""
    letter = LETTERS[kind_on(pieces, square)]
    return letter.upper() if pieces.white >> square & 1 else letter


def _rank(pieces: Pieces, rank: int) -> str:
    letters = "".join(letter_on(pieces, 8 * rank + file) for file in range(8))
    return re.sub(" +", lambda empty: str(len(empty[0])), letters)


def parse_position(text: str, claims: str = "auto") -> State:
    """Read a position in Forsyth-Edwards Notation.

    A square for capturing in passing is read wherever a pawn can just have passed it, and forgotten where
    no pawn may capture there: `format_position` writes the text without it. A half-move clock is read up to
    the longest of any variant.

    Raises InputError for a text of another form and where no game can reach the position: kings, numbers of
    pieces and pawns promoted, pawns on the first or last rank, castling with king or rook away, a side in
    check that has just moved, checks that no move gives at once, a pawn that cannot have moved two squares,
    and clocks that contradict each other. Whether pawns can have come where they are is not checked.
    """
    fields = _FEN.fullmatch(text) if isinstance(text, str) else None
    if fields is None:
        raise bad_position(
            "board, side to move, castling, passing, half-move clock and move number as in " + START,
            shown(text),
            "chess",
        )
    mover = SIDES.index(fields["side"])
    pieces = _board(fields["board"])
    clock, number = int(fields["clock"]), int(fields["number"])
    castling = 0 if fields["castling"] == "-" else sum(ROOKS[letter] for letter in fields["castling"])
    for seat in range(2):
        _check_men(pieces, seat)
    _check_castling(pieces, castling)
    _check_kings(pieces, mover)
    pawn = _check_passing(pieces, fields["passing"], mover, clock)
    if clock > min(LONGEST_LIMIT, 2 * (number - 1) + mover):
        raise _bad(
            f"a half-move clock of at most {LONGEST_LIMIT} that the move number allows",
            f"{clock} at move {number}",
        )
    passing = takers_in_passing(pieces, pawn, mover) if pawn else 0
    return as_state(state_class(claims)._make((pieces, castling, passing, mover, clock, number)))


def state_class(claims: str) -> type[Chess]:
    """Return the state class of an option `claims`."""
    return variant_class(Chess.limit if claims == "auto" else LONGEST_LIMIT)


def start(claims: str = "auto") -> State:
    """Return the initial position."""
    return parse_position(START, claims)


def _bad(expected: str, got: str) -> InputError:
    return bad_position(expected, got, "chess")


def _board(text: str) -> Pieces:
    """Read the first field."""
    rows = text.split("/")
    white = ones = twos = fours = 0
    if len(rows) != 8:
        raise _bad("8 ranks", str(len(rows)))
    for rank, row in zip(reversed(range(8)), rows, strict=True):
        if re.search("[1-8][1-8]", row):
            raise _bad("empty squares counted together", row)
        letters = re.sub("[1-8]", lambda number: " " * int(number[0]), row)
        if len(letters) != 8:
            raise _bad(f"8 squares on rank {rank + 1}", str(len(letters)))
        for file, letter in enumerate(letters):
            square, kind = 8 * rank + file, LETTERS.index(letter.lower())
            white |= letter.isupper() << square
            ones |= (kind & 1) << square
            twos |= (kind >> 1 & 1) << square
            fours |= (kind >> 2) << square
    return Pieces(white, ones, twos, fours)


def _check_men(pieces: Pieces, seat: int) -> None:
    """Check one side's numbers: of eight pawns, each can have become a piece."""
    own, name = side(pieces, seat), NAMES[seat]
    numbers = {kind: popcount(own & of_kind(pieces, kind)) for kind in range(PAWN, QUEEN + 1)}
    if numbers[KING] != 1:
        raise _bad(f"one king of {name}", str(numbers[KING]))
    if pawns(pieces) & LAST_RANKS:
        raise _bad(
            "no pawns on the first and last rank", square_name(trailing_zeros(pawns(pieces) & LAST_RANKS))
        )
    light = popcount(own & of_kind(pieces, BISHOP) & LIGHT)
    dark = numbers[BISHOP] - light
    promoted = (
        sum(max(0, numbers[kind] - 2) for kind in (KNIGHT, ROOK))
        + max(0, numbers[QUEEN] - 1)
        + max(0, light - 1)
        + max(0, dark - 1)
    )
    if numbers[PAWN] + promoted > 8:
        got = f"{numbers[PAWN]} pawns and {promoted} pieces more than at the start"
        raise _bad(f"at most 8 pawns of {name}, those promoted included", got)


def _check_castling(pieces: Pieces, castling: word) -> None:
    """Check that kings and rooks are at home with which castling is allowed."""
    for letter, rook in ROOKS.items():
        seat = int(letter.islower())
        king = 1 << 4 + 56 * seat
        own = side(pieces, seat)
        home = own & kings(pieces) & king and own & of_kind(pieces, ROOK) & rook
        if castling & rook and not home:
            at = f"{square_name(trailing_zeros(king))} and {square_name(trailing_zeros(rook))}"
            raise _bad(f"king and rook on {at} for castling {letter}", "others there")


def _check_kings(pieces: Pieces, mover: int) -> None:
    """Check that kings do not touch, that who has moved is not in check, and a move gives the check."""
    first, second = (king_square(pieces, seat) for seat in (mover, 1 - mover))
    if max(abs(first // 8 - second // 8), abs(first % 8 - second % 8)) < 2:
        raise _bad("kings apart", f"{square_name(first)} and {square_name(second)}")
    if attackers(pieces, second, mover, everyone(pieces)):
        raise _bad(f"{NAMES[1 - mover]} to move, who is in check", f"{NAMES[mover]} to move")
    checkers = checkers_of(pieces, mover)
    if not together(pieces, checkers, first):
        raise _bad("checks that one move can give", f"{NAMES[mover]} in check from {_names(checkers)}")


def _names(squares: word) -> str:
    return ", ".join(square_name(square) for square in range(64) if squares >> square & 1)


def _check_passing(pieces: Pieces, text: str, mover: int, clock: int) -> word:
    """Return the pawn that has just passed a square, 0 for none; check that it can have moved so."""
    if text == "-":
        return 0
    landing = 1 << FILES.index(text[0]) + 8 * (int(text[1]) - 1)
    pawn, home = forward(landing, 1 - mover), forward(landing, mover)
    if text[1] != "63"[mover] or not pawn & side(pieces, 1 - mover) & pawns(pieces):
        raise _bad(f"a pawn of {NAMES[1 - mover]} that has just passed {text}", "none")
    if (landing | home) & everyone(pieces):
        raise _bad(f"empty squares where a pawn has just passed {text}", "others there")
    if clock:
        raise _bad("half-move clock 0 after a pawn's move", str(clock))
    before = attackers(pieces, king_square(pieces, mover), 1 - mover, everyone(pieces) ^ pawn ^ home)
    old = before & checkers_of(pieces, mover) & ~pawn
    if old:
        raise _bad(f"no check before a pawn passed {text}", f"{NAMES[mover]} in check from {_names(old)}")
    return pawn
