"""A fixed mixed strategy: for each position that the player can see, how often to choose which action.

The textbook calls it a policy; in games with hidden information the best ones are mixed (Russell and Norvig,
section "Partially observable games"; von Neumann and Morgenstern, 1944).
"""

import random
import re
from collections.abc import Mapping

from agents.agent import Agent
from agents.clock import Clock
from agents.view import View
from games import Game, InputError, Observation

Table = Mapping[str, Mapping[str, float]]
"""How often to choose each action, by the text of what the player sees: `{"2?/ x": {"p": 1, "b": 2}}`.

A row for many texts at once has `*` for any characters, and `[45]` for one of some: `"[45]?*r x"`.
"""


class Policy(Agent):
    """Draws its action by the table's numbers for what it sees; they need not add up to anything.

    The row of the very text counts, if there is one; else the first of those for many texts that matches.

    Raises InputError for a number that is negative or none, and at a position without a row or whose row
    allows none of the legal actions. The seed makes the draws repeatable.
    """

    def __init__(self, game: Game, table: Table, seed: int | None = None) -> None:
        for text, row in table.items():
            if not all(0 <= often < float("inf") for often in row.values()):
                raise InputError(
                    "bad_policy",
                    expected="numbers of 0 or more",
                    got=str(dict(row)),
                    where=f"the row {text!r}",
                )
        self._game = game
        self._table = table
        self._patterns = [(_pattern(text), row) for text, row in table.items() if "*" in text or "[" in text]
        self._rng = random.Random(seed)

    def choose(self, state: View, clock: Clock) -> str:  # noqa: ARG002 - the interface
        """Choose an action by its share of the row."""
        text = state.text if isinstance(state, Observation) else self._game.format_position(state)
        row = self._row(text)
        legal = [self._game.format_action(state, action) for action in state.actions()]
        often = [row.get(action, 0.0) for action in legal]
        if not any(often):
            raise InputError(
                "bad_policy",
                expected=f"a row of the policy that allows one of {', '.join(legal)}",
                got=str(dict(row)) if row else "none",
                where=text,
                available=self._table,
            )
        return self._rng.choices(legal, often)[0]

    def _row(self, text: str) -> Mapping[str, float]:
        if text in self._table:
            return self._table[text]
        return next((row for pattern, row in self._patterns if pattern.fullmatch(text)), {})


def _pattern(text: str) -> re.Pattern[str]:
    """Return the texts that a row is for."""
    parts = re.split(r"(\*|\[[^\]]+\])", text)
    return re.compile("".join(_part(part) for part in parts), re.DOTALL)


def _part(part: str) -> str:
    if part == "*":
        return ".*"
    if part.startswith("["):
        return f"[{re.escape(part[1:-1])}]"
    return re.escape(part)
