"""Bugs met in the field: data/field_bugs.jsonl describes them, and each has tests that bear its number."""

import json
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
LINES = (TESTS / "data" / "field_bugs.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line)["id"] for line in LINES]


@pytest.fixture(scope="module")
def tried():
    sources = (path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    return {number for source in sources for number in re.findall(r"def test_(PB\d\d)_", source)}


@pytest.mark.parametrize("case", CASES)
def test_a_case_is_tried_under_its_number(case, tried):
    assert case in tried


def test_no_case_is_described_twice():
    assert sorted(set(CASES)) == sorted(CASES)
