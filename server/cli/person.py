"""A person who plays in the terminal."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from agents.agent import Agent, Resigned
from agents.clock import Clock
from agents.local import PlayedMove
from agents.protocol import MatchStart
from games import Game, InputError, Position, State
from server.cli import boards
from server.cli.terminal import clean

QUIT = "q"

LISTED = 24
"""So many legal moves are shown with each question; all of them after a wrong answer."""


class Person(Agent):
    """Asks for each move until a legal one is typed. `q` resigns, and so does the end of input."""

    def __init__(self, game: Game, out: Console) -> None:
        self._game = game
        self._out = out
        self._seat = 0

    def match_start(self, start: MatchStart) -> None:
        """Learn the seat."""
        self._seat = start.seat

    def choose(self, state: State, clock: Clock) -> int:  # noqa: ARG002 - nobody is timed here
        """Ask for a move."""
        texts = [self._game.format_action(state, action) for action in state.actions()]
        more = f" and {len(texts) - LISTED} more" if len(texts) > LISTED else ""
        question = f" ({' '.join(texts[:LISTED])}{more}, {QUIT} resigns)"
        while True:
            self._ask(question)
            line = sys.stdin.readline()
            answer = line.strip()
            if not line or answer == QUIT:
                self._out.print()
                raise Resigned
            try:
                return self._game.parse_action(state, answer)
            except InputError:
                self._out.print(Text(f"choose one of {' '.join(texts)}; {QUIT} resigns"))
                question = ""

    def _ask(self, question: str) -> None:
        self._out.print(Text.assemble(boards.mark(self._seat), f" to move{question}: "), end="")
        self._out.file.flush()


class Viewer:
    """Draws a match for the persons in it, once a turn of theirs; `labels` by seat, `persons` their seats."""

    def __init__(self, out: Console, labels: Sequence[str], persons: Sequence[int]) -> None:
        self._out = out
        self._labels = labels
        self._persons = persons
        self._plies = 0

    def moved(self, position: Position, move: PlayedMove | None) -> None:
        """Tell of a move; draw the board where a person moves next or the game is over."""
        if move is None:
            self._introduce()
        else:
            label = clean(f" {self._labels[move.seat]} played {move.action}")
            self._out.print(Text.assemble(boards.mark(move.seat), label))
            self._plies += 1
        self._tell_chance(position)
        if position.is_terminal():
            self._draw(position, None)
        elif position.to_move() in self._persons:
            self._draw(position, position.to_move())

    def _tell_chance(self, position: Position) -> None:
        """Tell what the dice have shown since the last move; hidden cards are told by the board alone."""
        rolled, self._plies = position.actions[self._plies :], position.ply
        if rolled and not position.game.hidden:
            self._out.print(Text(clean(f"  {' '.join(rolled)}")))

    def _introduce(self) -> None:
        """Say who plays which mark."""
        players = [
            Text.assemble(boards.mark(seat), f" {clean(label)}") for seat, label in enumerate(self._labels)
        ]
        self._out.print(Text("   ").join(players))
        if len(self._persons) == 1:
            self._out.print(Text.assemble("you are ", boards.mark(self._persons[0])))

    def _draw(self, position: Position, viewer: int | None) -> None:
        self._out.print(boards.drawn(position.board(viewer)), end="\n\n")
