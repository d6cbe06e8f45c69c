"""Which moves of chess are legal: checks, pins, and where each piece may go.

Only legal moves are made, never such as would have to be taken back: what the own king asks of the other
pieces is worked out once a position, as a few words.
"""

from typing import NamedTuple

from games.chess_board import (
    BISHOP,
    COLUMNS,
    FALLING,
    FULL,
    LAST_RANKS,
    LIGHT,
    NOT_A,
    NOT_H,
    QUEEN,
    RANK_1,
    RANKS,
    RISING,
    Pieces,
    between,
    diagonal_attacks,
    diagonal_sliders,
    everyone,
    forward,
    forward_left,
    forward_right,
    king_attacks,
    kings,
    knight_attacks,
    knights,
    pawn_attacks,
    pawns,
    side,
    slider_attacks,
    straight_attacks,
    straight_sliders,
)
from games.protocol import LISTED, kernel, popcount, trailing_zeros, u64, word

PUSH, LEFT, RIGHT, DOUBLE, KNIGHTS, DIAGONALS, STRAIGHTS, KINGS = range(8)
"""Ways to move. In the pawns' ways, the first four, all of them move at once, in the others piece by piece.
A queen moves along diagonals and along straight lines."""
WAYS = 8


class Turn(NamedTuple):
    """What holds for the moves of the player to move."""

    mover: int
    """Seat of the player."""
    own: word
    """Pieces of the player."""
    other: word
    """Pieces of the opponent."""
    passing: word
    """As in the state: pawns that may capture in passing, and the square where they land."""
    allowed: word
    """Where pieces other than the king may go: everywhere; in check, onto the checker or between; nowhere in
    double check."""
    straight: word
    """Ranks and files from the king to each piece that pins another on them, that piece included."""
    diagonal: word
    """Diagonals likewise."""
    flights: word
    """Where the king may go, castling included."""


@kernel
def attacks(pieces: Pieces, seat: int, through: word) -> word:
    """Squares that a side attacks, where sliders cross the squares `through`."""
    own = side(pieces, seat)
    return (
        slider_attacks(own & straight_sliders(pieces), own & diagonal_sliders(pieces), through)
        | knight_attacks(own & knights(pieces))
        | pawn_attacks(own & pawns(pieces), seat)
        | king_attacks(own & kings(pieces))
    )


@kernel
def look(pieces: Pieces, castling: word, passing: word, mover: int) -> Turn:
    """Work out what the position of the king means for the moves.

    A slider in line with the king pins the one piece between, or gives check if there is none. Where a
    second checker leaves nothing `allowed`, it is because no square is on the way of both.
    """
    own, other, occupied = side(pieces, mover), side(pieces, 1 - mover), everyone(pieces)
    king = own & kings(pieces)
    square = trailing_zeros(king)
    danger = attacks(pieces, 1 - mover, ~(occupied ^ king))  # the king shelters no square behind itself
    near = knight_attacks(king) & knights(pieces) | pawn_attacks(king, mover) & pawns(pieces)
    near &= other
    allowed = u64(FULL) if near == u64(0) else near
    straight, diagonal = u64(0), u64(0)
    lines = u64(RANKS[square]) | u64(COLUMNS[square])
    slanted = u64(RISING[square]) | u64(FALLING[square])
    snipers = other & (lines & straight_sliders(pieces) | slanted & diagonal_sliders(pieces))
    while snipers != u64(0):
        sniper = trailing_zeros(snipers)
        way = between(square, sniper)
        blockers = way & occupied
        way |= u64(1) << sniper
        if blockers == u64(0):
            allowed &= way
        elif blockers & (blockers - u64(1)) == u64(0):  # one; another of the opponent's is pinned to nothing
            if way & lines != u64(0):
                straight |= way
            else:
                diagonal |= way
        snipers &= snipers - u64(1)
    flights = king_attacks(king) & ~(own | danger)
    rooks = castling & (u64(RANK_1) << 56 * mover)
    if rooks != u64(0) and allowed == u64(FULL):
        flights |= castlings(rooks, king, occupied, danger)
    return Turn(mover, own, other, passing, allowed, straight, diagonal, flights)


@kernel
def castlings(rooks: word, king: word, occupied: word, danger: word) -> word:
    """Squares where the king, who is not in check, can castle with these rooks.

    No piece stands between king and rook, and no square that the king passes or reaches is attacked.
    """
    closed = occupied | danger
    found = u64(0)
    if rooks & u64(NOT_A) != u64(0) and (king << 1 | king << 2) & closed == u64(0):
        found |= king << 2
    b_file = king >> 3
    if rooks & u64(NOT_H) != u64(0) and (king >> 1 | king >> 2) & closed | b_file & occupied == u64(0):
        found |= king >> 2
    return found


@kernel
def movers(pieces: Pieces, turn: Turn, way: int) -> word:
    """Pieces that can move in a way of theirs, the pinned aside that cannot; any one square for all pawns."""
    if way < KNIGHTS:
        return u64(1)
    if way == KNIGHTS:
        return turn.own & knights(pieces) & ~(turn.straight | turn.diagonal)
    if way == DIAGONALS:
        return turn.own & diagonal_sliders(pieces) & ~turn.straight
    if way == STRAIGHTS:
        return turn.own & straight_sliders(pieces) & ~turn.diagonal
    return turn.own & kings(pieces)


