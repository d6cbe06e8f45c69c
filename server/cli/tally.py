"""What came of a series of local matches: by agent and seat, as a table or as data."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.local import LocalResult
from agents.protocol import Outcome
from server.cli.terminal import write_table


@dataclass
class Record:
    """Counts of one agent, over all seats or in one. `points` are its scores added up."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    points: float = 0.0
    causes: Counter[str] = field(default_factory=Counter)
    moves: int = 0
    thought_ms: float = 0.0

    def add(self, result: LocalResult, seat: int) -> None:
        """Count a match in which the agent had this seat."""
        times = [move.elapsed_ms for move in result.moves if move.seat == seat]
        self.outcomes[result.outcomes[seat]] += 1
        self.causes[result.causes[seat]] += 1
        self.points += result.scores[seat] or 0.0
        self.moves += len(times)
        self.thought_ms += sum(times)

    @property
    def games(self) -> int:
        """Matches counted."""
        return self.outcomes.total()

    @property
    def ms_a_move(self) -> float | None:
        """Mean thinking time of a move; None without moves."""
        return self.thought_ms / self.moves if self.moves else None

    def to_json(self) -> dict[str, object]:
        """Return the counts as JSON data."""
        return {
            "games": self.games,
            "points": self.points,
            "wins": self.outcomes["win"],
            "draws": self.outcomes["draw"],
            "losses": self.outcomes["loss"],
            "voids": self.outcomes["void"],
            "causes": dict(self.causes),
            "ms_a_move": self.ms_a_move,
        }


class Tally:
    """The records of all players: `labels` are theirs, all different; the first match seats them in order."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self.totals = [Record() for _ in labels]
        self.by_seat = [[Record() for _ in labels] for _ in labels]
        self.matches: list[dict[str, object]] = []

    def add(self, seating: Sequence[int], result: LocalResult) -> None:
        """Count a match; `seating` says which player had each seat."""
        for seat, player in enumerate(seating):
            self.totals[player].add(result, seat)
            self.by_seat[player][seat].add(result, seat)
        self.matches.append(
            {
                "players": [self.labels[player] for player in seating],
                "outcome": list(result.outcomes),
                "cause": list(result.causes),
                "utility": list(result.utilities),
                "moves": list(result.position.actions),
                "position": result.position.text(),
                "detail": result.detail,
            }
        )

    def to_json(self) -> dict[str, object]:
        """Return everything as JSON data."""
        agents = [
            {
                "agent": label,
                **total.to_json(),
                "seats": [{"seat": n, **seat.to_json()} for n, seat in enumerate(seats)],
            }
            for label, total, seats in zip(self.labels, self.totals, self.by_seat, strict=True)
        ]
        return {"agents": agents, "matches": self.matches}

    def write(self) -> None:
        """Print the table: each agent over all seats, then in each seat it had."""
        rows: list[tuple[object, ...]] = []
        for label, total, seats in zip(self.labels, self.totals, self.by_seat, strict=True):
            rows.append((label, "all", *_cells(total)))
            rows += [("", seat + 1, *_cells(record)) for seat, record in enumerate(seats) if record.games]
        columns = ("agent", "seat", "games", "won", "drawn", "lost", "points", "ms a move", "ended by")
        write_table(columns, rows)


def _cells(record: Record) -> tuple[object, ...]:
    counts = (record.games, record.outcomes["win"], record.outcomes["draw"], record.outcomes["loss"])
    causes = ", ".join(f"{cause} {count}" for cause, count in record.causes.most_common())
    return (*counts, record.points, record.ms_a_move, causes)


def sentence(labels: Sequence[str], result: LocalResult) -> str:
    """Say in a few words how a match ended; `labels` by seat."""
    by_fault = [
        f"{label}: {cause}"
        for label, outcome, cause in zip(labels, result.outcomes, result.causes, strict=True)
        if outcome == "loss" and cause != "normal"
    ]
    first = [
        label for label, outcome in zip(labels, result.outcomes, strict=True) if outcome in ("win", "draw")
    ]
    if "win" in result.outcomes:
        end = f"{' and '.join(first)} won"
    elif "loss" in result.outcomes:
        end = f"{' and '.join(first)} share first place"
    else:
        end = "drawn" if first else "void"
    return f"{end} ({', '.join(by_fault)})" if by_fault else end
