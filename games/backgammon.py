"""Backgammon, without the doubling cube: a race of 15 checkers a side by the throw of two dice.

X, player 0, moves from its point 24 to 1 and bears off; O goes the opposite way round and numbers the points
from its own side. The state is in backgammon_state, the texts are in backgammon_notation.
"""

from collections.abc import Sequence

from games.backgammon_checkers import BAR, OFF, Counts, count_at, placed
from games.backgammon_notation import (
    Move,
    format_action,
    format_position,
    moves_of,
    parse_action,
    parse_position,
)
from games.backgammon_state import DRAWN, OPENING, Backgammon, Features
from games.board import Board, Cell
from games.game import Game
from games.protocol import State, as_state

SET_UP = {24: 2, 13: 5, 8: 3, 6: 5}
"""Counts of each player at the start, by that player's points."""

MOST_PLIES = 1500
"""A game of so many plays and rolls is a draw. Random ones take 200, one of 10,000 more than 780: this only
stops players who both avoid the end."""

BAR_COLUMN, OFF_COLUMN = 12, 13
TOP_LABELS = (*(str(point) for point in range(13, 25)), "", "")
COLUMN_LABELS = (*(str(point) for point in range(12, 0, -1)), "bar", "off")


def start() -> State:
    """Return the position before the opening roll."""
    checkers = Counts(0, 0)
    for point, count in SET_UP.items():
        checkers = placed(checkers, point, count)
    return as_state(Backgammon(checkers, checkers, 0, OPENING, 0))


def with_history(state: Backgammon, keys: Sequence[int]) -> Backgammon:
    """Return the state, drawn if the game has become too long: `keys` has one entry a ply."""
    if len(keys) < MOST_PLIES or state.is_terminal():
        return state
    return state._replace(dice=DRAWN, plays=0)


def rule_draw(state: Backgammon) -> bool:
    """Whether the game has become too long."""
    return state.dice == DRAWN


def cell_of(place: int, seat: int) -> Cell:
    """Return the cell of a player's place.

    Seen from X: below, from the left, X's points 12 to 1, above 13 to 24. X's checkers on the bar lie above,
    beside X's point 24 where they enter, those borne off below; O's the other way about.
    """
    if place == BAR:
        return seat, BAR_COLUMN
    if place == OFF:
        return 1 - seat, OFF_COLUMN
    point = place if seat == 0 else BAR - place
    return (0, point - 13) if point > 12 else (1, 12 - point)


def board(state: Backgammon, last: int | None) -> Board:
    """Return the board as data. The labels number X's points."""
    piles = {
        cell_of(place, seat): (seat, count_at(checkers, place))
        for seat, checkers in ((state.mover, state.me), (1 - state.mover, state.other))
        for place in range(BAR + 1)
        if count_at(checkers, place)
    }
    high, low = state.dice >> 3, state.dice & 7
    return Board(
        rows=2,
        columns=14,
        pieces={cell: seat for cell, (seat, _) in piles.items()},
        style="points",
        counts={cell: count for cell, (_, count) in piles.items()},
        dice=(high, low) * state.plays if state.plays else (),
        last=_last_cells(state, last),
        column_labels=COLUMN_LABELS,
        top_labels=TOP_LABELS,
        targets=_targets(state),
    )


def _last_cells(state: Backgammon, last: int | None) -> tuple[Cell, ...]:
    """Return where the checkers of the last play came from and went to; after a roll or a draw, nothing."""
    if last is None or state.dice == DRAWN or (state.plays != 0 and not state.mid_turn()):
        return ()
    seat = state.mover if state.mid_turn() else 1 - state.mover
    places = dict.fromkeys(place for move in moves_of(last) for place in move)
    return tuple(cell_of(place, seat) for place in places)


def _targets(state: Backgammon) -> dict[str, Cell]:
    """Return where the checker written last lands, by the text of each play that moves one."""
    landings: dict[str, Move] = {}
    for action in state.actions():
        moves = moves_of(action)
        if moves:
            landings[format_action(state, action)] = moves[-1]
    return {text: cell_of(move.target, state.mover) for text, move in landings.items()}


GAME = Game(
    name="backgammon",
    title="Backgammon",
    start=start,
    read_position=parse_position,
    format_position=format_position,
    parse_action=parse_action,
    format_action=format_action,
    board=board,
    feature_names=Features._fields,
    has_chance=True,
    with_history=with_history,
    rule_draw=rule_draw,
    rules=(
        "Each player moves 15 checkers over 24 points, the opposite way to the other, into the last six, "
        "the home board, and then off. Both throw a die to begin, again if they are equal: the higher one "
        "starts and plays both numbers; later each throws two dice. Each die moves a checker that many "
        "points, to any point without two or more checkers of the opponent; a single one there is hit and "
        "goes to the bar. Checkers on the bar must first enter the opponent's home board. Equal dice are "
        "played twice each. As many dice as possible must be played, and if only one of two can be, the "
        "higher one. With all checkers home, a die bears off a checker from its point, or from the highest "
        "point if all are lower. Who first bears off all 15 wins 1; 2 if the loser has borne off none "
        "(gammon); 3 if then one of the loser's is on the bar or in the winner's home board (backgammon). "
        "The loser loses as much. A game of 1,500 plies, rolls included, is a draw (0). There is no doubling "
        "cube."
    ),
    typical=("roll36:X", "0:24/18+13/10", "roll43", "1:24/20+13/10", "roll61", "0:13/7+6/5*", "roll54"),
)
