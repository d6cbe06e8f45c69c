"""The diagram of a match says what the table says, and stands in the documentation."""

import re
from pathlib import Path

from server.core.match import TABLE
from server.core.match_diagram import diagram

DESIGN = Path(__file__).resolve().parents[3] / "docs" / "design.md"


def drawn():
    """Arrows of the diagram between phases: (before, after, event)."""
    arrows = re.findall(r"^ +(\w+) --> (\w+): (.+)$", diagram(), flags=re.MULTILINE)
    return [(before, after, event) for before, after, events in arrows for event in events.split(", ")]


def test_every_change_of_the_table_is_drawn_once_and_nothing_else():
    changes = {
        (phase.value, after.value, event.__name__)
        for (phase, event), (_, following) in TABLE.items()
        for after in following
        if after is not phase
    }
    assert sorted(drawn()) == sorted(changes)


def test_a_match_comes_in_at_the_start_and_goes_out_at_its_ends():
    lines = [line.strip() for line in diagram().splitlines()]
    assert lines[0] == "stateDiagram-v2"
    assert [line for line in lines if "[*]" in line] == [
        "[*] --> starting",
        "finished --> [*]",
        "void --> [*]",
    ]


def test_the_documentation_shows_it():
    assert f"```mermaid\n{diagram()}```" in DESIGN.read_text(encoding="utf-8")
