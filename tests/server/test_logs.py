"""One agent can fill no disk."""

import errno
import logging
import sys

import pytest
import structlog

from server.logs import Throttle, configure


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def lines(throttle: Throttle, count: int, **event: object) -> list[dict[str, object]]:
    passed = []
    for _ in range(count):
        try:
            passed.append(throttle(None, "info", {"event": "x", **event}))
        except structlog.DropEvent:
            continue
    return passed


def test_ten_lines_a_minute_about_one_agent_and_the_last_says_so():
    clock = Clock()
    throttle = Throttle(clock)
    passed = lines(throttle, 500, agent="ada")
    assert len(passed) == 10
    assert "no more" in passed[-1]["throttled"]
    assert len(lines(throttle, 5, agent="bob")) == 5
    clock.now = 61
    assert len(lines(throttle, 500, agent="ada")) == 10


def test_lines_about_nobody_pass():
    assert len(lines(Throttle(Clock()), 100)) == 100


@pytest.mark.parametrize("key", ["agent", "address"])
def test_memory_is_bounded_when_everybody_is_somebody_else(key: str):
    clock = Clock()
    throttle = Throttle(clock)
    for number in range(30_000):
        clock.now += 0.1
        throttle(None, "info", {"event": "x", key: number})
    assert len(throttle._counts) <= 10_001


class FullDisk:
    """A file that can grow no more."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self) -> None:
        self.write("")


def test_a_line_that_cannot_be_written_is_lost_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stderr", FullDisk())
    before = structlog.get_config()
    handlers, level = logging.root.handlers[:], logging.root.level
    try:
        configure("info", Clock())
        structlog.get_logger().warning("match.database_away")
    finally:
        structlog.configure(**before)
        logging.root.handlers[:] = handlers
        logging.root.setLevel(level)
