"""Who pauses: every agent a moment between its matches, and longer one that did not show up."""

from dataclasses import dataclass

FIRST_S = 30.0
LONGEST_S = 300.0


@dataclass
class _Rest:
    until: float = 0.0
    no_shows: int = 0


class Rests:
    """The pauses of agents by id, over all their connections. Times in seconds on one monotonic clock."""

    def __init__(self, rest_s: float) -> None:
        self._rest_s = rest_s
        self._by_agent: dict[int, _Rest] = {}

    def played(self, agent_id: int, now: float) -> None:
        """Note the end of a match; each one played makes good for one that was not."""
        rest = self._by_agent.setdefault(agent_id, _Rest())
        rest.no_shows = max(0, rest.no_shows - 1)
        rest.until = max(rest.until, now + self._rest_s)

    def no_show(self, agent_id: int, now: float) -> float:
        """Note that the agent was not ready in time; return how long it is left alone now."""
        rest = self._by_agent.setdefault(agent_id, _Rest())
        pause_s = min(LONGEST_S, FIRST_S * 2.0**rest.no_shows)
        rest.no_shows += 1
        rest.until = now + pause_s
        return pause_s

    def left_alone(self, agent_id: int, now: float) -> bool:
        """Whether the agent's pause is longer than the moment between two matches."""
        rest = self._by_agent.get(agent_id)
        return rest is not None and rest.until - now > self._rest_s

    def over(self, agent_id: int, now: float) -> bool:
        """Whether the agent may play."""
        rest = self._by_agent.get(agent_id)
        return rest is None or now >= rest.until
