"""Each code that the server can send to an agent or a spectator is explained in docs/protocol.md."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (
    "server/gateway.py",
    "server/inbox.py",
    "server/watch.py",
    "server/admission.py",
    "server/reception.py",
    "server/stopping.py",
    "server/core/match.py",
    "server/core/match_answers.py",
)
CODE = re.compile(r'(?:_error|Error|InputError|code, message =)\s*\(?\s*"([a-z_]+)"')


def codes() -> set[str]:
    return {code for name in SOURCES for code in CODE.findall((ROOT / name).read_text(encoding="utf-8"))}


def test_the_search_finds_codes_of_every_kind() -> None:
    assert {"bad_json", "flood", "bad_token", "unknown_ladder", "wrong_ply", "unknown_channel"} <= codes()


@pytest.mark.parametrize("code", sorted(codes()))
def test_the_code_is_documented(code: str) -> None:
    assert f"`{code}`" in (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
