"""The state of a game of chess: who stands where, what may be played, and when it is over.

An action is the square a piece leaves, the square it reaches times 64, and the kind that a pawn becomes times
4096. Castling is a move of the king by two squares, as in UCI.
"""

from collections.abc import Iterator
from typing import NamedTuple

from games.chess_board import (
    FULL,
    QUEEN,
    RANK_1,
    Pieces,
    everyone,
    forward,
    kings,
    pawns,
)
from games.chess_features import Features, side_features
from games.chess_moves import (
    KNIGHTS,
    WAYS,
    Turn,
    count_moves,
    dead,
    look,
    move_at,
    movers,
    pawn_step,
    takers_in_passing,
    targets,
)
from games.protocol import LISTED, compiled, draw, kernel, like, mix, trailing_zeros, u64, variant, word

QUEENING, CAPTURING, QUIET = range(3)
"""Stages in which moves are listed; in three more, pawns become other pieces than queens."""
STAGES = 6
LONGEST_LIMIT = 150
"""Half-moves after which every game ends without a claim: 75 moves by each (FIDE Laws, article 9.6.2)."""
ALL = 999
"""More than any position has legal moves: 218 are the most known."""
SECOND = 0x02
"""Marks the second player to move in a key, where neither castling nor passing has a bit: b1."""


@compiled
class Chess(NamedTuple):
    """A position with its clocks. Seat 0 is White and begins."""

    pieces: Pieces
    castling: word
    """Squares of rooks with which castling is still allowed, if not at once."""
    passing: word
    """After a pawn's move of two squares: the pawns that may capture it in passing, legally, and the square
    where they land; nothing if there is no such pawn."""
    mover: int
    """Seat of the player to move."""
    clock: int
    """Half-moves since the last capture or move of a pawn."""
    number: int
    """Number of the move, from 1; it grows after Black's."""

    # mypy knows no constants in a NamedTuple.
    limit = 100  # type: ignore[misc]

    def to_move(self) -> int:
        """White and Black in turn."""
        return self.mover

    def actions(self) -> Iterator[int]:
        """Legal moves, those first that searches want first: queens made, captures, quiet moves, the rest.

        In each of these stages pawns come first and the king last. There is one `yield`: each further one
        would double what machine code makes of the loop.
        """
        last_rank = u64(RANK_1) << 56 * (1 - self.mover)
        turn = turn_of(self)
        foot = turn.own & pawns(self.pieces)
        promoting = forward(foot, self.mover) & last_rank != u64(0)
        first, end = (0, STAGES) if promoting else (CAPTURING, QUIET + 1)
        if self.clock >= self.limit or dead(self.pieces):
            end = 0
        for stage in range(first, end):
            kind = promotion(stage)
            wanted = (
                turn.other if stage == CAPTURING else ~everyone(self.pieces) if stage == QUIET else u64(0)
            )
            pawns_wanted = last_rank
            if stage == CAPTURING:
                pawns_wanted = (turn.other | turn.passing) & ~last_rank
            elif stage == QUIET:
                pawns_wanted = wanted & ~(turn.passing | last_rank)
            for way in range(WAYS if kind == 0 else KNIGHTS):
                left = movers(self.pieces, turn, way)
                while left != u64(0):
                    origin = trailing_zeros(left)
                    left &= left - u64(1)
                    there = targets(self.pieces, turn, way, origin)
                    there &= pawns_wanted if way < KNIGHTS else wanted
                    while there != u64(0):
                        target = trailing_zeros(there)
                        if way < KNIGHTS:
                            origin = target - pawn_step(way, self.mover)
                        yield origin | target << 6 | kind << 12
                        there &= there - u64(1)

    def count_actions(self) -> int:
        """Count the moves without listing them."""
        if self.clock >= self.limit or dead(self.pieces):
            return 0
        return count_moves(self.pieces, turn_of(self), ALL)

    def playout_action(self, rng: word) -> int:
        """Draw a move by its number: to count and find one takes half as long as to list all."""
        turn = turn_of(self)
        number = 0
        if self.clock < self.limit and not dead(self.pieces):
            number = count_moves(self.pieces, turn, ALL)
        return move_at(self.pieces, turn, draw(rng, 0, number)) if number > 0 else LISTED

    def result(self, a: int) -> "Chess":
        """Move a piece, with what follows from it: rook, pawn taken in passing, rights, clocks."""
        origin, target = a & 63, a >> 6 & 63
        pieces, mover = self.pieces, self.mover
        bit, landing = u64(1) << origin, u64(1) << target
        ones, twos, fours = (
            pieces.ones >> origin & u64(1),
            pieces.twos >> origin & u64(1),
            pieces.fours >> origin & u64(1),
        )
        clock = self.clock + 1 if everyone(pieces) & landing == u64(0) else 0
        gone, rooks = bit | landing, u64(0)
        castling, double = self.castling & ~gone, False
        if bit & kings(pieces) != u64(0):
            castling &= ~(u64(RANK_1) << 56 * mover)
            rooks = castled_rook(origin, target)
        elif bit & pawns(pieces) != u64(0):
            clock = 0
            double = target == origin + 16 or target == origin - 16
            if landing & self.passing != u64(0):
                gone |= forward(landing, 1 - mover)
            if a >> 12 != 0:
                ones, twos, fours = u64(a >> 12 & 1), u64(a >> 13 & 1), u64(a >> 14)
        keep = ~gone
        moved = Pieces(
            pieces.white & keep ^ (rooks if mover == 0 else u64(0)) | u64(1 - mover) << target,
            pieces.ones & keep | ones << target,
            pieces.twos & keep | twos << target,
            pieces.fours & keep ^ rooks | fours << target,
        )
        passing = takers_in_passing(moved, landing, 1 - mover) if double else u64(0)
        return like(self, moved, castling, passing, 1 - mover, clock, self.number + mover)

    def is_terminal(self) -> bool:
        """Whether there is no legal move, a clock has run down, or nobody can mate any more."""
        if self.clock >= self.limit or dead(self.pieces):
            return True
        return count_moves(self.pieces, turn_of(self), 1) == 0

    def utility(self, p: int) -> float:
        """-1 for the side that is mated, +1 for the other, 0 for all else; mate comes before every clock."""
        if not mated(self):
            return 0.0
        return -1.0 if p == self.mover else 1.0

    def features(self, p: int) -> Features:
        """Material, activity, pawns and kings, own minus the opponent's."""
        own, other = side_features(self.pieces, p), side_features(self.pieces, 1 - p)
        return Features(
            own.material - other.material,
            own.mobility - other.mobility,
            own.pressure - other.pressure,
            own.centre - other.centre,
            own.passed - other.passed,
            own.weak - other.weak,
            own.shelter - other.shelter,
            own.hunt - other.hunt,
        )

    def key(self) -> int:
        """All but the clocks, mixed one into the other: what counts as the same position for repetition too.

        Without the clocks a search finds again in its table what it reached by another way. What it finds
        may have been valued with a clock a few half-moves apart; that a clock has run down is seen before.
        """
        pieces = self.pieces
        rights = self.castling | self.passing
        if self.mover == 1:
            rights |= u64(SECOND)
        mixed = mix(u64(mix(pieces.white) + pieces.ones))
        return mix(u64(mix(u64(mix(u64(mixed + pieces.twos)) + pieces.fours)) + rights))


