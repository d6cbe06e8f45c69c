"""The server as it is, with a note of each deadline that takes effect: how late that was, by its own clock.

`BENCH_LATENESS=FILE python -m bench.traced_server serve` is `plyground serve`. A line is written when a
time-out is declared, before it is committed: the time is that of the decision, and earlier than the deadline
only if a match ended early.
"""

import os
import sys
import time

from bench.lateness import Trace
from server.cli import main
from server.core import match as core


def trace(path: str) -> None:
    """Write down from now on how late each time-out is."""
    notes = Trace(path)
    advance = core.advance

    def traced(match: core.Match, event: core.MatchEvent) -> core.Step:
        after, effects = advance(match, event)
        if isinstance(event, core.DeadlinePassed) and after.over and match.phase is core.Phase.RUNNING:
            now = time.monotonic()
            notes.note(now, now - match.deadline)
        return after, effects

    core.advance = traced


if __name__ == "__main__":
    trace(os.environ["BENCH_LATENESS"])
    sys.exit(main())
