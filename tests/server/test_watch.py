"""What spectators send: unusable messages are answered, and the connection stays open."""

import time

import pytest

from server.broadcast import Broadcast
from server.watch import WatchGateway


async def nothing_found(_match_id):
    return None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("watch", "bad_json"),
        ('{"type": "watch", "match": 1', "bad_json"),
        ('{"a":' + "[" * 4_000, "bad_json"),
        ('{"type": "watch", "match": "one"}', "bad_message"),
        ('{"type": "look"}', "bad_message"),
    ],
    ids=["no JSON", "cut off", "deep", "wrong kind", "unknown type"],
)
async def test_a_message_that_cannot_be_read(text, code):
    watching = WatchGateway(Broadcast(1), {"tic_tac_toe"}, nothing_found, time.monotonic)
    error = await watching._take(text.encode(), None, None)
    assert error.code == code
