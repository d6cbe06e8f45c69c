"""What the processes of a storm wrote down, put in order: what agents were told, and who was in what trouble.

All instants are wall clock seconds.
"""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.chaos.journal import read

OWN_FAULTS = frozenset({"overthought", "crashed", "cheated"})


class Span(NamedTuple):
    """A stretch of time in which something was wrong."""

    start: float
    end: float
    what: str


class Acked(NamedTuple):
    """An acknowledgement: the record has the agent's move. `action` is None if another process sent it."""

    agent: str
    match: int
    ply: int
    action: str | None


class Told(NamedTuple):
    """An action that an agent was told of."""

    agent: str
    match: int
    ply: int
    action: str


class Over(NamedTuple):
    """An end that an agent was told of."""

    agent: str
    match: int
    outcome: list[str]
    cause: list[str]


@dataclass
class Evidence:
    """All of it. `asked`, `sent` and `faults` are by agent, match and ply, `troubles` and `back` by agent.

    `back` has the instants at which it was welcomed.
    """

    acked: set[Acked] = field(default_factory=set)
    told: set[Told] = field(default_factory=set)
    over: list[Over] = field(default_factory=list)
    asked: dict[tuple[str, int, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    sent: dict[tuple[str, int, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    faults: dict[tuple[str, int, int], str] = field(default_factory=dict)
    troubles: dict[str, list[Span]] = field(default_factory=lambda: defaultdict(list))
    back: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    outages: list[Span] = field(default_factory=list)
    gave_up: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def in_trouble(self, agent: str, start: float, end: float) -> list[Span]:
        """Return what was wrong with an agent or its line in that time."""
        return [span for span in self.troubles[agent] if span.start <= end and span.end > start]

    def outage(self, start: float, end: float) -> Span | None:
        """Return a time without a server that falls into that time."""
        return next((span for span in self.outages if span.start < end and span.end > start), None)


def gather(folder: Path) -> Evidence:
    """Read all journals of a storm."""
    evidence = Evidence()
    for path in sorted(folder.glob("agents-*.jsonl")):
        for line in read(path):
            _take_from_agent(evidence, line)
    for times in evidence.back.values():
        times.sort()
    for line in read(folder / "proxy.jsonl"):
        _take_from_proxy(evidence, line)
    for line in read(folder / "storm.jsonl"):
        evidence.counts[line["what"]] += 1
        if line["what"] == "server launched":
            # Once it is launched a server may ask, long before anybody sees that it is well.
            evidence.outages.append(Span(line["down_at"], line["up_at"], "no server"))
    return evidence


def _take_from_agent(evidence: Evidence, line: dict[str, Any]) -> None:
    agent, what = line["agent"], line["what"]
    evidence.counts[what] += 1
    match what:
        case "acked":
            evidence.acked.add(Acked(agent, line["match"], line["ply"], line["action"]))
        case "told":
            evidence.told.update(_told(line))
        case "over":
            evidence.over.append(Over(agent, line["match"], line["outcome"], line["cause"]))
        case "asked":
            evidence.asked[agent, line["match"], line["ply"]].append(line["at"])
        case "sent":
            evidence.sent[agent, line["match"], line["ply"]].append(line["at"])
        case "connected":
            evidence.back[agent].append(line["at"])
        case "gave_up":
            evidence.gave_up[agent] = line["error"]
        case _ if what in OWN_FAULTS:
            evidence.faults[agent, line["match"], line["ply"]] = what


def _told(line: dict[str, Any]) -> Iterator[Told]:
    for ply, action in enumerate(line["actions"], line["first"]):
        yield Told(line["agent"], line["match"], ply, action)


def _take_from_proxy(evidence: Evidence, line: dict[str, Any]) -> None:
    agent, what, at = line["agent"], line["what"], line["at"]
    evidence.counts[what] += 1
    match what:
        case "stall":
            evidence.troubles[agent].append(Span(at, at + line["seconds"], "its line stalled"))
        case "late":
            evidence.troubles[agent].append(Span(at - line["seconds"], at, "its line was slow"))
        case "ended":
            times = evidence.back[agent]
            later = bisect_right(times, at)
            end = times[later] if later < len(times) else math.inf
            evidence.troubles[agent].append(Span(at, end, "it was away"))
