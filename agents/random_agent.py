"""The random agent: every legal action is equally likely. The floor every other agent is measured from."""

import random

from agents.agent import Agent
from agents.clock import Clock
from games import State


class RandomAgent(Agent):
    """Plays a uniformly random legal action, repeatable with a seed."""

    def __init__(self, seed: int | None = None) -> None:
        self._rng = random.Random(seed)

    def choose(self, state: State, clock: Clock) -> int:  # noqa: ARG002 - the interface
        """Choose any legal action."""
        return self._rng.choice(list(state.actions()))