@kernel
def turn_of(state: Chess) -> Turn:
    """Work out what holds for the moves of the player to move."""
    return look(state.pieces, state.castling, state.passing, state.mover)


@kernel
def mated(state: Chess) -> bool:
    """Whether the player to move is in check and has no legal move."""
    turn = turn_of(state)
    return turn.allowed != u64(FULL) and count_moves(state.pieces, turn, 1) == 0


@kernel
def promotion(stage: int) -> int:
    """Kind that pawns become in a stage of the list of moves: queen first, then rook, knight, bishop."""
    return QUEEN if stage == QUEENING else 0 if stage <= QUIET else 7 - stage


@kernel
def castled_rook(origin: int, target: int) -> word:
    """Squares that the rook leaves and reaches when the king castles; none for another move of a king."""
    if target == origin + 2:
        return u64(0b101) << target - 1
    if target == origin - 2:
        return u64(0b1001) << target - 2
    return u64(0)


def variant_class(limit: int) -> type[Chess]:
    """Return the state class in which the game ends after so many half-moves without capture or pawn move."""
    return Chess if limit == Chess.limit else variant(Chess, f"Chess_{limit}", limit=limit)


def __getattr__(name: str) -> type[Chess]:
    """Make the class of a variant when code that another process compiled for it asks for it by name."""
    first, _, limit = name.partition("_")
    if first != "Chess" or not limit.isdigit():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return variant_class(int(limit))
