"""Programs that `connect` tries before they play."""

import contextlib
import sys

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


def test_a_python_program_is_tried_as_it_will_be_run_without_holding_back(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    file = tmp_path / "bot.py"
    file.write_text(HOLDS_BACK)
    with contextlib.ExitStack() as stack:
        entrant = tried_command(f"{sys.executable} {file}", [LADDER], stack)
    assert entrant.name.endswith("bot.py")
