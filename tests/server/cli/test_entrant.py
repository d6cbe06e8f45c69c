"""Programs that `connect` tries before they play."""

import contextlib
import sys

import pytest

from server.cli.entrant import tried_command

LADDER = {"game": "tic_tac_toe", "time_control": {"move_ms": 20_000, "margin_ms": 200, "ready_ms": 20_000}}
HOLDS_BACK = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "match_start":
        print(json.dumps({"type": "ready", "match": message["match"]}))
    elif message["type"] == "your_move":
        where = {"match": message["match"], "ply": message["ply"]}
        print(json.dumps({"type": "move", **where, "action": message["legal"][0]}))
"""


@pytest.mark.parametrize(
    "times",
    [
        {"move_ms": 0, "bank_ms": 60_000, "increment_ms": 500, "byoyomi_ms": 0, "periods": 0, "strikes": 2},
        {"move_ms": 0, "nodes": 1_000},
        {"move_ms": 20_000, "moon_ms": 3, "tides": {"high": 2}},
    ],
    ids=["a bank", "nodes", "times of a later server"],
)
def test_a_program_is_tried_under_any_time_control(tmp_path, times):
    file = tmp_path / "bot.py"
    file.write_text(HOLDS_BACK)
    ladder = {"game": "tic_tac_toe", "time_control": {"margin_ms": 200, "ready_ms": 20_000, **times}}
    with contextlib.ExitStack() as stack:
        assert tried_command(f"{sys.executable} {file}", [ladder], stack).name.endswith("bot.py")


def test_a_python_program_is_tried_as_it_will_be_run_without_holding_back(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    file = tmp_path / "bot.py"
    file.write_text(HOLDS_BACK)
    with contextlib.ExitStack() as stack:
        entrant = tried_command(f"{sys.executable} {file}", [LADDER], stack)
    assert entrant.name.endswith("bot.py")
