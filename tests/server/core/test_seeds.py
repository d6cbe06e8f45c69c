"""Dice and cards come from a seed, as docs/protocol.md tells everybody who wants to check."""

import hashlib
from collections import Counter
from pathlib import Path

import pytest

import games
from games import Position
from server.core import seeds

SEED = "5f" * 32
CARDS = [("d0", 1 / 3), ("d1", 1 / 3), ("d2", 1 / 3)]


def documented():
    """The functions in the documentation."""
    text = (Path(__file__).parents[3] / "docs" / "protocol.md").read_text("utf-8")
    code = next(part for part in text.split("```python\n") if "def commitment" in part).partition("```")[0]
    found = {}
    exec(code, found)
    return found


def test_the_documentation_checks_what_the_server_draws():
    told = documented()
    for number in range(300):
        assert told["outcome"](SEED, number, CARDS) == seeds.outcome(SEED, number, CARDS)
    assert told["commitment"](SEED, 12) == seeds.commitment(SEED, 12)


def test_a_commitment_is_the_hash_of_seed_and_match():
    assert seeds.commitment(SEED, 12) == hashlib.sha256(f"{SEED}:12".encode()).hexdigest()
    assert seeds.commitment(SEED, 12) != seeds.commitment(SEED, 13), "matches of one seed do not look alike"


def test_outcomes_come_as_often_as_they_are_probable():
    loaded = [("never", 0.0), ("half", 0.5), ("third", 1 / 3), ("sixth", 1 / 6), ("not", 0.0)]
    drawn = Counter(seeds.outcome(SEED, number, loaded) for number in range(12_000))
    assert set(drawn) == {"half", "third", "sixth"}
    for text, probability in loaded[1:4]:
        assert drawn[text] == pytest.approx(12_000 * probability, rel=0.06)


def test_each_event_and_each_seed_has_its_own_lots():
    others = (SEED, "60" * 32, "5f" * 31 + "60")
    deals = {seed: [seeds.outcome(seed, n, CARDS) for n in range(40)] for seed in others}
    assert len({tuple(deal) for deal in deals.values()}) == 3


def test_a_rest_left_by_rounding_is_the_last_outcome_that_is_possible(monkeypatch):
    monkeypatch.setattr(seeds, "_sha256", lambda _text: b"\xff" * 32)
    assert seeds.outcome(SEED, 0, [("a", 0.5), ("b", 0.4999), ("c", 0.0)]) == "b"


def test_two_matches_of_one_seed_have_the_same_cards_whatever_is_played():
    def cards(*, bold: bool) -> list[str]:
        position, drawn = Position.start(games.load("kuhn_poker")), []
        while not position.is_terminal():
            outcomes = position.outcomes()
            if outcomes:
                drawn.append(seeds.outcome(SEED, len(drawn), outcomes))
                position = position.play(drawn[-1])
            else:
                position = position.play("b" if bold else "p")
        return drawn

    assert cards(bold=True) == cards(bold=False)
