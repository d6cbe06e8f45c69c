"""What a search did, for people to read: it travels with the move."""

from dataclasses import dataclass, field
from typing import Any

from games import Game, State


@dataclass
class SearchInfo:
    """Counters and results of one search; what does not apply stays None or empty.

    `value` is the expected utility for the player to move, `pv` the line the search expects (principal
    variation), `nodes` the states generated, `playouts` the games played to the end at random.
    `first_move_cutoffs` is the share of cut-offs made by the first action tried: 1 is perfect ordering.
    `table_hits` counts the nodes that the transposition table answered. `complete` says that no line was cut
    off before its end, so that `value` is exact.
    """

    algorithm: str
    depth: int = 0
    seldepth: int = 0
    nodes: int = 0
    value: float | None = None
    complete: bool = False
    pv: list[int] = field(default_factory=list)
    cutoffs: int = 0
    first_move_cutoffs: float | None = None
    table_hits: int = 0
    ms_by_depth: list[float] = field(default_factory=list)
    playouts: int = 0
    visits: dict[int, int] = field(default_factory=dict)

    def branching_factor(self) -> float | None:
        """Effective branching factor b: a uniform tree of this depth with b branches has b^depth leaves."""
        if self.depth < 1 or self.nodes < 1 or self.playouts:
            return None
        return float(self.nodes ** (1.0 / self.depth))

    def to_json(self, game: Game, state: State) -> dict[str, Any]:
        """Write it as plain JSON data, actions in the game's notation."""
        data: dict[str, Any] = {
            "algorithm": self.algorithm,
            "depth": self.depth,
            "seldepth": self.seldepth,
            "nodes": self.nodes,
        }
        if self.value is not None:
            data["value"] = round(self.value, 4) + 0.0  # no "-0.0"
        if self.complete:
            data["complete"] = True
        data["pv"] = _texts(game, state, self.pv)
        branching = self.branching_factor()
        if branching is not None:
            data["branching_factor"] = round(branching, 2)
        if self.first_move_cutoffs is not None:
            data["first_move_cutoffs"] = round(self.first_move_cutoffs, 3)
        if self.table_hits:
            data["table_hits"] = self.table_hits
        if self.ms_by_depth:
            data["ms_by_depth"] = [round(ms, 1) for ms in self.ms_by_depth]
        if self.playouts:
            data["playouts"] = self.playouts
        if self.visits:
            ranked = sorted(self.visits.items(), key=lambda item: -item[1])
            data["visits"] = {game.format_action(state, action): visits for action, visits in ranked[:40]}
        return data


def _texts(game: Game, state: State, line: list[int]) -> list[str]:
    texts = []
    for action in line[:40]:
        texts.append(game.format_action(state, action))
        state = state.result(action)
    return texts
