"""What the notations of all games share: reading an action, the side to move, and counts of stones."""

from collections.abc import Callable, Iterable

from games.errors import InputError, shown

SIDES = "xo"
"""Letters of the first and the second mover in position texts."""


def read_action(text: object, legal: Iterable[tuple[str, int]], where: Callable[[], str]) -> int:
    """Find the legal action written exactly as `text`. Raises InputError naming the legal ones.

    `where` says which position it is: only an error needs that, and it takes longer than all the rest.
    """
    actions = dict(legal)
    if not isinstance(text, str) or text not in actions:
        raise InputError(
            "illegal_action",
            expected="a legal action" if actions else "no action, the game is over",
            got=shown(text),
            where=where(),
            available=actions,
        )
    return actions[text]


def bad_position(expected: str, got: str, where: str) -> InputError:
    """Return the error for a position text that no game can have reached."""
    return InputError("bad_position", expected=expected, got=got, where=f"the position of {where}")


def split_side(text: object, where: str, sides: str = SIDES) -> tuple[str, int]:
    """Split a position text into its board and the seat to move; `sides` are the letters of all seats."""
    board, blank, side = text.partition(" ") if isinstance(text, str) else ("", "", "")
    if not blank or side not in tuple(sides):
        listed = f"{', '.join(sides[:-1])} or {sides[-1]}"
        raise bad_position(f"a board, one blank, and {listed} to move", shown(text), where)
    return board, sides.index(side)


def check_alternation(first: int, second: int, to_move: int, where: str) -> None:
    """Check numbers of stones and the seat to move: seat 0 began and each turn sets one stone."""
    if first - second not in (0, 1):
        raise bad_position("as many x as o, or one x more", f"{first} x and {second} o", where)
    if to_move != first - second:
        mover = SIDES[first - second]
        raise bad_position(
            f"{mover} to move after {first} x and {second} o", f"{SIDES[to_move]} to move", where
        )
