"""Whether a position of checkers can have come about, as far as it is easily told."""

from collections.abc import Iterator

from games.checkers_state import (
    DIRECTIONS,
    Checkers,
    advancement,
    any_of,
    crowning_row,
    free,
    jumps,
    shifted,
)
from games.errors import InputError
from games.notation import bad_position
from games.protocol import word

MOST_PIECES = 12
START_ADVANCEMENT = 12
"""Rows that a side's men have come forward at the start: four men one row, four men two."""
NAMES = "o+"


def check_reachable(state: Checkers, start: Checkers) -> None:
    """Check numbers of pieces and that some last action of an unfinished game led here.

    Raises InputError. Where nothing was captured yet, the number of steps is that of the game, and the rows
    that the pieces have come forward must fit it.
    """
    _check_numbers(state)
    _check_chain(state)
    if state.me.bit_count() == state.other.bit_count() == MOST_PIECES:
        _check_game_so_far(state)
    else:
        _check_last_capture(state)
    if state == start or (_could_step(state) if state.quiet else _could_jump(state)):
        return
    last_mover = NAMES[state.mover if state.chain else 1 - state.mover]
    action = "step" if state.quiet else "capture"
    raise _bad(f"a {action} of {last_mover} that can have led here", "none")


def _bad(expected: str, got: str) -> InputError:
    return bad_position(expected, got, "checkers")


def _check_numbers(state: Checkers) -> None:
    mine, theirs = state.me.bit_count(), state.other.bit_count()
    if max(mine, theirs) > MOST_PIECES:
        raise _bad(f"at most {MOST_PIECES} pieces on a side", str(max(mine, theirs)))
    if theirs == 0:
        raise _bad("a piece of who moved last", "none")
    if mine == 0 and state.quiet:
        raise _bad("no step after the last capture, which ended the game", str(state.quiet))


def _check_chain(state: Checkers) -> None:
    if not state.chain:
        return
    if state.quiet:
        raise _bad("no step since a capture amid jumps", str(state.quiet))
    if not state.chain & state.me:
        raise _bad(f"a piece of {NAMES[state.mover]} amid jumps", "none on that square")
    if not any_of(jumps(state.chain, state.kings, state.other, free(state.me, state.other), state.mover)):
        raise _bad("a piece amid jumps that can jump on", "one that cannot")


def _check_last_capture(state: Checkers) -> None:
    """Who moves tells whose the last capture was: steps alternate. That side's opponent misses a piece."""
    by_mover = bool(state.chain) or state.quiet % 2 == 1
    lost = state.other if by_mover else state.me
    if lost.bit_count() == MOST_PIECES:
        side = NAMES[1 - state.mover if by_mover else state.mover]
        raise _bad(f"fewer than {MOST_PIECES} {side} after the last capture", str(MOST_PIECES))


def _check_game_so_far(state: Checkers) -> None:
    """Without a capture yet, `quiet` counts all steps, and each moved a piece by one row."""
    if state.chain or state.quiet % 2 != state.mover:
        raise _bad(f"{NAMES[state.quiet % 2]} to move after {state.quiet} steps", NAMES[state.mover])
    for side, pieces in ((state.mover, state.me), (1 - state.mover, state.other)):
        steps = (state.quiet + 1 - side) // 2
        rows = advancement(pieces, side) - START_ADVANCEMENT
        if rows > steps or (steps - rows) % 2 or (rows < steps and not pieces & state.kings):
            raise _bad(f"{NAMES[side]} {steps} rows forward after {steps} steps", f"{rows} rows")


def _one_by_one(pieces: word) -> Iterator[word]:
    while pieces:
        yield pieces & -pieces
        pieces &= pieces - 1


def _arrivals(state: Checkers, piece: word, side: int) -> Iterator[tuple[int, bool]]:
    """Directions in which a piece can have come to its square, each with whether it was a king before."""
    for direction in range(DIRECTIONS):
        forward = direction // 2 == side
        if piece & state.kings:
            yield direction, True
        # As a man: it still is one, or it is a king on the row that has just crowned it.
        if forward and bool(piece & state.kings) == bool(piece & crowning_row(side)):
            yield direction, False


def _back(squares: word, direction: int) -> word:
    """Squares one step back."""
    return shifted(squares, DIRECTIONS - 1 - direction)


def _could_step(state: Checkers) -> bool:
    """Whether a step of the opponent, who could not capture then, can have led here."""
    side = 1 - state.mover
    for piece in _one_by_one(state.other):
        for direction, was_king in _arrivals(state, piece, side):
            origin = _back(piece, direction) & free(state.me, state.other)
            before = state.other ^ piece | origin
            kings = state.kings & ~piece | (origin if was_king else 0)
            if origin and not any_of(jumps(before, kings, state.me, free(state.me, before), side)):
                return True
    return False


def _could_jump(state: Checkers) -> bool:
    """Whether a jump can have led here: the last of a turn, or one that must go on."""
    empty = free(state.me, state.other)
    side, enemies = (state.mover, state.other) if state.chain else (1 - state.mover, state.me)
    for piece in _one_by_one(state.chain or state.other):
        goes_on = any_of(jumps(piece, state.kings, enemies, empty, side)) != 0
        for direction, was_king in _arrivals(state, piece, side):
            near = _back(piece, direction) & empty
            crowned = piece & state.kings and not was_king
            if near and _back(near, direction) & empty and (goes_on and not crowned) == bool(state.chain):
                return True
    return False
