"""The life of a match as a diagram, made from the table that decides it."""

from collections import defaultdict

from server.core.match import TABLE, Phase


def diagram() -> str:
    """Return a Mermaid state diagram: the arrows of `TABLE` between phases, each with the events on it."""
    events: dict[tuple[Phase, Phase], list[str]] = defaultdict(list)
    for (phase, event), (_, following) in TABLE.items():
        for after in following - {phase}:
            events[phase, after].append(event.__name__)
    ends = [phase for phase in Phase if not any(before is phase for before, _ in events)]
    arrows = [
        f"{before} --> {after}: {', '.join(sorted(events[before, after]))}"
        for before in Phase
        for after in Phase
        if (before, after) in events
    ]
    lines = [
        "stateDiagram-v2",
        f"    [*] --> {Phase.STARTING}",
        *(f"    {arrow}" for arrow in arrows),
        *(f"    {end} --> [*]" for end in ends),
    ]
    return "\n".join(lines) + "\n"
