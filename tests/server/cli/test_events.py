"""What `plyground connect` prints of a match as it happens."""

import io

import pytest

from agents.protocol import Cause, MatchEnd, MatchStart, TimeControl
from server.cli.events import Reporter

START = MatchStart(12, "connect_four", "four", 0, [], TimeControl(5_000, strikes=3), "", [])


@pytest.mark.parametrize(("left", "words"), [(2, "2 strikes"), (1, "1 strike"), (0, "no strikes")])
def test_a_strike_is_told_in_one_line(left: int, words: str) -> None:
    out = io.StringIO()
    with Reporter("http://127.0.0.1:1", out) as reporter:
        reporter.struck(START, 4, left)
    assert out.getvalue() == f"match 12, ply 4: too late, a random action was played: {words} left\n"


@pytest.mark.parametrize(("cause", "told"), [("timeout", True), ("disconnect", True), ("resignation", False)])
def test_a_loss_on_time_comes_with_the_line_that_shows_its_clock(cause: Cause, told: bool) -> None:
    out = io.StringIO()
    with Reporter("http://127.0.0.1:1", out) as reporter:
        reporter.match_end(START, MatchEnd(12, ["loss", "win"], [cause, "normal"], [0.0, 1.0], "/record"))
    first, *more = out.getvalue().splitlines()
    assert first == f"match 12 finished: lost ({cause})"
    assert [line.endswith(" clock 12 --server http://127.0.0.1:1") for line in more] == [True] * told
