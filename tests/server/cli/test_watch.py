"""`plyground watch`, scripted: what a spectator sees of a match."""

import time

import msgspec
import pytest

from agents.protocol import Event, MatchView, Seat, Snapshot, Unwatch, Watch, encode
from games import Position, load
from server.cli.watch import _left_ms

GAME = load("tic_tac_toe")
MOVES = ["0", "4", "1", "5", "2"]


def view(plies, match=7, state="running", outcomes=None, cause="normal", **fields):
    """A match after so many plies."""
    position = Position.start(GAME, moves=MOVES[:plies])
    outcomes = outcomes or ("win", "loss") if state == "finished" else (None, None)
    causes = ("normal", cause) if state == "finished" else (None, None)
    seats = [
        Seat(0, "ada", 2, 1512.4, True, outcomes[0], causes[0]),
        Seat(1, "\x1b[31m[bold]bob", 1, 1500, False, outcomes[1], causes[1]),
    ]
    return MatchView(
        id=match,
        ladder="tic_tac_toe",
        title="Tic-tac-toe",
        game="tic_tac_toe",
        state=state,
        ply=plies,
        to_move=None if state == "finished" else position.to_move(),
        players=seats,
        board=position.board().to_json(),
        position=position.text(),
        move_ms=5_000,
        clock_ms=4_000,
        **fields,
    )


def script(*messages):
    """What the server sends after one request."""
    return b"[" + b",".join(map(encode, messages)) + b"]"


WHOLE = script(
    Snapshot("match:7", 1, [view(3)]),
    Event("match:7", 2, view(4)),
    Event("match:7", 3, view(4)),
    Event("match:8", 3, view(2, match=8)),
    Event("match:7", 4, view(5, state="finished", detail="at last\x1b[2J")),
)


async def test_a_match_is_shown_change_by_change_until_it_ends(plyground, scripted):
    scripted.watching = [WHOLE]
    result = await plyground("watch", "7", "--server", scripted.url)
    result.assert_done()
    boards = result.out.strip().split("\n\n")
    assert [board.splitlines()[0] for board in boards] == [
        f"match 7  Tic-tac-toe  ply {ply}" for ply in (3, 4, 5)
    ]
    assert boards[0].splitlines()[1:3] == ["x ada v2  1512?", "o ?[31m[bold]bob v1  1500"]
    assert "[x]" in boards[0]
    assert boards[0].splitlines()[-1].endswith("bob to move")
    assert boards[2].splitlines()[-1] == "ada won against ?[31m[bold]bob (normal): at last?[2J"
    assert "\x1b" not in result.out


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        ({"outcomes": ("loss", "win")}, "?[31m[bold]bob won against ada (normal)"),
        (
            {"cause": "timeout", "detail": "no answer within 5000 ms"},
            "ada won against ?[31m[bold]bob (timeout): no answer within 5000 ms",
        ),
        ({"outcomes": ("draw", "draw")}, "ada and ?[31m[bold]bob drew (normal)"),
        ({"outcomes": ("void", "void"), "cause": "no_show"}, "finished (no_show)"),
    ],
)
async def test_the_end_names_the_winner(plyground, scripted, ended, words):
    scripted.watching = [script(Snapshot("match:7", 1, [view(5, state="finished", **ended)]))]
    result = await plyground("watch", "7", "--server", scripted.url)
    result.assert_done()
    assert result.out.rstrip().splitlines()[-1] == words


async def test_without_a_match_the_newest_that_runs(plyground, scripted):
    finished = view(5, match=9, state="finished")
    queued = view(0, match=11, state="queued")
    front = script(Snapshot("front", 1, [view(1, match=3), view(2), finished, queued]))
    scripted.watching = [front, WHOLE]
    (await plyground("watch", "--server", scripted.url)).assert_done()
    assert scripted.watched[:3] == [Watch(front=True), Unwatch(front=True), Watch(match=7)]


async def test_where_nothing_runs_the_next_match_is_awaited(plyground, scripted):
    waiting = script(Snapshot("ladder:tic_tac_toe", 1, []), Event("ladder:tic_tac_toe", 2, view(0)))
    scripted.watching = [waiting, WHOLE]
    (await plyground("watch", "--ladder", "tic_tac_toe", "--server", scripted.url)).assert_done()
    assert scripted.watched[0] == Watch(ladder="tic_tac_toe")


async def test_follow_goes_on_with_the_next_match(plyground, scripted):
    front = script(Snapshot("front", 1, [view(2)]))
    refusal = b'[{"type": "error", "code": "stop", "message": "expected an end, got \\u001b one"}]'
    scripted.watching = [front, WHOLE, front, WHOLE, refusal]
    result = await plyground("watch", "--follow", "--server", scripted.url)
    assert result.out.count("ada won against") == 2
    assert (result.code, result.err) == (2, "plyground watch: expected an end, got ? one\n")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            b'[{"type": "error", "code": "unknown_match", "message": "expected a match, got 7"}]',
            ["there is no match 7 on"],
        ),
        (b'[{"type": "nonsense"}]', ["expected a message from", "nonsense"]),
        (
            b'[{"type": "snapshot", "channel": "match:7", "version": "1", "matches": []}]',
            ["one that cannot be read (expected a whole number, got text at version)"],
        ),
        (
            script(Snapshot("match:7", 1, [msgspec.structs.replace(view(1), board={"rows": 3})])),
            ["expected a board"],
        ),
        (
            script(
                Snapshot(
                    "match:7",
                    1,
                    [msgspec.structs.replace(view(1), board={"rows": 10**9, "columns": 9, "pieces": []})],
                )
            ),
            ["cannot be drawn"],
        ),
    ],
)
async def test_what_cannot_be_watched(plyground, scripted, answer, words):
    scripted.watching = [answer]
    (await plyground("watch", "7", "--server", scripted.url)).assert_refused("watch", *words)


async def test_a_server_that_goes_away(plyground, scripted):
    scripted.watching = []
    result = await plyground("watch", "7", "--server", scripted.url)
    result.assert_refused("watch", f"expected the server at {scripted.url}, got a closed connection")


def test_what_is_left_does_not_shrink_while_the_clock_stands_still():
    told_at = time.monotonic() - 10
    assert _left_ms(view(1, still_ms=60_000), told_at) == 4_000
    assert _left_ms(view(1, still_ms=8_000), told_at) in range(1_000, 2_001)
    assert _left_ms(view(1), told_at) == 0
