"""`plyground inspect`."""

import sys

import click
import msgspec

from games.describe import describe


@click.command()
def command() -> None:
    """Answer JSON lines about positions: legal actions, result, key.

    Each line on stdin is {"game", "position"?, "moves"?}; each answer is one line
    {"position", "to_move", "legal", "terminal", "utilities", "key"}, or {"error": {"code", "message",
    "at_move"}} for a line that cannot be answered.
    """
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(msgspec.json.encode(_answer(line)) + b"\n")
        sys.stdout.buffer.flush()


def _answer(line: bytes) -> dict[str, object]:
    try:
        request = msgspec.json.decode(line)
    except (ValueError, RecursionError) as error:
        message = f"expected a JSON object, got a line that is no JSON: {error}"
        return {"error": {"code": "bad_json", "message": message, "at_move": None}}
    return describe(request)
