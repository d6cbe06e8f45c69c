"""A fixed mixed strategy: for each position that the player can see, how often to choose which action.

The textbook calls it a policy; in games with hidden information the best ones are mixed (Russell and Norvig,
section "Partially observable games"; von Neumann and Morgenstern, 1944).
"""

import random
from collections.abc import Mapping

from agents.agent import Agent
from agents.clock import Clock
from agents.view import View
from games import Game, InputError, Observation

Table = Mapping[str, Mapping[str, float]]
"""How often to choose each action, by the text of what the player sees: `{"2?/ x": {"p": 1, "b": 2}}`."""


class Policy(Agent):
    """Draws its action by the table's numbers for what it sees; they need not add up to anything.

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
        self._rng = random.Random(seed)

    def choose(self, state: View, clock: Clock) -> str:  # noqa: ARG002 - the interface
        """Choose an action by its share of the row."""
        text = state.text if isinstance(state, Observation) else self._game.format_position(state)
        row = self._table.get(text, {})
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