@kernel
def targets(pieces: Pieces, turn: Turn, way: int, origin: int) -> word:
    """Squares where the piece on `origin` may go in a way of its own, or all pawns in one of theirs."""
    if way < KNIGHTS:
        return pawn_targets(pieces, turn, way)
    bit = u64(1) << origin
    allowed = turn.allowed & ~turn.own
    if way == KNIGHTS:
        return knight_attacks(bit) & allowed
    if way == DIAGONALS:
        if bit & turn.diagonal != u64(0):
            allowed &= turn.diagonal
        return diagonal_attacks(origin, everyone(pieces)) & allowed
    if way == STRAIGHTS:
        if bit & turn.straight != u64(0):
            allowed &= turn.straight
        return straight_attacks(origin, everyone(pieces)) & allowed
    return turn.flights


@kernel
def pawn_targets(pieces: Pieces, turn: Turn, way: int) -> word:
    """Squares where pawns may go in one of their ways; a pinned pawn stays on its line."""
    foot = turn.own & pawns(pieces)
    free = foot & ~(turn.straight | turn.diagonal)
    if way in (PUSH, DOUBLE):
        empty = ~everyone(pieces)
        held = forward(foot & turn.straight, turn.mover) & turn.straight
        steps = (forward(free, turn.mover) | held) & empty
        if way == PUSH:
            return steps & turn.allowed
        third_rank = u64(RANK_1) << (16 if turn.mover == 0 else 40)
        return forward(steps & third_rank, turn.mover) & empty & turn.allowed
    taken = turn.other & turn.allowed
    held = foot & turn.diagonal
    if way == LEFT:
        captures = forward_left(free, turn.mover) | forward_left(held, turn.mover) & turn.diagonal
        return captures & taken | forward_left(turn.passing, turn.mover) & turn.passing
    captures = forward_right(free, turn.mover) | forward_right(held, turn.mover) & turn.diagonal
    return captures & taken | forward_right(turn.passing, turn.mover) & turn.passing


@kernel
def pawn_step(way: int, mover: int) -> int:
    """How much the number of a pawn's square changes."""
    forwards = 8 if mover == 0 else -8
    if way == DOUBLE:
        return 2 * forwards
    return forwards - 1 if way == LEFT else forwards + 1 if way == RIGHT else forwards


@kernel
def count_moves(pieces: Pieces, turn: Turn, enough: int) -> int:
    """Count the legal moves, or at least `enough` of them."""
    number = 0
    for way in range(WAYS):
        left = movers(pieces, turn, way)
        while left != u64(0):
            there = targets(pieces, turn, way, trailing_zeros(left))
            left &= left - u64(1)
            number += popcount(there)
            if way < DOUBLE:  # each promotion is four moves
                number += 3 * popcount(there & u64(LAST_RANKS))
        if number >= enough:
            break
    return number


@kernel
def move_at(pieces: Pieces, turn: Turn, number: int) -> int:
    """Return one of the moves that `count_moves` counts by its number from 0, as an action."""
    for way in range(WAYS):
        left = movers(pieces, turn, way)
        while left != u64(0):
            origin = trailing_zeros(left)
            left &= left - u64(1)
            there = targets(pieces, turn, way, origin)
            ends = there & u64(LAST_RANKS) if way < DOUBLE else u64(0)
            simple = popcount(there)
            if number < simple + 3 * popcount(ends):
                kind = 0
                if number >= simple:  # to a bishop, a knight or a rook
                    there, kind = ends, BISHOP + (number - simple) % 3
                    number = (number - simple) // 3
                for _ in range(number):
                    there &= there - u64(1)
                target = trailing_zeros(there)
                if kind == 0 and ends >> target & u64(1) != u64(0):
                    kind = QUEEN
                if way < KNIGHTS:
                    origin = target - pawn_step(way, turn.mover)
                return origin | target << 6 | kind << 12
            number -= simple + 3 * popcount(ends)
    return LISTED


@kernel
def takers_in_passing(pieces: Pieces, pawn: word, seat: int) -> word:
    """Pawns that may capture `pawn`, which has just moved two squares, and the square where they land.

    Neither the two pawns that leave their squares nor any other may leave the king of side `seat`, who
    captures, in check. Without such a pawn nothing: then it is as if the pawn had moved one square.
    """
    own, other = side(pieces, seat), side(pieces, 1 - seat)
    beside = (pawn << 1 & u64(NOT_A) | pawn >> 1 & u64(NOT_H)) & own & pawns(pieces)
    landing = forward(pawn, seat)
    found = u64(0)
    if beside != u64(0):
        king = own & kings(pieces)
        square = trailing_zeros(king)
        leapers = knight_attacks(king) & knights(pieces) | pawn_attacks(king, seat) & pawns(pieces) & ~pawn
        while beside != u64(0):
            taker = beside & u64(u64(0) - beside)
            beside ^= taker
            after = everyone(pieces) ^ pawn ^ taker | landing
            rays = straight_attacks(square, after) & straight_sliders(pieces)
            rays |= diagonal_attacks(square, after) & diagonal_sliders(pieces)
            if (rays | leapers) & other == u64(0):
                found |= taker | landing
    return found


@kernel
def dead(pieces: Pieces) -> bool:
    """Whether no sequence of moves can mate, by the material alone (FIDE Laws, article 5.2.2).

    That is: a lone minor piece beside the kings, or nothing but bishops on squares of one colour.
    """
    if pawns(pieces) | straight_sliders(pieces) != u64(0):
        return False
    minor = everyone(pieces) & ~kings(pieces)
    if minor & (minor - u64(1)) == u64(0):
        return True
    light = minor & u64(LIGHT)
    return knights(pieces) == u64(0) and (light == u64(0) or light == minor)
